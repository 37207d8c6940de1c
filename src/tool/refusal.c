/* SPDX-License-Identifier: BSD-2-Clause */
#include "plan.h"

#include "plan-parts.h"

#include <bsd/vis.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What a sentence is made of. */
struct refusal {
	FILE *out;
	const struct id_words *words;
	const struct plan_refusal *why;
	const char *name; /* of the owner, safe to print */
	uint32_t uid;
	const struct idmap *parent;
};

static void say_origin(FILE *out, const struct id_words *words,
		       const struct origin *origin, const char *service)
{
	switch (origin->kind) {
	case ORIGIN_OWN:
		fprintf(out, "own %s", words->word);
		return;
	case ORIGIN_LIVE:
		fputs("live", out);
		return;
	case ORIGIN_GRANT:
		if (origin->first == 0)
			fputs(service, out);
		else
			fprintf(out, "%s:%zu", words->grants, origin->first);
		break;
	case ORIGIN_ARGUMENT:
		fprintf(out, "MAP %zu", origin->first);
		break;
	}
	if (origin->last > origin->first)
		fprintf(out, "-%zu", origin->last);
}

/* The file, or what stands in its place. */
static const char *source_of(const struct refusal *say)
{
	return say->why->source ? say->why->source : say->words->grants;
}

static void say_extent(const struct refusal *say, const struct planned *planned)
{
	const struct extent *extent = &planned->extent;

	fprintf(say->out, "%u %u %u (", extent->inner, extent->outer, extent->count);
	say_origin(say->out, say->words, &planned->origin, source_of(say));
	fputc(')', say->out);
}

/* "5" or "5..9" */
static void say_range(FILE *out, struct range range)
{
	fprintf(out, "%u", range.start);
	if (range.count > 1)
		fprintf(out, "..%u", range.start + range.count - 1);
}

static void say_empty(const struct refusal *say)
{
	fputs("no extent is left to write; give at least one MAP INNER:OUTER:COUNT",
	      say->out);
}

static struct range side_range(const struct extent *extent, enum side side)
{
	return (struct range){side == SIDE_INNER ? extent->inner : extent->outer,
			      extent->count};
}

static void say_overlap(const struct refusal *say, enum side side)
{
	const struct planned *a = &say->why->first, *b = &say->why->second;
	struct range in_a = side_range(&a->extent, side);
	struct range in_b = side_range(&b->extent, side);
	struct extent shared =
		extent_clip(&a->extent, side, in_b.start, in_b.start + in_b.count);

	fputs(side == SIDE_INNER ? "inner " : "outer ", say->out);
	say_range(say->out, side_range(&shared, side));
	fprintf(say->out, " lies in %u..%u of extent ", in_a.start,
		in_a.start + in_a.count - 1);
	say_extent(say, a);
	fprintf(say->out, " and in %u..%u of extent ", in_b.start,
		in_b.start + in_b.count - 1);
	say_extent(say, b);
	if (b->origin.kind == ORIGIN_ARGUMENT)
		fprintf(say->out,
			"\nto take from the first what the second needs: +%u:%u:%u",
			b->extent.inner, b->extent.outer, b->extent.count);
}

static void say_inner(const struct refusal *say)
{
	say_overlap(say, SIDE_INNER);
}

static void say_outer(const struct refusal *say)
{
	say_overlap(say, SIDE_OUTER);
}

static void say_give_up(const struct refusal *say)
{
	const struct plan_refusal *why = say->why;

	fprintf(say->out,
		"\n%zu %s at least must be given up; those that save most:", why->drop,
		why->drop == 1 ? "extent" : "extents");
	for (size_t i = 0; i < why->drop && i < PLAN_GIVE_UP; i++) {
		fputs(i > 0 ? ", " : " ", say->out);
		say_extent(say, &why->give_up[i]);
	}
	if (why->drop > PLAN_GIVE_UP)
		fprintf(say->out, " and %zu more", why->drop - PLAN_GIVE_UP);
}

static void say_extents(const struct refusal *say)
{
	fprintf(say->out, "%zu of %zu extents", say->why->have, say->why->want);
	say_give_up(say);
}

static void say_bytes(const struct refusal *say)
{
	fprintf(say->out, "%zu of %zu bytes, %zu %s", say->why->have, say->why->want,
		say->why->fit, say->why->fit == 1 ? "extent fits" : "extents fit");
	say_give_up(say);
}

static void say_parent(const struct refusal *say)
{
	const struct extent *extent = &say->why->first.extent;
	struct range missing = say->why->missing, largest = say->why->largest;
	uint32_t end = extent->outer + extent->count, inner = extent->inner;
	bool of_these;

	fputs("extent ", say->out);
	say_extent(say, &say->why->first);
	fputs(": outer ", say->out);
	say_range(say->out, missing);
	fputs(" is not in the parent map, which ", say->out);
	if (largest.count == 0) {
		fputs("is empty", say->out);
		return;
	}
	of_these = largest.start >= extent->outer && largest.start < end;
	fputs(of_these ? "has no more of it in one piece than " : "has ", say->out);
	say_range(say->out, largest);
	if (of_these)
		inner += largest.start - extent->outer;
	else if (largest.count > extent->count)
		largest.count = extent->count;
	fprintf(say->out, "\nthe largest that works: %u:%u:%u\nparent map:", inner,
		largest.start, largest.count);
	for (size_t i = 0; i < say->parent->n; i++)
		fprintf(say->out, "%s %u %u %u", i > 0 ? "," : "",
			say->parent->extents[i].inner, say->parent->extents[i].outer,
			say->parent->extents[i].count);
}

/* Every extent is asked for by somebody, but a layout's lack of any grant by nobody. */
static void say_grant(const struct refusal *say)
{
	const struct plan_refusal *why = say->why;
	const char *source = source_of(say);

	if (why->have == 0)
		fprintf(say->out,
			"%s has no entry in %s (searched for the owners %s and %u)%s",
			say->name, source, say->name, say->uid,
			why->missing.count > 0 ? ": " : "");
	if (why->missing.count == 0) {
		fprintf(say->out,
			"\nadd to %s: %s:START:65536, from a START on which 65536 IDs "
			"are "
			"nobody else's",
			source, say->name);
		return;
	}
	fputs("extent ", say->out);
	say_extent(say, &why->first);
	fputs(": outer ", say->out);
	say_range(say->out, why->missing);
	fprintf(say->out,
		" is not granted to %s\nif 'idmap who %u' names nobody, add to %s: %s:%u:%u",
		say->name, why->missing.start, source, say->name, why->missing.start,
		why->missing.count);
}

static void say_size(const struct refusal *say)
{
	fprintf(say->out,
		"%zu inner IDs are asked for, the layout has %zu\nask for a size of %zu, "
		"or "
		"let %s grant %s %zu more IDs",
		say->why->want, say->why->have, say->why->have, source_of(say), say->name,
		say->why->want - say->why->have);
}

char *plan_explain(enum id_kind kind, int error, const struct plan_refusal *why,
		   const struct account *account, const struct idmap *parent)
{
	static void (*const sentences[])(const struct refusal *) = {
		[PLAN_E_EMPTY] = say_empty, [PLAN_E_INNER] = say_inner,
		[PLAN_E_OUTER] = say_outer, [PLAN_E_EXTENTS] = say_extents,
		[PLAN_E_BYTES] = say_bytes, [PLAN_E_PARENT] = say_parent,
		[PLAN_E_GRANT] = say_grant, [PLAN_E_SIZE] = say_size,
	};
	struct refusal say = {.words = &id_words[kind],
			      .why = why,
			      .uid = account->uid,
			      .parent = parent};
	char *text = NULL, *name = NULL;
	size_t len;

	if (error < 0)
		return strdup(strerror(-error));
	if (stravis(&name, account->name, VIS_NOSLASH | VIS_TAB | VIS_NL) < 0)
		return NULL;
	say.name = name;
	say.out = open_memstream(&text, &len);
	if (say.out) {
		fprintf(say.out, "%s: ", say.words->map);
		sentences[error](&say);
		fclose(say.out);
	}
	free(name);
	return text;
}

char *plan_source(enum id_kind kind, const struct origin *origin, const char *service)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	if (!out)
		return NULL;
	say_origin(out, &id_words[kind], origin, service);
	fclose(out);
	return text;
}

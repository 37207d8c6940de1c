/* SPDX-License-Identifier: BSD-2-Clause */
#include "dialect-parts.h"

#include "../trusted/idset.h"
#include "algebra.h"

#include <inttypes.h>

static int cannot(struct dialect_refusal *why, enum id_kind kind,
		  const struct extent *extent, const char *reason)
{
	*why = (struct dialect_refusal){.kind = kind, .reason = reason};
	if (extent)
		why->first = *extent;
	return DIALECT_E_EXPRESS;
}

/* A live map may hold outer IDs that the reader's namespace lacks (live_parse()). */
static int check_outer(const struct idmap *map, enum id_kind kind,
		       struct dialect_refusal *why)
{
	for (size_t i = 0; i < map->n; i++)
		if (map->extents[i].outer == ID_NONE)
			return cannot(
				why, kind, &map->extents[i],
				"is not mapped in this namespace; ask in its parent");
	return 0;
}

int dialect_write(FILE *out, const struct dialect *dialect,
		  const struct dialect_maps *maps, struct dialect_refusal *ret_why)
{
	int error;

	*ret_why = (struct dialect_refusal){0};
	if (maps->maps[ID_UID].n == 0 && maps->maps[ID_GID].n == 0)
		return DIALECT_E_EMPTY;
	for (enum id_kind kind = 0; kind < ID_KINDS; kind++) {
		error = check_outer(&maps->maps[kind], kind, ret_why);
		if (error)
			return error;
	}
	return dialect->write(out, dialect, maps, ret_why);
}

/* The first kind that isn't there, or ID_KINDS. */
static enum id_kind missing_kind(const struct dialect_maps *maps)
{
	enum id_kind kind = 0;

	while (kind < ID_KINDS && maps->maps[kind].n > 0)
		kind++;
	return kind;
}

int dialect_write_kernel(FILE *out, const struct dialect *dialect,
			 const struct dialect_maps *maps, struct dialect_refusal *why)
{
	char text[IDMAP_TEXT];
	enum id_kind missing = missing_kind(maps);
	size_t len;

	(void)dialect;
	if (missing == ID_KINDS)
		return cannot(why, ID_GID, NULL,
			      "its text has room for one kind; ask for -u or -g alone");
	len = idmap_format(&maps->maps[ID_KINDS - 1 - missing], text);
	fwrite(text, 1, len, out);
	return 0;
}

int dialect_write_newuidmap(FILE *out, const struct dialect *dialect,
			    const struct dialect_maps *maps, struct dialect_refusal *why)
{
	(void)dialect, (void)why;
	for (enum id_kind kind = 0; kind < ID_KINDS; kind++) {
		const struct idmap *map = &maps->maps[kind];

		if (map->n == 0)
			continue;
		fprintf(out, "%s %s", id_words[kind].helper,
			maps->target ? maps->target : "PID");
		for (size_t i = 0; i < map->n; i++)
			fprintf(out, " %" PRIu32 " %" PRIu32 " %" PRIu32,
				map->extents[i].inner, map->extents[i].outer,
				map->extents[i].count);
		fputc('\n', out);
	}
	return 0;
}

static void put_row(FILE *out, const struct dialect_row *row, enum id_kind kind,
		    const struct extent *extent)
{
	fprintf(out, "%s%s%s%" PRIu32 "%c%" PRIu32 "%c%" PRIu32, row->option[kind],
		row->joint, row->prefix[kind],
		row->outer_first ? extent->outer : extent->inner, row->separator,
		row->outer_first ? extent->inner : extent->outer, row->separator,
		extent->count);
}

int dialect_write_row(FILE *out, const struct dialect *dialect,
		      const struct dialect_maps *maps, struct dialect_refusal *why)
{
	bool first = true;

	for (enum id_kind kind = 0; kind < ID_KINDS; kind++)
		if (dialect->row->single && maps->maps[kind].n > 1)
			return cannot(
				why, kind, &maps->maps[kind].extents[1],
				"is one extent too many, since of several it takes the"
				" last alone; use util-linux 2.39 (unshare)");
	for (enum id_kind kind = 0; kind < ID_KINDS; kind++)
		for (size_t i = 0; i < maps->maps[kind].n; i++) {
			if (!first)
				fputc(dialect->row->end, out);
			put_row(out, dialect->row, kind, &maps->maps[kind].extents[i]);
			first = false;
		}
	fputc('\n', out);
	return 0;
}

int dialect_write_podman(FILE *out, const struct dialect *dialect,
			 const struct dialect_maps *maps, struct dialect_refusal *why)
{
	enum id_kind missing = missing_kind(maps);

	if (missing != ID_KINDS)
		return cannot(
			why, missing, NULL,
			"there is none, and podman would take the other kind's for it;"
			" ask for both");
	return dialect_write_row(out, dialect, maps, why);
}

int dialect_write_oci(FILE *out, const struct dialect *dialect,
		      const struct dialect_maps *maps, struct dialect_refusal *why)
{
	const char *comma = "{";

	(void)dialect, (void)why;
	for (enum id_kind kind = 0; kind < ID_KINDS; kind++) {
		const struct idmap *map = &maps->maps[kind];

		if (map->n == 0)
			continue;
		fprintf(out, "%s\"%sMappings\":", comma, id_words[kind].word);
		for (size_t i = 0; i < map->n; i++)
			fprintf(out,
				"%c{\"containerID\":%" PRIu32 ",\"hostID\":%" PRIu32
				",\"size\":%" PRIu32 "}",
				i == 0 ? '[' : ',', map->extents[i].inner,
				map->extents[i].outer, map->extents[i].count);
		fputc(']', out);
		comma = ",";
	}
	fputs("}\n", out);
	return 0;
}

/* Not in 32 bits, where {1001 0 1} and {0 4294966295 1} would be shifted alike. */
static int64_t shift_of(const struct extent *extent)
{
	return (int64_t)extent->outer - extent->inner;
}

/* The extent whose shift serves more than half of MAP's inner IDs: it is of the base. */
static const struct extent *find_base(const struct idmap *map)
{
	for (size_t i = 0; i < map->n; i++) {
		uint64_t alike = 0, all = 0;

		for (size_t j = 0; j < map->n; j++) {
			all += map->extents[j].count;
			if (shift_of(&map->extents[j]) == shift_of(&map->extents[i]))
				alike += map->extents[j].count;
		}
		if (2 * alike > all)
			return &map->extents[i];
	}
	return NULL;
}

/*
 * Incus makes the base, one range from inner 0, and raw.idmap lays entries over it. It refuses an
 * entry whose outer IDs are in the base, so that its maps have no hole:
 *
 *	0:1000000:1000   1000:1000:1   1001:1001001:9000
 *	'--------- base 0:1000000:10001, less 1000 -----'   entry: uid 1000 1000
 *
 * MAP is sorted and merged; *RET_BASE tells entries apart by their shift.
 */
static int split_base(const struct idmap *map, enum id_kind kind, struct extent *ret_base,
		      struct dialect_refusal *why)
{
	const struct extent *found = find_base(map);
	uint32_t outer, end = 0, next = 0;

	if (!found || shift_of(found) < 0)
		return cannot(why, kind, NULL,
			      "no base from inner 0 holds more than half of its IDs");
	outer = (uint32_t)shift_of(found);
	for (size_t i = 0; i < map->n; i++)
		if (shift_of(&map->extents[i]) == shift_of(found))
			end = map->extents[i].inner + map->extents[i].count;
	for (size_t i = 0; i < map->n && next < end; i++) {
		const struct extent *e = &map->extents[i];

		if (e->inner > next)
			return cannot(
				why, kind,
				&(struct extent){next, outer + next, e->inner - next},
				"is missing, a hole in the base");
		next = e->inner + e->count;
	}
	*ret_base = (struct extent){0, outer, end};
	return 0;
}

static int check_entries(const struct idmap *map, enum id_kind kind,
			 const struct extent *base, struct dialect_refusal *why)
{
	for (size_t i = 0; i < map->n; i++) {
		const struct extent *e = &map->extents[i];

		if (shift_of(e) != base->outer && e->outer < base->outer + base->count &&
		    base->outer < e->outer + e->count)
			return cannot(why, kind, e, "has outer IDs of the base");
	}
	return 0;
}

static void put_range(FILE *out, uint32_t start, uint32_t count)
{
	fprintf(out, "%" PRIu32, start);
	if (count > 1)
		fprintf(out, "-%" PRIu32, start + (count - 1));
}

static void put_entries(FILE *out, const struct idmap *map, enum id_kind kind,
			const struct extent *base)
{
	for (size_t i = 0; i < map->n; i++) {
		const struct extent *e = &map->extents[i];

		if (shift_of(e) == base->outer)
			continue;
		fprintf(out, "%s ", id_words[kind].word);
		put_range(out, e->outer, e->count);
		fputc(' ', out);
		put_range(out, e->inner, e->count);
		fputc('\n', out);
	}
}

int dialect_write_incus(FILE *out, const struct dialect *dialect,
			const struct dialect_maps *maps, struct dialect_refusal *why)
{
	struct idmap sorted[ID_KINDS] = {maps->maps[ID_UID], maps->maps[ID_GID]};
	struct extent base[ID_KINDS] = {{0}};

	(void)dialect;
	for (enum id_kind kind = 0; kind < ID_KINDS; kind++) {
		struct idmap *map = &sorted[kind];
		int error;

		if (map->n == 0)
			continue;
		map->n = extents_merge(map->extents, map->n);
		error = split_base(map, kind, &base[kind], why);
		if (!error)
			error = check_entries(map, kind, &base[kind], why);
		if (error)
			return error;
	}
	for (enum id_kind kind = 0; kind < ID_KINDS; kind++)
		put_entries(out, &sorted[kind], kind, &base[kind]);
	return 0;
}

int dialect_write_nspawn(FILE *out, const struct dialect *dialect,
			 const struct dialect_maps *maps, struct dialect_refusal *why)
{
	const struct extent *only = &maps->maps[ID_UID].extents[0];
	enum id_kind missing = missing_kind(maps);

	(void)dialect;
	if (missing != ID_KINDS)
		return cannot(why, missing, NULL,
			      "there is none, and nspawn maps both kinds alike");
	for (enum id_kind kind = 0; kind < ID_KINDS; kind++) {
		const struct idmap *map = &maps->maps[kind];

		if (map->n > 1)
			return cannot(why, kind, &map->extents[1],
				      "is one extent too many; it takes one");
		if (map->extents[0].inner != 0)
			return cannot(why, kind, &map->extents[0],
				      "does not start at inner 0");
	}
	if (!idmap_equal(&maps->maps[ID_UID], &maps->maps[ID_GID]))
		return cannot(
			why, ID_GID, &maps->maps[ID_GID].extents[0],
			"differs from the uid map, and nspawn maps both kinds alike");
	fprintf(out, "--private-users=%" PRIu32 ":%" PRIu32 "\n", only->outer,
		only->count);
	return 0;
}

/* OWN: an ID that needs no grant as long as it is an extent by itself; ID_NONE: none. */
static int put_grants(FILE *out, const struct idmap *map, const char *owner, uint32_t own)
{
	struct idset set __attribute__((cleanup(idset_clear))) = {0};
	int error = 0;

	for (size_t i = 0; i < map->n && !error; i++)
		if (map->extents[i].count > 1 || map->extents[i].outer != own)
			error = idset_add(&set, map->extents[i].outer,
					  map->extents[i].count);
	if (error)
		return error;
	idset_seal(&set);
	for (size_t i = 0; i < set.n; i++)
		fprintf(out, "%s:%" PRIu32 ":%" PRIu32 "\n", owner, set.ranges[i].start,
			set.ranges[i].count);
	return 0;
}

/* With one kind the lines alone, to be appended to its file; with two a comment above each. */
int dialect_write_subuid(FILE *out, const struct dialect *dialect,
			 const struct dialect_maps *maps, struct dialect_refusal *why)
{
	bool both = missing_kind(maps) == ID_KINDS;
	int error = 0;

	(void)dialect, (void)why;
	for (enum id_kind kind = 0; kind < ID_KINDS && !error; kind++) {
		if (both)
			fprintf(out, "# %s\n", id_words[kind].grants);
		error = put_grants(out, &maps->maps[kind],
				   maps->owner ? maps->owner : "OWNER",
				   maps->own ? maps->own[kind] : ID_NONE);
	}
	return error;
}

int dialect_write_words(FILE *out, const struct dialect *dialect,
			const struct dialect_maps *maps, struct dialect_refusal *why)
{
	(void)dialect, (void)why;
	for (enum id_kind kind = 0; kind < ID_KINDS; kind++)
		for (size_t i = 0; i < maps->maps[kind].n; i++) {
			const struct extent *e = &maps->maps[kind].extents[i];
			const char *plural = e->count > 1 ? "s" : "";

			fprintf(out, "Inner %s%s ", id_words[kind].word, plural);
			put_range(out, e->inner, e->count);
			fprintf(out, " %s outer %s%s ", e->count > 1 ? "are" : "is",
				id_words[kind].word, plural);
			put_range(out, e->outer, e->count);
			fputs(".\n", out);
		}
	return 0;
}

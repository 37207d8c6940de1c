/* SPDX-License-Identifier: BSD-2-Clause */

/*
 * Every dialect: the first line names it ("podman"), the rest is its text. What is read is two
 * maps that the kernel takes, and every dialect that can say them says what reads back the same.
 */

#include "fuzz.h"
#include "tool/dialect.h"

#define PAGE 4096U

static bool shares(uint64_t a, uint64_t b, const struct extent *x, const struct extent *y)
{
	return a < b + y->count && b < a + x->count;
}

/* The contract of idmap_make(), pair by pair. */
static void check_map(const struct idmap *map)
{
	char text[IDMAP_TEXT];

	HOLDS(map->n <= IDMAP_EXTENTS && idmap_format(map, text) < PAGE);
	for (size_t i = 0; i < map->n; i++) {
		const struct extent *x = &map->extents[i];

		HOLDS(oracle_range(x->inner, x->count));
		HOLDS(oracle_range(x->outer, x->count));
		for (size_t j = 0; j < i; j++) {
			const struct extent *y = &map->extents[j];

			HOLDS(!shares(x->inner, y->inner, x, y));
			HOLDS(!shares(x->outer, y->outer, x, y));
		}
	}
}

static bool same(const struct idmap *a, const struct idmap *b)
{
	return a->n == b->n && (a->n == 0 || memcmp(a->extents, b->extents,
						    a->n * sizeof(*a->extents)) == 0);
}

static void check_refusal(const struct dialect *dialect, const char *where,
			  const char *text, size_t len, int error,
			  const struct dialect_refusal *why)
{
	HOLDS(error > 0);
	if (where && why->value)
		HOLDS(why->value >= text && why->value + why->value_len <= text + len);
	fuzz_check_message(dialect_explain(dialect, where, error, why), true);
}

/* The text that says MAPS, or NULL where the dialect can't. */
static char *say(const struct dialect *dialect, const struct dialect_maps *maps,
		 size_t *ret_len)
{
	struct dialect_refusal why;
	char *text = NULL;
	FILE *out = open_memstream(&text, ret_len);
	int error;

	HOLDS(out);
	error = dialect_write(out, dialect, maps, &why);
	HOLDS(fclose(out) == 0);
	if (error == 0)
		return text;
	HOLDS(*ret_len == 0);
	free(text);
	check_refusal(dialect, NULL, NULL, 0, error, &why);
	return NULL;
}

static uint32_t ask(const struct idmap *map, uint64_t inner)
{
	for (size_t i = 0; i < map->n; i++)
		if (inner >= map->extents[i].inner &&
		    inner - map->extents[i].inner < map->extents[i].count)
			return map->extents[i].outer +
			       (uint32_t)(inner - map->extents[i].inner);
	return ID_NONE;
}

/* What the entries of incus don't say, one base from inner 0 does, without a hole. Asked at both ends
 * of each extent, and behind it. */
static void check_incus(const struct idmap *map, const struct idmap *entries)
{
	int64_t base = -1;
	uint64_t end = 0;

	for (size_t i = 0; i < 2 * map->n; i++) {
		const struct extent *e = &map->extents[i / 2];
		uint64_t id = e->inner + (i % 2 ? 0 : e->count - 1);
		uint32_t outer = ask(map, id), said = ask(entries, id);

		HOLDS(said == outer || said == ID_NONE);
		if (said == outer)
			continue;
		HOLDS(outer >= id && (base == -1 || base == (int64_t)(outer - id)));
		base = (int64_t)(outer - id);
		end = id >= end ? id + 1 : end;
	}
	for (size_t i = 0; i < map->n; i++) {
		uint64_t behind = (uint64_t)map->extents[i].inner + map->extents[i].count;

		HOLDS(behind >= end || ask(map, behind) != ID_NONE);
	}
}

/* "kernel" does not say the kind, and "incus" says no base: neither is the whole. */
static void check_round_trip(const struct dialect *dialect,
			     const struct dialect_maps *maps)
{
	struct dialect_maps back;
	struct dialect_refusal why;
	size_t len;
	char *text = say(dialect, maps, &len);
	int error;

	if (!text)
		return;
	error = dialect->read ? dialect_read(dialect, text, len, PAGE, &back, &why)
			      : DIALECT_E_GRANTS;
	if (strcmp(dialect->name, "incus") == 0) {
		HOLDS(error == 0 || error == DIALECT_E_EMPTY);
		if (error != 0)
			back = (struct dialect_maps){0};
		for (enum id_kind kind = 0; kind < ID_KINDS; kind++)
			check_incus(&maps->maps[kind], &back.maps[kind]);
	} else if (strcmp(dialect->name, "subuid") != 0) {
		HOLDS(error == 0);
		for (enum id_kind kind = 0; kind < ID_KINDS; kind++)
			HOLDS(same(&maps->maps[kind], &back.maps[kind]) ||
			      (maps->maps[kind].n == 0 &&
			       strcmp(dialect->name, "kernel") == 0 &&
			       same(&back.maps[0], &back.maps[1])));
	}
	free(text);
}

static const struct dialect *choose(const char *name)
{
	const struct dialect *dialect = dialect_find(name);
	size_t n = 0;

	while (dialects[n].name)
		n++;
	return dialect ? dialect : &dialects[(unsigned char)name[0] % n];
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *newline = size ? memchr(data, '\n', size) : NULL;
	size_t head = newline ? (size_t)(newline - data) : size;
	size_t len = newline ? size - head - 1 : 0;
	char *name = fuzz_string(data, head);
	char *text = fuzz_copy(data + size - len, len);
	const struct dialect *dialect = choose(name);
	struct dialect_maps maps, one;
	struct dialect_refusal why;
	int error = dialect_read(dialect, text, len, PAGE, &maps, &why);

	if (error == 0) {
		HOLDS(maps.maps[ID_UID].n + maps.maps[ID_GID].n > 0);
		for (enum id_kind kind = 0; kind < ID_KINDS; kind++)
			check_map(&maps.maps[kind]);
		for (const struct dialect *d = dialects; d->name; d++) {
			check_round_trip(d, &maps);
			one = maps;
			one.maps[ID_UID].n = 0;
			if (one.maps[ID_GID].n > 0)
				check_round_trip(d, &one);
		}
	} else {
		check_refusal(dialect, "stdin", text, len, error, &why);
	}
	free(name);
	free(text);
	return 0;
}

/* SPDX-License-Identifier: BSD-2-Clause */

/*
 * Maps against an array of what each ID is. A program of bytes makes two lists of extents in a
 * universe of 64 IDs, whose two sides lie at the bottom or the top of the ID space. What
 * idmap_make() takes is compared ID by ID through its text, inverted, composed and indexed.
 */

#include "fuzz.h"
#include "tool/algebra.h"
#include "tool/index.h"
#include "trusted/live.h"

#define UNIVERSE 64U
#define MOST     350U
#define NOBODY   (-1)

/* inner[i] and outer[i] count how many extents have the ID. */
struct model {
	uint32_t inner_base, outer_base;
	int to[UNIVERSE];
	bool twice[2];
	size_t n;
	struct extent list[MOST];
};

static uint32_t base_of(uint32_t top)
{
	return top ? ID_NONE - UNIVERSE : 0;
}

static void draw_extent(struct model *m, struct bytes *bytes, bool used[UNIVERSE])
{
	uint32_t inner = bytes_below(bytes, UNIVERSE);
	uint32_t outer = bytes_below(bytes, UNIVERSE);
	uint32_t most = UNIVERSE - (inner > outer ? inner : outer);
	uint32_t count = 1 + bytes_below(bytes, most < 8 ? most : 8);

	HOLDS(extent_make(m->inner_base + inner, m->outer_base + outer, count,
			  &m->list[m->n++]) == 0);
	for (uint32_t k = 0; k < count; k++) {
		m->twice[0] |= m->to[inner + k] != NOBODY;
		m->twice[1] |= used[outer + k];
		m->to[inner + k] = (int)(outer + k);
		used[outer + k] = true;
	}
}

static void draw(struct model *m, struct bytes *bytes, uint32_t inner_base,
		 uint32_t outer_base)
{
	bool used[UNIVERSE] = {false};
	uint32_t n = 1 + bytes_below(bytes, 24);

	*m = (struct model){.inner_base = inner_base, .outer_base = outer_base};
	memset(m->to, -1, sizeof(m->to));
	while (m->n < n)
		draw_extent(m, bytes, used);
}

/* What the text says that ID is, line by line. */
static uint32_t ask_text(const char *text, size_t len, uint32_t id)
{
	char *copy = strndup(text, len), *line, *rest = NULL;
	uint32_t answer = ID_NONE;
	unsigned int inner, outer, count;

	HOLDS(copy);
	for (line = strtok_r(copy, "\n", &rest); line;
	     line = strtok_r(NULL, "\n", &rest)) {
		HOLDS(sscanf(line, "%u %u %u", &inner, &outer, &count) == 3);
		if (id >= inner && id - inner < count)
			answer = outer + (id - inner);
	}
	free(copy);
	return answer;
}

static uint32_t ask_map(const struct idmap *map, uint32_t id)
{
	for (size_t i = 0; i < map->n; i++)
		if (id >= map->extents[i].inner &&
		    id - map->extents[i].inner < map->extents[i].count)
			return map->extents[i].outer + (id - map->extents[i].inner);
	return ID_NONE;
}

static uint32_t ask_model(const struct model *m, uint32_t id)
{
	if (id < m->inner_base || id - m->inner_base >= UNIVERSE ||
	    m->to[id - m->inner_base] == NOBODY)
		return ID_NONE;
	return m->outer_base + (uint32_t)m->to[id - m->inner_base];
}

static void check_text(const struct model *m, const struct idmap *map, size_t page)
{
	char text[IDMAP_TEXT + 1];
	size_t len = idmap_format(map, text);
	struct idmap back;

	HOLDS(len > 0 && len < page && text[len - 1] != '\n');
	for (uint32_t i = 0; i < UNIVERSE; i++) {
		uint32_t id = m->inner_base + i;

		HOLDS(ask_text(text, len, id) == ask_model(m, id));
		HOLDS(ask_map(map, id) == ask_model(m, id));
	}
	text[len++] = '\n';
	HOLDS(live_parse(text, len, &back) == 0 && back.n == map->n);
	HOLDS(memcmp(back.extents, map->extents, map->n * sizeof(*map->extents)) == 0);
}

/* Every ID there and back again, by each of the searches. */
static void check_index(const struct model *m, const struct idmap *map)
{
	struct index *index = aligned_alloc(64, sizeof(*index));
	struct idmap inverted, again;
	struct idmap_refusal why;

	HOLDS(index && index_build(index, map, &why) == 0);
	idmap_invert(map, &inverted);
	idmap_invert(&inverted, &again);
	HOLDS(idmap_equal(map, &again));
	for (int round = 0; round < 2; round++) {
		for (uint32_t i = 0; i < UNIVERSE; i++) {
			uint32_t inner = m->inner_base + i, outer = m->outer_base + i;
			uint32_t there = ask_model(m, inner);

			HOLDS(index_outer(index, inner) == there);
			HOLDS(there == ID_NONE || index_inner(index, there) == inner);
			HOLDS(there == ID_NONE || ask_map(&inverted, there) == inner);
			HOLDS(index_inner(index, outer) == ask_map(&inverted, outer));
		}
		HOLDS(index_outer(index, ID_NONE) == ID_NONE);
		if (index->search == INDEX_AVX2)
			index->search = INDEX_PLAIN;
	}
	free(index);
}

/* Makes the map of M; false if it is refused, and rightly. */
static bool make(struct model *m, size_t page, struct idmap *ret_map)
{
	struct idmap_refusal why = {0};
	size_t n = m->n;
	int r = idmap_make(m->list, n, page, ret_map, &why);

	switch (r) {
	case 0:
		HOLDS(!m->twice[0] && !m->twice[1]);
		check_text(m, ret_map, page);
		check_index(m, ret_map);
		break;
	case IDMAP_E_INNER:
		HOLDS(m->twice[0] && why.first.inner <= why.second.inner &&
		      why.second.inner - why.first.inner < why.first.count);
		break;
	case IDMAP_E_OUTER:
		HOLDS(!m->twice[0] && m->twice[1] &&
		      why.first.outer <= why.second.outer &&
		      why.second.outer - why.first.outer < why.first.count);
		break;
	case IDMAP_E_BYTES:
		HOLDS(why.bytes >= page && why.fit < n);
		break;
	default:
		HOLDS(r == IDMAP_E_EXTENTS && n > IDMAP_EXTENTS);
	}
	HOLDS(r == 0 || m->twice[0] || m->twice[1] || r == IDMAP_E_BYTES);
	return r == 0;
}

/* INNER's namespace lies in OUTER's: what is an inner ID two floors up? */
static void check_compose(const struct model *a, const struct idmap *inner,
			  const struct model *b, const struct idmap *outer)
{
	struct idmap both;

	HOLDS(idmap_compose(inner, outer, &both) == 0);
	for (uint32_t i = 0; i < UNIVERSE; i++) {
		uint32_t id = a->inner_base + i, between = ask_model(a, id);

		HOLDS(ask_map(&both, id) ==
		      (between == ID_NONE ? ID_NONE : ask_model(b, between)));
	}
	for (size_t i = 1; i < both.n; i++)
		HOLDS(both.extents[i - 1].inner < both.extents[i].inner &&
		      !extent_continues(&both.extents[i - 1], &both.extents[i]));
}

/* One ID an extent, as many as a byte says: the limit of extents, and that merging helps. */
static void check_many(struct bytes *bytes)
{
	struct extent list[MOST];
	uint32_t n = 330 + bytes_below(bytes, 20), step = 1 + bytes_below(bytes, 3);
	uint32_t split = bytes_below(bytes, 64);
	struct idmap map;
	struct idmap_refusal why;
	size_t wanted = step == 1 ? (split > 0) + 1U : n;
	int r;

	for (uint32_t i = 0; i < n; i++)
		list[i] = (struct extent){i * step, i + (i >= split), 1};
	r = idmap_make(list, n, 1 << 20, &map, &why);
	if (wanted > IDMAP_EXTENTS)
		HOLDS(r == IDMAP_E_EXTENTS && why.extents == wanted);
	else
		HOLDS(r == 0 && map.n == (n > IDMAP_EXTENTS ? wanted : n));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const size_t pages[] = {4096, 4096, 64, 200};
	struct bytes bytes = {data, data + size};
	uint32_t bases = bytes_below(&bytes, 8);
	size_t page = pages[bytes_below(&bytes, 4)];
	struct idmap inner, outer;
	static struct model a, b;
	bool made;

	draw(&a, &bytes, base_of(bases & 1), base_of(bases & 2));
	made = make(&a, page, &inner);
	draw(&b, &bytes, base_of(bases & 2), base_of(bases & 4));
	if (make(&b, page, &outer) && made)
		check_compose(&a, &inner, &b, &outer);
	if (bytes_left(&bytes))
		check_many(&bytes);
	return 0;
}

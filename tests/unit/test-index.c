/* SPDX-License-Identifier: BSD-2-Clause */
#include "../../src/tool/index.h"
#include "../../src/tool/verify.h"
#include "tap.h"

#include <string.h>

#define PAGE 65536U /* large enough that only extents count */

static const struct idmap five = {5,
				  {{0, 1000000, 999},
				   {999, 999, 1},
				   {1000, 1001000, 1},
				   {1001, 1001, 1},
				   {1002, 1001002, 999998998}}};

/* What the index must say, from the definition of an extent. */
static uint32_t scan(const struct idmap *map, enum index_direction direction, uint32_t id)
{
	for (size_t i = 0; i < map->n; i++) {
		const struct extent *e = &map->extents[i];
		uint32_t from = direction == INDEX_TO_OUTER ? e->inner : e->outer;
		uint32_t to = direction == INDEX_TO_OUTER ? e->outer : e->inner;

		if (id >= from && (uint64_t)id < (uint64_t)from + e->count)
			return to + (id - from);
	}
	return ID_NONE;
}

static uint32_t ask(const struct index *index, enum index_direction direction,
		    uint32_t id)
{
	return direction == INDEX_TO_OUTER ? index_outer(index, id)
					   : index_inner(index, id);
}

/* N ranges in order that do not overlap, with or without gaps, up to ID_MAX itself. */
static void random_ranges(size_t n, const uint32_t *counts, uint32_t *ret_starts)
{
	uint64_t total = 0, at = 0, room;

	for (size_t i = 0; i < n; i++)
		total += counts[i];
	room = (uint64_t)ID_NONE - total;
	for (size_t i = 0; i < n; i++) {
		uint64_t gap = tap_below(3) ? tap_below(room / (n - i) + 1) : 0;

		ret_starts[i] = (uint32_t)(at + gap);
		at += gap + counts[i];
		room -= gap;
	}
	if (tap_below(4) == 0) /* the last ID of all */
		ret_starts[n - 1] = ID_NONE - counts[n - 1];
}

/* A valid map of N extents in random order on both sides. */
static struct idmap random_map(size_t n)
{
	uint32_t counts[IDMAP_EXTENTS], inner[IDMAP_EXTENTS], outer[IDMAP_EXTENTS];
	uint32_t most = 1 + tap_below(tap_below(2) ? 12000000 : 3);
	struct idmap map = {.n = n};

	if (n == 0)
		return map;
	for (size_t i = 0; i < n; i++)
		counts[i] = 1 + tap_below(most);
	random_ranges(n, counts, inner);
	for (size_t i = 0; i < n; i++)
		map.extents[i] = (struct extent){inner[i], 0, counts[i]};
	for (size_t i = n; i > 1; i--) {
		size_t j = tap_below(i);
		struct extent swap = map.extents[i - 1];

		map.extents[i - 1] = map.extents[j];
		map.extents[j] = swap;
	}
	for (size_t i = 0; i < n; i++)
		counts[i] = map.extents[i].count;
	random_ranges(n, counts, outer);
	for (size_t i = 0; i < n; i++)
		map.extents[i].outer = outer[i];
	return map;
}

/* An ID near an edge of the map, or any. */
static uint32_t random_id(const struct idmap *map, enum index_direction direction)
{
	const struct extent *e;
	uint32_t from;

	if (map->n == 0 || tap_below(8) == 0)
		return (uint32_t)tap_random();
	e = &map->extents[tap_below(map->n)];
	from = direction == INDEX_TO_OUTER ? e->inner : e->outer;
	switch (tap_below(4)) {
	case 0:
		return from - 1 + tap_below(3);
	case 1:
		return from + e->count - 1 + tap_below(3);
	default:
		return from + tap_below(e->count);
	}
}

static size_t random_size(void)
{
	return tap_below(3) ? tap_below(IDMAP_EXTENTS + 1) : tap_below(9);
}

/* 1,000 IDs each way, one by one and in bulk. */
static void compare_with_scan(const struct idmap *map, const struct index *index)
{
	uint32_t in[1000], out[1000];

	for (int d = INDEX_TO_OUTER; d <= INDEX_TO_INNER; d++) {
		enum index_direction direction = (enum index_direction)d;
		size_t n = tap_below(1001), unmapped = 0;

		for (size_t i = 0; i < 1000; i++) {
			in[i] = random_id(map, direction);
			CHECK(ask(index, direction, in[i]) ==
			      scan(map, direction, in[i]));
			unmapped += i < n && scan(map, direction, in[i]) == ID_NONE;
		}
		CHECK(index_translate(index, direction, in, n, out) == unmapped);
		for (size_t i = 0; i < n; i++)
			CHECK(out[i] == scan(map, direction, in[i]));
	}
}

static void a_million_ids_answer_as_a_linear_scan(void)
{
	struct idmap_refusal why;
	struct index index;

	for (int round = 0; round < 1000; round++) {
		struct idmap map = random_map(random_size());

		CHECK(index_build(&index, &map, &why) == 0);
		compare_with_scan(&map, &index);
	}
}

static void without_avx2_a_million_ids_answer_as_a_linear_scan(void)
{
	struct idmap_refusal why;
	struct index index;

	for (int round = 0; round < 1000; round++) {
		struct idmap map = random_map(random_size());

		CHECK(index_build(&index, &map, &why) == 0);
		if (index.search == INDEX_AVX2)
			index.search = INDEX_PLAIN;
		compare_with_scan(&map, &index);
	}
}

static void every_size_answers_at_every_edge(void)
{
	struct idmap_refusal why;
	struct index index;

	for (size_t n = 0; n <= IDMAP_EXTENTS; n++) {
		struct idmap map = random_map(n);

		CHECK(index_build(&index, &map, &why) == 0);
		for (size_t i = 0; i < n; i++) {
			const struct extent *e = &map.extents[i];
			uint32_t last = e->count - 1;

			CHECK(index_outer(&index, e->inner) == e->outer);
			CHECK(index_outer(&index, e->inner + last) == e->outer + last);
			CHECK(index_inner(&index, e->outer) == e->inner);
			CHECK(index_inner(&index, e->outer + last) == e->inner + last);
		}
		CHECK(index_outer(&index, ID_NONE) == ID_NONE);
		CHECK(index_inner(&index, ID_NONE) == ID_NONE);
	}
}

static void all_ids_but_none_can_be_one_extent(void)
{
	struct idmap map = {1, {{0, 0, ID_NONE}}};
	struct idmap_refusal why;
	struct index index;

	CHECK(index_build(&index, &map, &why) == 0);
	CHECK(index_outer(&index, 0) == 0);
	CHECK(index_outer(&index, ID_MAX) == ID_MAX);
	CHECK(index_outer(&index, ID_NONE) == ID_NONE);
}

static void an_empty_map_maps_nothing(void)
{
	uint32_t in[20] = {0, 1, ID_MAX, ID_NONE}, out[20];
	struct idmap map = {0};
	struct idmap_refusal why;
	struct index index;

	CHECK(index_build(&index, &map, &why) == 0);
	CHECK(index_outer(&index, 0) == ID_NONE);
	CHECK(index_inner(&index, 0) == ID_NONE);
	CHECK(index_translate(&index, INDEX_TO_OUTER, in, 20, out) == 20);
	CHECK(out[0] == ID_NONE && out[19] == ID_NONE);
}

static void a_bulk_may_be_translated_in_place(void)
{
	struct idmap_refusal why;
	struct index index;
	uint32_t ids[100];

	CHECK(index_build(&index, &five, &why) == 0);
	for (uint32_t i = 0; i < 100; i++)
		ids[i] = 950 + i;
	CHECK(index_translate(&index, INDEX_TO_OUTER, ids, 100, ids) == 0);
	for (uint32_t i = 0; i < 100; i++)
		CHECK(ids[i] == scan(&five, INDEX_TO_OUTER, 950 + i));
}

/* The kernel's rule, extent against extent (mappings_overlap() in kernel/user_namespace.c). */
static bool shares(uint32_t a, uint32_t a_count, uint32_t b, uint32_t b_count)
{
	return a <= b + (b_count - 1) && b <= a + (a_count - 1);
}

static bool sides_overlap(const struct extent *a, const struct extent *b, bool *ret_inner,
			  bool *ret_outer)
{
	*ret_inner = shares(a->inner, a->count, b->inner, b->count);
	*ret_outer = shares(a->outer, a->count, b->outer, b->count);
	return *ret_inner || *ret_outer;
}

static bool any_overlap(const struct idmap *map)
{
	bool inner, outer;

	for (size_t i = 0; i < map->n; i++)
		for (size_t j = 0; j < i; j++)
			if (sides_overlap(&map->extents[i], &map->extents[j], &inner,
					  &outer))
				return true;
	return false;
}

/* Extents as they fall, in a space so narrow that about half of the maps overlap. */
static struct idmap random_maybe_overlapping(void)
{
	struct idmap map = {.n = 1 + tap_below(tap_below(2) ? 12 : 60)};
	uint32_t space = (uint32_t)(map.n * map.n * 6);
	uint32_t base = tap_below(3) ? 0 : ID_NONE - space - 4;

	for (size_t i = 0; i < map.n; i++)
		map.extents[i] =
			(struct extent){base + tap_below(space), base + tap_below(space),
					1 + tap_below(4)};
	return map;
}

static void build_refuses_exactly_what_overlaps(void)
{
	int refused = 0;

	for (int round = 0; round < 20000; round++) {
		struct idmap map = random_maybe_overlapping(), made;
		struct idmap_refusal why, made_why;
		struct index index;
		bool inner = false, outer = false;
		int r = index_build(&index, &map, &why);

		CHECK((r != 0) == any_overlap(&map));
		CHECK(r == idmap_make(map.extents, map.n, PAGE, &made, &made_why));
		if (r == 0)
			continue;
		refused++;
		sides_overlap(&why.first, &why.second, &inner, &outer);
		CHECK(r == IDMAP_E_INNER ? inner : outer);
	}
	printf("# %d of 20000 maps overlap\n", refused);
	CHECK(refused > 4000 && refused < 16000);
}

static void extents_that_the_reader_cannot_see_map_to_nothing(void)
{
	struct idmap map = {3, {{0, ID_NONE, 10}, {10, 100000, 5}, {15, ID_NONE, 1}}};
	struct idmap_refusal why;
	struct index index;

	CHECK(index_build(&index, &map, &why) == 0);
	CHECK(index_outer(&index, 0) == ID_NONE);
	CHECK(index_outer(&index, 5) == ID_NONE);
	CHECK(index_inner(&index, 4) == ID_NONE);
	CHECK(index_outer(&index, 14) == 100004);
	CHECK(index_outer(&index, 15) == ID_NONE);
	CHECK(index_inner(&index, 100000) == 10);
}

static void a_map_verifies_against_itself_in_any_order(void)
{
	struct verify_difference difference;

	for (int round = 0; round < 500; round++) {
		struct idmap map = random_map(random_size()), turned = map;

		for (size_t i = 0; i < map.n; i++)
			turned.extents[i] = map.extents[map.n - 1 - i];
		CHECK(verify_maps(&map, &turned, &difference));
	}
}

static void a_map_verifies_against_the_same_ids_in_other_extents(void)
{
	struct idmap whole = {1, {{0, 100000, 65536}}};
	struct idmap split = {2, {{1000, 101000, 64536}, {0, 100000, 1000}}};
	struct verify_difference difference;

	CHECK(verify_maps(&whole, &split, &difference));
}

/* Change one extent so that the map stays valid; the lowest inner ID that tells is then known. */
static void change(struct extent *extent, uint32_t *ret_id)
{
	*ret_id = extent->inner;
	switch (tap_below(3)) {
	case 0:
		extent->inner++;
		extent->outer++;
		extent->count--;
		break;
	case 1:
		extent->count -= 1 + tap_below(extent->count - 1);
		*ret_id = extent->inner + extent->count;
		break;
	default:
		extent->outer++;
		extent->count--;
	}
}

static void the_lowest_id_that_differs_is_named(void)
{
	struct verify_difference difference;
	uint32_t id;

	for (int round = 0; round < 5000; round++) {
		struct idmap map = random_map(1 + random_size() % IDMAP_EXTENTS);
		struct idmap other = map;
		struct extent *extent = &other.extents[tap_below(map.n)];

		if (extent->count < 2)
			continue;
		change(extent, &id);
		CHECK(!verify_maps(&map, &other, &difference));
		CHECK(difference.direction == VERIFY_INNER_TO_OUTER);
		CHECK(difference.id == id);
		CHECK(difference.planned == scan(&map, INDEX_TO_OUTER, id));
		CHECK(difference.live == scan(&other, INDEX_TO_OUTER, id));
		CHECK(!verify_maps(&other, &map, &difference));
		CHECK(difference.id == id);
	}
}

static void a_missing_extent_and_an_unwritten_map_differ(void)
{
	struct idmap less = five, none = {0}, far = {2, {{0, 100, 5}, {50, 200, 5}}};
	struct verify_difference difference;

	less.n = 4;
	CHECK(!verify_maps(&five, &less, &difference));
	CHECK(difference.id == 1002 && difference.live == ID_NONE);
	CHECK(!verify_maps(&less, &five, &difference));
	CHECK(difference.id == 1002 && difference.planned == ID_NONE);
	less = (struct idmap){1, {{0, 100, 5}}};
	CHECK(!verify_maps(&less, &far, &difference));
	CHECK(difference.id == 50 && difference.live == 200);
	CHECK(!verify_maps(&five, &none, &difference));
	CHECK(difference.id == 0 && difference.planned == 1000000);
}

static void an_overlapping_map_never_verifies(void)
{
	struct idmap twice = {2, {{0, 0, 10}, {9, 100, 1}}};
	struct verify_difference difference;

	CHECK(!verify_maps(&twice, &twice, &difference));
	CHECK(difference.id == 9);
}

int main(void)
{
	return TAP_RUN(TEST(a_million_ids_answer_as_a_linear_scan),
		       TEST(without_avx2_a_million_ids_answer_as_a_linear_scan),
		       TEST(every_size_answers_at_every_edge),
		       TEST(all_ids_but_none_can_be_one_extent),
		       TEST(an_empty_map_maps_nothing),
		       TEST(a_bulk_may_be_translated_in_place),
		       TEST(build_refuses_exactly_what_overlaps),
		       TEST(extents_that_the_reader_cannot_see_map_to_nothing),
		       TEST(a_map_verifies_against_itself_in_any_order),
		       TEST(a_map_verifies_against_the_same_ids_in_other_extents),
		       TEST(the_lowest_id_that_differs_is_named),
		       TEST(a_missing_extent_and_an_unwritten_map_differ),
		       TEST(an_overlapping_map_never_verifies));
}

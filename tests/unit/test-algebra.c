/* SPDX-License-Identifier: BSD-2-Clause */
#include "../../src/tool/algebra.h"
#include "../../src/tool/index.h"
#include "tap.h"

#include <string.h>

/* N disjoint ranges in a space so narrow that edges meet often; they may touch. */
static void random_ranges(size_t n, uint32_t base, const uint32_t *counts,
			  uint32_t *ret_starts)
{
	uint32_t at = base;

	for (size_t i = 0; i < n; i++) {
		at += tap_below(4);
		ret_starts[i] = at;
		at += counts[i];
	}
}

/* A valid map; the outer side is a random permutation of the inner one's lengths. */
static struct idmap random_map(size_t n, uint32_t base)
{
	uint32_t counts[IDMAP_EXTENTS] = {0}, starts[IDMAP_EXTENTS];
	struct idmap map = {.n = n};

	for (size_t i = 0; i < n; i++)
		counts[i] = 1 + tap_below(6);
	random_ranges(n, base, counts, starts);
	for (size_t i = 0; i < n; i++)
		map.extents[i] = (struct extent){starts[i], 0, counts[i]};
	for (size_t i = n; i > 1; i--) {
		size_t j = tap_below(i);
		struct extent swap = map.extents[i - 1];

		map.extents[i - 1] = map.extents[j];
		map.extents[j] = swap;
	}
	for (size_t i = 0; i < n; i++)
		counts[i] = map.extents[i].count;
	random_ranges(n, base, counts, starts);
	for (size_t i = 0; i < n; i++)
		map.extents[i].outer = starts[i];
	return map;
}

static uint32_t random_base(void)
{
	return tap_below(3) ? 0 : ID_NONE - 9 * IDMAP_EXTENTS - 4;
}

static void inverting_twice_gives_the_same_map(void)
{
	for (int round = 0; round < 2000; round++) {
		struct idmap map =
			random_map(tap_below(IDMAP_EXTENTS + 1), random_base());
		struct idmap once, twice;

		idmap_invert(&map, &once);
		idmap_invert(&once, &twice);
		CHECK(idmap_equal(&map, &twice));
	}
}

static void inverting_swaps_the_sides_and_sorts_by_the_new_inner(void)
{
	struct idmap map = {2, {{0, 1000, 1}, {1, 500, 10}}}, inverted;

	idmap_invert(&map, &inverted);
	CHECK(inverted.n == 2);
	CHECK(memcmp(&inverted.extents[0], &(struct extent){500, 1, 10},
		     sizeof(struct extent)) == 0);
	CHECK(memcmp(&inverted.extents[1], &(struct extent){1000, 0, 1},
		     sizeof(struct extent)) == 0);
}

static void neighbours_that_continue_stay_two_when_inverted(void)
{
	struct idmap map = {2, {{0, 100, 5}, {5, 105, 5}}}, inverted;

	idmap_invert(&map, &inverted);
	CHECK(inverted.n == 2);
}

/* Each ID of the space, and those outside it, asked of the one map and of the two. */
static void compare_with_two_lookups(const struct idmap *inner, const struct idmap *outer,
				     const struct idmap *both, uint32_t base)
{
	struct index first, second, composed;
	struct idmap_refusal why;

	CHECK(index_build(&first, inner, &why) == 0);
	CHECK(index_build(&second, outer, &why) == 0);
	CHECK(index_build(&composed, both, &why) == 0);
	for (uint32_t id = base - 1; id != base + 9 * IDMAP_EXTENTS + 4; id++) {
		uint32_t two = index_outer(&second, index_outer(&first, id));

		CHECK(index_outer(&composed, id) == two);
		if (two != ID_NONE)
			CHECK(index_inner(&composed, two) == id);
	}
}

static void composing_agrees_with_two_lookups(void)
{
	int too_many = 0;

	for (int round = 0; round < 1000; round++) {
		uint32_t base = random_base();
		struct idmap inner = random_map(tap_below(IDMAP_EXTENTS + 1), base);
		struct idmap outer = random_map(tap_below(IDMAP_EXTENTS + 1), base);
		struct idmap both;

		if (idmap_compose(&inner, &outer, &both) == 0)
			compare_with_two_lookups(&inner, &outer, &both, base);
		else
			too_many++;
	}
	printf("# %d of 1000 pairs make too many extents\n", too_many);
	CHECK(too_many < 500);
}

static void a_composed_map_is_sorted_and_merged(void)
{
	for (int round = 0; round < 500; round++) {
		struct idmap inner = random_map(tap_below(170), 0);
		struct idmap outer = random_map(tap_below(170), 0);
		struct idmap both;

		CHECK(idmap_compose(&inner, &outer, &both) == 0);
		for (size_t i = 1; i < both.n; i++) {
			const struct extent *e = &both.extents[i];

			CHECK(e[-1].inner + e[-1].count <= e->inner);
			CHECK(!extent_continues(e - 1, e));
		}
	}
}

static void composing_with_the_inverse_is_the_identity(void)
{
	for (int round = 0; round < 500; round++) {
		struct idmap map =
			random_map(tap_below(IDMAP_EXTENTS + 1), random_base());
		struct idmap inverted, both;

		idmap_invert(&map, &inverted);
		CHECK(idmap_compose(&map, &inverted, &both) == 0);
		for (size_t i = 0; i < both.n; i++)
			CHECK(both.extents[i].inner == both.extents[i].outer);
	}
}

static void the_split_that_a_parent_forces_is_made(void)
{
	struct idmap inner = {1, {{0, 0, 1001}}};
	struct idmap parent = {2, {{0, 1000, 1}, {1, 100000, 65536}}};
	struct idmap wanted = {2, {{0, 1000, 1}, {1, 100000, 1000}}}, both;

	CHECK(idmap_compose(&inner, &parent, &both) == 0);
	CHECK(idmap_equal(&both, &wanted));
}

static void what_the_reader_cannot_see_is_dropped(void)
{
	struct idmap inner = {1, {{0, 0, 100}}};
	struct idmap outer = {2, {{0, 5000, 50}, {50, ID_NONE, 50}}};
	struct idmap wanted = {1, {{0, 5000, 50}}}, both;

	CHECK(idmap_compose(&inner, &outer, &both) == 0);
	CHECK(idmap_equal(&both, &wanted));
	inner = (struct idmap){1, {{0, ID_NONE, 100}}};
	CHECK(idmap_compose(&inner, &outer, &both) == 0);
	CHECK(both.n == 0);
}

static void all_ids_compose(void)
{
	struct idmap all = {1, {{0, 0, ID_NONE}}}, both;

	CHECK(idmap_compose(&all, &all, &both) == 0);
	CHECK(idmap_equal(&all, &both));
}

/* 200 extents of 4 IDs, each cut in its middle by a map of 201: 400 parts. */
static void more_extents_than_a_map_can_hold_are_refused(void)
{
	struct idmap inner = {.n = 200}, outer = {.n = 201}, both = {.n = 7};

	for (uint32_t i = 0; i < 200; i++)
		inner.extents[i] = (struct extent){i * 4, (199 - i) * 4, 4};
	for (uint32_t i = 0; i < 201; i++)
		outer.extents[i] = (struct extent){i * 4 + 2, 10000 - i * 4, 4};
	outer.extents[200] = (struct extent){0, 20000, 2};
	CHECK(idmap_compose(&inner, &outer, &both) == ALGEBRA_E_EXTENTS);
	CHECK(both.n == 7);
}

static void equal_maps_may_differ_in_order(void)
{
	struct idmap a = {2, {{0, 5, 1}, {9, 9, 1}}}, b = {2, {{9, 9, 1}, {0, 5, 1}}};

	CHECK(idmap_equal(&a, &b));
	b.extents[0].outer = 8;
	CHECK(!idmap_equal(&a, &b));
	b.n = 1;
	CHECK(!idmap_equal(&a, &b));
}

int main(void)
{
	return TAP_RUN(TEST(equal_maps_may_differ_in_order),
		       TEST(inverting_twice_gives_the_same_map),
		       TEST(inverting_swaps_the_sides_and_sorts_by_the_new_inner),
		       TEST(neighbours_that_continue_stay_two_when_inverted),
		       TEST(composing_agrees_with_two_lookups),
		       TEST(a_composed_map_is_sorted_and_merged),
		       TEST(composing_with_the_inverse_is_the_identity),
		       TEST(the_split_that_a_parent_forces_is_made),
		       TEST(what_the_reader_cannot_see_is_dropped), TEST(all_ids_compose),
		       TEST(more_extents_than_a_map_can_hold_are_refused));
}

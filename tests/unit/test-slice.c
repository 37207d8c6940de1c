/* SPDX-License-Identifier: BSD-2-Clause */
#include "../../src/tool/slice.h"
#include "tap.h"

#include <string.h>

/* A sealed set of the N ranges START, COUNT that follow. */
static struct idset set_of(size_t n, const uint32_t *numbers)
{
	struct idset set = {0};

	for (size_t i = 0; i < n; i += 2)
		CHECK(idset_add(&set, numbers[i], numbers[i + 1]) == 0);
	idset_seal(&set);
	return set;
}

#define SET(...)                                                     \
	set_of(sizeof((uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t), \
	       (const uint32_t[]){__VA_ARGS__})

/* Where SIZE IDs of GRANTED go with USED in use; ID_NONE: nowhere. Clears both sets. */
static uint32_t choose(struct idset granted, struct idset used, uint32_t size,
		       uint32_t want)
{
	struct idset gaps = {0};
	uint32_t start = ID_NONE;

	CHECK(slice_gaps(&granted, &used, &gaps) == 0);
	if (slice_choose(&gaps, size, want, &start) != 0)
		CHECK(start == ID_NONE && slice_largest(&gaps) < size);
	idset_clear(&granted);
	idset_clear(&used);
	idset_clear(&gaps);
	return start;
}

static void slices_of_one_size_fill_a_grant_from_its_start(void)
{
	struct idset used = {0};

	for (uint32_t i = 0; i < 4; i++) {
		struct idset copy = {0};

		for (size_t k = 0; k < used.n; k++)
			CHECK(idset_add(&copy, used.ranges[k].start,
					used.ranges[k].count) == 0);
		CHECK(choose(SET(1000, 40), copy, 10, ID_NONE) == 1000 + 10 * i);
		CHECK(idset_add(&used, 1000 + 10 * i, 10) == 0);
		idset_seal(&used);
	}
	CHECK(choose(SET(1000, 40), used, 10, ID_NONE) == ID_NONE);
}

static void the_smallest_gap_that_fits_is_taken_and_of_equal_ones_the_lowest(void)
{
	/* gaps: 0 +30, 40 +12, 60 +10, 80 +10, 100 +9 */
	CHECK(choose(SET(0, 109), SET(30, 10, 52, 8, 70, 10, 90, 10), 10, ID_NONE) == 60);
	CHECK(choose(SET(0, 109), SET(30, 10, 52, 8, 70, 10, 90, 10), 9, ID_NONE) == 100);
	CHECK(choose(SET(0, 109), SET(30, 10, 52, 8, 70, 10, 90, 10), 13, ID_NONE) == 0);
	CHECK(choose(SET(0, 109), SET(30, 10, 52, 8, 70, 10, 90, 10), 31, ID_NONE) ==
	      ID_NONE);
}

static void what_is_wanted_is_taken_if_it_is_free(void)
{
	CHECK(choose(SET(100, 100), SET(110, 10), 10, 150) == 150);
	CHECK(choose(SET(100, 100), SET(110, 10), 10, 190) == 190);
	CHECK(choose(SET(100, 100), SET(110, 10), 10, 191) == 100);
	CHECK(choose(SET(100, 100), SET(110, 10), 10, 115) == 100);
	CHECK(choose(SET(100, 100), SET(110, 10), 10, 101) == 100);
	CHECK(choose(SET(100, 100), SET(110, 10), 10, ID_MAX) == 100);
	CHECK(choose(SET(100, 100), SET(110, 10), 10, 0) == 100);
}

static void use_across_and_outside_of_grants_is_cut_to_them(void)
{
	CHECK(choose(SET(100, 10, 200, 10), SET(0, 105, 107, 97), 2, ID_NONE) == 105);
	CHECK(choose(SET(100, 10, 200, 10), SET(0, 105, 107, 97), 3, ID_NONE) == 204);
	CHECK(choose(SET(100, 10, 200, 10), SET(0, 105, 107, 97), 7, ID_NONE) == ID_NONE);
	CHECK(choose(SET(100, 10), SET(0, ID_NONE), 1, ID_NONE) == ID_NONE);
	CHECK(choose(SET(100, 10), SET(110, 10), 10, ID_NONE) == 100);
}

static void the_whole_id_space_can_be_one_slice(void)
{
	CHECK(choose(SET(0, ID_NONE), (struct idset){0}, ID_NONE, ID_NONE) == 0);
	CHECK(choose(SET(0, ID_NONE), SET(ID_MAX, 1), ID_NONE, ID_NONE) == ID_NONE);
	CHECK(choose(SET(0, ID_NONE), SET(0, ID_MAX), 1, ID_NONE) == ID_MAX);
}

enum { UNIVERSE = 48 };

static void fill(struct idset *set, bool bits[UNIVERSE + 1])
{
	for (uint32_t n = tap_below(7); n > 0; n--) {
		uint32_t start = tap_below(UNIVERSE - 8), count = 1 + tap_below(8);

		CHECK(idset_add(set, start, count) == 0);
		memset(bits + start, 1, count);
	}
	idset_seal(set);
}

/* By the words of the header, ID by ID. */
static uint32_t expect(const bool granted[UNIVERSE + 1], const bool used[UNIVERSE + 1],
		       uint32_t size, uint32_t want)
{
	uint32_t best = ID_NONE, best_count = UNIVERSE + 1, count = 0;

	for (uint32_t id = 0; id <= UNIVERSE; id++) {
		if (granted[id] && !used[id]) {
			count++;
			if (want + size - 1 == id && count >= size)
				return want;
			continue;
		}
		if (count >= size && count < best_count) {
			best = id - count;
			best_count = count;
		}
		count = 0;
	}
	return best;
}

static void random_choices_agree_with_a_bitmap(void)
{
	for (int round = 0; round < 50000; round++) {
		bool granted_bits[UNIVERSE + 1] = {0}, used_bits[UNIVERSE + 1] = {0};
		struct idset granted = {0}, used = {0};
		uint32_t size = 1 + tap_below(10), want = tap_below(UNIVERSE);

		fill(&granted, granted_bits);
		fill(&used, used_bits);
		if (tap_below(2))
			want = ID_NONE;
		CHECK(choose(granted, used, size, want) ==
		      expect(granted_bits, used_bits, size, want));
	}
}

int main(void)
{
	return TAP_RUN(
		TEST(slices_of_one_size_fill_a_grant_from_its_start),
		TEST(the_smallest_gap_that_fits_is_taken_and_of_equal_ones_the_lowest),
		TEST(what_is_wanted_is_taken_if_it_is_free),
		TEST(use_across_and_outside_of_grants_is_cut_to_them),
		TEST(the_whole_id_space_can_be_one_slice),
		TEST(random_choices_agree_with_a_bitmap));
}

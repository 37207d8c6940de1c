/* SPDX-License-Identifier: BSD-2-Clause */
#include "../../src/trusted/idset.h"
#include "tap.h"

#include <errno.h>
#include <string.h>

static void the_empty_set_covers_nothing(void)
{
	struct idset set = {0};
	struct range gap;

	idset_seal(&set);
	CHECK(!idset_covers(&set, 5, 3, &gap) && gap.start == 5 && gap.count == 3);
	CHECK(!idset_covers(&set, 0, ID_NONE, NULL));
}

static void touching_and_overlapping_ranges_become_one(void)
{
	struct idset set = {0};

	CHECK(idset_add(&set, 30, 10) == 0 && idset_add(&set, 10, 10) == 0);
	CHECK(idset_add(&set, 20, 10) == 0 && idset_add(&set, 15, 2) == 0);
	CHECK(idset_add(&set, 50, 1) == 0);
	idset_seal(&set);
	CHECK(set.n == 2 && set.ranges[0].start == 10 && set.ranges[0].count == 30);
	CHECK(idset_covers(&set, 10, 30, NULL) && idset_covers(&set, 19, 2, NULL));
	CHECK(!idset_covers(&set, 10, 31, NULL) && !idset_covers(&set, 9, 2, NULL));
	idset_clear(&set);
	CHECK(set.n == 0 && !set.ranges);
}

static void a_gap_is_the_first_that_is_missing_cut_to_the_question(void)
{
	struct idset set = {0};
	struct range gap;

	CHECK(idset_add(&set, 10, 10) == 0 && idset_add(&set, 30, 10) == 0);
	idset_seal(&set);
	CHECK(!idset_covers(&set, 0, 100, &gap) && gap.start == 0 && gap.count == 10);
	CHECK(!idset_covers(&set, 15, 100, &gap) && gap.start == 20 && gap.count == 10);
	CHECK(!idset_covers(&set, 15, 10, &gap) && gap.start == 20 && gap.count == 5);
	CHECK(!idset_covers(&set, 35, 10, &gap) && gap.start == 40 && gap.count == 5);
	CHECK(!idset_covers(&set, 22, 3, &gap) && gap.start == 22 && gap.count == 3);
	idset_clear(&set);
}

static void the_last_id_is_covered_without_a_wrap(void)
{
	struct idset set = {0};
	struct range gap;

	CHECK(idset_add(&set, 4294967290U, 5) == 0 && idset_add(&set, 0, 5) == 0);
	idset_seal(&set);
	CHECK(idset_covers(&set, ID_MAX, 1, NULL) &&
	      idset_covers(&set, 4294967290U, 5, NULL));
	CHECK(!idset_covers(&set, 4294967289U, 6, &gap) && gap.start == 4294967289U);
	CHECK(!idset_covers(&set, 0, ID_NONE, &gap) && gap.start == 5);
	idset_clear(&set);
	CHECK(idset_add(&set, 0, ID_NONE) == 0);
	idset_seal(&set);
	CHECK(idset_covers(&set, 0, ID_NONE, NULL));
	idset_clear(&set);
}

/* Universe of 64 IDs: the set against an array of bits. */
/* The list is doubled where it is full: to more than there can be. */
static void a_set_that_finds_no_memory_stays_as_it_is(void)
{
	struct idset set = {.n = SIZE_MAX / 4, .room = SIZE_MAX / 4};

#ifdef __SANITIZE_ADDRESS__
	return; /* it ends a program that asks for so much */
#endif
	CHECK(idset_add(&set, 5, 3) == -ENOMEM);
	CHECK(!set.ranges && set.n == SIZE_MAX / 4 && set.room == SIZE_MAX / 4);
}

static void random_sets_agree_with_a_bitmap(void)
{
	for (int round = 0; round < 20000; round++) {
		struct idset set = {0};
		bool bit[80] = {0};
		uint32_t n = tap_below(8);

		for (uint32_t i = 0; i < n; i++) {
			uint32_t start = tap_below(64), count = 1 + tap_below(16);

			CHECK(idset_add(&set, start, count) == 0);
			memset(bit + start, 1, count);
		}
		idset_seal(&set);
		for (size_t i = 1; i < set.n; i++)
			CHECK(set.ranges[i - 1].start + set.ranges[i - 1].count <
			      set.ranges[i].start);
		for (int ask = 0; ask < 20; ask++) {
			uint32_t start = tap_below(64), count = 1 + tap_below(16),
				 i = start;
			struct range gap = {0, 0};
			uint32_t missing = 0;
			bool covered;

			while (i < start + count && bit[i])
				i++;
			covered = i == start + count;
			while (i + missing < start + count && !bit[i + missing])
				missing++;
			CHECK(idset_covers(&set, start, count, &gap) == covered);
			CHECK(covered || (gap.start == i && gap.count == missing));
		}
		idset_clear(&set);
	}
}

int main(void)
{
	return TAP_RUN(TEST(the_empty_set_covers_nothing),
		       TEST(touching_and_overlapping_ranges_become_one),
		       TEST(a_gap_is_the_first_that_is_missing_cut_to_the_question),
		       TEST(the_last_id_is_covered_without_a_wrap),
		       TEST(a_set_that_finds_no_memory_stays_as_it_is),
		       TEST(random_sets_agree_with_a_bitmap));
}

/* SPDX-License-Identifier: BSD-2-Clause */
#include "../../src/trusted/extent.h"
#include "tap.h"

static void the_whole_id_space_is_an_extent(void)
{
	struct extent e;

	CHECK(extent_make(0, 0, 4294967295U, &e) == 0 && e.count == 4294967295U);
	CHECK(extent_make(4294967294U, 0, 1, &e) == 0 && e.inner == ID_MAX);
	CHECK(extent_make(0, 4294967294U, 1, &e) == 0 && e.outer == ID_MAX);
}

static void a_count_of_zero_is_refused(void)
{
	struct extent e = {1, 2, 3};

	CHECK(extent_make(0, 0, 0, &e) == EXTENT_E_COUNT);
	CHECK(extent_make(5, 4294967295U, 0, &e) == EXTENT_E_COUNT);
	CHECK(e.inner == 1 && e.outer == 2 && e.count == 3);
}

static void neither_side_may_pass_the_largest_id(void)
{
	struct extent e = {1, 2, 3};

	CHECK(extent_make(1, 1, 4294967295U, &e) == EXTENT_E_INNER);
	CHECK(extent_make(0, 1, 4294967295U, &e) == EXTENT_E_OUTER);
	CHECK(extent_make(4294967295U, 0, 1, &e) == EXTENT_E_INNER);
	CHECK(extent_make(0, 4294967295U, 1, &e) == EXTENT_E_OUTER);
	CHECK(extent_make(4294967294U, 0, 2, &e) == EXTENT_E_INNER);
	CHECK(extent_make(0, 4294967290U, 6, &e) == EXTENT_E_OUTER);
	CHECK(e.count == 3);
}

static void an_underflow_in_32_bits_is_no_way_around(void)
{
	struct extent e;

	CHECK(extent_make(4294967295U, 4294967295U, 10, &e) == EXTENT_E_INNER);
	CHECK(extent_make(10, 4294967290U, 4294967290U, &e) != 0);
}

static void neighbours_continue_only_on_both_sides(void)
{
	struct extent a = {0, 100, 10};

	CHECK(extent_continues(&a, &(struct extent){10, 110, 5}));
	CHECK(!extent_continues(&a, &(struct extent){10, 111, 5}));
	CHECK(!extent_continues(&a, &(struct extent){11, 110, 5}));
	CHECK(!extent_continues(&(struct extent){10, 110, 5}, &a));
}

int main(void)
{
	return TAP_RUN(TEST(the_whole_id_space_is_an_extent),
		       TEST(a_count_of_zero_is_refused),
		       TEST(neither_side_may_pass_the_largest_id),
		       TEST(an_underflow_in_32_bits_is_no_way_around),
		       TEST(neighbours_continue_only_on_both_sides));
}

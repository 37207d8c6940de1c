/* SPDX-License-Identifier: BSD-2-Clause */
#include "tool/overlap.h"

#include "unit/tap.h"

#include <string.h>

static bool same(const struct overlap *overlap, uint32_t first, uint32_t second,
		 uint32_t start, uint32_t count)
{
	return overlap->first == first && overlap->second == second &&
	       overlap->shared.start == start && overlap->shared.count == count;
}

static void nothing_overlaps_nothing(void)
{
	struct overlaps overlaps = {.n = 1};

	CHECK(overlap_find(NULL, 0, &overlaps) == 0 && overlaps.n == 0);
}

static void what_meets_is_listed_by_members_with_the_shared_range(void)
{
	struct overlap_span spans[] = {
		{{20, 5}, 0, 2}, {{15, 15}, 0, 1}, {{10, 10}, 0, 0}};
	struct overlaps overlaps = {0};

	CHECK(overlap_find(spans, 3, &overlaps) == 0 && overlaps.n == 2);
	CHECK(same(&overlaps.list[0], 0, 1, 15, 5));
	CHECK(same(&overlaps.list[1], 1, 2, 20, 5));
	overlaps_clear(&overlaps);
}

static void what_only_touches_does_not_meet(void)
{
	struct overlap_span spans[] = {{{0, 10}, 0, 0},
				       {{10, 10}, 0, 1},
				       {{ID_MAX, 1}, 0, 2},
				       {{20, ID_MAX - 20}, 0, 3}};
	struct overlaps overlaps = {0};

	CHECK(overlap_find(spans, 4, &overlaps) == 0 && overlaps.n == 0);
	overlaps_clear(&overlaps);
}

static void ranges_of_one_member_or_of_two_groups_are_not_compared(void)
{
	struct overlap_span spans[] = {
		{{0, 10}, 0, 0}, {{5, 10}, 0, 0}, {{0, 10}, 1, 1}, {{0, 10}, 2, 2}};
	struct overlaps overlaps = {0};

	CHECK(overlap_find(spans, 4, &overlaps) == 0 && overlaps.n == 0);
	overlaps_clear(&overlaps);
}

static void shared_ranges_of_two_members_that_touch_are_one(void)
{
	struct overlap_span spans[] = {
		{{0, 10}, 0, 0}, {{10, 10}, 0, 0}, {{30, 1}, 0, 0}, {{5, 100}, 0, 1}};
	struct overlaps overlaps = {0};

	CHECK(overlap_find(spans, 4, &overlaps) == 0 && overlaps.n == 2);
	CHECK(same(&overlaps.list[0], 0, 1, 5, 15));
	CHECK(same(&overlaps.list[1], 0, 1, 30, 1));
	overlaps_clear(&overlaps);
}

static void the_whole_space_and_its_last_id_meet(void)
{
	struct overlap_span spans[] = {{{0, ID_NONE}, 7, 9}, {{ID_MAX, 1}, 7, 3}};
	struct overlaps overlaps = {0};

	CHECK(overlap_find(spans, 2, &overlaps) == 0 && overlaps.n == 1);
	CHECK(same(&overlaps.list[0], 3, 9, ID_MAX, 1));
	overlaps_clear(&overlaps);
}

/* The same by looking at each ID of a small space. */
#define IDS     64U
#define MEMBERS 6U
#define GROUPS  3U

static void fill(const struct overlap_span *spans, size_t n,
		 bool has[GROUPS][MEMBERS][IDS])
{
	for (size_t i = 0; i < n; i++)
		for (uint32_t k = 0; k < spans[i].range.count; k++)
			has[spans[i].group][spans[i].member][spans[i].range.start + k] =
				true;
}

/* Members belong to one group each, as namespaces to one parent. */
static void random_ranges_overlap_as_their_ids_say(void)
{
	for (int round = 0; round < 5000; round++) {
		bool has[GROUPS][MEMBERS][IDS] = {0}, shared[MEMBERS][MEMBERS][IDS] = {0};
		struct overlap_span spans[20];
		size_t n = tap_below(20);
		struct overlaps overlaps = {0};

		for (size_t i = 0; i < n; i++) {
			uint32_t start = tap_below(IDS - 1), member = tap_below(MEMBERS);

			spans[i] =
				(struct overlap_span){{start, 1 + tap_below(IDS - start)},
						      member % GROUPS,
						      member};
		}
		fill(spans, n, has);
		CHECK(overlap_find(spans, n, &overlaps) == 0);
		for (size_t i = 0; i < overlaps.n; i++) {
			const struct overlap *o = &overlaps.list[i];

			CHECK(o->first < o->second);
			CHECK(i == 0 || o[-1].first < o->first ||
			      (o[-1].first == o->first && o[-1].second < o->second) ||
			      (o[-1].first == o->first && o[-1].second == o->second &&
			       o[-1].shared.start + o[-1].shared.count <
				       o->shared.start));
			for (uint32_t k = 0; k < o->shared.count; k++)
				shared[o->first][o->second][o->shared.start + k] = true;
		}
		for (uint32_t a = 0; a < MEMBERS; a++)
			for (uint32_t b = a + 1; b < MEMBERS; b++)
				for (uint32_t id = 0; id < IDS; id++)
					CHECK(shared[a][b][id] ==
					      (a % GROUPS == b % GROUPS &&
					       has[a % GROUPS][a][id] &&
					       has[b % GROUPS][b][id]));
		overlaps_clear(&overlaps);
	}
}

int main(void)
{
	return TAP_RUN(TEST(nothing_overlaps_nothing),
		       TEST(what_meets_is_listed_by_members_with_the_shared_range),
		       TEST(what_only_touches_does_not_meet),
		       TEST(ranges_of_one_member_or_of_two_groups_are_not_compared),
		       TEST(shared_ranges_of_two_members_that_touch_are_one),
		       TEST(the_whole_space_and_its_last_id_meet),
		       TEST(random_ranges_overlap_as_their_ids_say));
}

/* SPDX-License-Identifier: BSD-2-Clause */
#include "../../src/trusted/grant.h"
#include "tap.h"

#include <string.h>

static struct grant_answer answer;

static int ask(const char *text, uint32_t own, const struct idmap *map)
{
	const struct subid_owner alice = {"alice", 1001};
	struct idset set = {0};
	int r;

	CHECK(grant_collect(text, strlen(text), &alice, &set) == 0);
	r = grant_check(&set, own, map, &answer);
	idset_clear(&set);
	return r;
}

static void a_range_inside_a_line_is_allowed(void)
{
	struct idmap map = {1, {{0, 100, 10}}};

	CHECK(ask("alice:100:10\n", 1001, &map) == 0 && answer.by_grant);
	CHECK(ask("alice:99:12\n", 1001, &map) == 0);
}

static void lines_stitch_together(void)
{
	struct idmap map = {1, {{0, 100, 30}}};

	CHECK(ask("alice:120:10\nalice:100:10\n1001:110:10\n", 1001, &map) == 0);
	CHECK(ask("alice:100:20\nalice:110:20\n", 1001, &map) == 0);
	CHECK(ask("alice:100:10\nalice:111:19\n", 1001, &map) == GRANT_E_OUTER);
	CHECK(answer.gap.start == 110 && answer.gap.count == 1);
}

static void a_range_that_sticks_out_is_refused_with_its_place(void)
{
	struct idmap map = {2, {{0, 100, 10}, {10, 200, 11}}};

	CHECK(ask("alice:100:10\nalice:200:10\n", 1001, &map) == GRANT_E_OUTER);
	CHECK(answer.index == 1 && answer.gap.start == 210 && answer.gap.count == 1);
}

static void the_own_id_alone_needs_no_line(void)
{
	struct idmap one = {1, {{0, 1001, 1}}}, two = {1, {{0, 1001, 2}}};

	CHECK(ask("", 1001, &one) == 0 && !answer.by_grant);
	CHECK(ask("", 1002, &one) == GRANT_E_OUTER);
	CHECK(ask("", 1001, &two) == GRANT_E_OUTER);
}

static void an_own_id_with_a_line_counts_as_granted(void)
{
	struct idmap one = {1, {{0, 1001, 1}}};

	CHECK(ask("alice:1001:1\n", 1001, &one) == 0 && answer.by_grant);
}

static void own_id_and_grant_together_count_as_granted(void)
{
	struct idmap map = {2, {{0, 1001, 1}, {1, 100, 5}}};

	CHECK(ask("alice:100:5\n", 1001, &map) == 0 && answer.by_grant);
}

static void a_count_of_zero_grants_nothing(void)
{
	struct idmap map = {1, {{0, 0, 1}}};

	CHECK(ask("alice:0:0\n", 1001, &map) == GRANT_E_OUTER);
}

/* The decision is exactly "every outer ID is in the set, or the extent is the own ID alone". */
static void random_decisions_agree_with_a_bitmap(void)
{
	for (int round = 0; round < 50000; round++) {
		bool granted[64] = {0}, expected = true;
		struct idmap map = {.n = 1 + tap_below(3)};
		uint32_t own = tap_below(32);
		char text[128] = "";
		size_t len = 0;

		for (uint32_t i = tap_below(4); i > 0; i--) {
			uint32_t start = tap_below(32), count = tap_below(12);

			len += (size_t)snprintf(text + len, sizeof(text) - len,
						"alice:%u:%u\n", start, count);
			memset(granted + start, 1, count);
		}
		for (size_t i = 0; i < map.n; i++) {
			struct extent *e = &map.extents[i];
			bool all = true;

			*e = (struct extent){(uint32_t)i * 20, tap_below(32),
					     1 + tap_below(6)};
			for (uint32_t k = 0; k < e->count; k++)
				all &= granted[e->outer + k];
			expected &= all || (e->count == 1 && e->outer == own);
		}
		CHECK((ask(text, own, &map) == 0) == expected);
	}
}

int main(void)
{
	return TAP_RUN(TEST(a_range_inside_a_line_is_allowed),
		       TEST(lines_stitch_together),
		       TEST(a_range_that_sticks_out_is_refused_with_its_place),
		       TEST(the_own_id_alone_needs_no_line),
		       TEST(an_own_id_with_a_line_counts_as_granted),
		       TEST(own_id_and_grant_together_count_as_granted),
		       TEST(a_count_of_zero_grants_nothing),
		       TEST(random_decisions_agree_with_a_bitmap));
}

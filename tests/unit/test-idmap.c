/* SPDX-License-Identifier: BSD-2-Clause */
#include "../../src/trusted/idmap.h"
#include "../../src/trusted/live.h"
#include "tap.h"

#include <errno.h>
#include <string.h>

#define PAGE 4096U

static struct idmap map;
static struct idmap_refusal why;

static bool text_is(const struct idmap *m, const char *text)
{
	char got[IDMAP_TEXT];
	size_t len = idmap_format(m, got);

	return len == strlen(text) && memcmp(got, text, len) == 0;
}

static void a_map_keeps_the_order_it_was_given(void)
{
	struct extent list[] = {{5, 50, 1}, {0, 100000, 5}, {3000000000U, 7, 1}};

	CHECK(idmap_make(list, 3, PAGE, &map, &why) == 0);
	CHECK(text_is(&map, "5 50 1\n0 100000 5\n3000000000 7 1"));
}

static void neighbours_are_left_alone_while_all_fits(void)
{
	struct extent list[] = {{0, 100, 10}, {10, 110, 10}};

	CHECK(idmap_make(list, 2, PAGE, &map, &why) == 0 && map.n == 2);
}

static void overlap_is_refused_and_both_extents_named(void)
{
	struct extent inner[] = {{0, 100, 10}, {50, 300, 1}, {9, 200, 1}};
	struct extent outer[] = {{0, 100, 10}, {50, 300, 1}, {20, 109, 5}};

	CHECK(idmap_make(inner, 3, PAGE, &map, &why) == IDMAP_E_INNER);
	CHECK(why.first.outer == 100 && why.second.outer == 200);
	CHECK(idmap_make(outer, 3, PAGE, &map, &why) == IDMAP_E_OUTER);
	CHECK(why.first.inner == 0 && why.second.inner == 20);
}

static void same_outer_twice_is_refused(void)
{
	struct extent inner[] = {{1000, 1001, 1}, {1000, 1002, 1}};
	struct extent outer[] = {{1001, 1000, 1}, {1002, 1000, 1}};

	CHECK(idmap_make(inner, 2, PAGE, &map, &why) == IDMAP_E_INNER);
	CHECK(idmap_make(outer, 2, PAGE, &map, &why) == IDMAP_E_OUTER);
}

static void touching_extents_do_not_overlap(void)
{
	struct extent list[] = {{0, 10, 10}, {10, 0, 10}};

	CHECK(idmap_make(list, 2, PAGE, &map, &why) == 0);
}

static void three_hundred_and_forty_extents_fit_and_one_more_does_not(void)
{
	struct extent list[341];

	for (uint32_t i = 0; i < 341; i++)
		list[i] = (struct extent){i, 2 * i, 1};
	CHECK(idmap_make(list, 340, PAGE, &map, &why) == 0 && map.n == 340);
	CHECK(idmap_make(list, 341, PAGE, &map, &why) == IDMAP_E_EXTENTS &&
	      why.extents == 341);
}

static void mergeable_over_limit_is_merged_and_accepted(void)
{
	struct extent list[1000];

	for (uint32_t i = 0; i < 1000; i++) /* in no order: 7 and 1000 share no divisor */
		list[i] = (struct extent){i * 7 % 1000, 100000 + i * 7 % 1000, 1};
	CHECK(idmap_make(list, 1000, PAGE, &map, &why) == 0);
	CHECK(text_is(&map, "0 100000 1000"));
}

/* Each line of 6 + 1 + 10 + 1 + 1 bytes and a newline: 20 a line, 19 for the last. */
static size_t long_list(struct extent *list, size_t n, bool mergeable)
{
	for (uint32_t i = 0; i < n; i++)
		list[i] = (struct extent){100000 + i,
					  4000000000U + (mergeable ? i : 2 * i), 1};
	return 20 * n - 1;
}

static void a_text_of_a_page_is_refused_and_one_byte_less_is_not(void)
{
	struct extent list[340];
	size_t bytes = long_list(list, 204, false);

	CHECK(bytes == 4079);
	CHECK(idmap_make(list, 204, bytes + 1, &map, &why) == 0);
	CHECK(idmap_make(list, 204, bytes, &map, &why) == IDMAP_E_BYTES);
	CHECK(why.bytes == bytes && why.fit == 203);
	CHECK(long_list(list, 205, false) == 4099);
	CHECK(idmap_make(list, 205, PAGE, &map, &why) == IDMAP_E_BYTES);
	CHECK(why.bytes == 4099 && why.fit == 204);
}

static void a_text_too_long_is_merged_if_that_makes_it_fit(void)
{
	struct extent list[340];

	long_list(list, 340, true);
	CHECK(idmap_make(list, 340, PAGE, &map, &why) == 0);
	CHECK(text_is(&map, "100000 4000000000 340"));
}

static void the_longest_map_has_room_for_its_text(void)
{
	char text[IDMAP_TEXT];

	map.n = IDMAP_EXTENTS;
	for (uint32_t i = 0; i < IDMAP_EXTENTS; i++)
		map.extents[i] =
			(struct extent){4000000000U + i, 4000000000U, 1000000000U};
	CHECK(idmap_format(&map, text) == IDMAP_TEXT - 1);
}

static void nothing_has_no_text(void)
{
	char text[IDMAP_TEXT];

	map.n = 0;
	CHECK(idmap_format(&map, text) == 0);
}

static int parse(const char *text)
{
	return live_parse(text, strlen(text), &map);
}

static void what_the_kernel_shows_is_read_back(void)
{
	CHECK(parse("         0       1000          1\n         1     100000      "
		    "65536\n") == 0);
	CHECK(text_is(&map, "0 1000 1\n1 100000 65536"));
	CHECK(parse("         0          0 4294967295\n") == 0 &&
	      map.extents[0].count == ID_NONE);
	CHECK(parse("") == 0 && map.n == 0);
}

static void an_outer_id_the_reader_lacks_is_kept_as_none(void)
{
	CHECK(parse("         0 4294967295 4294967295\n") == 0);
	CHECK(map.n == 1 && map.extents[0].outer == ID_NONE);
}

static void anything_else_is_no_map(void)
{
	static const char *const bad[] = {"0 1000\n",
					  "0 1000 1",
					  "0 1000 1 2\n",
					  "a b c\n",
					  "0 1000 0\n",
					  "\n",
					  "0 1000 1\n\n",
					  "-1 0 1\n",
					  "4294967296 0 1\n",
					  "1 1 4294967295\n",
					  "0",
					  "0 x 1\n",
					  "0 1000 ",
					  "0 4294967290 10\n"};

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		CHECK(parse(bad[i]) == -EBADMSG);
}

static void more_lines_than_a_map_can_have_are_no_map(void)
{
	char text[341 * 8 + 1], *at = text;

	for (int i = 0; i < 341; i++)
		at += sprintf(at, "%d %d 1\n", i % 10, i % 10);
	CHECK(live_parse(text, (size_t)(at - text), &map) == -EBADMSG);
	CHECK(live_parse(text, (size_t)(at - text) - 6, &map) == 0 && map.n == 340);
}

/* Small universe: does any pair share an ID? And does merging keep every ID's answer? */
static void random_lists_agree_with_a_pairwise_check(void)
{
	for (int round = 0; round < 50000; round++) {
		struct extent list[8], merged[8];
		uint32_t answer[64], again[64];
		size_t n = 1 + tap_below(8), m;
		bool inner = false, outer = false;
		int r;

		for (size_t i = 0; i < n; i++) {
			list[i].inner = tap_below(40);
			list[i].outer = tap_below(40);
			list[i].count = 1 + tap_below(round % 2 ? 2 : 8);
			for (size_t j = 0; j < i; j++) {
				inner |= list[j].inner < list[i].inner + list[i].count &&
					 list[i].inner < list[j].inner + list[j].count;
				outer |= list[j].outer < list[i].outer + list[i].count &&
					 list[i].outer < list[j].outer + list[j].count;
			}
		}
		r = idmap_make(list, n, PAGE, &map, &why);
		CHECK((r == IDMAP_E_INNER) == inner);
		CHECK((r == IDMAP_E_OUTER) == (outer && !inner));
		if (r != 0)
			continue;
		memset(answer, 0xff, sizeof(answer));
		memset(again, 0xff, sizeof(again));
		memcpy(merged, list, sizeof(merged));
		m = extents_merge(merged, n);
		for (size_t i = 0; i < n; i++)
			for (uint32_t k = 0; k < list[i].count; k++)
				answer[list[i].inner + k] = list[i].outer + k;
		for (size_t i = 0; i < m; i++)
			for (uint32_t k = 0; k < merged[i].count; k++)
				again[merged[i].inner + k] = merged[i].outer + k;
		CHECK(memcmp(answer, again, sizeof(answer)) == 0);
		for (size_t i = 1; i < m; i++)
			CHECK(merged[i - 1].inner < merged[i].inner &&
			      !extent_continues(&merged[i - 1], &merged[i]));
	}
}

int main(void)
{
	return TAP_RUN(
		TEST(a_map_keeps_the_order_it_was_given),
		TEST(neighbours_are_left_alone_while_all_fits),
		TEST(overlap_is_refused_and_both_extents_named),
		TEST(same_outer_twice_is_refused), TEST(touching_extents_do_not_overlap),
		TEST(three_hundred_and_forty_extents_fit_and_one_more_does_not),
		TEST(mergeable_over_limit_is_merged_and_accepted),
		TEST(a_text_of_a_page_is_refused_and_one_byte_less_is_not),
		TEST(a_text_too_long_is_merged_if_that_makes_it_fit),
		TEST(the_longest_map_has_room_for_its_text), TEST(nothing_has_no_text),
		TEST(what_the_kernel_shows_is_read_back),
		TEST(an_outer_id_the_reader_lacks_is_kept_as_none),
		TEST(anything_else_is_no_map),
		TEST(more_lines_than_a_map_can_have_are_no_map),
		TEST(random_lists_agree_with_a_pairwise_check));
}

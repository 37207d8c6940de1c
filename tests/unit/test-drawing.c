/* SPDX-License-Identifier: BSD-2-Clause */
#include "tool/drawing.h"

#include "unit/tap.h"

#include <string.h>

/* What is drawn on COLUMNS columns; good until the next call. */
static const char *text_of(const struct drawing *drawing, unsigned columns)
{
	static char text[4096];
	FILE *out = fmemopen(text, sizeof(text), "w");

	CHECK(out && drawing_text(drawing, columns, false, out) == 0);
	fclose(out);
	return text;
}

/* 16 IDs are as wide as 4 digits of 2 and the first, so each half is 5 + 1 of 12. */
static void a_range_lies_where_its_ids_are(void)
{
	const struct range all = {0, ID_NONE}, whole = {100, 32}, half = {116, 16};
	const struct drawing_row rows[] = {{"all", &all, 1},
					   {"whole", &whole, 1},
					   {"half", &half, 1},
					   {"none", NULL, 0}};
	const struct drawing drawing = {"IDs", rows, 4};

	CHECK(strcmp(text_of(&drawing, 6 + 24), "IDs   100         116\n"
						"all   ########################\n"
						"whole ########################\n"
						"half              ############\n"
						"none  \n") == 0);
}

static void a_gap_is_narrow_however_many_ids_it_has(void)
{
	const struct range low = {7, 1}, high = {4000000000, 2};
	const struct drawing_row rows[] = {{"low", &low, 1}, {"high", &high, 1}};
	const struct drawing drawing = {"", rows, 2};

	/* 2 + 1 + 3 */
	CHECK(strcmp(text_of(&drawing, 5 + 24), "     7           4000000000\n"
						"low  ########\n"
						"high             ############\n") == 0);
}

static void what_fills_a_part_of_a_column_is_drawn_as_such(void)
{
	struct range ranges[100];
	struct drawing_row row = {"many", ranges, 100};
	const struct drawing drawing = {"", &row, 1};

	for (uint32_t i = 0; i < 100; i++)
		ranges[i] = (struct range){1000 + 2 * i, 1};
	CHECK(strstr(text_of(&drawing, 5 + 20), "\nmany ++++++++++++++++++++\n"));
}

static void a_number_without_room_goes_to_the_next_line_or_to_the_left(void)
{
	const struct range a = {1000007, 1}, b = {1000008, 1}, c = {4000000000, 1};
	const struct drawing_row rows[] = {{"a", &a, 1}, {"b", &b, 1}, {"c", &c, 1}};
	const struct drawing drawing = {"IDs", rows, 3};

	/* 2 + 2 + 1 + 2 */
	CHECK(strcmp(text_of(&drawing, 4 + 21), "IDs 1000007    4000000000\n"
						"          1000008\n"
						"a   ######\n"
						"b         ######\n"
						"c                  ######\n") == 0);
}

static void labels_take_half_of_a_narrow_terminal_at_most(void)
{
	const struct range range = {7, 1};
	const struct drawing_row row = {"a label of 23 letters..", &range, 1};
	const struct drawing drawing = {"IDs", &row, 1};

	CHECK(strcmp(text_of(&drawing, 30), "IDs             7\n"
					    "a label of 23 l ##############\n") == 0);
	CHECK(strcmp(text_of(&drawing, 1), "IDs          7\n"
					   "a label of 2 ###########\n") == 0);
}

static void nothing_but_all_ids_fills_the_row(void)
{
	const struct range all = {0, ID_NONE};
	const struct drawing_row rows[] = {{"all", &all, 1}, {"none", NULL, 0}};
	const struct drawing drawing = {"", rows, 2};

	CHECK(strcmp(text_of(&drawing, 25),
		     "     0\nall  ####################\nnone \n") == 0);
}

static void svg_shows_labels_as_text_and_no_markup(void)
{
	const struct range range = {100, 1};
	const struct drawing_row row = {"<b>&\"", &range, 1};
	const struct drawing drawings[] = {{"uid", &row, 1}, {"gid", &row, 1}};
	static char text[8192];
	FILE *out = fmemopen(text, sizeof(text), "w");

	CHECK(out && drawing_svg(drawings, 2, out) == 0);
	fclose(out);
	CHECK(strstr(text, ">&lt;b&gt;&amp;\"</text>") && !strstr(text, "<b>"));
	CHECK(strstr(text, "<title>100-100 (1)</title>"));
	CHECK(strncmp(text, "<svg ", 5) == 0 &&
	      strcmp(text + strlen(text) - 7, "</svg>\n") == 0);
}

int main(void)
{
	return TAP_RUN(TEST(a_range_lies_where_its_ids_are),
		       TEST(a_gap_is_narrow_however_many_ids_it_has),
		       TEST(what_fills_a_part_of_a_column_is_drawn_as_such),
		       TEST(a_number_without_room_goes_to_the_next_line_or_to_the_left),
		       TEST(labels_take_half_of_a_narrow_terminal_at_most),
		       TEST(nothing_but_all_ids_fills_the_row),
		       TEST(svg_shows_labels_as_text_and_no_markup));
}

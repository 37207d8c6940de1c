/* SPDX-License-Identifier: BSD-2-Clause */
#include "tap.h"
#include "tool/mapspec.h"

#include <string.h>

static bool reads(const char *text, enum mapspec_sign sign, bool uid, bool gid,
		  struct extent extent)
{
	struct mapspec spec;
	struct mapspec_refusal why;

	return mapspec_parse(text, &spec, &why) == 0 && spec.sign == sign &&
	       spec.applies[ID_UID] == uid && spec.applies[ID_GID] == gid &&
	       memcmp(&spec.extent, &extent, sizeof(extent)) == 0;
}

/* Is TEXT refused with ERROR at OFFSET, in FIELD, and do all of WORDS stand in the message? */
static bool refuses(const char *text, int error, const char *field, size_t offset,
		    const char *words)
{
	struct mapspec spec;
	struct mapspec_refusal why;
	char *message;
	bool right;

	if (mapspec_parse(text, &spec, &why) != error || why.offset != offset ||
	    (field ? !why.field || strcmp(why.field, field) != 0 : why.field != NULL))
		return false;
	message = mapspec_explain(text, error, &why);
	right = message && strstr(message, words) && !strchr(message, '\n');
	if (!right)
		printf("# %s\n", message ? message : "no message");
	free(message);
	return right;
}

static void signs_and_letters_are_read(void)
{
	struct extent e = {1, 2, 3}, removed = {1, 0, 3};

	CHECK(reads("1:2:3", MAPSPEC_BASE, true, true, e));
	CHECK(reads("b:1:2:3", MAPSPEC_BASE, true, true, e));
	CHECK(reads("u:1:2:3", MAPSPEC_BASE, true, false, e));
	CHECK(reads("g:1:2:3", MAPSPEC_BASE, false, true, e));
	CHECK(reads("+1:2:3", MAPSPEC_OVERLAY, true, true, e));
	CHECK(reads("+u:1:2:3", MAPSPEC_OVERLAY, true, false, e));
	CHECK(reads("-1:3", MAPSPEC_REMOVE, true, true, removed));
	CHECK(reads("-g:1:3", MAPSPEC_REMOVE, false, true, removed));
	CHECK(reads("-b:1:3", MAPSPEC_REMOVE, true, true, removed));
}

static void the_whole_id_space_is_read_and_one_more_is_not(void)
{
	CHECK(reads("0:0:4294967295", MAPSPEC_BASE, true, true,
		    (struct extent){0, 0, 4294967295U}));
	CHECK(reads("-0:4294967295", MAPSPEC_REMOVE, true, true,
		    (struct extent){0, 0, 4294967295U}));
	CHECK(reads("4294967294:4294967294:1", MAPSPEC_BASE, true, true,
		    (struct extent){4294967294U, 4294967294U, 1}));
	CHECK(refuses(
		"1:0:4294967295", MAPSPEC_E_INNER, "inner", 0,
		"goes past 4294967294, the largest ID; the largest count from 1 on is "
		"4294967294"));
	CHECK(refuses("+u:0:1:4294967295", MAPSPEC_E_OUTER, "outer", 5, "4294967294"));
	CHECK(refuses("4294967295:0:1", MAPSPEC_E_INNER, "inner", 0, "4294967294"));
	CHECK(refuses("-5:4294967295", MAPSPEC_E_INNER, "inner", 1, "is 4294967290"));
}

static void truncation_each_number_that_others_cut_is_refused_with_the_bound(void)
{
	CHECK(refuses(
		"4294967296:100000:1", MAPSPEC_E_NUMBER, "inner", 0,
		"inner '4294967296' is over 4294967295; IDs go from 0 to 4294967294"));
	CHECK(refuses("18446744073709551616:100000:1", MAPSPEC_E_NUMBER, "inner", 0,
		      "'18446744073709551616' is over"));
	CHECK(refuses("u:-1:100000:1", MAPSPEC_E_NUMBER, "inner", 2,
		      "'-1' is not a number"));
	CHECK(refuses("+-1:100000:1", MAPSPEC_E_NUMBER, "inner", 1, "'-1' is not"));
	CHECK(refuses("++1:100000:1", MAPSPEC_E_NUMBER, "inner", 1, "'+1' is not"));
	CHECK(refuses("0x10:100000:1", MAPSPEC_E_NUMBER, "inner", 1, "'0x10' is not"));
	CHECK(refuses("010:100000:1", MAPSPEC_E_NUMBER, "inner", 0,
		      "'010' has a leading zero"));
	CHECK(refuses("1 :100000:1", MAPSPEC_E_NUMBER, "inner", 1, "'1 ' is not"));
	CHECK(refuses(":100000:1", MAPSPEC_E_NUMBER, "inner", 0, "'' is empty"));
	CHECK(refuses("1::1", MAPSPEC_E_NUMBER, "outer", 2, "'' is empty"));
	CHECK(refuses("1:1:", MAPSPEC_E_NUMBER, "count", 4, "count '' is empty"));
	CHECK(refuses("1:1:64k", MAPSPEC_E_NUMBER, "count", 6, "count '64k' is not"));
}

static void a_wrong_number_of_fields_is_refused_with_the_form(void)
{
	CHECK(refuses("", MAPSPEC_E_FIELDS, NULL, 0, "INNER:OUTER:COUNT"));
	CHECK(refuses("+", MAPSPEC_E_FIELDS, NULL, 1, "INNER:OUTER:COUNT"));
	CHECK(refuses("1:2", MAPSPEC_E_FIELDS, NULL, 3, "INNER:OUTER:COUNT"));
	CHECK(refuses("1:2:3:4", MAPSPEC_E_FIELDS, NULL, 5, "INNER:OUTER:COUNT"));
	CHECK(refuses("u:1:2", MAPSPEC_E_FIELDS, NULL, 5, "INNER:OUTER:COUNT"));
	CHECK(refuses("-1:2:3", MAPSPEC_E_FIELDS, NULL, 4, "-[u:|g:|b:]INNER:COUNT"));
	CHECK(refuses("-1", MAPSPEC_E_FIELDS, NULL, 2, "-[u:|g:|b:]INNER:COUNT"));
	CHECK(refuses("x:1:2:3", MAPSPEC_E_FIELDS, NULL, 5, "INNER:OUTER:COUNT"));
}

static void a_count_of_zero_is_refused(void)
{
	CHECK(refuses("1:2:0", MAPSPEC_E_COUNT, "count", 4, "count of 0"));
	CHECK(refuses("-u:1:0", MAPSPEC_E_COUNT, "count", 5, "count of 0"));
}

static void control_bytes_never_reach_the_message(void)
{
	const char *text = "1:2\033[2J\n:3";
	struct mapspec spec;
	struct mapspec_refusal why;
	char *message;

	CHECK(mapspec_parse(text, &spec, &why) == MAPSPEC_E_NUMBER);
	message = mapspec_explain(text, MAPSPEC_E_NUMBER, &why);
	CHECK(message && !strpbrk(message, "\033\n") && strstr(message, "[2J"));
	free(message);
}

static void a_word_with_a_colon_or_a_sign_looks_like_a_map(void)
{
	CHECK(mapspec_looks_like("1:2:3"));
	CHECK(mapspec_looks_like("+1"));
	CHECK(mapspec_looks_like("-1"));
	CHECK(!mapspec_looks_like("4242"));
	CHECK(!mapspec_looks_like("alice"));
	CHECK(!mapspec_looks_like(""));
}

static void a_base_counts_for_its_kind_alone(void)
{
	struct mapspec specs[2];
	struct mapspec_refusal why;

	CHECK(mapspec_parse("g:0:1:1", &specs[0], &why) == 0);
	CHECK(mapspec_parse("+0:1:1", &specs[1], &why) == 0);
	CHECK(mapspec_has_base(specs, 2, ID_GID));
	CHECK(!mapspec_has_base(specs, 2, ID_UID));
	CHECK(!mapspec_has_base(&specs[1], 1, ID_GID));
}

int main(void)
{
	return TAP_RUN(
		TEST(signs_and_letters_are_read),
		TEST(the_whole_id_space_is_read_and_one_more_is_not),
		TEST(truncation_each_number_that_others_cut_is_refused_with_the_bound),
		TEST(a_wrong_number_of_fields_is_refused_with_the_form),
		TEST(a_count_of_zero_is_refused),
		TEST(control_bytes_never_reach_the_message),
		TEST(a_word_with_a_colon_or_a_sign_looks_like_a_map),
		TEST(a_base_counts_for_its_kind_alone));
}

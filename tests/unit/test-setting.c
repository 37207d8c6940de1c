/* SPDX-License-Identifier: BSD-2-Clause */
#include "../../src/trusted/setting.h"
#include "tap.h"

#include <string.h>

static bool defs(const char *text)
{
	return setting_login_defs(text, strlen(text), "GRANT_AUX_GROUP_SUBIDS");
}

/* NULL expected: the files are meant. */
static bool service(const char *text, const char *expected)
{
	char name[64] = "";
	bool other = setting_subid_service(text, strlen(text), name);

	return other ? expected && strcmp(name, expected) == 0 : !expected;
}

static void yes_in_any_case_is_yes(void)
{
	CHECK(defs("GRANT_AUX_GROUP_SUBIDS yes\n"));
	CHECK(defs("UMASK 022\n\n  GRANT_AUX_GROUP_SUBIDS\tYes"));
	CHECK(defs("GRANT_AUX_GROUP_SUBIDS \"yes\"\n"));
}

static void anything_else_is_no(void)
{
	CHECK(!defs("") && !defs("\n") && !defs("GRANT_AUX_GROUP_SUBIDS\n"));
	CHECK(!defs("GRANT_AUX_GROUP_SUBIDS no\n") &&
	      !defs("GRANT_AUX_GROUP_SUBIDS yesno\n"));
	CHECK(!defs("#GRANT_AUX_GROUP_SUBIDS yes\n") &&
	      !defs("# GRANT_AUX_GROUP_SUBIDS yes\n"));
	CHECK(!defs("GRANT_AUX_GROUP_SUBIDSX yes\n") &&
	      !defs("XGRANT_AUX_GROUP_SUBIDS yes\n"));
	CHECK(!defs("grant_aux_group_subids yes\n"));
	CHECK(!defs("GRANT_AUX_GROUP_SUBIDS\nyes\n"));
}

static void the_whole_value_counts_as_it_does_for_shadow(void)
{
	CHECK(!defs("GRANT_AUX_GROUP_SUBIDS yes # note\n") &&
	      !defs("GRANT_AUX_GROUP_SUBIDS yes no\n"));
	CHECK(!defs("GRANT_AUX_GROUP_SUBIDS yes \"\"\n") &&
	      !defs("GRANT_AUX_GROUP_SUBIDS yes\"x\n") ==
		      !defs("GRANT_AUX_GROUP_SUBIDS \"yes\"x\n"));
	CHECK(defs("GRANT_AUX_GROUP_SUBIDS yes \t\r\n"));
}

static void of_several_lines_the_last_counts(void)
{
	CHECK(!defs("GRANT_AUX_GROUP_SUBIDS yes\nGRANT_AUX_GROUP_SUBIDS no\n"));
	CHECK(!defs("GRANT_AUX_GROUP_SUBIDS yes\nGRANT_AUX_GROUP_SUBIDS \"\"\n"));
	CHECK(defs("GRANT_AUX_GROUP_SUBIDS no\nGRANT_AUX_GROUP_SUBIDS yes\n"));
}

static void files_absent_and_blank_mean_the_files(void)
{
	CHECK(service("", NULL) && service("passwd: files sss\n", NULL));
	CHECK(service("subid: files\n", NULL) && service("subid:files sss\n", NULL));
	CHECK(service("subid:\n", NULL) && service("subid:   \t\n", NULL));
	CHECK(service("#subid: sss\n", NULL) && service("subid: # sss\n", NULL));
}

static void another_first_word_is_the_service(void)
{
	CHECK(service("subid: sss\n", "sss") && service("subid:\tsss files\n", "sss"));
	CHECK(service("passwd: files\nSUBID: ldap", "ldap"));
	CHECK(service("subid:\nsubid: sss\n", "sss"));
	CHECK(service("\nsubid\nsubid: sss\n", "sss"));
}

static void a_long_line_is_never_a_yes_nor_the_files(void)
{
	char text[600];

	memset(text, ' ', sizeof(text));
	memcpy(text, "subid:", 6);
	strcpy(text + 500, "sss\n");
	CHECK(service(text, "sss"));
	memset(text + 500, 'x', 99);
	text[599] = '\0';
	CHECK(!service(text, NULL));
	memset(text, ' ', sizeof(text) - 1);
	memcpy(text, "GRANT_AUX_GROUP_SUBIDS yes", 26);
	text[500] = 'x';
	CHECK(!defs(text));
}

int main(void)
{
	return TAP_RUN(TEST(yes_in_any_case_is_yes), TEST(anything_else_is_no),
		       TEST(the_whole_value_counts_as_it_does_for_shadow),
		       TEST(of_several_lines_the_last_counts),
		       TEST(files_absent_and_blank_mean_the_files),
		       TEST(another_first_word_is_the_service),
		       TEST(a_long_line_is_never_a_yes_nor_the_files));
}

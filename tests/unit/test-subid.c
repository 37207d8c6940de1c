/* SPDX-License-Identifier: BSD-2-Clause */
#include "../../src/trusted/subid.h"
#include "tap.h"

#include <string.h>

static struct subid_line line;

static int parse(const char *text)
{
	return subid_parse(text, strlen(text), &line);
}

/* What TEXT grants alice (1001), as "start+count ..." in file order. */
static bool grants(const char *text, size_t len, const char *expected)
{
	const struct subid_owner alice = {"alice", 1001};
	struct subid_reader reader = {.at = text, .end = text + len};
	char got[256] = "";
	size_t n = 0;

	while (subid_next(&reader, &alice, &line))
		n += (size_t)snprintf(got + n, sizeof(got) - n, "%s%zu:%u+%u",
				      n ? " " : "", reader.line, line.start, line.count);
	if (strcmp(got, expected) != 0)
		printf("# got \"%s\"\n", got);
	return strcmp(got, expected) == 0;
}

#define GRANTS(text, expected) grants(text, sizeof(text) - 1, expected)

static void a_plain_line_is_read(void)
{
	CHECK(parse("alice:100000:65536") == 0);
	CHECK(line.owner_len == 5 && memcmp(line.owner, "alice", 5) == 0);
	CHECK(line.start == 100000 && line.count == 65536);
}

static void the_largest_ranges_are_read(void)
{
	CHECK(parse("a:0:4294967295") == 0);
	CHECK(parse("a:4294967294:1") == 0);
	CHECK(parse("kubelet:327680:4294639615") == 0);
	CHECK(parse("65535:4294901760:65535") == 0);
}

static void past_the_end_is_void(void)
{
	CHECK(parse("kubelet:327680:4294836224") == SUBID_E_RANGE);
	CHECK(parse("65535:4294901760:65536") == SUBID_E_RANGE);
	CHECK(parse("a:4294967295:1") == SUBID_E_RANGE);
	CHECK(parse("a:1:4294967295") == SUBID_E_RANGE);
	CHECK(parse("a:4294967296:1") == SUBID_E_START &&
	      line.number_error == ID_E_RANGE);
	CHECK(parse("a:1:18446744073709551616") == SUBID_E_COUNT);
}

static void a_count_of_zero_is_void(void)
{
	CHECK(parse("alice:0:0") == SUBID_E_ZERO);
	CHECK(GRANTS("alice:0:0\n", ""));
}

static void a_trailing_blank_is_void_and_its_column_known(void)
{
	CHECK(parse("alice:100000:65536 ") == SUBID_E_COUNT && line.column == 19);
	CHECK(parse("alice:100000:65536\r") == SUBID_E_COUNT && line.column == 19);
	CHECK(parse("alice:100000:65536\t# note") == SUBID_E_COUNT && line.column == 19);
	CHECK(parse("alice:100000 :65536") == SUBID_E_START && line.column == 13);
}

static void blanks_before_a_number_are_passed_over(void)
{
	CHECK(parse("alice: 100000:\t65536") == 0);
	CHECK(line.start == 100000 && line.count == 65536);
	CHECK(parse("alice: :1") == SUBID_E_START && line.number_error == ID_E_EMPTY);
}

static void signs_hex_and_leading_zeros_are_void(void)
{
	CHECK(parse("alice:+1:1") == SUBID_E_START && line.column == 7);
	CHECK(parse("alice:-1:1") == SUBID_E_START);
	CHECK(parse("alice:0x10:1") == SUBID_E_START && line.column == 8);
	CHECK(parse("alice:010:1") == SUBID_E_START && line.number_error == ID_E_ZERO);
	CHECK(parse("alice:1:1e3") == SUBID_E_COUNT && line.column == 10);
}

static void anything_but_three_full_fields_is_void(void)
{
	CHECK(parse("alice") == SUBID_E_FIELDS && line.column == 6);
	CHECK(parse("alice:100000") == SUBID_E_FIELDS && line.column == 13);
	CHECK(parse("alice:100000-165535") == SUBID_E_FIELDS);
	CHECK(parse("alice:100000:65536:x") == SUBID_E_FIELDS && line.column == 19);
	CHECK(parse("alice:100000:65536:") == SUBID_E_FIELDS);
	CHECK(parse(":100000:65536") == SUBID_E_FIELDS && line.column == 1);
	CHECK(parse("alice::65536") == SUBID_E_FIELDS && line.column == 7);
	CHECK(parse("alice:100000:") == SUBID_E_FIELDS && line.column == 14);
	CHECK(parse("::") == SUBID_E_FIELDS);
	CHECK(parse("alice: :1") == SUBID_E_START && line.column == 8);
	CHECK(parse("alice:\a1:1") == SUBID_E_START && line.column == 7);
}

static void comments_and_nis_entries_are_no_lines(void)
{
	CHECK(parse("") == SUBID_E_COMMENT && parse("# note") == SUBID_E_COMMENT);
	CHECK(parse("+alice:1:1") == SUBID_E_COMMENT &&
	      parse("-alice:1:1") == SUBID_E_COMMENT);
}

static void a_line_of_1024_bytes_is_void_and_1023_are_not(void)
{
	char text[1100];

	memset(text, 'a', sizeof(text));
	memcpy(text + 1023 - 4, ":1:1", 4);
	CHECK(subid_parse(text, 1023, &line) == 0 && line.owner_len == 1019);
	memset(text, 'a', sizeof(text));
	memcpy(text + 1024 - 4, ":1:1", 4);
	CHECK(subid_parse(text, 1024, &line) == SUBID_E_LENGTH);
}

static void a_nul_byte_makes_a_line_void(void)
{
	CHECK(subid_parse("alice:1:1\0", 10, &line) == SUBID_E_COUNT &&
	      line.column == 10);
	CHECK(GRANTS("alice:1:1\0junk\nbob:1:1\nalice:2:2\n", "3:2+2"));
}

static void a_line_behind_a_nul_byte_is_void(void)
{
	CHECK(GRANTS("bob:1:1\0\nalice:2:2\nalice:3:3\n", "3:3+3"));
	CHECK(GRANTS("\0\nalice:2:2", ""));
}

static void lines_of_the_login_and_of_the_uid_count_in_file_order(void)
{
	CHECK(GRANTS("bob:1:1\nalice:200000:5\n1001:100:5\nalice:10:1\n",
		     "2:200000+5 3:100+5 4:10+1"));
}

static void other_owners_are_not_taken_for_ours(void)
{
	CHECK(GRANTS("alic:1:1\nalice2:1:1\nAlice:1:1\nalice :1:1\n alice:1:1\n", ""));
	CHECK(GRANTS("01001:1:1\n10011:1:1\n100:1:1\n+1001:1:1\n", ""));
}

static void a_missing_final_newline_loses_nothing(void)
{
	CHECK(GRANTS("bob:1:1\nalice:2:3", "2:2+3"));
	CHECK(GRANTS("alice:2:3", "1:2+3"));
	CHECK(GRANTS("", ""));
	CHECK(GRANTS("\n\n\nalice:2:3\n\n", "4:2+3"));
}

static void owners_with_odd_names_are_read_up_to_the_first_colon(void)
{
	CHECK(parse("DOMAIN\\alice:100000:65536") == 0 && line.owner_len == 12);
	CHECK(parse("alice@example.org:200000:65536") == 0 && line.owner_len == 17);
	CHECK(parse("first.last:300000:65536") == 0 && line.owner_len == 10);
}

/* No bytes, however bad, are read past the end, and a void line grants nothing. */
static void random_bytes_grant_only_what_parses(void)
{
	static const char pieces[] = "alice:1001 0123456789\n\r\t#+-x\0:";

	for (int round = 0; round < 100000; round++) {
		size_t len = tap_below(48), ended = 0;
		char *text = malloc(len + 1);
		const struct subid_owner alice = {"alice", 1001};
		struct subid_reader reader = {.at = text, .end = text + len};

		for (size_t i = 0; i < len; i++)
			text[i] = pieces[tap_below(sizeof(pieces) - 1)];
		if (len > 12)
			memcpy(text, "alice:1:1", 9);
		while (subid_next(&reader, &alice, &line)) {
			CHECK(range_valid(line.start, line.count));
			CHECK(line.owner >= text &&
			      line.owner + line.owner_len < text + len);
			CHECK(line.owner_len == 5 || memcmp(line.owner, "1001", 4) == 0);
			ended++;
		}
		CHECK(ended <= len && reader.at >= reader.end);
		free(text);
	}
}

int main(void)
{
	return TAP_RUN(TEST(a_plain_line_is_read), TEST(the_largest_ranges_are_read),
		       TEST(past_the_end_is_void), TEST(a_count_of_zero_is_void),
		       TEST(a_trailing_blank_is_void_and_its_column_known),
		       TEST(blanks_before_a_number_are_passed_over),
		       TEST(signs_hex_and_leading_zeros_are_void),
		       TEST(anything_but_three_full_fields_is_void),
		       TEST(comments_and_nis_entries_are_no_lines),
		       TEST(a_line_of_1024_bytes_is_void_and_1023_are_not),
		       TEST(a_nul_byte_makes_a_line_void),
		       TEST(a_line_behind_a_nul_byte_is_void),
		       TEST(lines_of_the_login_and_of_the_uid_count_in_file_order),
		       TEST(other_owners_are_not_taken_for_ours),
		       TEST(a_missing_final_newline_loses_nothing),
		       TEST(owners_with_odd_names_are_read_up_to_the_first_colon),
		       TEST(random_bytes_grant_only_what_parses));
}

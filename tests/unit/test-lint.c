/* SPDX-License-Identifier: BSD-2-Clause */
#include "tool/lint-parts.h"
#include "unit/tap.h"

#include <string.h>

/* "RULE COLUMN" of a line, or "fine". */
static const char *fault(const char *text, size_t len)
{
	static char answer[64];
	struct subid_line line;
	int parsed = subid_parse(text, len, &line);
	size_t column = 0;
	enum lint_rule rule = lint_line_fault(text, len, parsed, &line, &column);

	if (rule == LINT_RULES)
		return "fine";
	snprintf(answer, sizeof(answer), "%s %zu", lint_rules[rule].name, column);
	return answer;
}

static bool is(const char *text, const char *expected)
{
	const char *found = fault(text, strlen(text));

	if (strcmp(found, expected) != 0)
		printf("# %s: %s, not %s\n", text, found, expected);
	return strcmp(found, expected) == 0;
}

static bool fixed(const char *text, const char *expected)
{
	char to[LINT_FIXED];
	size_t len = lint_line_fix(text, strlen(text), to);

	return len == strlen(expected) && memcmp(to, expected, len) == 0;
}

static void faults_are_named_with_their_column(void)
{
	static const char *const cases[][2] = {
		{"alice:100000:65536", "fine"},
		{"", "fine"},
		{"# alice:0:0", "fine"},
		{"  ", "fine"},
		{"  # note", "fine"},
		{"+alice:1:1", "nis-entry 1"},
		{"-", "nis-entry 1"},
		{"alice:1:1\t", "trailing-blank 10"},
		{"alice:1:1 \r", "crlf 11"},
		{"\r", "crlf 1"},
		{"alice:1:1 #", "inline-comment 11"},
		{"alice:1:1#", "number 10"},
		{"alice:1 :1", "blank-around-colon 8"},
		{" alice:1:1", "blank-around-colon 1"},
		{"alice :1:1", "blank-around-colon 6"},
		{"alice:1: 1", "blank-around-colon 9"},
		{"a b:1:1", "fine"},
		{"alice", "fields 6"},
		{"alice:1", "fields 8"},
		{":1:1", "fields 1"},
		{"alice:1:", "fields 9"},
		{"alice:1:1:", "fields 10"},
		{"alice:5-9", "range-form 7"},
		{"alice:9-5", "fields 10"},
		{"alice:5-9:1", "number 8"},
		{"alice:-5:1", "sign 7"},
		{"alice: +5:1", "sign 8"},
		{"alice:0x5:1", "hex 8"},
		{"alice:x5:1", "number 7"},
		{"alice:00:1", "leading-zero 7"},
		{"alice:4294967296:1", "too-large 7"},
		{"alice:4294967295:1", "past-the-end 18"},
		{"alice:4294967294:1", "fine"},
		{"alice:1:0", "zero-count 9"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		CHECK(is(cases[i][0], cases[i][1]));
}

static void a_control_byte_is_a_fault_even_where_the_line_grants(void)
{
	CHECK(strcmp(fault("al\0ce:1:1", 9), "control 3") == 0);
	CHECK(strcmp(fault("alice:1:1\0", 10), "control 10") == 0);
	CHECK(is("\rlice:1:1", "control 1"));
	CHECK(is("alice:1:\v1", "control 9"));
}

static void a_sure_correction_is_made_and_no_other(void)
{
	CHECK(fixed(" alice : 1 : 5 \r", "alice:1:5"));
	CHECK(fixed("alice:1:5 # why ", "# why\nalice:1:5"));
	CHECK(fixed("alice: 5-9 ", "alice:5:5"));
	CHECK(fixed("alice:0-4294967294", "alice:0:4294967295"));
	CHECK(fixed("alice:0-4294967295", ""));
	CHECK(fixed("alice:9-5", ""));
	CHECK(fixed("alice:010:5", ""));
	CHECK(fixed("alice:+1:5", ""));
	CHECK(fixed("alice:1:5:x", ""));
	CHECK(fixed("+alice:1:5 ", ""));
	CHECK(fixed("# alice # x", ""));
	CHECK(fixed("", ""));
}

/* Whatever the bytes are: what has no fault grants or is no grant at all, what is corrected
 * grants and has no fault, and nothing is read or written out of bounds. */
static void random_lines_are_judged_as_the_parser_does(void)
{
	static const char bytes[] = "alice:::1156 \t#-+x0\r";

	for (int i = 0; i < 200000; i++) {
		size_t len = tap_below(24), column = 0, n;
		char *text = malloc(len + 1), to[LINT_FIXED];
		struct subid_line line;
		enum lint_rule rule;
		int parsed;

		for (size_t j = 0; j < len; j++)
			text[j] = bytes[tap_below(sizeof(bytes) - 1)];
		parsed = subid_parse(text, len, &line);
		rule = lint_line_fault(text, len, parsed, &line, &column);
		CHECK(rule == LINT_RULES || (column >= 1 && column <= len + 1));
		CHECK(rule != LINT_RULES || parsed == 0 || parsed == SUBID_E_COMMENT ||
		      memchr(text, '#', len) || strspn(text, " \t") >= len);
		n = lint_line_fix(text, len, to);
		if (n > 0) {
			const char *last = memchr(to, '\n', n);

			last = last ? last + 1 : to;
			n -= (size_t)(last - to);
			parsed = subid_parse(last, n, &line);
			CHECK(parsed == 0);
		}
		free(text);
	}
}

static void every_rule_has_a_name_and_a_reason(void)
{
	for (int rule = 0; rule < LINT_RULES; rule++) {
		CHECK(lint_rules[rule].name && lint_rules[rule].reason);
		CHECK(lint_rule_find(lint_rules[rule].name) == (enum lint_rule)rule);
	}
	CHECK(lint_rule_find("frob") == LINT_RULES);
}

int main(void)
{
	return TAP_RUN(TEST(faults_are_named_with_their_column),
		       TEST(a_control_byte_is_a_fault_even_where_the_line_grants),
		       TEST(a_sure_correction_is_made_and_no_other),
		       TEST(random_lines_are_judged_as_the_parser_does),
		       TEST(every_rule_has_a_name_and_a_reason));
}

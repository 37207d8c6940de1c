/* SPDX-License-Identifier: BSD-2-Clause */
#include "../../src/trusted/id.h"
#include "tap.h"

#include <string.h>

static int parse(const char *text, uint32_t *number)
{
	return id_parse(text, strlen(text), number);
}

static void plain_numbers_are_read(void)
{
	uint32_t n;

	CHECK(parse("0", &n) == 0 && n == 0);
	CHECK(parse("7", &n) == 0 && n == 7);
	CHECK(parse("100000", &n) == 0 && n == 100000);
	CHECK(parse("4294967294", &n) == 0 && n == ID_MAX);
	CHECK(parse("4294967295", &n) == 0 && n == ID_NONE);
}

static void only_len_bytes_are_read(void)
{
	uint32_t n;

	CHECK(id_parse("123456", 3, &n) == 0 && n == 123);
	CHECK(id_parse("12:34", 2, &n) == 0 && n == 12);
}

static void what_strtoul_takes_on_top_is_refused(void)
{
	static const char *const bad[] = {"+1",  "-1",   " 1",      "1 ",    "\t1",
					  "1\n", "0x10", "1e3",     "1,000", "1k",
					  "1.0", "--1",  "\xd9\xa1"};
	uint32_t n = 42;

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		CHECK(parse(bad[i], &n) == ID_E_DIGIT);
	CHECK(id_parse("1\0", 2, &n) == ID_E_DIGIT);
	CHECK(n == 42);
}

static void a_leading_zero_is_refused(void)
{
	uint32_t n = 42;

	CHECK(parse("010", &n) == ID_E_ZERO && parse("00", &n) == ID_E_ZERO);
	CHECK(parse("01000", &n) == ID_E_ZERO && n == 42);
}

static void an_empty_text_is_refused(void)
{
	uint32_t n = 42;

	CHECK(parse("", &n) == ID_E_EMPTY && n == 42);
}

static void numbers_over_32_bits_are_refused_and_never_cut(void)
{
	static const char *const bad[] = {
		"4294967296",           "4294967297",
		"18446744073709551615", "18446744073709551616",
		"18446744073709551617", "99999999999999999999999999999999999999"};
	uint32_t n = 42;

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		CHECK(parse(bad[i], &n) == ID_E_RANGE);
	CHECK(n == 42);
}

static void every_error_has_its_own_reason(void)
{
	for (int a = ID_E_EMPTY; a <= ID_E_RANGE; a++)
		for (int b = a + 1; b <= ID_E_RANGE; b++)
			CHECK(strcmp(id_reason(a), id_reason(b)) != 0);
}

int main(void)
{
	return TAP_RUN(TEST(plain_numbers_are_read), TEST(only_len_bytes_are_read),
		       TEST(what_strtoul_takes_on_top_is_refused),
		       TEST(a_leading_zero_is_refused), TEST(an_empty_text_is_refused),
		       TEST(numbers_over_32_bits_are_refused_and_never_cut),
		       TEST(every_error_has_its_own_reason));
}

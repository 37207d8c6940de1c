/* SPDX-License-Identifier: BSD-2-Clause */
#pragma once

/*
 * fuzz: what the targets share. A target is LLVMFuzzerTestOneInput(): it hands the bytes of one
 * input to the code and to an oracle that was written apart from it, and HOLDS() ends the process
 * where the two differ. With clang's libFuzzer it is a fuzzer ("make fuzz"); with replay.c it runs
 * over the kept inputs of tests/fuzz/corpus in "make check".
 *
 * The oracles are slow and plain on purpose: they read byte by byte and compare numbers as text,
 * so that they fail otherwise than the code does.
 */

#include "trusted/id.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define HOLDS(condition) \
	((condition) ? (void)0 : fuzz_broken(__FILE__, __LINE__, #condition))

static inline _Noreturn void fuzz_broken(const char *file, int line, const char *what)
{
	fprintf(stderr, "%s:%d: does not hold: %s\n", file, line, what);
	abort();
}

/* A copy of exactly SIZE bytes, so that AddressSanitizer sees a read behind it. The caller frees
 * it. */
static inline char *fuzz_copy(const uint8_t *data, size_t size)
{
	char *copy = malloc(size ? size : 1);

	HOLDS(copy);
	if (size > 0)
		memcpy(copy, data, size);
	return copy;
}

/* The same as a string, which ends at the first NUL. */
static inline char *fuzz_string(const uint8_t *data, size_t size)
{
	char *copy = strndup((const char *)data, size);

	HOLDS(copy);
	return copy;
}

/* What a number is: digits, no zero in front, and as text not behind the largest. Returns what
 * id_parse() should. */
static inline int oracle_number(const char *text, size_t len, uint32_t *ret_number)
{
	static const char largest[] = "4294967295";
	size_t digits = 0;
	uint32_t number = 0;

	while (digits < len && strchr("0123456789", text[digits]) && text[digits])
		digits++;
	if (len == 0)
		return ID_E_EMPTY;
	if (digits < len)
		return ID_E_DIGIT;
	if (len > 1 && text[0] == '0')
		return ID_E_ZERO;
	if (len > 10 || (len == 10 && memcmp(text, largest, 10) > 0))
		return ID_E_RANGE;
	for (size_t i = 0; i < len; i++)
		number = number * 10 + (uint32_t)(text[i] - '0');
	*ret_number = number;
	return 0;
}

/* Does a range of COUNT from START hold IDs alone? */
static inline bool oracle_range(uint64_t start, uint64_t count)
{
	return count >= 1 && start + count <= 4294967295;
}

/* What stands in a message is shown to people: one line of it, and no byte that a terminal obeys. */
static inline void fuzz_check_message(char *message, bool one_line)
{
	HOLDS(message && message[0] != '\0');
	for (const char *p = message; *p; p++)
		HOLDS((unsigned char)*p >= ' ' ? *p != 127 : *p == '\n' && !one_line);
	free(message);
}

/* A program of bytes: where none is left, all numbers are 0. */
struct bytes {
	const uint8_t *at, *end;
};

static inline uint32_t bytes_below(struct bytes *bytes, uint32_t bound)
{
	return bytes->at < bytes->end ? *bytes->at++ % bound : 0;
}

static inline bool bytes_left(const struct bytes *bytes)
{
	return bytes->at < bytes->end;
}

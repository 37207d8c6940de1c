/* SPDX-License-Identifier: BSD-2-Clause */
#pragma once

/*
 * tap: unit tests that print TAP. A test is a function whose name is a sentence; CHECK() notes a
 * failure and goes on. Random tests take their numbers from tap_random(); the seed is printed and
 * IDMAP_SEED sets it again.
 *
 *	static void a_count_of_zero_is_refused(void) { CHECK(extent_make(...) == ...); }
 *	int main(void) { return TAP_RUN(TEST(a_count_of_zero_is_refused)); }
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

struct tap_test {
	const char *name;
	void (*run)(void);
};

#define TEST(function)              \
	{                           \
#function, function \
	}
#define TAP_RUN(...)                                             \
	tap_run((const struct tap_test[]){__VA_ARGS__},          \
		sizeof((const struct tap_test[]){__VA_ARGS__}) / \
			sizeof(struct tap_test))

static int tap_failures; /* of the test that runs now */
static uint64_t tap_state;

#define CHECK(condition)                                                         \
	do {                                                                     \
		if (!(condition) && tap_failures++ < 10)                         \
			printf("# %s:%d: %s\n", __FILE__, __LINE__, #condition); \
	} while (0)

/* xorshift64*: the same numbers for the same seed everywhere. */
static inline uint64_t tap_random(void)
{
	if (tap_state == 0) {
		const char *seed = getenv("IDMAP_SEED");
		tap_state = seed ? strtoull(seed, NULL, 10) : (uint64_t)time(NULL);
		printf("# IDMAP_SEED=%llu\n", (unsigned long long)tap_state);
		tap_state = tap_state * 2685821657736338717ULL | 1;
	}
	tap_state ^= tap_state >> 12;
	tap_state ^= tap_state << 25;
	tap_state ^= tap_state >> 27;
	return tap_state * 2685821657736338717ULL;
}

/* A random number 0..BOUND-1. */
static inline uint32_t tap_below(uint64_t bound)
{
	return (uint32_t)((tap_random() >> 11) % bound);
}

static inline int tap_run(const struct tap_test *tests, size_t n)
{
	int failed = 0;

	printf("1..%zu\n", n);
	for (size_t i = 0; i < n; i++) {
		tap_failures = 0;
		tests[i].run();
		failed += tap_failures > 0;
		printf("%s %zu - %s\n", tap_failures ? "not ok" : "ok", i + 1,
		       tests[i].name);
		fflush(stdout);
	}
	return failed > 0;
}

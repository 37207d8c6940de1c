/* SPDX-License-Identifier: BSD-2-Clause */

/*
 * mutate: what most inputs are about is numbers, and what is wrong with a number is mostly that it is
 * one too large for another number. So every other mutation takes a number of the text and puts
 * another one there: a sum, a difference or a neighbour of two that stand in it, or an edge of the
 * ID space.
 */

#include "fuzz.h"

#define NUMBERS 64

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size,
			       unsigned int seed);

struct number {
	size_t at, len;
	uint64_t value;
};

/* All the numbers of a text, up to a few. */
static size_t find_numbers(const uint8_t *data, size_t size, struct number *numbers)
{
	size_t n = 0;

	for (size_t i = 0; i < size && n < NUMBERS; i++) {
		struct number number = {.at = i};

		for (; i < size && data[i] >= '0' && data[i] <= '9'; i++) {
			number.value = number.value * 10 + (uint64_t)(data[i] - '0');
			number.len++;
		}
		if (number.len > 0 && number.len < 12)
			numbers[n++] = number;
	}
	return n;
}

static uint64_t choose(const struct number *numbers, size_t n, unsigned int seed)
{
	static const uint64_t edges[] = {0,          1,          65535,      2147483647,
					 2147483648, 4294967293, 4294967294, 4294967295,
					 4294967296, 1001,       100000,     65536};
	uint64_t a = numbers[seed % n].value, b = numbers[seed / 64 % n].value;

	switch (seed >> 13 & 7) {
	case 0:
		return a + b;
	case 1:
		return a + b - 1;
	case 2:
		return a > b ? a - b : b - a;
	case 3:
		return a + 1;
	case 4:
		return a - (a > 0);
	case 5:
		return 4294967295 - (a & 0xffffffff);
	case 6:
		return a;
	default:
		return edges[seed / 8 % (sizeof(edges) / sizeof(*edges))];
	}
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size,
			       unsigned int seed)
{
	struct number numbers[NUMBERS], *one;
	size_t n = find_numbers(data, size, numbers), len;
	char text[24];

	if (n == 0 || seed % 2 == 0)
		return LLVMFuzzerMutate(data, size, max_size);
	seed /= 2;
	one = &numbers[seed / 4096 % n];
	len = (size_t)snprintf(text, sizeof(text), "%llu",
			       (unsigned long long)choose(numbers, n, seed));
	if (size - one->len + len > max_size)
		return LLVMFuzzerMutate(data, size, max_size);
	memmove(data + one->at + len, data + one->at + one->len,
		size - one->at - one->len);
	memcpy(data + one->at, text, len);
	return size - one->len + len;
}

/* SPDX-License-Identifier: BSD-2-Clause */

/*
 * Sets against 64 bits, at the bottom of the ID space and at its top. A program of bytes fills two
 * sets; then every question there is, is asked.
 */

#include "fuzz.h"
#include "tool/slice.h"
#include "trusted/idset.h"

#define UNIVERSE 64U

struct pair {
	struct idset set;
	uint64_t bits;
};

static uint64_t mask(uint32_t start, uint32_t count)
{
	return (count < 64 ? ((uint64_t)1 << count) - 1 : UINT64_MAX) << start;
}

static void add(struct pair *pair, struct bytes *bytes, uint32_t base)
{
	uint32_t start = bytes_below(bytes, UNIVERSE);
	uint32_t count = 1 + bytes_below(bytes, UNIVERSE - start);

	HOLDS(idset_add(&pair->set, base + start, count) == 0);
	pair->bits |= mask(start, count);
}

/* Sealed: the runs of the bits, in their order. */
static void check_ranges(const struct pair *pair, uint32_t base)
{
	size_t n = 0;

	for (uint32_t i = 0, end; i < UNIVERSE; i = end) {
		for (end = i; end < UNIVERSE && pair->bits & mask(end, 1); end++)
			;
		if (end > i) {
			HOLDS(n < pair->set.n);
			HOLDS(pair->set.ranges[n].start == base + i);
			HOLDS(pair->set.ranges[n++].count == end - i);
		} else {
			end++;
		}
	}
	HOLDS(n == pair->set.n);
}

/* All ranges from START: is all of it there, and if not, where is the first stretch missing? */
static void check_covers(const struct pair *pair, uint32_t base, uint32_t start)
{
	uint32_t first = 0, missing = 0;

	for (uint32_t id = start; id < UNIVERSE; id++) {
		bool has = pair->bits >> id & 1;
		struct range gap = {7, 0};

		if (!has && missing == 0)
			first = id;
		if (!has && first + missing == id)
			missing++;
		HOLDS(idset_covers(&pair->set, base + start, id - start + 1, &gap) ==
		      (missing == 0));
		if (missing > 0)
			HOLDS(gap.start == base + first && gap.count == missing);
	}
}

/* What slice.h says: those wanted if they are there, else the start of the smallest gap, the lowest
 * of equals. */
static void check_choice(const struct pair *gaps, uint32_t base, uint32_t size,
			 uint32_t want)
{
	uint32_t best = UNIVERSE, best_len = UINT32_MAX, start = 7, len = 0;
	int r = slice_choose(&gaps->set, size, want < UNIVERSE ? base + want : ID_NONE,
			     &start);

	if (want + size <= UNIVERSE && !(mask(want, size) & ~gaps->bits)) {
		HOLDS(r == 0 && start == base + want);
		return;
	}
	for (uint32_t i = 0; i <= UNIVERSE; i++) {
		if (i < UNIVERSE && gaps->bits & mask(i, 1)) {
			len++;
			continue;
		}
		if (len >= size && len < best_len) {
			best = i - len;
			best_len = len;
		}
		len = 0;
	}
	HOLDS((r == 0) == (best < UNIVERSE));
	HOLDS(start == (r == 0 ? base + best : 7));
}

static void check_gaps(const struct pair *granted, const struct pair *used, uint32_t base,
		       uint32_t want)
{
	struct pair gaps = {.bits = granted->bits & ~used->bits};

	HOLDS(slice_gaps(&granted->set, &used->set, &gaps.set) == 0);
	check_ranges(&gaps, base);
	HOLDS(idset_covers(&gaps.set, base, UNIVERSE, NULL) == (gaps.bits == UINT64_MAX));
	for (uint32_t size = 1; size <= UNIVERSE; size++)
		check_choice(&gaps, base, size, size % 2 ? want : UNIVERSE);
	idset_clear(&gaps.set);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct bytes bytes = {data, data + size};
	struct pair pairs[2] = {0};
	uint32_t base = bytes_below(&bytes, 2) ? ID_NONE - UNIVERSE : 0;
	size_t rounds = 0;

	for (; bytes_left(&bytes) && rounds < 200; rounds++) {
		struct pair *pair = &pairs[bytes_below(&bytes, 2)];

		/* A sealed set may be filled further and sealed again. */
		if (bytes_below(&bytes, 8) == 0)
			idset_seal(&pair->set);
		else
			add(pair, &bytes, base);
	}
	for (size_t i = 0; i < 2; i++) {
		idset_seal(&pairs[i].set);
		check_ranges(&pairs[i], base);
		for (uint32_t start = 0; start < UNIVERSE; start++)
			check_covers(&pairs[i], base, start);
	}
	check_gaps(&pairs[0], &pairs[1], base, size % UNIVERSE);
	idset_clear(&pairs[0].set);
	idset_clear(&pairs[1].set);
	return 0;
}

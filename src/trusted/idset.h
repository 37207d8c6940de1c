/* SPDX-License-Identifier: BSD-2-Clause */
#pragma once

/*
 * idset: a set of IDs, kept as ranges. A grant is a set, not a map: order and seams between
 * lines mean nothing, so touching and overlapping ranges become one.
 *
 * A set is filled with idset_add(), sealed once with idset_seal() (one sort, one sweep) and then
 * asked (one binary search a question): n ranges and q questions cost (n + q) log n. Asking a set
 * that was not sealed is a bug. {0} is the empty set and is sealed.
 */

#include "extent.h"

struct range {
	uint32_t start;
	uint32_t count; /* >= 1, and range_valid(start, count) */
};

struct idset {
	struct range
		*ranges; /* sealed: sorted by start, and between two of them is a gap */
	size_t n;
	size_t room;
};

/* Add COUNT IDs from START, which must be range_valid(). Returns 0 or -ENOMEM (set unchanged). */
int idset_add(struct idset *set, uint32_t start, uint32_t count);

void idset_seal(struct idset *set);

/*
 * True if the set holds all COUNT IDs from START (range_valid()). If not, *RET_GAP is the first
 * stretch of them that it lacks, cut to the question. RET_GAP may be NULL.
 */
bool idset_covers(const struct idset *set, uint32_t start, uint32_t count,
		  struct range *ret_gap);

/* Free what the set holds and leave the empty set. */
void idset_clear(struct idset *set);

/* SPDX-License-Identifier: BSD-2-Clause */
#pragma once

/*
 * overlap: which of many ranges meet, found with one sort and one sweep.
 *
 * Only ranges of one group are compared: children of one parent, say, since a child lies within
 * its parent by nature. n ranges of which k pairs meet cost about n + k, never n * n:
 *
 *	group 0: 10-19 by 0, 15-29 by 1, 20-24 by 2  ->  15-19 by 0 and 1, 20-24 by 1 and 2
 */

#include "../trusted/idset.h"

struct overlap_span {
	struct range range;
	uint32_t group;
	uint32_t member; /* whose range it is; ranges of one member are not compared */
};

struct overlap {
	struct range shared;
	uint32_t first, second; /* members; first < second */
};

/* {0} is empty. */
struct overlaps {
	struct overlap *list; /* owned */
	size_t n;
	size_t room;
};

/*
 * Sort SPANS by group and start, and list what members share: sorted by the two members, then by
 * start; of two members no two shared ranges touch. Returns 0 or -ENOMEM.
 */
int overlap_find(struct overlap_span *spans, size_t n, struct overlaps *ret_overlaps);

void overlaps_clear(struct overlaps *overlaps);

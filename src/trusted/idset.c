/* SPDX-License-Identifier: BSD-2-Clause */
#include "idset.h"

#include <errno.h>
#include <stdlib.h>

int idset_add(struct idset *set, uint32_t start, uint32_t count)
{
	if (set->n == set->room) {
		size_t room = set->room ? set->room * 2 : 16;
		struct range *ranges = reallocarray(set->ranges, room, sizeof(*ranges));

		if (!ranges)
			return -ENOMEM;
		set->ranges = ranges;
		set->room = room;
	}
	set->ranges[set->n++] = (struct range){start, count};
	return 0;
}

static int compare_start(const void *a, const void *b)
{
	const struct range *x = a, *y = b;

	return (x->start > y->start) - (x->start < y->start);
}

void idset_seal(struct idset *set)
{
	size_t last = 0;

	if (set->n == 0)
		return;
	qsort(set->ranges, set->n, sizeof(*set->ranges), compare_start);
	for (size_t i = 1; i < set->n; i++) {
		struct range *kept = &set->ranges[last];
		const struct range *next = &set->ranges[i];
		uint32_t end = next->start + next->count;

		if (next->start > kept->start + kept->count)
			set->ranges[++last] = *next;
		else if (end > kept->start + kept->count)
			kept->count = end - kept->start;
	}
	set->n = last + 1;
}

/* The first range that ends behind START, or n. */
static size_t first_behind(const struct idset *set, uint32_t start)
{
	size_t low = 0, high = set->n;

	/*@ loop invariant 0 <= low <= high <= set->n;
	    loop invariant \forall integer i; 0 <= i < low ==>
		set->ranges[i].start + set->ranges[i].count <= start;
	    loop invariant \forall integer i; high <= i < set->n ==>
		set->ranges[i].start + set->ranges[i].count > start;
	    loop assigns low, high;
	    loop variant high - low; */
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (set->ranges[middle].start + set->ranges[middle].count <= start)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

bool idset_covers(const struct idset *set, uint32_t start, uint32_t count,
		  struct range *ret_gap)
{
	uint32_t end = start + count;
	uint32_t gap_end = end;
	size_t i = first_behind(set, start);

	/* Between two ranges of a sealed set is a gap: either this one covers all, or none does. */
	if (i < set->n && set->ranges[i].start <= start) {
		start = set->ranges[i].start + set->ranges[i].count;
		if (start >= end)
			return true;
		i++;
	}
	if (i < set->n && set->ranges[i].start < end)
		gap_end = set->ranges[i].start;
	/*@ assert \at(start, Pre) <= start < end && !holds(set, start); */
	if (ret_gap)
		*ret_gap = (struct range){start, gap_end - start};
	return false;
}

void idset_clear(struct idset *set)
{
	free(set->ranges);
	*set = (struct idset){0};
}

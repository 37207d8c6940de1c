/* SPDX-License-Identifier: BSD-2-Clause */
#include "slice.h"

static uint32_t end_of(const struct range *range)
{
	return range->start + range->count;
}

/* Add to GAPS what RANGE has before, between and behind the ranges of USED from I on. */
static int add_gaps(struct idset *gaps, const struct range *range,
		    const struct idset *used, size_t i)
{
	uint32_t at = range->start, end = end_of(range);
	int r = 0;

	for (; r == 0 && i < used->n && used->ranges[i].start < end; i++) {
		if (used->ranges[i].start > at)
			r = idset_add(gaps, at, used->ranges[i].start - at);
		at = end_of(&used->ranges[i]);
	}
	return r == 0 && at < end ? idset_add(gaps, at, end - at) : r;
}

int slice_gaps(const struct idset *granted, const struct idset *used,
	       struct idset *ret_gaps)
{
	__attribute__((cleanup(idset_clear))) struct idset gaps = {0};
	size_t first = 0;
	int r = 0;

	for (size_t i = 0; i < granted->n && r == 0; i++) {
		const struct range *range = &granted->ranges[i];

		while (first < used->n && end_of(&used->ranges[first]) <= range->start)
			first++;
		r = add_gaps(&gaps, range, used, first);
	}
	if (r != 0)
		return r;
	*ret_gaps = gaps;
	gaps = (struct idset){0};
	return 0;
}

int slice_choose(const struct idset *gaps, uint32_t size, uint32_t want,
		 uint32_t *ret_start)
{
	const struct range *best = NULL;

	if (range_valid(want, size) && idset_covers(gaps, want, size, NULL)) {
		*ret_start = want;
		return 0;
	}
	for (size_t i = 0; i < gaps->n; i++) {
		const struct range *gap = &gaps->ranges[i];

		if (gap->count >= size && (!best || gap->count < best->count))
			best = gap;
	}
	if (!best)
		return SLICE_E_SIZE;
	*ret_start = best->start;
	return 0;
}

uint32_t slice_largest(const struct idset *gaps)
{
	uint32_t largest = 0;

	for (size_t i = 0; i < gaps->n; i++)
		if (gaps->ranges[i].count > largest)
			largest = gaps->ranges[i].count;
	return largest;
}

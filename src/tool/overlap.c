/* SPDX-License-Identifier: BSD-2-Clause */
#include "overlap.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/*
 * Sorting dominates, and comparing is what would make each of a million ranges cost more than each
 * of a thousand. So both sorts go by the bytes of a 64-bit key, from the last to the first, and
 * leave out a byte that is the same in all keys.
 */
struct sorted {
	uint64_t key;
	uint32_t index;
};

#define BYTES 8U /* of a key */

static unsigned byte_of(uint64_t key, unsigned byte)
{
	return (key >> (8 * byte)) & 255;
}

/* Move FROM to TO, in the order of one byte. COUNTS: how many have which value there. */
static void sort_byte(const struct sorted *from, struct sorted *to, size_t n,
		      const size_t counts[256], unsigned byte)
{
	size_t at[256], sum = 0;

	for (unsigned value = 0; value < 256; value++) {
		at[value] = sum;
		sum += counts[value];
	}
	for (size_t i = 0; i < n; i++)
		to[at[byte_of(from[i].key, byte)]++] = from[i];
}

/* Sort LIST[0..N), N >= 1, by key; what is equal stays in order. LIST has room for twice as many;
 * the answer is one of its halves. */
static struct sorted *sort(struct sorted *list, size_t n)
{
	size_t counts[BYTES][256] = {{0}};
	struct sorted *from = list, *to = list + n;

	for (size_t i = 0; i < n; i++)
		for (unsigned byte = 0; byte < BYTES; byte++)
			counts[byte][byte_of(list[i].key, byte)]++;
	for (unsigned byte = 0; byte < BYTES; byte++) {
		struct sorted *swap = from;

		if (counts[byte][byte_of(list[0].key, byte)] == n)
			continue;
		sort_byte(from, to, n, counts[byte], byte);
		from = to;
		to = swap;
	}
	return from;
}

/* The ranges that have begun and, as far as is known, not ended yet. */
struct open {
	const struct overlap_span **list;
	size_t n;
};

static uint32_t end_of(struct range range)
{
	return range.start + range.count; /* at most 4294967295 */
}

static int add(struct overlaps *overlaps, const struct overlap_span *a,
	       const struct overlap_span *late)
{
	uint32_t end = end_of(a->range) < end_of(late->range) ? end_of(a->range)
							      : end_of(late->range);
	bool a_first = a->member < late->member;

	if (overlaps->n == overlaps->room) {
		size_t room = overlaps->room ? overlaps->room * 2 : 64;
		struct overlap *list = reallocarray(overlaps->list, room, sizeof(*list));

		if (!list)
			return -ENOMEM;
		overlaps->list = list;
		overlaps->room = room;
	}
	overlaps->list[overlaps->n++] = (struct overlap){
		.shared = {late->range.start, end - late->range.start},
		.first = a_first ? a->member : late->member,
		.second = a_first ? late->member : a->member,
	};
	return 0;
}

/*
 * SPAN begins. Each open range is either over, and looked at for the last time, or meets SPAN and
 * is a pair: that is why the whole sweep costs no more than its input and its output.
 */
static int begin(struct overlaps *overlaps, struct open *open,
		 const struct overlap_span *span)
{
	size_t kept = 0;
	int r = 0;

	for (size_t i = 0; i < open->n && r == 0; i++) {
		const struct overlap_span *other = open->list[i];

		if (other->group != span->group ||
		    end_of(other->range) <= span->range.start)
			continue;
		open->list[kept++] = other;
		if (other->member != span->member)
			r = add(overlaps, other, span);
	}
	open->list[kept] = span;
	open->n = kept + 1;
	return r;
}

static int sweep(const struct overlap_span *spans, size_t n, struct overlaps *overlaps)
{
	struct open open = {.list = calloc(n, sizeof(*open.list))};
	int r = open.list ? 0 : -ENOMEM;

	for (size_t i = 0; i < n && r == 0; i++)
		r = begin(overlaps, &open, &spans[i]);
	free(open.list);
	return r;
}

static int sort_spans(struct overlap_span *spans, size_t n)
{
	struct sorted *list = calloc(2 * n, sizeof(*list)), *order;
	struct overlap_span *copy = calloc(n, sizeof(*copy));

	for (size_t i = 0; list && copy && i < n; i++)
		list[i] = (struct sorted){(uint64_t)spans[i].group << 32 |
						  spans[i].range.start,
					  (uint32_t)i};
	if (list && copy) {
		order = sort(list, n);
		memcpy(copy, spans, n * sizeof(*copy));
		for (size_t i = 0; i < n; i++)
			spans[i] = copy[order[i].index];
	}
	free(list);
	free(copy);
	return list && copy ? 0 : -ENOMEM;
}

/* Join what touches, as two neighbouring extents of one member leave behind. */
static bool join(struct overlap *a, const struct overlap *b)
{
	uint32_t end = end_of(a->shared);

	if (a->first != b->first || a->second != b->second || b->shared.start > end)
		return false;
	if (end_of(b->shared) > end)
		a->shared.count = end_of(b->shared) - a->shared.start;
	return true;
}

/* The sweep left them in the order of their starts. */
static int sort_overlaps(struct overlaps *overlaps)
{
	size_t n = overlaps->n, last = 0;
	struct sorted *list = calloc(2 * n, sizeof(*list)), *order;
	struct overlap *sorted = calloc(n, sizeof(*sorted));

	for (size_t i = 0; list && sorted && i < n; i++)
		list[i] = (struct sorted){(uint64_t)overlaps->list[i].first << 32 |
						  overlaps->list[i].second,
					  (uint32_t)i};
	if (!list || !sorted) {
		free(list);
		free(sorted);
		return -ENOMEM;
	}
	order = sort(list, n);
	sorted[0] = overlaps->list[order[0].index];
	for (size_t i = 1; i < n; i++)
		if (!join(&sorted[last], &overlaps->list[order[i].index]))
			sorted[++last] = overlaps->list[order[i].index];
	free(list);
	free(overlaps->list);
	*overlaps = (struct overlaps){.list = sorted, .n = last + 1, .room = n};
	return 0;
}

int overlap_find(struct overlap_span *spans, size_t n, struct overlaps *ret_overlaps)
{
	struct overlaps overlaps = {0};
	int r = n > 0 ? sort_spans(spans, n) : 0;

	if (r == 0 && n > 0)
		r = sweep(spans, n, &overlaps);
	if (r == 0 && overlaps.n > 0)
		r = sort_overlaps(&overlaps);
	if (r == 0)
		*ret_overlaps = overlaps;
	else
		overlaps_clear(&overlaps);
	return r;
}

void overlaps_clear(struct overlaps *overlaps)
{
	free(overlaps->list);
	*overlaps = (struct overlaps){0};
}

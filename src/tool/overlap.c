/* SPDX-License-Identifier: BSD-2-Clause */
#include "overlap.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/*
 * Sorting dominates, and comparing is what would make each of a million ranges cost more than each
 * of a thousand. So both sorts go by the bytes of a 64-bit key, from the last to the first, and
 * leave out a byte that is the same in all keys. Key and value hold all there is to know of what
 * is sorted.
 */
struct item {
	uint64_t key;
	uint64_t value;
};

static uint64_t pack(uint32_t high, uint32_t low)
{
	return (uint64_t)high << 32 | low;
}

static uint32_t high_of(uint64_t packed)
{
	return (uint32_t)(packed >> 32);
}

static uint32_t low_of(uint64_t packed)
{
	return (uint32_t)packed;
}

#define BYTES  8U     /* of a key */
#define CACHED 16384U /* items that a processor's own cache holds twice */

static unsigned byte_at(uint64_t key, unsigned shift)
{
	return (key >> shift) & 255;
}

/* Move FROM to TO, in the order of the byte at SHIFT. COUNTS: how many have which value there. */
static void sort_byte(const struct item *from, struct item *to, size_t n,
		      const size_t counts[256], unsigned shift)
{
	size_t at[256], sum = 0;

	for (unsigned value = 0; value < 256; value++) {
		at[value] = sum;
		sum += counts[value];
	}
	for (size_t i = 0; i < n; i++)
		to[at[byte_at(from[i].key, shift)]++] = from[i];
}

/* Sort LIST[0..N), N >= 1; what is equal stays in order. Returns where the answer is: LIST or SPARE. */
static struct item *sort_cached(struct item *list, struct item *spare, size_t n)
{
	size_t counts[BYTES][256] = {{0}};

	for (size_t i = 0; i < n; i++)
		for (unsigned byte = 0; byte < BYTES; byte++)
			counts[byte][byte_at(list[i].key, 8 * byte)]++;
	for (unsigned byte = 0; byte < BYTES; byte++) {
		struct item *swap = list;

		if (counts[byte][byte_at(list[0].key, 8 * byte)] == n)
			continue;
		sort_byte(list, spare, n, counts[byte], 8 * byte);
		list = spare;
		spare = swap;
	}
	return list;
}

/* The same for any number: what the cache can't hold is first parted by the eight highest bits that
 * differ, so that all other passes stay within a part. */
static struct item *sort(struct item *list, struct item *spare, size_t n)
{
	size_t counts[256] = {0}, at = 0;
	uint64_t differ = 0;
	unsigned shift = 0;

	if (n <= CACHED)
		return sort_cached(list, spare, n);
	for (size_t i = 1; i < n; i++)
		differ |= list[i].key ^ list[0].key;
	while (differ >> shift > 255)
		shift++;
	for (size_t i = 0; i < n; i++)
		counts[byte_at(list[i].key, shift)]++;
	sort_byte(list, spare, n, counts, shift);
	for (unsigned value = 0; value < 256; at += counts[value++])
		if (counts[value] > 0 &&
		    sort_cached(spare + at, list + at, counts[value]) != spare + at)
			memcpy(spare + at, list + at, counts[value] * sizeof(*list));
	return spare;
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
	struct open open = {.list = calloc(n, sizeof(struct overlap_span *))};
	int r = open.list ? 0 : -ENOMEM;

	for (size_t i = 0; i < n && r == 0; i++)
		r = begin(overlaps, &open, &spans[i]);
	free(open.list);
	return r;
}

static int sort_spans(struct overlap_span *spans, size_t n)
{
	struct item *list = reallocarray(NULL, 2 * n, sizeof(*list)), *item;

	if (!list)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		list[i] = (struct item){pack(spans[i].group, spans[i].range.start),
					pack(spans[i].member, spans[i].range.count)};
	item = sort(list, list + n, n);
	for (size_t i = 0; i < n; i++, item++)
		spans[i] = (struct overlap_span){{low_of(item->key), low_of(item->value)},
						 high_of(item->key),
						 high_of(item->value)};
	free(list);
	return 0;
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
	struct item *list = reallocarray(NULL, 2 * overlaps->n, sizeof(*list)), *item;
	size_t n = overlaps->n;

	if (!list)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		const struct overlap *overlap = &overlaps->list[i];

		list[i] =
			(struct item){pack(overlap->first, overlap->second),
				      pack(overlap->shared.start, overlap->shared.count)};
	}
	item = sort(list, list + n, n);
	overlaps->n = 0;
	for (size_t i = 0; i < n; i++, item++) {
		struct overlap overlap = {{high_of(item->value), low_of(item->value)},
					  high_of(item->key),
					  low_of(item->key)};

		if (i == 0 || !join(&overlaps->list[overlaps->n - 1], &overlap))
			overlaps->list[overlaps->n++] = overlap;
	}
	free(list);
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

/* SPDX-License-Identifier: BSD-2-Clause */

/*
 * time-sweep: overlap_find() and idset_seal() on 1,000 to 1,000,000 ranges, and beside them the
 * loops one would write first, as far as it does not hurt: compare each with each, and insert each
 * into a sorted list. Both must give the same answers. A line for each shape and size: SHAPE N
 * PAIRS, then ns of the sweep before and after, and of the merge before and after ("-": not run).
 */

#include "tool/overlap.h"

#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define QUADRATIC 30000U /* ranges up to which that is run */
#define SPACE     4000000000U

static uint64_t state = 88172645463325252U;

static uint32_t below(uint32_t bound)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (uint32_t)((state >> 32) * bound >> 32);
}

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
	return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

/* Each range meets about two others, however many there are. */
static void make_overlapping(struct overlap_span *spans, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		spans[i] = (struct overlap_span){
			{below(SPACE), 1 + below(2 * (SPACE / n))}, 0, i};
}

/* Stacks of four, each range within the one before: 1.5 pairs a range. */
static void make_nested(struct overlap_span *spans, uint32_t n)
{
	uint32_t stack = SPACE / (n / 4);

	for (uint32_t i = 0; i < n; i++) {
		uint32_t level = i % 4, step = stack / 12;

		spans[i] = (struct overlap_span){
			{i / 4 * stack + level * step, stack - 1 - 2 * level * step},
			0,
			i};
	}
	for (uint32_t i = n - 1; i > 0; i--) {
		uint32_t k = below(i + 1);
		struct overlap_span swap = spans[i];

		spans[i] = spans[k];
		spans[k] = swap;
	}
}

static size_t compare_all(const struct overlap_span *spans, size_t n)
{
	size_t pairs = 0;

	for (size_t i = 0; i < n; i++)
		for (size_t k = i + 1; k < n; k++) {
			struct range a = spans[i].range, b = spans[k].range;

			pairs += a.start < b.start + b.count &&
				 b.start < a.start + a.count;
		}
	return pairs;
}

/* Keep LIST sorted and apart: what RANGE touches is joined with it, the rest moves up or down. */
static size_t insert(struct range *list, size_t n, struct range range)
{
	size_t from = 0, to;

	while (from < n && list[from].start + list[from].count < range.start)
		from++;
	for (to = from; to < n && list[to].start <= range.start + range.count; to++) {
		uint32_t end = range.start + range.count,
			 its = list[to].start + list[to].count;

		range.start = list[to].start < range.start ? list[to].start : range.start;
		range.count = (its > end ? its : end) - range.start;
	}
	memmove(&list[from + 1], &list[to], (n - to) * sizeof(*list));
	list[from] = range;
	return n + 1 - (to - from);
}

static double time_merge(const struct overlap_span *spans, size_t n, size_t *ret_left)
{
	struct idset set = {0};
	double start = now(), took;

	for (size_t i = 0; i < n; i++)
		if (idset_add(&set, spans[i].range.start, spans[i].range.count) != 0)
			errx(1, "no memory");
	idset_seal(&set);
	took = now() - start;
	*ret_left = set.n;
	idset_clear(&set);
	return took;
}

static void print_before(double took, bool ran)
{
	if (ran)
		printf("\t%.0f", took);
	else
		printf("\t-");
}

static void measure(const char *shape, struct overlap_span *spans, uint32_t n)
{
	struct overlaps overlaps = {0};
	struct range *list = calloc(n + 1, sizeof(*list));
	size_t pairs, left = 0, merged;
	double start = now(), compared, inserted, swept, sealed;
	bool small = n <= QUADRATIC;

	pairs = small ? compare_all(spans, n) : 0;
	compared = now() - start;
	start = now();
	for (size_t i = 0; small && i < n; i++)
		left = insert(list, left, spans[i].range);
	inserted = now() - start;
	sealed = time_merge(spans, n, &merged);
	start = now();
	if (!list || overlap_find(spans, n, &overlaps) != 0)
		errx(1, "no memory");
	swept = now() - start;
	if (small && (overlaps.n != pairs || merged != left))
		errx(1, "%s %u: %zu pairs, not %zu; %zu ranges, not %zu", shape, n,
		     overlaps.n, pairs, merged, left);
	printf("%s\t%u\t%zu", shape, n, overlaps.n);
	print_before(compared, small);
	printf("\t%.0f", swept);
	print_before(inserted, small);
	printf("\t%.0f\n", sealed);
	overlaps_clear(&overlaps);
	free(list);
}

int main(void)
{
	static const uint32_t sizes[] = {1000,   3000,   10000,  30000,
					 100000, 300000, 1000000};
	struct overlap_span *spans = calloc(1000000, sizeof(*spans));

	for (int shape = 0; spans && shape < 2; shape++)
		for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
			(shape == 0 ? make_overlapping : make_nested)(spans, sizes[i]);
			measure(shape == 0 ? "overlapping" : "nested", spans, sizes[i]);
		}
	free(spans);
	return 0;
}

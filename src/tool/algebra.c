/* SPDX-License-Identifier: BSD-2-Clause */
#include "algebra.h"

#include <stdlib.h>
#include <string.h>

static int compare_inner(const void *a, const void *b)
{
	const struct extent *x = a, *y = b;

	return (x->inner > y->inner) - (x->inner < y->inner);
}

void idmap_invert(const struct idmap *map, struct idmap *ret_map)
{
	struct idmap inverted = {.n = map->n};

	for (size_t i = 0; i < map->n; i++)
		inverted.extents[i] = (struct extent){
			.inner = map->extents[i].outer,
			.outer = map->extents[i].inner,
			.count = map->extents[i].count,
		};
	qsort(inverted.extents, inverted.n, sizeof(*inverted.extents), compare_inner);
	*ret_map = inverted;
}

/*
 * The part of A that B maps on:
 *
 *	A    0..9 -> 100..109
 *	B            105..119 -> 1000..1014
 *	     5..9 -------------> 1000..1004
 */
static bool meet(const struct extent *a, const struct extent *b,
		 struct extent *ret_extent)
{
	uint64_t a_end = (uint64_t)a->outer + a->count;
	uint64_t b_end = (uint64_t)b->inner + b->count;
	uint64_t end = a_end < b_end ? a_end : b_end;
	uint32_t start = a->outer > b->inner ? a->outer : b->inner;

	if (start >= end || b->outer == ID_NONE)
		return false;
	*ret_extent = (struct extent){
		.inner = a->inner + (start - a->outer),
		.outer = b->outer + (start - b->inner),
		.count = (uint32_t)(end - start),
	};
	return true;
}

int idmap_compose(const struct idmap *inner, const struct idmap *outer,
		  struct idmap *ret_map)
{
	/* Every part begins where an extent of one of the two does. */
	struct extent parts[2 * IDMAP_EXTENTS];
	size_t n = 0;

	for (size_t i = 0; i < inner->n; i++)
		for (size_t j = 0; j < outer->n; j++)
			if (meet(&inner->extents[i], &outer->extents[j], &parts[n]))
				n++;
	n = extents_merge(parts, n);
	if (n > IDMAP_EXTENTS)
		return ALGEBRA_E_EXTENTS;
	*ret_map = (struct idmap){.n = n};
	memcpy(ret_map->extents, parts, n * sizeof(*parts));
	return 0;
}

bool idmap_equal(const struct idmap *a, const struct idmap *b)
{
	struct idmap x = *a, y = *b;

	qsort(x.extents, x.n, sizeof(*x.extents), compare_inner);
	qsort(y.extents, y.n, sizeof(*y.extents), compare_inner);
	return x.n == y.n && memcmp(x.extents, y.extents, x.n * sizeof(*x.extents)) == 0;
}

/* SPDX-License-Identifier: BSD-2-Clause */
#include "algebra.h"

#include <stdlib.h>
#include <string.h>

static int compare_inner(const void *a, const void *b)
{
	const struct extent *x = a, *y = b;

	return (x->inner > y->inner) - (x->inner < y->inner);
}

struct extent extent_flip(struct extent extent)
{
	return (struct extent){extent.outer, extent.inner, extent.count};
}

void idmap_sort(struct idmap *map)
{
	qsort(map->extents, map->n, sizeof(*map->extents), compare_inner);
}

void idmap_invert(const struct idmap *map, struct idmap *ret_map)
{
	struct idmap inverted = {.n = map->n};

	for (size_t i = 0; i < map->n; i++)
		inverted.extents[i] = extent_flip(map->extents[i]);
	idmap_sort(&inverted);
	*ret_map = inverted;
}

static uint64_t inner_end(const struct extent *extent)
{
	return (uint64_t)extent->inner + extent->count;
}

/*
 * The IDs that both map, on the side of A as inner ones:
 *
 *	A    100..109 -> 0..9
 *	B        105..119 -> 1000..1014
 *	     5..9 ---------> 1000..1004
 */
static bool meet(const struct extent *a, const struct extent *b,
		 struct extent *ret_extent)
{
	uint64_t end = inner_end(a) < inner_end(b) ? inner_end(a) : inner_end(b);
	uint32_t start = a->inner > b->inner ? a->inner : b->inner;

	if (start >= end || b->outer == ID_NONE)
		return false;
	*ret_extent = (struct extent){
		.inner = a->outer + (start - a->inner),
		.outer = b->outer + (start - b->inner),
		.count = (uint32_t)(end - start),
	};
	return true;
}

int idmap_compose(const struct idmap *inner, const struct idmap *outer,
		  struct idmap *ret_map)
{
	/* Both maps from the namespace between, walked side by side. Every part begins where an
	 * extent of one of the two does. */
	struct extent parts[2 * IDMAP_EXTENTS];
	struct idmap inwards, outwards = *outer;
	size_t n = 0, i = 0, j = 0;

	idmap_invert(inner, &inwards);
	idmap_sort(&outwards);
	while (i < inwards.n && j < outwards.n) {
		const struct extent *a = &inwards.extents[i], *b = &outwards.extents[j];

		n += meet(a, b, &parts[n]);
		if (inner_end(a) < inner_end(b))
			i++;
		else
			j++;
	}
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

	idmap_sort(&x);
	idmap_sort(&y);
	return x.n == y.n && memcmp(x.extents, y.extents, x.n * sizeof(*x.extents)) == 0;
}

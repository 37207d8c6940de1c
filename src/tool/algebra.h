/* SPDX-License-Identifier: BSD-2-Clause */
#pragma once

/*
 * algebra: maps made from maps. Pure.
 */

#include "../trusted/idmap.h"

enum { ALGEBRA_E_EXTENTS = 1 }; /* the result needs more than IDMAP_EXTENTS */

/* Swap the two sides. */
struct extent extent_flip(struct extent extent);

/* Sort the extents by inner. */
void idmap_sort(struct idmap *map);

/* Swap the two sides, sorted by the new inner. invert(invert(m)) holds the same extents as m. */
void idmap_invert(const struct idmap *map, struct idmap *ret_map);

/*
 * The map of a namespace with map INNER whose parent has map OUTER, seen from OUTER's parent: an
 * ID maps to what OUTER makes of what INNER makes of it. Splits extents where OUTER has a
 * boundary, drops IDs that OUTER does not map, and merges what continues on both sides. Sorted by
 * inner. An extent of OUTER whose outer is ID_NONE (live_parse()) maps to nothing. Returns 0 or
 * ALGEBRA_E_EXTENTS.
 */
int idmap_compose(const struct idmap *inner, const struct idmap *outer,
		  struct idmap *ret_map);

/* True if both hold the same extents once sorted by inner. */
bool idmap_equal(const struct idmap *a, const struct idmap *b);

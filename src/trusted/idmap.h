/* SPDX-License-Identifier: BSD-2-Clause */
#pragma once

/*
 * idmap: the map of a user namespace, a value of up to 340 extents.
 *
 * A map that idmap_make() returned is one that the kernel takes as far as its text goes: at most
 * IDMAP_EXTENTS extents, disjoint on both sides, and a text shorter than a page. (The rest is the
 * parent's map and privilege.) Sources: UID_GID_MAP_MAX_EXTENTS in include/linux/user_namespace.h,
 * map_write() and mappings_overlap() in kernel/user_namespace.c, user_namespaces(7).
 *
 * Passed by pointer, copied by =, never allocated.
 */

#include "extent.h"

#define IDMAP_EXTENTS 340U

/* Room for the text of any map and a NUL: three 10-digit numbers and three separators each. */
#define IDMAP_TEXT (IDMAP_EXTENTS * 33U)

struct idmap {
	size_t n;
	struct extent extents[IDMAP_EXTENTS];
};

enum {
	IDMAP_E_INNER = 1, /* first and second share inner IDs */
	IDMAP_E_OUTER,     /* first and second share outer IDs */
	IDMAP_E_EXTENTS,   /* more than IDMAP_EXTENTS, even when merged */
	IDMAP_E_BYTES,     /* the text does not fit in a page, even when merged */
};

/* Where and why idmap_make() refused. */
struct idmap_refusal {
	struct extent first; /* IDMAP_E_INNER, IDMAP_E_OUTER: the two that overlap */
	struct extent second;
	size_t extents; /* IDMAP_E_EXTENTS: how many there are after merging */
	size_t bytes;   /* IDMAP_E_BYTES: how long the text is, */
	size_t fit;     /* and how many extents of it would fit */
};

/*
 * Make a map of LIST[0..N), N >= 1. The extents stay as they are and in their order if that fits
 * both limits; else LIST is sorted by inner and neighbours that continue on both sides are
 * merged, and that is the map if it fits. PAGE is the page size in bytes: the text, written
 * without a final newline, must be shorter. Returns 0 or IDMAP_E_*, then with *RET_WHY.
 */
int idmap_make(struct extent *list, size_t n, size_t page, struct idmap *ret_map,
	       struct idmap_refusal *ret_why);

/* Sort LIST by inner and join neighbours that continue on both sides. Returns the new length. */
size_t extents_merge(struct extent *list, size_t n);

/*
 * Write MAP as the kernel takes it, "INNER OUTER COUNT" a line, single blanks, no final newline,
 * no NUL. Returns the length, at most IDMAP_TEXT.
 */
size_t idmap_format(const struct idmap *map, char ret_text[IDMAP_TEXT]);

/* True if outer 0 is mapped, which the kernel grants only with CAP_SETFCAP (since 5.12). */
bool idmap_has_outer_zero(const struct idmap *map);

/* SPDX-License-Identifier: BSD-2-Clause */
#pragma once

/*
 * extent: COUNT IDs from INNER inside a user namespace are OUTER.. in its parent.
 *
 * extent_make() is the only constructor, so in every extent count >= 1 and neither side passes
 * ID_MAX: inner + count and outer + count never exceed 4294967295 and never wrap in 32 bits.
 * (The kernel's rule, map_write() in kernel/user_namespace.c.) Code that is handed an extent
 * does not check this again.
 */

#include "id.h"

#include <stdbool.h>

struct extent {
	uint32_t inner;
	uint32_t outer;
	uint32_t count;
};

enum {
	EXTENT_E_COUNT = 1, /* count is 0 */
	EXTENT_E_INNER,     /* inner + count - 1 passes ID_MAX */
	EXTENT_E_OUTER,     /* outer + count - 1 passes ID_MAX */
};

/* Returns 0 or EXTENT_E_*. */
int extent_make(uint32_t inner, uint32_t outer, uint32_t count,
		struct extent *ret_extent);

/* The reason for an EXTENT_E_*: "count is 0". */
const char *extent_reason(int error);

/* True if the COUNT IDs from START, taken as a range of one side, are a valid one. */
bool range_valid(uint32_t start, uint32_t count);

/* True if NEXT begins where EXTENT ends on BOTH sides, so that the two can be one extent. */
bool extent_continues(const struct extent *extent, const struct extent *next);

/* SPDX-License-Identifier: BSD-2-Clause */
#include "extent.h"

bool range_valid(uint32_t start, uint32_t count)
{
	return count > 0 && (uint64_t)start + count <= ID_NONE;
}

int extent_make(uint32_t inner, uint32_t outer, uint32_t count, struct extent *ret_extent)
{
	if (count == 0)
		return EXTENT_E_COUNT;
	if (!range_valid(inner, count))
		return EXTENT_E_INNER;
	if (!range_valid(outer, count))
		return EXTENT_E_OUTER;
	*ret_extent = (struct extent){inner, outer, count};
	return 0;
}

const char *extent_reason(int error)
{
	static const char *const reason[] = {
		[EXTENT_E_COUNT] = "count is 0",
		[EXTENT_E_INNER] = "inner IDs pass 4294967294, the largest ID",
		[EXTENT_E_OUTER] = "outer IDs pass 4294967294, the largest ID",
	};

	return reason[error];
}

bool extent_continues(const struct extent *extent, const struct extent *next)
{
	return extent->inner + extent->count == next->inner &&
	       extent->outer + extent->count == next->outer;
}

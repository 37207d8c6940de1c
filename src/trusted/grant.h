/* SPDX-License-Identifier: BSD-2-Clause */
#pragma once

/*
 * grant: what an owner may give away, and whether a map stays inside it.
 *
 * THE decision of the privileged helpers: every outer ID of the map is in the owner's grants, or
 * its extent is exactly the caller's own ID, count 1. Pure, so that it can be tested whole.
 */

#include "idmap.h"
#include "idset.h"
#include "subid.h"

/* Add all of OWNER's ranges in TEXT to SET and seal it. Returns 0 or -ENOMEM. */
int grant_collect(const char *text, size_t len, const struct subid_owner *owner,
		  struct idset *set);

enum { GRANT_E_OUTER = 1 }; /* an extent's outer IDs are not granted */

struct grant_answer {
	bool by_grant;    /* allowed: at least one extent is covered by the set */
	size_t index;     /* refused: the first extent that is not, */
	struct range gap; /* and the first stretch of its outer IDs that is missing */
};

/*
 * Is every outer range of MAP inside GRANTED (sealed), or the caller's OWN ID alone? An extent
 * covered by the set counts as such even when it is also the own ID: newgidmap leaves setgroups
 * alone then (CVE-2018-7169). Returns 0 or GRANT_E_OUTER; fills the half of *RET_ANSWER that
 * belongs to it.
 */
int grant_check(const struct idset *granted, uint32_t own, const struct idmap *map,
		struct grant_answer *ret_answer);

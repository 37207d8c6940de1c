/* SPDX-License-Identifier: BSD-2-Clause */
#pragma once

/*
 * slice: one unbroken piece of what is granted that nobody uses. Pure.
 *
 * It is taken from the smallest gap that holds it, of equal ones the lowest, so that large gaps
 * stay for those who need them, and slices of one size fill a grant without a rest in between.
 */

#include "../trusted/idset.h"

/* All of GRANTED that USED does not have; both sealed, and so is *RET_GAPS. Returns 0 or
 * -ENOMEM. */
int slice_gaps(const struct idset *granted, const struct idset *used,
	       struct idset *ret_gaps);

enum { SLICE_E_SIZE = 1 }; /* no gap holds that many */

/*
 * Choose SIZE (>= 1) IDs of GAPS: those from WANT on if they are there (ID_NONE: nothing is
 * wanted), else those at the start of the smallest gap that holds them. Returns 0 with the first of
 * them in *RET_START, or SLICE_E_SIZE.
 */
int slice_choose(const struct idset *gaps, uint32_t size, uint32_t want,
		 uint32_t *ret_start);

/* How many IDs the largest of GAPS has. */
uint32_t slice_largest(const struct idset *gaps);

/* SPDX-License-Identifier: BSD-2-Clause */
#pragma once

/*
 * plan-parts: what plan.c, finish.c and refusal.c share and nobody else needs: one side
 * of an extent as a range, and the order in which a plan is kept.
 */

#include "plan.h"

enum side { SIDE_INNER, SIDE_OUTER };

/* The part of EXTENT whose IDs on SIDE are FROM..TO-1; count 0 if there is none. On the outer
 * side, 103..105 of {0 100 10} is {3 103 3}. */
struct extent extent_clip(const struct extent *extent, enum side side, uint32_t from,
			  uint32_t to);

/* For qsort(3) on struct extent and on struct planned, which begins with one. */
int extent_compare_inner(const void *a, const void *b);

/* Sort by inner if no two extents overlap. Returns 0, PLAN_E_INNER or PLAN_E_OUTER. */
int plan_sort(struct plan *plan, struct plan_refusal *ret_why);

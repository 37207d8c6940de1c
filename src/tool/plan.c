/* SPDX-License-Identifier: BSD-2-Clause */
#include "plan.h"

#include "plan-parts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int plan_append(struct plan *plan, const struct extent *extent, struct origin origin)
{
	if (plan->n == plan->room) {
		size_t room = plan->room ? plan->room * 2 : 16;
		struct planned *list = reallocarray(plan->list, room, sizeof(*list));

		if (!list)
			return -ENOMEM;
		plan->list = list;
		plan->room = room;
	}
	plan->list[plan->n++] = (struct planned){*extent, origin};
	return 0;
}

struct extent extent_clip(const struct extent *extent, enum side side, uint32_t from,
			  uint32_t to)
{
	uint32_t start = side == SIDE_INNER ? extent->inner : extent->outer;
	uint32_t end = start + extent->count;

	if (from < start)
		from = start;
	if (to > end)
		to = end;
	if (from >= to)
		return (struct extent){0};
	return (struct extent){extent->inner + (from - start),
			       extent->outer + (from - start), to - from};
}

/*
 * Take the COUNT IDs from START on SIDE out. Every extent keeps what lies before and what lies
 * behind them; what lies behind is appended where both are left, which is once at most in a
 * disjoint plan.
 */
static int cut(struct plan *plan, enum side side, uint32_t start, uint32_t count)
{
	size_t n = plan->n, kept = 0;

	for (size_t i = 0; i < n; i++) {
		struct planned whole = plan->list[i];
		struct extent left = extent_clip(&whole.extent, side, 0, start);
		struct extent behind =
			extent_clip(&whole.extent, side, start + count, ID_NONE);

		if (left.count == 0)
			left = behind;
		else if (behind.count > 0 &&
			 plan_append(plan, &behind, whole.origin) != 0)
			return -ENOMEM;
		if (left.count > 0)
			plan->list[kept++] = (struct planned){left, whole.origin};
	}
	if (plan->n > 0)
		memmove(&plan->list[kept], &plan->list[n],
			(plan->n - n) * sizeof(*plan->list));
	plan->n -= n - kept;
	return 0;
}

int plan_remove(struct plan *plan, uint32_t inner, uint32_t count)
{
	return cut(plan, SIDE_INNER, inner, count);
}

/*
 * {0 100 10} with +4:107:2 laid over it loses inner 4 and 5 and outer 107 and 108:
 *
 *	inner     0   1   2   3   4   5   6   7   8   9
 *	before  100 101 102 103 104 105 106 107 108 109
 *	inner   100 101 102 103  .   .  106 107 108 109   {0 100 4} {6 106 4}
 *	outer   100 101 102 103  .   .  106  .   .  109   {0 100 4} {6 106 1} {9 109 1}
 *	after   100 101 102 103 107 108 106  .   .  109   and {4 107 2}
 *
 * Nobody is outer 104 and 105 now, and inner 7 and 8 are nobody: what is lost is unmapped, never
 * moved.
 */
int plan_overlay(struct plan *plan, const struct extent *extent, struct origin origin)
{
	int r = cut(plan, SIDE_INNER, extent->inner, extent->count);

	if (r == 0)
		r = cut(plan, SIDE_OUTER, extent->outer, extent->count);
	return r != 0 ? r : plan_append(plan, extent, origin);
}

static int apply_sign(struct plan *plan, const struct mapspec *spec)
{
	struct origin origin = {ORIGIN_ARGUMENT, spec->position, spec->position};

	if (spec->sign == MAPSPEC_REMOVE)
		return plan_remove(plan, spec->extent.inner, spec->extent.count);
	return plan_overlay(plan, &spec->extent, origin);
}

static int replace_base(struct plan *plan, enum id_kind kind, const struct mapspec *specs,
			size_t n)
{
	int r = 0;

	plan->n = 0;
	for (size_t i = 0; i < n && r == 0; i++) {
		const struct mapspec *spec = &specs[i];
		struct origin origin = {ORIGIN_ARGUMENT, spec->position, spec->position};

		if (spec->sign == MAPSPEC_BASE && spec->applies[kind])
			r = plan_append(plan, &spec->extent, origin);
	}
	return r;
}

int plan_apply(struct plan *plan, enum id_kind kind, const struct mapspec *specs,
	       size_t n, struct plan_refusal *ret_why)
{
	int r = 0;

	if (mapspec_has_base(specs, n, kind))
		r = replace_base(plan, kind, specs, n);
	if (r == 0)
		r = plan_sort(plan, ret_why);
	for (size_t i = 0; i < n && r == 0; i++)
		if (specs[i].sign != MAPSPEC_BASE && specs[i].applies[kind])
			r = apply_sign(plan, &specs[i]);
	return r;
}

int extent_compare_inner(const void *a, const void *b)
{
	const struct extent *x = a, *y = b;

	return (x->inner > y->inner) - (x->inner < y->inner);
}

static int compare_outer(const void *a, const void *b)
{
	const struct extent *x = a, *y = b;

	return (x->outer > y->outer) - (x->outer < y->outer);
}

static bool overlap(const struct extent *a, const struct extent *b, enum side side)
{
	return side == SIDE_INNER ? a->inner + a->count > b->inner
				  : a->outer + a->count > b->outer;
}

/* Sorted by one side, two extents overlap on it if and only if two neighbours do. */
static bool find_overlap(const struct plan *plan, enum side side,
			 struct plan_refusal *ret_why)
{
	for (size_t i = 1; i < plan->n; i++) {
		const struct planned *a = &plan->list[i - 1], *b = &plan->list[i];
		bool in_order = a->origin.first <= b->origin.first;

		if (overlap(&a->extent, &b->extent, side)) {
			*ret_why = (struct plan_refusal){.first = in_order ? *a : *b,
							 .second = in_order ? *b : *a};
			return true;
		}
	}
	return false;
}

int plan_sort(struct plan *plan, struct plan_refusal *ret_why)
{
	if (plan->n == 0)
		return 0;
	qsort(plan->list, plan->n, sizeof(*plan->list), compare_outer);
	if (find_overlap(plan, SIDE_OUTER, ret_why))
		return PLAN_E_OUTER;
	qsort(plan->list, plan->n, sizeof(*plan->list), extent_compare_inner);
	return find_overlap(plan, SIDE_INNER, ret_why) ? PLAN_E_INNER : 0;
}

void plan_clear(struct plan *plan)
{
	free(plan->list);
	*plan = (struct plan){0};
}

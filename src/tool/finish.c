/* SPDX-License-Identifier: BSD-2-Clause */
#include "plan.h"

#include "plan-parts.h"

#include <stdlib.h>

void plan_keep_apart(struct plan *plan, uint32_t own, const struct idset *granted)
{
	plan->apart = !idset_covers(granted, own, 1, NULL);
	plan->own = own;
}

static bool is_apart(const struct plan *plan, const struct extent *extent)
{
	return plan->apart && extent->count == 1 && extent->outer == plan->own;
}

/* Cut the own ID out of the extent that has it among others. */
static int set_apart(struct plan *plan)
{
	for (size_t i = 0; i < plan->n; i++) {
		struct planned *whole = &plan->list[i];
		struct extent alone =
			extent_clip(&whole->extent, SIDE_OUTER, plan->own, plan->own + 1);

		if (alone.count == 1 && whole->extent.count > 1) {
			int r = plan_overlay(plan, &alone, whole->origin);

			qsort(plan->list, plan->n, sizeof(*plan->list),
			      extent_compare_inner);
			return r;
		}
	}
	return 0;
}

static void origin_join(struct origin *origin, const struct origin *other)
{
	if (other->kind > origin->kind)
		*origin = *other;
	if (other->kind < origin->kind)
		return;
	if (other->first < origin->first)
		origin->first = other->first;
	if (other->last > origin->last)
		origin->last = other->last;
}

static void merge(struct plan *plan)
{
	size_t last = 0;

	for (size_t i = 1; i < plan->n; i++) {
		struct planned *kept = &plan->list[last];
		const struct planned *next = &plan->list[i];

		if (extent_continues(&kept->extent, &next->extent) &&
		    !is_apart(plan, &kept->extent) && !is_apart(plan, &next->extent)) {
			kept->extent.count += next->extent.count;
			origin_join(&kept->origin, &next->origin);
		} else {
			plan->list[++last] = *next;
		}
	}
	plan->n = last + 1;
}

/* The biggest stretch that SET shares with COUNT IDs from START; count 0: none. */
static struct range largest_shared(const struct idset *set, uint32_t start,
				   uint32_t count)
{
	struct range largest = {0};

	for (size_t i = 0; i < set->n; i++) {
		const struct range *range = &set->ranges[i];
		struct extent all = {range->start, range->start, range->count};
		struct extent part = extent_clip(&all, SIDE_OUTER, start, start + count);

		if (part.count > largest.count)
			largest = (struct range){part.outer, part.count};
	}
	return largest;
}

/* Does the parent's map, as a set of its inner IDs, have all outer IDs of PLAN? */
static int check_parent(const struct plan *plan, const struct idset *set,
			struct plan_refusal *ret_why)
{
	for (size_t i = 0; i < plan->n; i++) {
		const struct extent *extent = &plan->list[i].extent;
		struct plan_refusal why = {.first = plan->list[i]};

		if (idset_covers(set, extent->outer, extent->count, &why.missing))
			continue;
		why.largest = largest_shared(set, extent->outer, extent->count);
		if (why.largest.count == 0)
			why.largest = largest_shared(set, 0, ID_NONE);
		*ret_why = why;
		return PLAN_E_PARENT;
	}
	return 0;
}

/* The first extent of PARENT, sorted by inner, that ends behind ID. */
static size_t first_behind(const struct idmap *parent, uint32_t id)
{
	size_t low = 0, high = parent->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct extent *extent = &parent->extents[middle];

		if (extent->inner + extent->count <= id)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Append to SPLIT the pieces of WHOLE, each of which lies in one extent of PARENT. */
static int split_extent(struct plan *split, const struct planned *whole,
			const struct idmap *parent)
{
	uint32_t end = whole->extent.outer + whole->extent.count;
	int r = 0;

	for (size_t i = first_behind(parent, whole->extent.outer);
	     r == 0 && i < parent->n && parent->extents[i].inner < end; i++) {
		const struct extent *frame = &parent->extents[i];
		struct extent piece =
			extent_clip(&whole->extent, SIDE_OUTER, frame->inner,
				    frame->inner + frame->count);

		r = plan_append(split, &piece, whole->origin);
	}
	return r;
}

/*
 * The kernel wants each outer range inside ONE extent of the parent's map (map_id_range_down() in
 * kernel/user_namespace.c). With {0 1000 1} {1 100000 65536} as parent, {0 0 1001} becomes
 * {0 0 1} {1 1 1000}.
 */
static int split_all(struct plan *plan, const struct idmap *parent)
{
	struct plan split = {.apart = plan->apart, .own = plan->own};
	struct idmap sorted = *parent;
	int r = 0;

	qsort(sorted.extents, sorted.n, sizeof(*sorted.extents), extent_compare_inner);
	for (size_t i = 0; i < plan->n && r == 0; i++)
		r = split_extent(&split, &plan->list[i], &sorted);
	if (r != 0) {
		plan_clear(&split);
		return r;
	}
	plan_clear(plan);
	*plan = split;
	return 0;
}

static int project(struct plan *plan, const struct idmap *parent,
		   struct plan_refusal *ret_why)
{
	__attribute__((cleanup(idset_clear))) struct idset set = {0};
	int r = 0;

	for (size_t i = 0; i < parent->n && r == 0; i++)
		r = idset_add(&set, parent->extents[i].inner, parent->extents[i].count);
	idset_seal(&set);
	if (r == 0)
		r = check_parent(plan, &set, ret_why);
	return r != 0 ? r : split_all(plan, parent);
}

static size_t digits(uint32_t number)
{
	size_t n = 1;

	while (number /= 10)
		n++;
	return n;
}

static size_t line_length(const struct extent *extent)
{
	return digits(extent->inner) + digits(extent->outer) + digits(extent->count) + 3;
}

/* The longest line first, of lines alike the one that maps the fewest IDs, and then the last. */
static int compare_saving(const void *a, const void *b)
{
	const struct extent *x = a, *y = b;
	size_t len_x = line_length(x), len_y = line_length(y);

	if (len_x != len_y)
		return len_x < len_y ? 1 : -1;
	if (x->count != y->count)
		return x->count > y->count ? 1 : -1;
	return x->inner < y->inner ? 1 : -1;
}

/* LEN bytes, all newlines counted, are too many, or PLAN's extents are: which ones should go, so that
 * most can stay? */
static void find_saving(struct plan *plan, size_t len, size_t page,
			struct plan_refusal *ret_why)
{
	size_t drop = 0;

	qsort(plan->list, plan->n, sizeof(*plan->list), compare_saving);
	while (drop < plan->n && (plan->n - drop > IDMAP_EXTENTS || len > page)) {
		if (drop < PLAN_GIVE_UP)
			ret_why->give_up[drop] = plan->list[drop];
		len -= line_length(&plan->list[drop++].extent);
	}
	ret_why->drop = drop;
	ret_why->fit = plan->n - drop;
	qsort(plan->list, plan->n, sizeof(*plan->list), extent_compare_inner);
}

static int check_limits(struct plan *plan, size_t page, struct plan_refusal *ret_why)
{
	struct plan_refusal why = {.have = plan->n, .want = IDMAP_EXTENTS};
	int error = PLAN_E_EXTENTS;
	size_t len = 0;

	for (size_t i = 0; i < plan->n; i++)
		len += line_length(&plan->list[i].extent);
	if (plan->n <= IDMAP_EXTENTS) {
		size_t bytes = len - 1; /* no final newline */

		if (bytes < page)
			return 0;
		why.have = bytes;
		why.want = page - 1;
		error = PLAN_E_BYTES;
	}
	find_saving(plan, len, page, &why);
	*ret_why = why;
	return error;
}

int plan_finish(struct plan *plan, const struct idmap *parent, size_t page,
		struct idmap *ret_map, struct plan_refusal *ret_why)
{
	struct idmap map = {0};
	int r;

	if (plan->n == 0) {
		*ret_why = (struct plan_refusal){0};
		return PLAN_E_EMPTY;
	}
	r = plan_sort(plan, ret_why);
	if (r == 0 && plan->apart)
		r = set_apart(plan);
	if (r != 0)
		return r;
	merge(plan);
	if (parent)
		r = project(plan, parent, ret_why);
	if (r == 0)
		r = check_limits(plan, page, ret_why);
	if (r != 0)
		return r;
	for (size_t i = 0; i < plan->n; i++)
		map.extents[map.n++] = plan->list[i].extent;
	*ret_map = map;
	return 0;
}

int plan_granted(const struct plan *plan, uint32_t own, const struct idset *granted,
		 struct plan_refusal *ret_why)
{
	for (size_t i = 0; i < plan->n; i++) {
		const struct extent *extent = &plan->list[i].extent;
		struct plan_refusal why = {.first = plan->list[i], .have = granted->n};

		if (extent->count == 1 && extent->outer == own)
			continue;
		if (!idset_covers(granted, extent->outer, extent->count, &why.missing)) {
			*ret_why = why;
			return PLAN_E_GRANT;
		}
	}
	return 0;
}

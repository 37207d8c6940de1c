/* SPDX-License-Identifier: BSD-2-Clause */
#include "plan.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

bool layout_parse(const char *name, enum layout *ret_layout)
{
	static const char *const names[] = {
		[LAYOUT_ROOT] = "root",
		[LAYOUT_KEEP_ID] = "keep-id",
		[LAYOUT_SUBIDS] = "subids",
		[LAYOUT_SELF] = "self",
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		if (strcmp(name, names[i]) == 0) {
			*ret_layout = (enum layout)i;
			return true;
		}
	}
	return false;
}

/*
 * Which IDs have been stacked already. The ends of all lines cut the ID space into cells, each
 * wholly inside or outside any line; free[i] leads to the first cell from i on that is not
 * taken (a union-find forest), so that n lines cost n log n however they overlap.
 */
struct cells {
	uint32_t *cuts; /* sorted, no two alike; cell i is cuts[i]..cuts[i + 1] - 1 */
	size_t *free;
	size_t n;
};

static void cells_clear(struct cells *cells)
{
	free(cells->cuts);
	free(cells->free);
}

static int compare_cut(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

static int cells_make(struct cells *cells, uint32_t own, const struct grants *grants)
{
	size_t n = 0, room = 2 * (grants->n + 1);

	cells->cuts = calloc(room, sizeof(*cells->cuts));
	cells->free = calloc(room, sizeof(*cells->free));
	if (!cells->cuts || !cells->free)
		return -ENOMEM;
	cells->cuts[n++] = own;
	cells->cuts[n++] = own + 1;
	for (size_t i = 0; i < grants->n; i++) {
		cells->cuts[n++] = grants->lines[i].range.start;
		cells->cuts[n++] =
			grants->lines[i].range.start + grants->lines[i].range.count;
	}
	qsort(cells->cuts, n, sizeof(*cells->cuts), compare_cut);
	for (size_t i = 0; i < n; i++)
		if (cells->n == 0 || cells->cuts[cells->n - 1] != cells->cuts[i])
			cells->cuts[cells->n++] = cells->cuts[i];
	for (size_t i = 0; i < cells->n; i++)
		cells->free[i] = i;
	return 0;
}

static size_t cells_find(const struct cells *cells, uint32_t cut)
{
	const uint32_t *at =
		bsearch(&cut, cells->cuts, cells->n, sizeof(cut), compare_cut);

	return (size_t)(at - cells->cuts);
}

static size_t cells_free(const struct cells *cells, size_t i)
{
	while (cells->free[i] != i) {
		cells->free[i] = cells->free[cells->free[i]];
		i = cells->free[i];
	}
	return i;
}

/* Take the first free stretch of the IDs from *START to END - 1 and leave *START behind it.
 * Returns false when none is left. START and END are cuts. */
static bool cells_take(const struct cells *cells, uint32_t *start, uint32_t end,
		       struct range *ret_range)
{
	size_t i = cells_free(cells, cells_find(cells, *start));
	uint32_t from = cells->cuts[i];

	if (from >= end)
		return false;
	for (; cells->cuts[i] < end && cells->free[i] == i; i++)
		cells->free[i] = i + 1;
	*start = cells->cuts[i];
	*ret_range = (struct range){from, cells->cuts[i] - from};
	return true;
}

/* Where the next grant goes. HOLE is the inner ID that keep-id keeps for the own one. */
struct stack {
	struct plan *plan;
	uint32_t hole;
	uint32_t next; /* inner */
	uint32_t left; /* how many more inner IDs are wanted */
};

static uint32_t min(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

/* Stack RANGE, which took line LINE's IDs, around the hole and no further than wanted. */
static int stack_range(struct stack *stack, struct range range, size_t line)
{
	struct origin origin = {ORIGIN_GRANT, line, line};
	uint32_t left = min(range.count, stack->left);
	int r = 0;

	stack->left -= left;
	while (left > 0 && r == 0) {
		struct extent extent = {stack->next, range.start, left};

		if (stack->next == stack->hole)
			extent.inner++;
		else if (stack->next < stack->hole)
			extent.count = min(left, stack->hole - stack->next);
		r = plan_append(stack->plan, &extent, origin);
		stack->next = extent.inner + extent.count;
		range.start += extent.count;
		left -= extent.count;
	}
	return r;
}

static int stack_line(struct stack *stack, const struct cells *cells,
		      const struct grant_line *line)
{
	uint32_t start = line->range.start, end = start + line->range.count;
	struct range range = {0};
	int r = 0;

	while (r == 0 && stack->left > 0 && cells_take(cells, &start, end, &range))
		r = stack_range(stack, range, line->line);
	return r;
}

/* Stack all of GRANTS, but for the own ID where it has its place already. */
static int stack_grants(struct stack *stack, enum layout layout, uint32_t own,
			const struct grants *grants)
{
	struct cells cells = {0};
	struct range placed = {0};
	int r = cells_make(&cells, own, grants);

	if (r == 0 && layout != LAYOUT_SUBIDS)
		cells_take(&cells, &(uint32_t){own}, own + 1, &placed);
	for (size_t i = 0; i < grants->n && r == 0; i++)
		r = stack_line(stack, &cells, &grants->lines[i]);
	cells_clear(&cells);
	return r;
}

/* The own ID, for the layouts that have one, and what is left to stack. */
static int place_own(struct stack *stack, enum layout layout, uint32_t own)
{
	struct extent extent = {layout == LAYOUT_KEEP_ID ? own : 0, own, 1};

	if (layout == LAYOUT_SUBIDS)
		return 0;
	if (layout == LAYOUT_KEEP_ID)
		stack->hole = own;
	else
		stack->next = 1;
	stack->left--;
	return plan_append(stack->plan, &extent, (struct origin){.kind = ORIGIN_OWN});
}

int plan_layout(struct plan *plan, enum layout layout, uint32_t own,
		const struct grants *grants, uint32_t size, struct plan_refusal *ret_why)
{
	struct stack stack = {plan, ID_NONE, 0, size ? size : ID_NONE};
	int r;

	if (layout != LAYOUT_SELF && grants->n == 0) {
		*ret_why = (struct plan_refusal){0};
		return PLAN_E_GRANT;
	}
	r = place_own(&stack, layout, own);
	if (r == 0 && layout != LAYOUT_SELF)
		r = stack_grants(&stack, layout, own, grants);
	if (r == 0 && size > 0 && stack.left > 0) {
		*ret_why = (struct plan_refusal){.have = size - stack.left, .want = size};
		r = PLAN_E_SIZE;
	}
	return r;
}

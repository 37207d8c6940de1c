/* SPDX-License-Identifier: BSD-2-Clause */
#pragma once

/*
 * plan-model: random questions to the planner, and a model of its answers that knows no extents:
 * an array with what each inner ID of a small universe maps to, changed ID by ID. Whoever compares
 * the two compares all IDs. The model's own text is the maximal runs of that array.
 *
 * Like tap.h, for one .c file a program.
 */

#include "tap.h"
#include "tool/plan.h"

#include <string.h>

#define UNIVERSE 64U
#define LINES    5U
#define SPECS    6U

/* One question, in the planner's own terms. */
struct question {
	bool has_layout;
	enum layout layout;
	uint32_t own;
	uint32_t size;
	struct grant_line lines[LINES];
	struct grants grants;
	struct mapspec specs[SPECS];
	size_t n_specs;
	enum id_kind kind;
	bool has_parent;
	struct idmap parent;
	bool apart;
	size_t page;
};

struct model {
	int outer[UNIVERSE]; /* -1: not mapped */
	struct origin origin[UNIVERSE];
};

static inline void random_range(uint32_t *ret_start, uint32_t *ret_count)
{
	*ret_start = tap_below(UNIVERSE);
	*ret_count = 1 + tap_below(tap_below(3) ? 8 : UNIVERSE);
	if (*ret_start + *ret_count > UNIVERSE)
		*ret_count = UNIVERSE - *ret_start;
}

static inline void random_grants(struct question *q)
{
	q->grants = (struct grants){.lines = q->lines, .n = tap_below(LINES + 1)};
	for (size_t i = 0; i < q->grants.n; i++) {
		struct range *range = &q->lines[i].range;

		random_range(&range->start, &range->count);
		q->lines[i].line = i + 1 + tap_below(2);
		if (i > 0 && q->lines[i].line <= q->lines[i - 1].line)
			q->lines[i].line = q->lines[i - 1].line + 1;
		idset_add(&q->grants.set, range->start, range->count);
	}
	idset_seal(&q->grants.set);
}

static inline void random_specs(struct question *q)
{
	uint32_t base = tap_below(4); /* in a quarter of the questions a sign is rare */

	q->n_specs = tap_below(SPECS + 1);
	for (size_t i = 0; i < q->n_specs; i++) {
		struct mapspec *spec = &q->specs[i];
		uint32_t count;

		random_range(&spec->extent.inner, &spec->extent.count);
		random_range(&spec->extent.outer, &count);
		if (count < spec->extent.count)
			spec->extent.count = count;
		spec->sign = tap_below(base ? 2 : 8) ? MAPSPEC_OVERLAY : MAPSPEC_REMOVE;
		if (tap_below(base ? 8 : 2) == 0)
			spec->sign = MAPSPEC_BASE;
		spec->applies[ID_UID] = tap_below(8) > 0;
		spec->applies[ID_GID] = !spec->applies[ID_UID] || tap_below(8) > 0;
		spec->position = i + 1;
	}
}

/* Cut 0..UNIVERSE-1 in pieces, leave few out or none, and shuffle the rest. */
static inline void random_parent(struct question *q)
{
	uint32_t holes = tap_below(3);

	q->has_parent = tap_below(3) > 0;
	q->parent.n = 0;
	for (uint32_t id = 0; id < UNIVERSE;) {
		uint32_t count = 1 + tap_below(24);

		if (id + count > UNIVERSE)
			count = UNIVERSE - id;
		if (!holes || tap_below(4))
			q->parent.extents[q->parent.n++] =
				(struct extent){id, 1000 * id, count};
		id += count;
	}
	for (size_t i = q->parent.n; i > 1; i--) {
		size_t other = tap_below(i);
		struct extent swapped = q->parent.extents[other];

		q->parent.extents[other] = q->parent.extents[i - 1];
		q->parent.extents[i - 1] = swapped;
	}
}

static inline void question_random(struct question *q)
{
	*q = (struct question){
		.layout = tap_below(4),
		.has_layout = tap_below(4) > 0,
		.own = tap_below(UNIVERSE),
		.size = tap_below(4) ? 0 : 1 + tap_below(UNIVERSE),
		.kind = tap_below(2),
		.apart = tap_below(2),
		.page = tap_below(4) ? 4096 : 10 + tap_below(100),
	};
	random_grants(q);
	random_specs(q);
	random_parent(q);
}

/* What the model says: 0 or PLAN_E_*. */
static inline int model_layout(struct model *m, const struct question *q)
{
	bool has_own = q->layout != LAYOUT_SUBIDS, used[UNIVERSE] = {false};
	uint32_t hole = q->layout == LAYOUT_KEEP_ID ? q->own : 0, next = 0, made = 0;

	if (q->layout != LAYOUT_SELF && q->grants.n == 0)
		return PLAN_E_GRANT;
	if (has_own) {
		m->outer[hole] = (int)q->own;
		m->origin[hole] = (struct origin){.kind = ORIGIN_OWN};
		used[q->own] = true;
		made++;
	}
	for (size_t i = 0; i < q->grants.n && q->layout != LAYOUT_SELF; i++) {
		const struct grant_line *line = &q->lines[i];

		for (uint32_t k = 0; k < line->range.count; k++) {
			uint32_t id = line->range.start + k;

			if (used[id] || (q->size && made == q->size))
				continue;
			if (has_own && next == hole)
				next++;
			used[id] = true;
			m->outer[next] = (int)id;
			m->origin[next++] =
				(struct origin){ORIGIN_GRANT, line->line, line->line};
			made++;
		}
	}
	return q->size && made < q->size ? PLAN_E_SIZE : 0;
}

static inline void model_unmap_outer(struct model *m, int outer)
{
	for (uint32_t i = 0; i < UNIVERSE; i++)
		if (m->outer[i] == outer)
			m->outer[i] = -1;
}

static inline void model_sign(struct model *m, const struct mapspec *spec)
{
	const struct extent *e = &spec->extent;

	for (uint32_t k = 0; k < e->count; k++) {
		m->outer[e->inner + k] = -1;
		if (spec->sign == MAPSPEC_OVERLAY)
			model_unmap_outer(m, (int)(e->outer + k));
	}
	for (uint32_t k = 0; k < e->count && spec->sign == MAPSPEC_OVERLAY; k++) {
		m->outer[e->inner + k] = (int)(e->outer + k);
		m->origin[e->inner + k] =
			(struct origin){ORIGIN_ARGUMENT, spec->position, spec->position};
	}
}

/* Sets bit 1 << PLAN_E_INNER or 1 << PLAN_E_OUTER for what is there twice. */
static inline unsigned int model_base(struct model *m, const struct question *q)
{
	bool used[UNIVERSE] = {false};
	unsigned int twice = 0;

	memset(m->outer, -1, sizeof(m->outer));
	for (size_t i = 0; i < q->n_specs; i++) {
		const struct mapspec *spec = &q->specs[i];

		if (spec->sign != MAPSPEC_BASE || !spec->applies[q->kind])
			continue;
		for (uint32_t k = 0; k < spec->extent.count; k++) {
			uint32_t in = spec->extent.inner + k,
				 out = spec->extent.outer + k;

			if (m->outer[in] >= 0)
				twice |= 1U << PLAN_E_INNER;
			if (used[out])
				twice |= 1U << PLAN_E_OUTER;
			used[out] = true;
			m->outer[in] = (int)out;
			m->origin[in] = (struct origin){ORIGIN_ARGUMENT, spec->position,
							spec->position};
		}
	}
	return twice;
}

static inline bool question_has_base(const struct question *q)
{
	for (size_t i = 0; i < q->n_specs; i++)
		if (q->specs[i].sign == MAPSPEC_BASE && q->specs[i].applies[q->kind])
			return true;
	return false;
}

/* Returns the set of errors that are right: bit 0 for none. */
static inline unsigned int model_apply(struct model *m, const struct question *q)
{
	unsigned int twice = 0;

	if (question_has_base(q))
		twice = model_base(m, q);
	if (twice)
		return twice;
	for (size_t i = 0; i < q->n_specs; i++)
		if (q->specs[i].sign != MAPSPEC_BASE && q->specs[i].applies[q->kind])
			model_sign(m, &q->specs[i]);
	return 1;
}

/* Which extent of the parent has outer ID, or -1. Without a parent all are in one. */
static inline int question_frame(const struct question *q, int id)
{
	for (size_t i = 0; q->has_parent && i < q->parent.n; i++) {
		const struct extent *e = &q->parent.extents[i];

		if ((uint32_t)id >= e->inner && (uint32_t)id < e->inner + e->count)
			return (int)i;
	}
	return q->has_parent ? -1 : 0;
}

/* Do inner ID - 1 and ID belong to one extent, before the parent splits it? */
static inline bool model_continues(const struct model *m, const struct question *q,
				   uint32_t id)
{
	bool own_alone = q->apart;

	if (id == 0 || id >= UNIVERSE)
		return false;

	for (size_t i = 0; i < q->grants.n; i++)
		if (q->own - q->lines[i].range.start < q->lines[i].range.count)
			own_alone = false;
	return m->outer[id] >= 0 && m->outer[id - 1] + 1 == m->outer[id] &&
	       m->outer[id - 1] >= 0 &&
	       !(own_alone &&
		 (m->outer[id] == (int)q->own || m->outer[id - 1] == (int)q->own));
}

/* First outer ID that the parent lacks, or -1; and the biggest stretch that it has. */
static inline int model_missing(const struct model *m, const struct question *q,
				struct range *ret_missing, uint32_t *ret_largest)
{
	uint32_t bad = 0, start, end, run = 0;

	while (bad < UNIVERSE &&
	       (m->outer[bad] < 0 || question_frame(q, m->outer[bad]) >= 0))
		bad++;
	if (bad == UNIVERSE)
		return -1;
	for (start = bad; model_continues(m, q, start); start--)
		;
	for (end = bad + 1; model_continues(m, q, end); end++)
		;
	*ret_missing = (struct range){(uint32_t)m->outer[bad], 0};
	for (uint32_t i = bad; i < end && question_frame(q, m->outer[i]) < 0; i++)
		ret_missing->count++;
	*ret_largest = 0;
	for (uint32_t i = start; i < end; i++) {
		run = question_frame(q, m->outer[i]) >= 0 ? run + 1 : 0;
		if (run > *ret_largest)
			*ret_largest = run;
	}
	run = 0;
	for (uint32_t i = 0, none = *ret_largest == 0; none && i < UNIVERSE; i++) {
		run = question_frame(q, (int)i) >= 0 ? run + 1 : 0;
		if (run > *ret_largest)
			*ret_largest = run;
	}
	return (int)bad;
}

static inline void join(struct origin *all, struct origin one)
{
	if (one.kind > all->kind)
		*all = one;
	if (one.kind == all->kind && one.first < all->first)
		all->first = one.first;
	if (one.kind == all->kind && one.last > all->last)
		all->last = one.last;
}

/* The origin of the extent that inner ID is in, before the parent splits it. */
static inline struct origin model_origin(const struct model *m, const struct question *q,
					 uint32_t id)
{
	struct origin origin;

	while (model_continues(m, q, id))
		id--;
	origin = m->origin[id];
	while (model_continues(m, q, ++id))
		join(&origin, m->origin[id]);
	return origin;
}

/* The fewest extents, as lines, and which lines are the longest. */
struct text {
	struct extent lines[UNIVERSE];
	size_t n;
	size_t len; /* no newline at the end */
};

static inline size_t model_line(const struct extent *e)
{
	return (size_t)snprintf(NULL, 0, "%u %u %u\n", e->inner, e->outer, e->count);
}

static inline void model_text(const struct model *m, const struct question *q,
			      struct text *ret_text)
{
	struct text text = {0};

	for (uint32_t i = 0; i < UNIVERSE; i++) {
		if (m->outer[i] < 0)
			continue;
		if (model_continues(m, q, i) &&
		    question_frame(q, m->outer[i]) == question_frame(q, m->outer[i - 1]))
			text.lines[text.n - 1].count++;
		else
			text.lines[text.n++] =
				(struct extent){i, (uint32_t)m->outer[i], 1};
	}
	for (size_t i = 0; i < text.n; i++)
		text.len += model_line(&text.lines[i]);
	text.len -= text.n > 0;
	*ret_text = text;
}

/* How many lines must go, the longest first, until the text is shorter than a page. */
static inline size_t model_drop(struct text text, size_t page)
{
	size_t drop = 0;

	while (drop < text.n && text.len >= page) {
		struct extent *longest = &text.lines[0];

		for (size_t i = 0; i < text.n; i++)
			if (text.lines[i].count > 0 &&
			    (longest->count == 0 ||
			     model_line(&text.lines[i]) > model_line(longest)))
				longest = &text.lines[i];
		text.len -= model_line(longest);
		longest->count = 0;
		drop++;
	}
	return drop;
}

static inline int question_ask(const struct question *q, struct plan *plan,
			       struct idmap *ret_map, struct plan_refusal *ret_why)
{
	int r = 0;

	if (q->has_layout && !question_has_base(q))
		r = plan_layout(plan, q->layout, q->own, &q->grants, q->size, ret_why);
	if (r == 0)
		r = plan_apply(plan, q->kind, q->specs, q->n_specs, ret_why);
	if (q->apart)
		plan_keep_apart(plan, q->own, &q->grants.set);
	return r ? r
		 : plan_finish(plan, q->has_parent ? &q->parent : NULL, q->page, ret_map,
			       ret_why);
}

/* SPDX-License-Identifier: BSD-2-Clause */

/*
 * Plans against an array of what each ID is: layouts, MAPs laid over and taken out, the parent's
 * map, the limits. Both sides of the universe of 64 IDs lie at the bottom or at the top of the ID
 * space, where the last ID is 4294967294.
 */

#include "fuzz.h"
#include "tool/plan.h"

#define UNIVERSE 64U
#define LINES    6U
#define STEPS    40U
#define NOBODY   (-1)

struct model {
	uint32_t inner, outer; /* the first ID of each side */
	int to[UNIVERSE];
	bool elsewhere; /* keep-id: the own ID maps to itself, outside the universe */
	uint32_t own;
};

static void unmap(struct model *m, uint32_t outer)
{
	for (uint32_t i = 0; i < UNIVERSE; i++)
		if (m->to[i] == (int)outer)
			m->to[i] = NOBODY;
}

static void draw_range(struct bytes *bytes, uint32_t *ret_start, uint32_t *ret_count)
{
	*ret_start = bytes_below(bytes, UNIVERSE);
	*ret_count = 1 + bytes_below(bytes, UNIVERSE - *ret_start);
}

/* One MAP with a sign, on both. */
static void step(struct model *m, struct plan *plan, struct bytes *bytes)
{
	bool overlay = bytes_below(bytes, 3) > 0;
	uint32_t start, count, outer = bytes_below(bytes, UNIVERSE);
	struct extent e;

	draw_range(bytes, &start, &count);
	if (overlay && count > UNIVERSE - outer)
		count = UNIVERSE - outer;
	for (uint32_t k = 0; k < count; k++) {
		m->to[start + k] = NOBODY;
		if (overlay)
			unmap(m, outer + k);
	}
	if (overlay && m->own >= m->outer + outer && m->own - m->outer - outer < count)
		m->elsewhere = false;
	for (uint32_t k = 0; k < count && overlay; k++)
		m->to[start + k] = (int)(outer + k);
	if (!overlay) {
		HOLDS(plan_remove(plan, m->inner + start, count) == 0);
		return;
	}
	HOLDS(extent_make(m->inner + start, m->outer + outer, count, &e) == 0);
	HOLDS(plan_overlay(plan, &e, (struct origin){ORIGIN_ARGUMENT, 1, 1}) == 0);
}

/* Grants one after the other, each ID once, around the own one. */
static void stack(struct model *m, enum layout layout, const struct grants *grants)
{
	bool used[UNIVERSE] = {false};
	uint32_t hole = layout == LAYOUT_KEEP_ID ? m->own
			: layout == LAYOUT_ROOT  ? 0
						 : ID_NONE;
	uint32_t next = 0;

	if (hole != ID_NONE && m->own >= m->outer)
		used[m->own - m->outer] = true;
	if (hole != ID_NONE && hole < UNIVERSE)
		m->to[hole] = (int)(m->own - m->outer);
	else
		m->elsewhere = hole != ID_NONE;
	for (size_t i = 0; i < grants->n; i++)
		for (uint32_t k = 0; k < grants->lines[i].range.count; k++) {
			uint32_t id = grants->lines[i].range.start + k - m->outer;

			if (used[id])
				continue;
			used[id] = true;
			next += next == hole;
			m->to[next++] = (int)id;
		}
}

static void draw_layout(struct model *m, struct plan *plan, struct bytes *bytes,
			struct grants *grants)
{
	enum layout layout = bytes_below(bytes, 3);
	struct plan_refusal why;
	int r;

	for (size_t i = bytes_below(bytes, LINES); i > 0; i--) {
		struct grant_line *line = &grants->lines[grants->n++];

		draw_range(bytes, &line->range.start, &line->range.count);
		line->range.start += m->outer;
		line->line = grants->n;
		HOLDS(idset_add(&grants->set, line->range.start, line->range.count) == 0);
	}
	idset_seal(&grants->set);
	r = plan_layout(plan, layout, m->own, grants, 0, &why);
	HOLDS(r == (grants->n ? 0 : PLAN_E_GRANT));
	if (r == 0)
		stack(m, layout, grants);
}

/* Cut the outer side in pieces; some are left out. frame[i]: which one ID is in. */
static void draw_parent(const struct model *m, struct bytes *bytes, struct idmap *parent,
			int frame[UNIVERSE])
{
	bool holes = bytes_below(bytes, 3) == 0;

	parent->n = 0;
	for (uint32_t id = 0; id < UNIVERSE;) {
		uint32_t count = 1 + bytes_below(bytes, 32);
		bool hole = holes && bytes_below(bytes, 4) == 0;

		if (id + count > UNIVERSE)
			count = UNIVERSE - id;
		for (uint32_t k = id; k < id + count; k++)
			frame[k] = hole ? NOBODY : (int)parent->n;
		if (!hole)
			parent->extents[parent->n++] =
				(struct extent){m->outer + id, id, count};
		id += count;
	}
}

/* May inner ID and the next one stand in one extent? */
static bool goes_on(const struct model *m, const int frame[UNIVERSE], int alone,
		    uint32_t id)
{
	int here = m->to[id], next = m->to[id + 1];

	return here != NOBODY && next == here + 1 && here != alone && next != alone &&
	       (!frame || frame[here] == frame[next]);
}

/* The fewest extents that say the model: cut where a side or the parent doesn't go on, and around
 * ALONE, an outer ID (NOBODY: none). */
static size_t model_text(const struct model *m, const int frame[UNIVERSE], int alone,
			 size_t *ret_len)
{
	size_t n = 0;
	uint32_t start = 0;

	*ret_len = 0;
	for (uint32_t i = 0; i < UNIVERSE; i++) {
		bool follows = i > 0 && goes_on(m, frame, alone, i - 1);
		bool ends = i + 1 == UNIVERSE || !goes_on(m, frame, alone, i);

		if (m->to[i] == NOBODY)
			continue;
		if (!follows)
			start = i;
		if (!ends)
			continue;
		n++;
		*ret_len += (size_t)snprintf(NULL, 0, "%u %u %u\n", m->inner + start,
					     m->outer + (uint32_t)m->to[start],
					     i - start + 1);
	}
	return n;
}

static void check_map(const struct model *m, const struct idmap *map,
		      const struct plan *plan)
{
	int to[UNIVERSE];

	memset(to, -1, sizeof(to));
	for (size_t i = 0; i < map->n; i++) {
		const struct extent *e = &map->extents[i];

		HOLDS(oracle_range(e->inner, e->count) &&
		      oracle_range(e->outer, e->count));
		HOLDS(memcmp(e, &plan->list[i].extent, sizeof(*e)) == 0);
		HOLDS(i == 0 || map->extents[i - 1].inner < e->inner);
		for (uint32_t k = 0; k < e->count; k++) {
			uint32_t at = e->inner + k - m->inner;

			HOLDS(at < UNIVERSE && to[at] == NOBODY);
			to[at] = (int)(e->outer + k - m->outer);
		}
	}
	HOLDS(memcmp(to, m->to, sizeof(to)) == 0);
}

static bool misses(const struct model *m, const int frame[UNIVERSE])
{
	for (uint32_t i = 0; frame && i < UNIVERSE; i++)
		if (m->to[i] != NOBODY && frame[m->to[i]] == NOBODY)
			return true;
	return false;
}

/* Is each outer ID granted, or an extent by itself and the own one? */
static void check_granted(const struct model *m, const struct plan *plan,
			  const struct grants *grants)
{
	struct plan_refusal why;
	bool all = true;

	for (size_t i = 0; i < plan->n; i++)
		for (uint32_t k = 0; k < plan->list[i].extent.count; k++) {
			uint32_t id = plan->list[i].extent.outer + k;
			bool granted = plan->list[i].extent.count == 1 && id == m->own;

			for (size_t j = 0; j < grants->n; j++)
				granted |= id >= grants->lines[j].range.start &&
					   id - grants->lines[j].range.start <
						   grants->lines[j].range.count;
			all &= granted;
		}
	HOLDS((plan_granted(plan, m->own, &grants->set, &why) == 0) == all);
}

static void explain(int error, const struct plan_refusal *why, const struct idmap *parent)
{
	struct account account = {.name = (char[]){"alice"}, .uid = 1001, .gid = 1001};

	fuzz_check_message(plan_explain(ID_UID, error, why, &account, parent), false);
}

static void finish(const struct model *m, struct plan *plan, const struct grants *grants,
		   struct bytes *bytes)
{
	static const size_t pages[] = {4096, 4096, 20, 100};
	struct idmap parent, map;
	int frame[UNIVERSE], alone = NOBODY;
	bool nested = bytes_below(bytes, 2), apart = bytes_below(bytes, 2);
	size_t page = pages[bytes_below(bytes, 4)], n, len;
	struct plan_refusal why;
	int r;

	draw_parent(m, bytes, &parent, frame);
	if (apart)
		plan_keep_apart(plan, m->own, &grants->set);
	if (apart && m->own >= m->outer && !idset_covers(&grants->set, m->own, 1, NULL))
		alone = (int)(m->own - m->outer);
	r = plan_finish(plan, nested ? &parent : NULL, page, &map, &why);
	if (r != 0)
		explain(r, &why, nested ? &parent : NULL);
	if (m->elsewhere)
		return;
	n = model_text(m, nested ? frame : NULL, alone, &len);
	if (n == 0) {
		HOLDS(r == PLAN_E_EMPTY);
	} else if (misses(m, nested ? frame : NULL)) {
		HOLDS(r == PLAN_E_PARENT && why.missing.count > 0);
	} else if (len - 1 >= page) {
		HOLDS(r == PLAN_E_BYTES && why.have == len - 1);
	} else {
		HOLDS(r == 0 && map.n == n);
		check_map(m, &map, plan);
		check_granted(m, plan, grants);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct bytes bytes = {data, data + size};
	struct grant_line lines[LINES];
	struct grants grants = {.lines = lines};
	struct model m = {0};
	struct plan plan = {0};

	memset(m.to, -1, sizeof(m.to));
	m.outer = bytes_below(&bytes, 2) ? ID_NONE - UNIVERSE : 0;
	m.own = m.outer + bytes_below(&bytes, UNIVERSE);
	if (bytes_below(&bytes, 2))
		m.inner = ID_NONE - UNIVERSE;
	else if (bytes_below(&bytes, 4))
		draw_layout(&m, &plan, &bytes, &grants);
	for (uint32_t n = bytes_below(&bytes, STEPS); n > 0 && bytes_left(&bytes); n--)
		step(&m, &plan, &bytes);
	finish(&m, &plan, &grants, &bytes);
	plan_clear(&plan);
	idset_clear(&grants.set);
	return 0;
}

/* SPDX-License-Identifier: BSD-2-Clause */

/*
 * Random plans against the model that knows no extents. All IDs are compared, all refusals too, and
 * that the text is the shortest of all that could be.
 */

#include "plan-model.h"

#define ROUNDS 40000

/* Can the IDs from FIRST to BEHIND - 1 stand in one line? */
static bool is_one_line(const struct model *m, const struct question *q, uint32_t first,
			uint32_t behind)
{
	for (uint32_t id = first + 1; id < behind; id++)
		if (!model_continues(m, q, id) ||
		    question_frame(q, m->outer[id]) != question_frame(q, m->outer[first]))
			return false;
	return true;
}

/* Of all ways to cut the mapped IDs into lines that the kernel takes, the bytes of the shortest:
 * shortest[ID] is that of the IDs below. */
static size_t model_shortest(const struct model *m, const struct question *q)
{
	size_t shortest[UNIVERSE + 1] = {0};

	for (uint32_t behind = 1; behind <= UNIVERSE; behind++) {
		if (m->outer[behind - 1] < 0) {
			shortest[behind] = shortest[behind - 1];
			continue;
		}
		shortest[behind] = SIZE_MAX;
		for (uint32_t first = behind; first-- > 0 && m->outer[first] >= 0;) {
			struct extent line = {first, (uint32_t)m->outer[first],
					      behind - first};

			if (!is_one_line(m, q, first, behind))
				break;
			if (shortest[first] + model_line(&line) < shortest[behind])
				shortest[behind] = shortest[first] + model_line(&line);
		}
	}
	return shortest[UNIVERSE] - 1;
}

/* A plan went through: the same lines as the model's, so the same answer for every ID. */
static void check_map(const struct model *m, const struct question *q,
		      const struct plan *plan, const struct idmap *map,
		      const struct text *text)
{
	CHECK(map->n == text->n && plan->n == text->n);
	for (size_t i = 0; i < map->n && i < text->n; i++) {
		const struct extent *e = &map->extents[i];
		struct origin origin = model_origin(m, q, e->inner);

		CHECK(memcmp(e, &text->lines[i], sizeof(*e)) == 0);
		CHECK(memcmp(e, &plan->list[i].extent, sizeof(*e)) == 0);
		CHECK(plan->list[i].origin.kind == origin.kind);
		CHECK(plan->list[i].origin.first == origin.first);
		CHECK(plan->list[i].origin.last == origin.last);
		for (uint32_t k = 0; k < e->count; k++)
			CHECK(m->outer[e->inner + k] == (int)(e->outer + k));
	}
}

/* Is every outer ID granted, or its extent the own ID alone? */
static void check_granted(const struct question *q, const struct plan *plan,
			  const struct text *text)
{
	struct plan_refusal why = {0};
	int r = plan_granted(plan, q->own, &q->grants.set, &why);

	for (size_t i = 0; i < text->n; i++) {
		const struct extent *e = &text->lines[i];

		for (uint32_t id = e->outer; id < e->outer + e->count; id++) {
			bool granted = e->count == 1 && id == q->own;

			for (size_t k = 0; k < q->grants.n; k++)
				granted |= id - q->lines[k].range.start <
					   q->lines[k].range.count;
			if (granted)
				continue;
			CHECK(r == PLAN_E_GRANT && why.missing.start == id);
			CHECK(why.first.extent.inner == e->inner);
			return;
		}
	}
	CHECK(r == 0);
}

static bool explained(const struct question *q, int error, const struct plan_refusal *why)
{
	struct account account = {.name = (char[]){"alice"}, .uid = q->own};
	char *text = plan_explain(q->kind, error, why, &account, &q->parent);
	bool right = text && strlen(text) > 20 && text[strlen(text) - 1] != '\n';

	free(text);
	return right;
}

/* PLAN_E_* seen, so that the test can tell that it reached each of them. */
static unsigned int seen[PLAN_E_SIZE + 1];

/* Everything before the limits; returns true if the plan came that far. */
static bool check_early(struct model *m, const struct question *q, int r,
			const struct plan_refusal *why)
{
	int layout = q->has_layout && !question_has_base(q) ? model_layout(m, q) : 0;
	unsigned int right = layout ? 1U << layout : model_apply(m, q);
	struct range missing;
	uint32_t largest;
	struct text text;

	if (right != 1) {
		CHECK(r > 0 && (right & 1U << r));
		return false;
	}
	model_text(m, q, &text);
	if (text.n == 0) {
		CHECK(r == PLAN_E_EMPTY);
		return false;
	}
	if (model_missing(m, q, &missing, &largest) >= 0) {
		CHECK(r == PLAN_E_PARENT && why->missing.start == missing.start &&
		      why->missing.count == missing.count &&
		      why->largest.count == largest);
		return false;
	}
	return true;
}

static void random_plan(void)
{
	struct question q;
	struct model m;
	struct plan plan = {0};
	struct plan_refusal why;
	struct idmap map;
	struct text text;
	int r;

	question_random(&q);
	memset(m.outer, -1, sizeof(m.outer));
	r = question_ask(&q, &plan, &map, &why);
	if (r >= 0 && r <= PLAN_E_SIZE)
		seen[r]++;
	if (r != 0)
		CHECK(explained(&q, r, &why));
	if (check_early(&m, &q, r, &why)) {
		model_text(&m, &q, &text);
		if (text.len >= q.page) {
			CHECK(r == PLAN_E_BYTES && why.have == text.len);
			CHECK(why.drop == model_drop(text, q.page));
			CHECK(why.fit + why.drop == text.n);
		} else {
			CHECK(r == 0);
			CHECK(text.len == model_shortest(&m, &q));
			check_map(&m, &q, &plan, &map, &text);
			check_granted(&q, &plan, &text);
		}
	}
	plan_clear(&plan);
	idset_clear(&q.grants.set);
}

static void random_plans_answer_every_id_as_a_model_does_that_knows_no_extents(void)
{
	for (int i = 0; i < ROUNDS && tap_failures == 0; i++)
		random_plan();
	for (int error = 0; error <= PLAN_E_SIZE && tap_failures == 0; error++)
		CHECK(error == PLAN_E_EXTENTS || seen[error] > ROUNDS / 1000);
}

int main(void)
{
	return TAP_RUN(
		TEST(random_plans_answer_every_id_as_a_model_does_that_knows_no_extents));
}

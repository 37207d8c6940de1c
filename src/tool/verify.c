/* SPDX-License-Identifier: BSD-2-Clause */
#include "verify.h"

#include "index.h"

#include <stdio.h>

struct comparison {
	struct index planned;
	struct index live;
	enum verify_direction direction;
	bool alike;
	struct verify_difference lowest; /* unless alike */
};

static uint32_t ask(const struct index *index, enum verify_direction direction,
		    uint32_t id)
{
	return direction == VERIFY_INNER_TO_OUTER ? index_outer(index, id)
						  : index_inner(index, id);
}

static void compare_id(struct comparison *c, uint32_t id)
{
	uint32_t planned = ask(&c->planned, c->direction, id);
	uint32_t live = ask(&c->live, c->direction, id);

	if (planned == live || (!c->alike && c->lowest.id < id))
		return;
	c->alike = false;
	c->lowest = (struct verify_difference){c->direction, id, planned, live};
}

/* At 0 and at ID_MAX a neighbour outside is ID_NONE, which no map maps. */
static void compare_edges(struct comparison *c, const struct idmap *map)
{
	for (size_t i = 0; i < map->n; i++) {
		const struct extent *extent = &map->extents[i];
		uint32_t start = c->direction == VERIFY_INNER_TO_OUTER ? extent->inner
								       : extent->outer;

		compare_id(c, start - 1);
		compare_id(c, start);
		compare_id(c, start + extent->count - 1);
		compare_id(c, start + extent->count);
	}
}

bool verify_maps(const struct idmap *planned, const struct idmap *live,
		 struct verify_difference *ret_difference)
{
	struct comparison c = {.alike = true};
	struct idmap_refusal why;

	if (index_build(&c.planned, planned, &why) || index_build(&c.live, live, &why)) {
		*ret_difference = (struct verify_difference){
			VERIFY_INNER_TO_OUTER, why.second.inner, ID_NONE, ID_NONE};
		return false;
	}
	for (int d = VERIFY_INNER_TO_OUTER; d <= VERIFY_OUTER_TO_INNER && c.alike; d++) {
		c.direction = (enum verify_direction)d;
		compare_edges(&c, planned);
		compare_edges(&c, live);
	}
	if (!c.alike)
		*ret_difference = c.lowest;
	return c.alike;
}

static void describe_answer(const char *side, uint32_t id, char ret_text[32])
{
	if (id == ID_NONE)
		snprintf(ret_text, 32, "unmapped");
	else
		snprintf(ret_text, 32, "%s ID %u", side, id);
}

void verify_describe(const struct verify_difference *difference,
		     char ret_text[VERIFY_TEXT])
{
	bool outwards = difference->direction == VERIFY_INNER_TO_OUTER;
	const char *asked = outwards ? "inner" : "outer";
	const char *answered = outwards ? "outer" : "inner";
	char live[32], planned[32];

	describe_answer(answered, difference->live, live);
	describe_answer(answered, difference->planned, planned);
	snprintf(ret_text, VERIFY_TEXT, "%s ID %u is %s instead of %s", asked,
		 difference->id, live, planned);
}

/* SPDX-License-Identifier: BSD-2-Clause */
#pragma once

/*
 * verify: the proof that a live map is the planned one. Through two indexes (index.h): for every
 * extent of either map its first and last ID and the neighbours outside, in both directions.
 * That is enough: between two such IDs each map answers with one distance throughout, so the
 * lowest ID on which two maps differ is always among them.
 */

#include "../trusted/idmap.h"

enum verify_direction { VERIFY_INNER_TO_OUTER, VERIFY_OUTER_TO_INNER };

#define VERIFY_TEXT 96U

/* The lowest ID on which the two disagree; ID_NONE as an answer means not mapped. */
struct verify_difference {
	enum verify_direction direction;
	uint32_t id;
	uint32_t planned;
	uint32_t live;
};

/*
 * True if PLANNED and LIVE answer alike; else false with *RET_DIFFERENCE, inner to outer first.
 * Both must be disjoint, as idmap_make() and live_map() give them: one that is not is never
 * alike, and the difference then is an ID that it maps twice, with no answers.
 */
bool verify_maps(const struct idmap *planned, const struct idmap *live,
		 struct verify_difference *ret_difference);

/* "inner ID 7 is outer ID 100007 instead of outer ID 9", or "unmapped" in place of the one or the
 * other. The live answer is the first. */
void verify_describe(const struct verify_difference *difference,
		     char ret_text[VERIFY_TEXT]);

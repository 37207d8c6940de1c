/* SPDX-License-Identifier: BSD-2-Clause */
#pragma once

/*
 * index: a map frozen for questions, "what is this ID on the other side?", in both directions.
 *
 * After index_build() not a byte of it is written, so that any number of threads may share one
 * without a lock. It allocates nothing: a value, public only so that it can be embedded. Up to
 * five extents lie with their count in one cache line and are all looked at. More are sorted by
 * each side, and one search answers for both sides, because the outer side holds flipped extents:
 *
 *	pivots  [24]      keys[16], keys[32] .. keys[384]: how many are <= ID says which block
 *	keys    [25][16]  first IDs in order: how many of the block are <= ID says which extent
 *	entries [1 + 400] of the extent that begins last at or before ID: the ID after its last,
 *	                  and what to add to come to the other side. entries[0] ends at 0: no ID
 *
 * A block is one cache line, and both steps compare whole vectors at once, with no branch that
 * depends on the ID. Keys are stored less 2^31, as vectors compare signed numbers; those past the
 * last extent are ID_NONE, and their entries end at 0 too.
 */

#include "../trusted/idmap.h"

#define INDEX_FEW    5U
#define INDEX_BLOCKS 25U
#define INDEX_BLOCK  16U
#define INDEX_KEYS   (INDEX_BLOCKS * INDEX_BLOCK)

enum index_direction { INDEX_TO_OUTER, INDEX_TO_INNER };

/* struct index, search: 0..INDEX_FEW is how many extents the line holds; else which search. */
enum { INDEX_PLAIN = INDEX_FEW + 1, INDEX_AVX2 };

struct index_side {
	_Alignas(64) int32_t pivots[INDEX_BLOCKS - 1];
	_Alignas(64) int32_t keys[INDEX_KEYS];
	struct index_entry {
		uint32_t end;
		uint32_t shift;
	} entries[1 + INDEX_KEYS];
};

struct index {
	_Alignas(64) uint32_t few[2][INDEX_FEW]; /* inner, outer */
	int32_t counts[INDEX_FEW];  /* less 2^31, as keys are; no extent: 0 */
	uint32_t search;            /* a test may put INDEX_PLAIN for INDEX_AVX2 */
	struct index_side sides[2]; /* by enum index_direction */
};

/*
 * Index MAP (n = 0: nothing is mapped). Returns 0, or IDMAP_E_INNER or IDMAP_E_OUTER with the two
 * extents in *RET_WHY. Extents whose outer is ID_NONE (live_parse()) map to nothing and are
 * left out.
 */
int index_build(struct index *ret_index, const struct idmap *map,
		struct idmap_refusal *ret_why);

/* The ID on the other side, ID_NONE: not mapped. */
uint32_t index_outer(const struct index *index, uint32_t inner);
uint32_t index_inner(const struct index *index, uint32_t outer);

/* The same for IN[0..N) to OUT[0..N), which may be IN. Returns how many are not mapped. */
size_t index_translate(const struct index *index, enum index_direction direction,
		       const uint32_t *in, size_t n, uint32_t *ret_out);

/* SPDX-License-Identifier: BSD-2-Clause */
#include "index.h"

#include <stdlib.h>
#include <string.h>

#ifdef __x86_64__
#include <immintrin.h>
#define AVX2 __attribute__((target("avx2,popcnt")))
#endif

static int32_t key_of(uint32_t id)
{
	return (int32_t)(id ^ 0x80000000U);
}

/* All bits of VALUE, or all bits set: ID_NONE. Arithmetic, because a branch would be mispredicted
 * whenever some of the IDs asked for are mapped and some are not. */
static uint32_t mapped_or_none(bool mapped, uint32_t value)
{
	return value | ((uint32_t)mapped - 1U);
}

static uint32_t find_few(const struct index *index, enum index_direction direction,
			 uint32_t id)
{
	const uint32_t *from = index->few[direction], *to = index->few[!direction];
	uint32_t found = 0, mapped = 0;

	for (uint32_t i = 0; i < index->search; i++) {
		uint32_t step = id - from[i];
		uint32_t hit = 0U - (uint32_t)(step < index->counts[i]);

		found |= (to[i] + step) & hit;
		mapped |= hit;
	}
	return found | ~mapped;
}

static uint32_t answer(const struct index_side *side, size_t position, uint32_t id)
{
	struct index_entry entry = side->entries[position];

	return mapped_or_none(id < entry.end, id + entry.shift);
}

/* A binary search that halves the same lengths for every ID: 340, 170, 85, 43, 22, 11 .. */
static uint32_t find_plain(const struct index_side *side, uint32_t id)
{
	int32_t key = key_of(id);
	size_t position = 0;

	for (size_t left = IDMAP_EXTENTS, half; left > 0; left -= half) {
		half = (left + 1) / 2;
		position +=
			half & (0U - (size_t)(side->keys[position + half - 1] <= key));
	}
	return answer(side, position, id);
}

#ifdef __x86_64__

AVX2 static __m256i load8(const void *at)
{
	return _mm256_loadu_si256(at);
}

/* How many of the 16 sorted numbers from AT are greater than the one that KEYS repeats. */
AVX2 static unsigned int greater16(const int32_t *at, __m256i keys)
{
	__m256i both = _mm256_packs_epi32(_mm256_cmpgt_epi32(load8(at), keys),
					  _mm256_cmpgt_epi32(load8(at + 8), keys));

	/* two bits a number */
	return (unsigned int)_mm_popcnt_u32((unsigned int)_mm256_movemask_epi8(both)) / 2;
}

AVX2 static unsigned int greater4(const int32_t *at, __m128i keys)
{
	__m128i four = _mm_cmpgt_epi32(_mm_loadu_si128((const void *)at), keys);

	return (unsigned int)_mm_popcnt_u32(
		(unsigned int)_mm_movemask_ps(_mm_castsi128_ps(four)));
}

AVX2 static uint32_t find_avx2(const struct index_side *side, uint32_t id)
{
	__m256i keys = _mm256_set1_epi32(key_of(id));
	size_t block = (INDEX_BLOCKS - 1 - greater16(side->pivots, keys)) * INDEX_BLOCK;
	const int32_t *at = side->keys + block;
	unsigned int greater =
		greater16(at, keys) + greater4(at + 16, _mm256_castsi256_si128(keys));

	return answer(side, block + INDEX_BLOCK - greater, id);
}
#endif

static uint32_t find(const struct index *index, enum index_direction direction,
		     uint32_t id)
{
	if (index->search <= INDEX_FEW)
		return find_few(index, direction, id);
#ifdef __x86_64__
	if (index->search == INDEX_AVX2)
		return find_avx2(&index->sides[direction], id);
#endif
	return find_plain(&index->sides[direction], id);
}

uint32_t index_outer(const struct index *index, uint32_t inner)
{
	return find(index, INDEX_TO_OUTER, inner);
}

uint32_t index_inner(const struct index *index, uint32_t outer)
{
	return find(index, INDEX_TO_INNER, outer);
}

size_t index_translate(const struct index *index, enum index_direction direction,
		       const uint32_t *in, size_t n, uint32_t *ret_out)
{
	size_t unmapped = 0;

	for (size_t i = 0; i < n; i++) {
		ret_out[i] = find(index, direction, in[i]);
		unmapped += ret_out[i] == ID_NONE;
	}
	return unmapped;
}

/* One side's extents in order; those of the outer side are flipped, so that .inner is the side
 * that is searched. */
struct sorted {
	size_t n;
	struct extent list[IDMAP_EXTENTS];
};

static int compare(const void *a, const void *b)
{
	const struct extent *x = a, *y = b;

	return (x->inner > y->inner) - (x->inner < y->inner);
}

static struct extent flip(struct extent extent)
{
	return (struct extent){extent.outer, extent.inner, extent.count};
}

static void sort_side(const struct idmap *map, enum index_direction direction,
		      struct sorted *ret_sorted)
{
	ret_sorted->n = 0;
	for (size_t i = 0; i < map->n; i++) {
		struct extent extent = map->extents[i];

		if (extent.outer == ID_NONE)
			continue;
		if (direction == INDEX_TO_INNER)
			extent = flip(extent);
		ret_sorted->list[ret_sorted->n++] = extent;
	}
	qsort(ret_sorted->list, ret_sorted->n, sizeof(struct extent), compare);
}

/* The first of two neighbours that overlap, or NULL. */
static const struct extent *find_overlap(const struct sorted *sorted)
{
	for (size_t i = 1; i < sorted->n; i++) {
		const struct extent *first = &sorted->list[i - 1];

		if (first->inner + first->count > first[1].inner)
			return first;
	}
	return NULL;
}

static void fill_few(struct index *index, const struct sorted *sorted)
{
	for (size_t i = 0; i < sorted->n; i++) {
		index->few[0][i] = sorted->list[i].inner;
		index->few[1][i] = sorted->list[i].outer;
		index->counts[i] = sorted->list[i].count;
	}
	index->search = (uint32_t)sorted->n;
}

/* Keys that stand for no extent are ID_NONE, over every ID. */
static void fill_side(struct index_side *side, const struct sorted *sorted)
{
	for (size_t i = 0; i < IDMAP_EXTENTS; i++)
		side->keys[i] = key_of(i < sorted->n ? sorted->list[i].inner : ID_NONE);
	for (size_t i = 0; i < INDEX_BLOCKS - 1; i++)
		side->pivots[i] = side->keys[(i + 1) * INDEX_BLOCK];
	memset(side->entries, 0, sizeof(side->entries));
	for (size_t i = 0; i < sorted->n; i++) {
		const struct extent *extent = &sorted->list[i];

		side->entries[i + 1].end = extent->inner + extent->count;
		side->entries[i + 1].shift = extent->outer - extent->inner;
	}
}

static uint32_t best_search(void)
{
#ifdef __x86_64__
	if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("popcnt"))
		return INDEX_AVX2;
#endif
	return INDEX_PLAIN;
}

int index_build(struct index *ret_index, const struct idmap *map,
		struct idmap_refusal *ret_why)
{
	static const int errors[2] = {IDMAP_E_INNER, IDMAP_E_OUTER};
	struct sorted sides[2];
	const struct extent *pair;

	for (int d = INDEX_TO_OUTER; d <= INDEX_TO_INNER; d++) {
		sort_side(map, (enum index_direction)d, &sides[d]);
		pair = find_overlap(&sides[d]);
		if (pair) {
			bool flipped = d == INDEX_TO_INNER;

			*ret_why = (struct idmap_refusal){
				.first = flipped ? flip(pair[0]) : pair[0],
				.second = flipped ? flip(pair[1]) : pair[1],
			};
			return errors[d];
		}
	}
	if (sides[0].n <= INDEX_FEW) {
		fill_few(ret_index, &sides[0]);
		return 0;
	}
	for (int d = INDEX_TO_OUTER; d <= INDEX_TO_INNER; d++)
		fill_side(&ret_index->sides[d], &sides[d]);
	ret_index->search = best_search();
	return 0;
}

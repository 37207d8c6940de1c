/* SPDX-License-Identifier: BSD-2-Clause */
#include "index.h"

#include "algebra.h"

#include <string.h>

#ifdef __x86_64__
#include <immintrin.h>
#define AVX2 __attribute__((target("avx2,popcnt")))

/* glibc's loader has asked the processor already. The compiler's builtin would ask it again at the
 * start of every verb, and in a virtual machine each CPUID is a trip to the host. */
#if __has_include(<sys/platform/x86.h>)
#include <sys/platform/x86.h>
#define HAS_AVX2 (CPU_FEATURE_ACTIVE(AVX2) && CPU_FEATURE_ACTIVE(POPCNT))
#else
#define HAS_AVX2 (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("popcnt"))
#endif
#else
#define HAS_AVX2 false
#endif

/* So that a direction is a constant and no call stands before the search. */
#define INLINE __attribute__((always_inline)) static inline

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

/* Vectors that the compiler has instructions for on any usual processor. */
typedef int32_t int32x4 __attribute__((vector_size(16), may_alias, aligned(4)));
typedef uint32_t uint32x4 __attribute__((vector_size(16), may_alias, aligned(4)));
typedef uint64_t uint64x2 __attribute__((vector_size(16)));

/* ID_NONE in all of the extents but the one that holds ID, so that & finds that one's answer: four
 * at once, and the fifth. */
INLINE uint32_t find_few(const struct index *index, enum index_direction direction,
			 uint32_t id)
{
	const uint32_t *from = index->few[direction], *to = index->few[!direction];
	uint32x4 places = (uint32x4){id, id, id, id} - *(const uint32x4 *)from;
	int32x4 missed =
		(int32x4)(places ^ 0x80000000U) >= *(const int32x4 *)index->counts;
	uint64x2 halves = (uint64x2)((places + *(const uint32x4 *)to) | (uint32x4)missed);
	uint64_t four = halves[0] & halves[1];
	uint32_t place = id - from[INDEX_FEW - 1];
	bool fifth = key_of(place) < index->counts[INDEX_FEW - 1];

	return (uint32_t)(four & four >> 32) &
	       mapped_or_none(fifth, to[INDEX_FEW - 1] + place);
}

static uint32_t answer(const struct index_side *side, size_t position, uint32_t id)
{
	struct index_entry entry = side->entries[position];

	return mapped_or_none(id < entry.end, id + entry.shift);
}

/* How many of the N numbers from AT are greater than KEY; N is a multiple of four. */
INLINE size_t greater_plain(const int32_t *at, size_t n, int32_t key)
{
	int32x4 keys = {key, key, key, key}, hits = {0};
	uint64x2 halves;
	uint64_t sum;

#pragma GCC unroll 6
	for (size_t i = 0; i < n; i += 4)
		hits -= *(const int32x4 *)(at + i) > keys;
	halves = (uint64x2)hits; /* two counts each */
	sum = halves[0] + halves[1];
	return (sum + (sum >> 32)) & UINT32_MAX;
}

static uint32_t find_plain(const struct index_side *side, uint32_t id)
{
	int32_t key = key_of(id);
	size_t greater = greater_plain(side->pivots, INDEX_BLOCKS - 1, key);
	size_t block = (INDEX_BLOCKS - 1 - greater) * INDEX_BLOCK;

	greater = greater_plain(side->keys + block, INDEX_BLOCK, key);
	return answer(side, block + INDEX_BLOCK - greater, id);
}

#ifdef __x86_64__

AVX2 static __m256i load8(const void *at)
{
	return _mm256_loadu_si256(at);
}

/* How many of the 8 or 16 numbers from AT are greater than the one that KEYS repeats. */
AVX2 static size_t greater8(const int32_t *at, __m256i keys)
{
	__m256 mask = _mm256_castsi256_ps(_mm256_cmpgt_epi32(load8(at), keys));

	return (size_t)_mm_popcnt_u32((unsigned int)_mm256_movemask_ps(mask));
}

AVX2 static size_t greater16(const int32_t *at, __m256i keys)
{
	__m256i mask = _mm256_packs_epi32(_mm256_cmpgt_epi32(load8(at), keys),
					  _mm256_cmpgt_epi32(load8(at + 8), keys));

	/* two bits a number */
	return (size_t)_mm_popcnt_u32((unsigned int)_mm256_movemask_epi8(mask)) / 2;
}

AVX2 static uint32_t find_avx2(const struct index_side *side, uint32_t id)
{
	__m256i keys = _mm256_set1_epi32(key_of(id));
	size_t greater =
		greater16(side->pivots, keys) + greater8(side->pivots + 16, keys);
	size_t block = (INDEX_BLOCKS - 1 - greater) * INDEX_BLOCK;

	greater = greater16(side->keys + block, keys);
	return answer(side, block + INDEX_BLOCK - greater, id);
}

/*
 * In bulk every lane of a vector is another ID, and a step is done for all of a batch before the
 * next begins, so that the processor has always 16 gathers to do that don't wait for each other.
 * One step after the other halves what is left: 8 groups of 48 keys whose last keys lie in one
 * register, then 24 of those, 12, 6, 3, 1.
 */
#define LANES 8U
#define BATCH (16U * LANES)
#define GROUP 48

struct batch {
	__m256i keys[BATCH / LANES];
	/* how many keys are <= the lane's, as far as known */
	__m256i positions[BATCH / LANES];
};

/* Move the lanes whose key is not below TRIED on by STEP. */
AVX2 static __m256i advance(__m256i position, __m256i tried, __m256i keys, int step)
{
	__m256i stay = _mm256_cmpgt_epi32(tried, keys);

	return _mm256_add_epi32(position,
				_mm256_andnot_si256(stay, _mm256_set1_epi32(step)));
}

AVX2 static void choose_group(const struct index_side *side, struct batch *batch)
{
	__m256i places = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
	__m256i lasts = _mm256_i32gather_epi32(
		side->keys + GROUP - 1,
		_mm256_mullo_epi32(places, _mm256_set1_epi32(GROUP)), sizeof(int32_t));

	for (size_t i = 0; i < BATCH / LANES; i++) {
		__m256i group = _mm256_setzero_si256();

#pragma GCC unroll 3
		for (int step = 4; step > 0; step /= 2) {
			__m256i place =
				_mm256_add_epi32(group, _mm256_set1_epi32(step - 1));

			group = advance(group, _mm256_permutevar8x32_epi32(lasts, place),
					batch->keys[i], step);
		}
		batch->positions[i] = _mm256_mullo_epi32(group, _mm256_set1_epi32(GROUP));
	}
}

AVX2 static void choose_key(const struct index_side *side, struct batch *batch)
{
	static const int steps[] = {24, 12, 6, 3, 2, 1};

	for (size_t s = 0; s < sizeof(steps) / sizeof(*steps); s++) {
		const int *tried = side->keys + steps[s] - 1;

		for (size_t i = 0; i < BATCH / LANES; i++) {
			__m256i position = batch->positions[i];

			batch->positions[i] = advance(
				position,
				_mm256_i32gather_epi32(tried, position, sizeof(*tried)),
				batch->keys[i], steps[s]);
		}
	}
}

AVX2 static __m256i bias(__m256i numbers)
{
	return _mm256_xor_si256(numbers, _mm256_set1_epi32(INT32_MIN));
}

/* The entries of eight lanes, an end and a shift with one load each. The lanes are dealt so that
 * the shuffles, which work on each half of a register, bring them back into order. */
AVX2 static void load_entries(const struct index_side *side, __m256i positions,
			      __m256i *ret_ends, __m256i *ret_shifts)
{
	const void *entries = side->entries;
	__m256i dealt = _mm256_permute4x64_epi64(positions, _MM_SHUFFLE(3, 1, 2, 0));
	__m256 a = _mm256_castsi256_ps(
		_mm256_i32gather_epi64(entries, _mm256_castsi256_si128(dealt), 8));
	__m256 b = _mm256_castsi256_ps(
		_mm256_i32gather_epi64(entries, _mm256_extracti128_si256(dealt, 1), 8));

	*ret_ends = _mm256_castps_si256(_mm256_shuffle_ps(a, b, _MM_SHUFFLE(2, 0, 2, 0)));
	*ret_shifts =
		_mm256_castps_si256(_mm256_shuffle_ps(a, b, _MM_SHUFFLE(3, 1, 3, 1)));
}

/* Write RESULTS where MAPPED, ID_NONE elsewhere. Returns how many lanes are not mapped. */
AVX2 static size_t store8(uint32_t *out, __m256i results, __m256i mapped)
{
	__m256i none = _mm256_set1_epi32(-1);
	int mask = _mm256_movemask_ps(_mm256_castsi256_ps(mapped));

	_mm256_storeu_si256((void *)out, _mm256_blendv_epi8(none, results, mapped));
	return LANES - (size_t)_mm_popcnt_u32((unsigned int)mask);
}

AVX2 static size_t translate_batch(const struct index_side *side, const uint32_t *in,
				   uint32_t *out)
{
	struct batch batch;
	size_t unmapped = 0;

	for (size_t i = 0; i < BATCH / LANES; i++)
		batch.keys[i] = bias(load8(in + i * LANES));
	choose_group(side, &batch);
	choose_key(side, &batch);
	for (size_t i = 0; i < BATCH / LANES; i++) {
		__m256i ends, shifts, keys = batch.keys[i];

		load_entries(side, batch.positions[i], &ends, &shifts);
		unmapped += store8(out + i * LANES, _mm256_add_epi32(bias(keys), shifts),
				   _mm256_cmpgt_epi32(bias(ends), keys));
	}
	return unmapped;
}

AVX2 static size_t translate_few8(const struct index *index,
				  enum index_direction direction, const uint32_t *in,
				  uint32_t *out)
{
	const uint32_t *from = index->few[direction], *to = index->few[!direction];
	__m256i ids = load8(in), found = _mm256_setzero_si256(), mapped = found;

	for (uint32_t i = 0; i < index->search; i++) {
		__m256i step = _mm256_sub_epi32(ids, _mm256_set1_epi32((int)from[i]));
		__m256i count = _mm256_set1_epi32(index->counts[i]);
		__m256i hit = _mm256_cmpgt_epi32(count, bias(step));

		step = _mm256_add_epi32(step, _mm256_set1_epi32((int)to[i]));
		found = _mm256_blendv_epi8(found, step, hit);
		mapped = _mm256_or_si256(mapped, hit);
	}
	return store8(out, found, mapped);
}

/* Translates as many of the N as make up whole vectors. Returns how many. */
AVX2 static size_t translate_avx2(const struct index *index,
				  enum index_direction direction, const uint32_t *in,
				  size_t n, uint32_t *out, size_t *ret_unmapped)
{
	size_t unmapped = 0, done = 0;

	if (index->search <= INDEX_FEW)
		for (; n - done >= LANES; done += LANES)
			unmapped +=
				translate_few8(index, direction, in + done, out + done);
	else
		for (; n - done >= BATCH; done += BATCH)
			unmapped += translate_batch(&index->sides[direction], in + done,
						    out + done);
	*ret_unmapped = unmapped;
	return done;
}
#endif

INLINE uint32_t find(const struct index *index, enum index_direction direction,
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
	size_t unmapped = 0, i = 0;

#ifdef __x86_64__
	if (index->search != INDEX_PLAIN && HAS_AVX2)
		i = translate_avx2(index, direction, in, n, ret_out, &unmapped);
#endif
	for (; i < n; i++) {
		ret_out[i] = find(index, direction, in[i]);
		unmapped += ret_out[i] == ID_NONE;
	}
	return unmapped;
}

/* What is visible of MAP in the order that DIRECTION searches, flipped where it searches outer IDs. */
static void sort_side(const struct idmap *map, enum index_direction direction,
		      struct idmap *ret_sorted)
{
	struct idmap seen = {0};

	for (size_t i = 0; i < map->n; i++)
		if (map->extents[i].outer != ID_NONE)
			seen.extents[seen.n++] = map->extents[i];
	if (direction == INDEX_TO_INNER) {
		idmap_invert(&seen, ret_sorted);
	} else {
		idmap_sort(&seen);
		*ret_sorted = seen;
	}
}

/* The first of two neighbours that overlap, or NULL. */
static const struct extent *find_overlap(const struct idmap *sorted)
{
	for (size_t i = 1; i < sorted->n; i++) {
		const struct extent *first = &sorted->extents[i - 1];

		if (first->inner + first->count > first[1].inner)
			return first;
	}
	return NULL;
}

static void fill_few(struct index *index, const struct idmap *sorted)
{
	static const struct extent none;

	for (size_t i = 0; i < INDEX_FEW; i++) {
		const struct extent *extent = i < sorted->n ? &sorted->extents[i] : &none;

		index->few[0][i] = extent->inner;
		index->few[1][i] = extent->outer;
		index->counts[i] = key_of(extent->count);
	}
	index->search = (uint32_t)sorted->n;
}

static void fill_side(struct index_side *side, const struct idmap *sorted)
{
	for (size_t i = 0; i < INDEX_KEYS; i++)
		side->keys[i] =
			key_of(i < sorted->n ? sorted->extents[i].inner : ID_NONE);
	for (size_t i = 0; i < INDEX_BLOCKS - 1; i++)
		side->pivots[i] = side->keys[(i + 1) * INDEX_BLOCK];
	memset(side->entries, 0, sizeof(side->entries));
	for (size_t i = 0; i < sorted->n; i++) {
		const struct extent *extent = &sorted->extents[i];

		side->entries[i + 1].end = extent->inner + extent->count;
		side->entries[i + 1].shift = extent->outer - extent->inner;
	}
}

int index_build(struct index *ret_index, const struct idmap *map,
		struct idmap_refusal *ret_why)
{
	static const int errors[2] = {IDMAP_E_INNER, IDMAP_E_OUTER};
	struct idmap sides[2];

	for (int d = INDEX_TO_OUTER; d <= INDEX_TO_INNER; d++) {
		const struct extent *pair;

		sort_side(map, (enum index_direction)d, &sides[d]);
		pair = find_overlap(&sides[d]);
		if (pair) {
			bool flipped = d == INDEX_TO_INNER;

			*ret_why = (struct idmap_refusal){
				.first = flipped ? extent_flip(pair[0]) : pair[0],
				.second = flipped ? extent_flip(pair[1]) : pair[1],
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
	ret_index->search = HAS_AVX2 ? INDEX_AVX2 : INDEX_PLAIN;
	return 0;
}

/* SPDX-License-Identifier: BSD-2-Clause */

/*
 * test-exhaustive: extent, idset, idmap and grant over a small universe, whole.
 *
 * The universe is eight IDs: the first, those in the middle where a sign would show, and the last,
 * where a sum that wraps would. In each of the three every set, every list of extents and every
 * grant is tried, and the answer is compared with one that comes from the bits of a mask and
 * from no arithmetic on ranges at all.
 *
 *	test-exhaustive [low|middle|high]
 *
 * IDMAP_LONGEST=N bounds the lists that idmap_make() gets: 3 unless said, 4 for "make proof". Sets
 * and grants have up to 4 ranges, but where N is below 3, for a machine that is emulated, no more
 * than N. The word asks for one universe alone, so that processors can share the work.
 */

#include "tap.h"
#include "trusted/grant.h"

#include <stdlib.h>
#include <string.h>

#define SIZE    8U                      /* IDs in the universe */
#define RANGES  (SIZE * (SIZE + 1) / 2) /* 36 ranges in it */
#define EXTENTS 204U                    /* 8^2 + 7^2 + ... + 1^2 */
#define MOST    4U                      /* room for ranges of a set, extents of a list */
#define LINE    34U                     /* a line of a map's text */

static size_t longest = 3; /* list for idmap_make() */
static size_t most = MOST; /* ranges of a set, extents of a map to be granted */
static const char *only;   /* the name of a universe; NULL: all */

static const struct {
	const char *name;
	uint32_t base;
} places[] = {{"low", 0}, {"middle", 2147483644U}, {"high", ID_MAX - (SIZE - 1)}};

/* The universe from BASE on: all its ranges and extents, and the IDs of each as bits. */
struct universe {
	uint32_t base;
	struct range ranges[RANGES];
	uint8_t range_bits[RANGES];
	struct extent extents[EXTENTS];
	uint8_t inner_bits[EXTENTS];
	uint8_t outer_bits[EXTENTS];
	char lines[EXTENTS][LINE];
	size_t line_len[EXTENTS];
};

static uint8_t bits(uint32_t start, uint32_t count)
{
	uint8_t mask = 0;

	for (uint32_t i = 0; i < count; i++)
		mask |= (uint8_t)(1U << (start + i));
	return mask;
}

static void fill_extents(struct universe *u)
{
	size_t n = 0;

	for (uint32_t inner = 0; inner < SIZE; inner++)
		for (uint32_t outer = 0; outer < SIZE; outer++)
			for (uint32_t count = 1; count <= SIZE; count++) {
				if (inner + count > SIZE || outer + count > SIZE)
					continue;
				CHECK(extent_make(u->base + inner, u->base + outer, count,
						  &u->extents[n]) == 0);
				u->inner_bits[n] = bits(inner, count);
				u->outer_bits[n] = bits(outer, count);
				u->line_len[n] = (size_t)snprintf(
					u->lines[n], LINE, "%u %u %u", u->base + inner,
					u->base + outer, count);
				n++;
			}
	CHECK(n == EXTENTS);
}

static const struct universe *make_universe(uint32_t base)
{
	static struct universe u;
	size_t n = 0;

	u.base = base;
	for (uint32_t start = 0; start < SIZE; start++)
		for (uint32_t count = 1; start + count <= SIZE; count++) {
			CHECK(range_valid(base + start, count));
			u.ranges[n] = (struct range){base + start, count};
			u.range_bits[n++] = bits(start, count);
		}
	CHECK(n == RANGES);
	fill_extents(&u);
	return &u;
}

/* Run TEST in each universe and print what it counted: WHAT of up to N PARTS. */
static void in_each(const char *what, size_t n, const char *parts,
		    uint64_t (*test)(const struct universe *u))
{
	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++) {
		uint32_t base = places[i].base;

		if (!only || strcmp(only, places[i].name) == 0)
			printf("figure: proof: %llu %s of up to %zu %s over %u..%u\n",
			       (unsigned long long)test(make_universe(base)), what, n,
			       parts, base, base + (SIZE - 1));
	}
}

/*
 * Step INDEX[0..N) to the next of all sequences of numbers below LIMIT, the last place first.
 * Returns false after the last one.
 */
static bool next_sequence(size_t *index, size_t n, size_t limit)
{
	while (n > 0) {
		if (++index[--n] < limit)
			return true;
		index[n] = 0;
	}
	return false;
}

/* extent */

static const uint32_t edges[] = {
	0,           1,           2,           3,           7,           8,
	255,         256,         65535,       65536,       65537,       2147483646U,
	2147483647U, 2147483648U, 2147483649U, 2147483650U, 4294901759U, 4294901760U,
	4294901761U, 4294967286U, 4294967287U, 4294967288U, 4294967289U, 4294967290U,
	4294967291U, 4294967292U, 4294967293U, 4294967294U, 4294967295U};
#define EDGES (sizeof(edges) / sizeof(*edges))

static int expected_extent(uint64_t inner, uint64_t outer, uint64_t count)
{
	if (count == 0)
		return EXTENT_E_COUNT;
	if (inner + count - 1 > ID_MAX)
		return EXTENT_E_INNER;
	return outer + count - 1 > ID_MAX ? EXTENT_E_OUTER : 0;
}

/* What continues E: the IDs behind it as 64-bit numbers, which can't wrap. */
static uint64_t check_continues(const struct extent *e)
{
	for (size_t i = 0; i < EDGES * EDGES; i++) {
		struct extent next = {edges[i % EDGES], edges[i / EDGES], 1};
		bool expected = (uint64_t)e->inner + e->count == next.inner &&
				(uint64_t)e->outer + e->count == next.outer;

		if (next.inner <= ID_MAX && next.outer <= ID_MAX)
			CHECK(extent_continues(e, &next) == expected);
	}
	return EDGES * EDGES;
}

static void no_extent_wraps_at_any_edge_of_the_id_space(void)
{
	size_t index[3] = {0};
	uint64_t cases = 0, pairs = 0;

	if (only && strcmp(only, places[0].name) != 0)
		return; /* the edges belong to no universe: once is enough */
	do {
		uint32_t n[3] = {edges[index[0]], edges[index[1]], edges[index[2]]};
		struct extent e = {1, 2, 3};
		int r = extent_make(n[0], n[1], n[2], &e);

		CHECK(r == expected_extent(n[0], n[1], n[2]));
		CHECK(range_valid(n[0], n[2]) == (expected_extent(n[0], 0, n[2]) == 0));
		if (r == 0) {
			CHECK(e.inner == n[0] && e.outer == n[1] && e.count == n[2]);
			CHECK(e.inner + e.count > e.inner && e.outer + e.count > e.outer);
			pairs += check_continues(&e);
		} else {
			CHECK(e.inner == 1 && e.outer == 2 && e.count == 3);
		}
		cases++;
	} while (next_sequence(index, 3, EDGES));
	printf("figure: proof: %llu triples and %llu pairs of extents at the edges\n",
	       (unsigned long long)cases, (unsigned long long)pairs);
}

/* idset */

/* The first stretch of QUESTION's bits that MASK lacks; none: count 0. */
static struct range expected_gap(const struct universe *u, uint8_t mask, uint8_t question)
{
	uint8_t missing = (uint8_t)(question & ~mask);
	struct range gap = {0, 0};

	for (uint32_t i = 0; i < SIZE; i++) {
		if (!(missing & 1U << i)) {
			if (gap.count > 0)
				break;
			continue;
		}
		if (gap.count++ == 0)
			gap.start = u->base + i;
	}
	return gap;
}

/* A sealed set is the stretches of its mask's bits, in order. */
static void check_sealed(const struct universe *u, const struct idset *set, uint8_t mask)
{
	size_t n = 0;

	for (uint8_t left = mask; left != 0; n++) {
		struct range run = expected_gap(u, 0, left); /* its first stretch */

		CHECK(n < set->n);
		if (n >= set->n)
			return;
		CHECK(set->ranges[n].start == run.start &&
		      set->ranges[n].count == run.count);
		left &= (uint8_t)~bits(run.start - u->base, run.count);
	}
	CHECK(set->n == n);
}

static void check_questions(const struct universe *u, const struct idset *set,
			    uint8_t mask, const struct range gaps[RANGES])
{
	for (size_t q = 0; q < RANGES; q++) {
		struct range gap = {0, 0};
		bool covered = (u->range_bits[q] & ~mask) == 0;

		CHECK(idset_covers(set, u->ranges[q].start, u->ranges[q].count, &gap) ==
		      covered);
		if (!covered)
			CHECK(gap.start == gaps[q].start && gap.count == gaps[q].count);
	}
}

static uint64_t sets_of(const struct universe *u, size_t n,
			const struct range gaps[256][RANGES])
{
	size_t index[MOST] = {0};
	uint64_t cases = 0;
	struct idset set = {0};

	do {
		uint8_t mask = 0;

		set.n = 0; /* empty again, without a free() each */
		for (size_t i = 0; i < n; i++) {
			const struct range *range = &u->ranges[index[i]];

			CHECK(idset_add(&set, range->start, range->count) == 0);
			mask |= u->range_bits[index[i]];
		}
		idset_seal(&set);
		check_sealed(u, &set, mask);
		check_questions(u, &set, mask, gaps[mask]);
		cases += RANGES;
	} while (next_sequence(index, n, RANGES));
	idset_clear(&set);
	return cases;
}

static uint64_t all_sets(const struct universe *u)
{
	static struct range gaps[256][RANGES];
	uint64_t cases = 0;

	for (unsigned int mask = 0; mask < 256; mask++)
		for (size_t q = 0; q < RANGES; q++)
			gaps[mask][q] = expected_gap(u, (uint8_t)mask, u->range_bits[q]);
	for (size_t n = 0; n <= most; n++)
		cases += sets_of(u, n, gaps);
	return cases;
}

static void a_set_of_a_few_ranges_holds_exactly_their_ids(void)
{
	in_each("questions to sets", most, "ranges", all_sets);
}

/* idmap */

struct list {
	size_t n;
	size_t index[MOST]; /* into the universe's extents */
	bool inner, outer;  /* do two of them share IDs of that side? */
};

static void find_overlaps(const struct universe *u, struct list *list)
{
	uint8_t inner = 0, outer = 0;

	list->inner = list->outer = false;
	for (size_t i = 0; i < list->n; i++) {
		uint8_t in = u->inner_bits[list->index[i]];
		uint8_t out = u->outer_bits[list->index[i]];

		list->inner |= (inner & in) != 0;
		list->outer |= (outer & out) != 0;
		inner |= in;
		outer |= out;
	}
}

/* The two extents named must be two of the list that share IDs of that side, the lower first. */
static void check_refusal(const struct universe *u, const struct list *list, int r,
			  const struct idmap_refusal *why)
{
	const uint8_t *side = r == IDMAP_E_INNER ? u->inner_bits : u->outer_bits;
	bool found = false;

	for (size_t i = 0; i < list->n; i++)
		for (size_t j = 0; j < list->n; j++) {
			size_t a = list->index[i], b = list->index[j];

			found |= i != j && (side[a] & side[b]) != 0 &&
				 memcmp(&u->extents[a], &why->first,
					sizeof(why->first)) == 0 &&
				 memcmp(&u->extents[b], &why->second,
					sizeof(why->second)) == 0;
		}
	CHECK(found);
	CHECK(r == IDMAP_E_INNER ? why->first.inner <= why->second.inner
				 : why->first.outer <= why->second.outer);
}

static size_t expected_text(const struct universe *u, const struct list *list,
			    char *ret_text)
{
	char *at = ret_text;

	for (size_t i = 0; i < list->n; i++) {
		size_t e = list->index[i];

		if (i > 0)
			*at++ = '\n';
		memcpy(at, u->lines[e], u->line_len[e]);
		at += u->line_len[e];
	}
	return (size_t)(at - ret_text);
}

static void answers(const struct universe *u, const struct extent *list, size_t n,
		    int8_t ret_outer[SIZE])
{
	memset(ret_outer, -1, SIZE);
	for (size_t i = 0; i < n; i++)
		for (uint32_t k = 0; k < list[i].count; k++)
			ret_outer[list[i].inner - u->base + k] =
				(int8_t)(list[i].outer - u->base + k);
}

/* The fewest extents that give these answers: one begins where the last ID's does not go on. */
static size_t fewest(const int8_t outer[SIZE])
{
	size_t n = 0;

	for (size_t id = 0; id < SIZE; id++)
		n += outer[id] >= 0 &&
		     (id == 0 || outer[id - 1] < 0 || outer[id] != outer[id - 1] + 1);
	return n;
}

/* Merged, a map has the same answers in as few extents as can be, sorted. */
static size_t check_merge(const struct universe *u, const struct extent *list, size_t n,
			  struct extent ret_merged[MOST])
{
	int8_t before[SIZE], after[SIZE];
	size_t merged;

	memcpy(ret_merged, list, n * sizeof(*list));
	merged = extents_merge(ret_merged, n);
	answers(u, list, n, before);
	answers(u, ret_merged, merged, after);
	CHECK(memcmp(before, after, sizeof(before)) == 0);
	CHECK(merged == fewest(before));
	for (size_t i = 1; i < merged; i++)
		CHECK(ret_merged[i - 1].inner < ret_merged[i].inner);
	return merged;
}

/* In a page that the text as it is does not fit, the merged text counts, and only that. */
static void check_tight_page(const struct universe *u, const struct extent *given,
			     size_t n, const char *text, size_t len)
{
	struct extent list[MOST], merged[MOST];
	struct idmap expected = {.n = check_merge(u, given, n, merged)}, map;
	struct idmap_refusal why;
	char merged_text[IDMAP_TEXT];
	size_t merged_len, fit = 0;
	int r;

	memcpy(expected.extents, merged, sizeof(merged));
	memcpy(list, given, n * sizeof(*list));
	r = idmap_make(list, n, len, &map, &why);
	if (expected.n < n) {
		CHECK(r == 0 && map.n == expected.n);
		CHECK(memcmp(map.extents, merged, map.n * sizeof(*merged)) == 0);
		return;
	}
	merged_len = idmap_format(&expected, merged_text);
	for (size_t i = 0; i < merged_len; i++)
		fit += merged_text[i] == '\n';
	CHECK(r == IDMAP_E_BYTES && why.bytes == merged_len && why.fit == fit);
	CHECK(merged_len == len &&
	      text[0] != '\0'); /* the same lines, in another order */
}

static void check_list(const struct universe *u, struct list *list)
{
	struct extent extents[MOST];
	char text[MOST * LINE], got[IDMAP_TEXT];
	static struct idmap map;
	struct idmap_refusal why;
	size_t len;
	int r;

	for (size_t i = 0; i < list->n; i++)
		extents[i] = u->extents[list->index[i]];
	find_overlaps(u, list);
	if (list->inner || list->outer) {
		r = idmap_make(extents, list->n, 4096, &map, &why);
		CHECK(r == (list->inner ? IDMAP_E_INNER : IDMAP_E_OUTER));
		check_refusal(u, list, r, &why);
		return;
	}
	len = expected_text(u, list, text);
	r = idmap_make(extents, list->n, len + 1, &map, &why);
	CHECK(r == 0 && map.n == list->n);
	CHECK(memcmp(map.extents, extents, list->n * sizeof(*extents)) == 0);
	CHECK(idmap_format(&map, got) == len && memcmp(got, text, len) == 0);
	check_tight_page(u, extents, list->n, text, len);
}

/* Put CHOSEN into the WHICH-th of the N! orders. */
static void arrange(const size_t chosen[MOST], size_t n, uint64_t which,
		    size_t ret_index[MOST])
{
	memcpy(ret_index, chosen, MOST * sizeof(*chosen));
	for (size_t i = n; i > 1; i--) {
		size_t other = (size_t)(which % i), held = ret_index[i - 1];

		which /= i;
		ret_index[i - 1] = ret_index[other];
		ret_index[other] = held;
	}
}

/* Step CHOSEN, which never falls, to the next of all choices of N extents. */
static bool next_choice(size_t chosen[MOST], size_t n)
{
	size_t i = n;

	while (i > 0 && chosen[i - 1] == EXTENTS - 1)
		i--;
	if (i == 0)
		return false;
	chosen[i - 1]++;
	for (; i < n; i++)
		chosen[i] = chosen[i - 1];
	return true;
}

/*
 * All choices of four, of which each is tried in one order only, a different one each time. That
 * is all there is to see: idmap_make() looks at the order of a list in two places. One is the copy
 * that becomes the map, and every list up to three in every order has shown that it is a copy. The
 * other is qsort(), whose outcome depends on the order only where two extents begin with the same
 * ID; these overlap, and whichever of them is named, check_refusal() finds it right.
 */
static uint64_t lists_of_four(const struct universe *u)
{
	size_t chosen[MOST] = {0};
	struct list list = {.n = MOST};
	uint64_t cases = 0;

	do {
		arrange(chosen, MOST, cases++, list.index);
		check_list(u, &list);
	} while (next_choice(chosen, MOST));
	return cases;
}

static uint64_t all_lists(const struct universe *u)
{
	uint64_t cases = 0;

	for (size_t n = 1; n <= longest && n < MOST; n++) {
		struct list list = {.n = n};

		do {
			check_list(u, &list);
			cases++;
		} while (next_sequence(list.index, n, EXTENTS));
	}
	return cases + (longest == MOST ? lists_of_four(u) : 0);
}

static void a_list_of_extents_is_a_map_exactly_when_both_sides_are_disjoint(void)
{
	in_each("lists", longest, "extents", all_lists);
}

/* grant */

/* The grants of MASK as lines, one an ID and the last first, so that they must be put together. */
static void collect_mask(const struct universe *u, uint8_t mask, struct idset *ret_set)
{
	const struct subid_owner alice = {"alice", 1001};
	char text[SIZE * 32];
	size_t len = 0;

	for (uint32_t i = SIZE; i-- > 0;)
		if (mask & 1U << i)
			len += (size_t)snprintf(text + len, sizeof(text) - len,
						"alice:%u:1\n", u->base + i);
	*ret_set = (struct idset){0};
	CHECK(grant_collect(text, len, &alice, ret_set) == 0);
	check_sealed(u, ret_set, mask);
}

static void check_grant(const struct universe *u, const struct idset *set, uint8_t mask,
			uint32_t own, const struct idmap *map, const size_t *index)
{
	struct grant_answer answer = {true, SIZE, {0, 0}};
	int r = grant_check(set, own, map, &answer);
	bool by_grant = false;

	for (size_t i = 0; i < map->n; i++) {
		uint8_t question = u->range_bits[index[i]];
		struct range gap;

		if ((question & ~mask) == 0) {
			by_grant = true;
			continue;
		}
		if (map->extents[i].count == 1 && map->extents[i].outer == own)
			continue;
		gap = expected_gap(u, mask, question);
		CHECK(r == GRANT_E_OUTER && answer.index == i);
		CHECK(answer.gap.start == gap.start && answer.gap.count == gap.count);
		return;
	}
	CHECK(r == 0 && answer.by_grant == by_grant);
}

/* Every owner's ID: each of the universe, and one that lies outside. */
static uint64_t check_grants(const struct universe *u, const struct idset sets[256],
			     const struct idmap *map, const size_t *index)
{
	for (unsigned int mask = 0; mask < 256; mask++)
		for (uint32_t own = 0; own <= SIZE; own++)
			check_grant(u, &sets[mask], (uint8_t)mask,
				    own < SIZE ? u->base + own : 100000, map, index);
	return 256ULL * (SIZE + 1);
}

/* The outer ranges of every map in every order. The inner side is left as it comes: grant_check()
 * has no eye for it, grant.c does not name the field. */
static uint64_t maps_of(const struct universe *u, size_t n, const struct idset sets[256])
{
	size_t index[MOST] = {0};
	uint64_t cases = 0;

	do {
		struct idmap map = {.n = n};
		bool disjoint = true;
		uint8_t taken = 0;

		for (size_t i = 0; i < n; i++) {
			const struct range *range = &u->ranges[index[i]];

			map.extents[i] = (struct extent){(uint32_t)(SIZE * (n - i)),
							 range->start, range->count};
			disjoint &= (taken & u->range_bits[index[i]]) == 0;
			taken |= u->range_bits[index[i]];
		}
		if (disjoint)
			cases += check_grants(u, sets, &map, index);
	} while (next_sequence(index, n, RANGES));
	return cases;
}

static uint64_t all_grants(const struct universe *u)
{
	struct idset sets[256];
	uint64_t cases = 0;

	for (unsigned int mask = 0; mask < 256; mask++)
		collect_mask(u, (uint8_t)mask, &sets[mask]);
	for (size_t n = 1; n <= most; n++)
		cases += maps_of(u, n, sets);
	for (unsigned int mask = 0; mask < 256; mask++)
		idset_clear(&sets[mask]);
	return cases;
}

static void a_map_is_granted_exactly_when_each_outer_id_is_or_is_the_own_one_alone(void)
{
	in_each("decisions on maps", most, "extents", all_grants);
}

int main(int argc, char **argv)
{
	const char *wanted = getenv("IDMAP_LONGEST");

	if (wanted && wanted[0] >= '1' && wanted[0] <= '4' && wanted[1] == '\0')
		longest = (size_t)(wanted[0] - '0');
	if (longest < 3)
		most = longest;
	if (argc > 1)
		only = argv[1];
	return TAP_RUN(
		TEST(no_extent_wraps_at_any_edge_of_the_id_space),
		TEST(a_set_of_a_few_ranges_holds_exactly_their_ids),
		TEST(a_list_of_extents_is_a_map_exactly_when_both_sides_are_disjoint),
		TEST(a_map_is_granted_exactly_when_each_outer_id_is_or_is_the_own_one_alone));
}

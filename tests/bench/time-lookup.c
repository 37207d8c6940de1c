/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * time-lookup: what a lookup costs through the index, through the kernel's algorithm and through
 * bsearch(3) on keys. Two tables on stdout, separated by an empty line, columns by tabs: ns per
 * ID for each number of mappings, direction and kind of IDs; then the same index shared by one and by
 * two threads. All ways take turns in each round, and the median of the rounds counts, so that
 * what else the machine does hits all alike.
 */
#include "../../src/tool/index.h"

#include <err.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define IDS    16384U
#define ROUNDS 21
#define PASSES 8

static uint64_t state = 88172645463325252U;

static uint32_t below(uint64_t bound)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (uint32_t)((state >> 11) % bound);
}

/*
 * The kernel's algorithm, from its description: up to five extents are looked at one after the
 * other; of more there are two arrays, sorted by the one and by the other side, and a binary
 * search asks a comparison function about the extent in the middle.
 */
struct kernel_map {
	size_t n;
	/* to inner: .inner and .outer are swapped */
	struct extent sides[2][IDMAP_EXTENTS];
};

static int in_extent(const void *key, const void *element)
{
	const struct extent *extent = element;
	uint32_t id = *(const uint32_t *)key, last = extent->inner + extent->count - 1;

	return id < extent->inner ? -1 : id > last;
}

static int (*volatile compare)(const void *, const void *) = in_extent;

static const struct extent *kernel_search(const struct extent *list, size_t n,
					  uint32_t id)
{
	int (*callback)(const void *, const void *) = compare;

	while (n > 0) {
		const struct extent *middle = list + n / 2;
		int order = callback(&id, middle);

		if (order == 0)
			return middle;
		if (order > 0) {
			list = middle + 1;
			n--;
		}
		n /= 2;
	}
	return NULL;
}

static const struct extent *kernel_scan(const struct extent *list, size_t n, uint32_t id)
{
	for (size_t i = 0; i < n; i++) {
		uint32_t last = list[i].inner + list[i].count - 1;

		if (id >= list[i].inner && id <= last)
			return &list[i];
	}
	return NULL;
}

__attribute__((noinline)) static uint32_t kernel_find(const struct kernel_map *map,
						      int direction, uint32_t id)
{
	const struct extent *list = map->sides[direction];
	const struct extent *extent = map->n <= 5 ? kernel_scan(list, map->n, id)
						  : kernel_search(list, map->n, id);

	return extent ? extent->outer + (id - extent->inner) : ID_NONE;
}

/* bsearch(3) over first IDs alone; a key that ends the list closes the last range. */
struct key_map {
	size_t n;
	uint32_t keys[IDMAP_EXTENTS + 1];
};

static int in_range(const void *key, const void *element)
{
	const uint32_t *range = element;
	uint32_t id = *(const uint32_t *)key;

	return id < range[0] ? -1 : id >= range[1];
}

__attribute__((noinline)) static uint32_t keys_find(const struct key_map *keys,
						    const struct extent *list,
						    uint32_t id)
{
	const uint32_t *key =
		bsearch(&id, keys->keys, keys->n, sizeof(*keys->keys), in_range);
	const struct extent *extent;

	if (!key)
		return ID_NONE;
	extent = &list[key - keys->keys];
	return id - extent->inner < extent->count ? extent->outer + (id - extent->inner)
						  : ID_NONE;
}

static struct kernel_map kernel;
static struct key_map keys[2];
static struct index index_;
static struct index plain;
static uint32_t in[IDS], out[IDS], wanted[IDS];
static int direction;

static size_t pass_kernel(void)
{
	size_t unmapped = 0;

	for (size_t i = 0; i < IDS; i++) {
		out[i] = kernel_find(&kernel, direction, in[i]);
		unmapped += out[i] == ID_NONE;
	}
	return unmapped;
}

static size_t pass_bsearch(void)
{
	size_t unmapped = 0;

	for (size_t i = 0; i < IDS; i++) {
		out[i] = keys_find(&keys[direction], kernel.sides[direction], in[i]);
		unmapped += out[i] == ID_NONE;
	}
	return unmapped;
}

static size_t single(const struct index *index)
{
	size_t unmapped = 0;

	if (direction == INDEX_TO_OUTER)
		for (size_t i = 0; i < IDS; i++) {
			out[i] = index_outer(index, in[i]);
			unmapped += out[i] == ID_NONE;
		}
	else
		for (size_t i = 0; i < IDS; i++) {
			out[i] = index_inner(index, in[i]);
			unmapped += out[i] == ID_NONE;
		}
	return unmapped;
}

static size_t pass_single(void)
{
	return single(&index_);
}

static size_t pass_plain(void)
{
	return single(&plain);
}

static size_t pass_bulk(void)
{
	return index_translate(&index_, (enum index_direction)direction, in, IDS, out);
}

static const struct way {
	const char *name;
	size_t (*pass)(void);
} ways[] = {
	{"kernel", pass_kernel}, {"bsearch", pass_bsearch}, {"single", pass_single},
	{"plain", pass_plain},   {"bulk", pass_bulk},
};

#define WAYS (sizeof(ways) / sizeof(*ways))

/* Time that this thread ran, not what it waited for others. */
static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
	return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static int compare_doubles(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static double median(double *list, size_t n)
{
	qsort(list, n, sizeof(*list), compare_doubles);
	return list[n / 2];
}

/* N extents of 1 to 1000 IDs with gaps up to 1000, and the outer side in another order. */
static struct idmap make_map(size_t n)
{
	struct idmap map = {.n = n};
	uint32_t inner = 1000, outer = 100000;

	for (size_t i = 0; i < n; i++) {
		map.extents[i] = (struct extent){inner, 0, 1 + below(1000)};
		inner += map.extents[i].count + below(1000);
	}
	for (size_t i = 0; i < n; i++) {
		struct extent *extent = &map.extents[(i * 7919 + 13) % n];

		extent->outer = outer;
		outer += extent->count + below(1000);
	}
	return map;
}

static int by_inner(const void *a, const void *b)
{
	const struct extent *x = a, *y = b;

	return (x->inner > y->inner) - (x->inner < y->inner);
}

static void build(const struct idmap *map)
{
	struct idmap_refusal why;

	if (index_build(&index_, map, &why) != 0)
		errx(1, "a map that should be valid overlaps");
	plain = index_;
	if (plain.search == INDEX_AVX2)
		plain.search = INDEX_PLAIN;
	kernel.n = map->n;
	for (size_t i = 0; i < map->n; i++) {
		struct extent e = map->extents[i];

		kernel.sides[INDEX_TO_OUTER][i] = e;
		kernel.sides[INDEX_TO_INNER][i] =
			(struct extent){e.outer, e.inner, e.count};
	}
	for (int d = 0; d < 2; d++) {
		qsort(kernel.sides[d], map->n, sizeof(struct extent), by_inner);
		keys[d].n = map->n;
		for (size_t i = 0; i < map->n; i++)
			keys[d].keys[i] = kernel.sides[d][i].inner;
		keys[d].keys[map->n] = ID_NONE;
	}
}

enum ids { HITS, MISSES, SORTED };
static const char *const ids_names[] = {"hits", "misses", "sorted"};

static int compare_ids(const void *a, const void *b)
{
	const uint32_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* IDs of random extents; misses: any of the space up to the last, kept if not mapped. */
static void choose_ids(enum ids kind)
{
	const struct extent *list = kernel.sides[direction];
	uint32_t space = kernel.n ? list[kernel.n - 1].inner + 2000 : 100000;

	for (size_t i = 0; i < IDS; i++) {
		if (kind == MISSES || kernel.n == 0) {
			do
				in[i] = below(space);
			while (kernel_find(&kernel, direction, in[i]) != ID_NONE);
		} else {
			const struct extent *extent = &list[below(kernel.n)];

			in[i] = extent->inner + below(extent->count);
		}
	}
	if (kind == SORTED)
		qsort(in, IDS, sizeof(*in), compare_ids);
}

static void time_ways(double ret_medians[WAYS])
{
	static double times[WAYS][ROUNDS];

	pass_kernel();
	memcpy(wanted, out, sizeof(out));
	for (size_t r = 0; r < ROUNDS; r++)
		for (size_t w = 0; w < WAYS; w++) {
			double start = now();

			for (int p = 0; p < PASSES; p++)
				ways[w].pass();
			times[w][r] = (now() - start) / PASSES / IDS;
			if (memcmp(out, wanted, sizeof(out)) != 0)
				errx(1, "%s gives another answer than the kernel",
				     ways[w].name);
		}
	for (size_t w = 0; w < WAYS; w++)
		ret_medians[w] = median(times[w], ROUNDS);
}

static void time_map(size_t n)
{
	struct idmap map = make_map(n);
	double medians[WAYS];

	build(&map);
	for (direction = 0; direction < 2; direction++)
		for (int kind = HITS; kind <= SORTED; kind++) {
			choose_ids((enum ids)kind);
			time_ways(medians);
			printf("%zu\t%s\t%s", n, direction == 0 ? "forward" : "reverse",
			       ids_names[kind]);
			for (size_t w = 0; w < WAYS; w++)
				printf("\t%.2f", medians[w]);
			puts("");
		}
}

/* Threads */

static pthread_barrier_t barrier;

static void *run_thread(void *argument)
{
	uint32_t *mine = malloc(IDS * sizeof(*mine));
	double *ret_time = argument, start;

	if (!mine)
		err(1, NULL);
	pthread_barrier_wait(&barrier);
	start = now();
	for (int p = 0; p < 32; p++)
		for (size_t i = 0; i < IDS; i++)
			mine[i] = index_outer(&index_, in[i]);
	*ret_time = (now() - start) / 32 / IDS;
	free(mine);
	return NULL;
}

static double time_threads(unsigned int n)
{
	pthread_t threads[2];
	double times[2], sum = 0;

	pthread_barrier_init(&barrier, NULL, n);
	for (unsigned int i = 0; i < n; i++)
		if (pthread_create(&threads[i], NULL, run_thread, &times[i]) != 0)
			errx(1, "no thread");
	for (unsigned int i = 0; i < n; i++) {
		pthread_join(threads[i], NULL);
		sum += times[i];
	}
	pthread_barrier_destroy(&barrier);
	return sum / n;
}

static void compare_threads(void)
{
	struct idmap map = make_map(IDMAP_EXTENTS);
	double times[2][ROUNDS];

	build(&map);
	direction = INDEX_TO_OUTER;
	choose_ids(HITS);
	for (size_t r = 0; r < ROUNDS; r++)
		for (unsigned int n = 1; n <= 2; n++)
			times[n - 1][r] = time_threads(n);
	puts("");
	for (unsigned int n = 1; n <= 2; n++)
		printf("%u\t%.2f\n", n, median(times[n - 1], ROUNDS));
}

/* time-lookup [N]...: for these numbers of mappings. */
int main(int argc, char **argv)
{
	static const size_t sizes[] = {0, 1, 2, 3, 5, 6, 10, 50, 100, 200, 300, 340};

	for (int i = 1; i < argc; i++)
		time_map(strtoul(argv[i], NULL, 10));
	for (size_t i = 0; argc == 1 && i < sizeof(sizes) / sizeof(*sizes); i++)
		time_map(sizes[i]);
	compare_threads();
	return 0;
}

/* SPDX-License-Identifier: BSD-2-Clause */

/*
 * oracle: is our verdict on a map the kernel's?
 *
 * Each random map goes into a fresh user namespace. What idmap_make() accepts is written as it
 * formats it, and must read back equal; what we refuse is written raw, and the kernel must
 * refuse it too. Half of the maps are written inside other user namespaces, up to three deep, with
 * random maps of their own: there an accepted map must also be refused exactly when an outer
 * range does not lie inside one extent of the parent's. Numbers of more than 32 bits are the one
 * exception: the kernel cuts them, and the last test shows that it does.
 *
 *	oracle [MAPS]		20000 unless said, in batches of 50; IDMAP_SEED repeats a run.
 *				Root only.
 */

#include "tool/algebra.h"
#include "userns.h"

#define BATCH 50U  /* maps in one namespace */
#define MOST  345U /* extents of a random map, a few past the limit */

/* Extents that nothing has checked yet. */
struct draft {
	size_t n;
	struct extent extents[MOST];
};

enum verdict {
	ACCEPTED,
	MERGED,
	COUNT,
	WRAP,
	INNER,
	OUTER,
	EXTENTS,
	BYTES,
	PARENT,
	VERDICTS
};

static const char *const verdict_names[VERDICTS] = {
	"accepted",         "accepted merged", "count 0",
	"past 4294967294",  "inner overlap",   "outer overlap",
	"too many extents", "too many bytes",  "not inside one parent extent"};

/* Shared by all processes of a run. */
struct counts {
	unsigned long verdicts[VERDICTS], at_limit[2], nested, disagreements;
};

static struct counts *counts;
static unsigned long maps = 20000;
static size_t page;

/* Write TEXT as uid_map of a fresh namespace. Returns 0 or -errno, and what reads back. */
static int write_fresh(const char *text, size_t len, struct idmap *ret_map)
{
	pid_t pid = spawn_sleeper();
	int dir = open_proc(pid);
	int fd = openat(dir, "uid_map", O_WRONLY | O_CLOEXEC);
	int r = write(fd, text, len) == (ssize_t)len ? 0 : -errno;

	close(fd);
	if (live_map(dir, ID_UID, ret_map) != 0)
		ret_map->n = SIZE_MAX;
	close(dir);
	end_sleeper(pid);
	return r;
}

static size_t format_raw(const struct draft *draft, char *ret_text)
{
	char *at = ret_text;

	for (size_t i = 0; i < draft->n; i++)
		at += sprintf(at, "%s%u %u %u", i ? "\n" : "", draft->extents[i].inner,
			      draft->extents[i].outer, draft->extents[i].count);
	return (size_t)(at - ret_text);
}

/* Our verdict, the text that belongs to it, and the map if we accept. */
static enum verdict judge(const struct draft *draft, struct idmap *ret_map,
			  char *ret_text, size_t *ret_len)
{
	static const enum verdict refusals[] = {[IDMAP_E_INNER] = INNER,
						[IDMAP_E_OUTER] = OUTER,
						[IDMAP_E_EXTENTS] = EXTENTS,
						[IDMAP_E_BYTES] = BYTES};
	struct extent list[MOST];
	struct idmap_refusal why;
	int r;

	*ret_len = format_raw(draft, ret_text);
	for (size_t i = 0; i < draft->n; i++) {
		const struct extent *raw = &draft->extents[i];

		r = extent_make(raw->inner, raw->outer, raw->count, &list[i]);
		if (r != 0)
			return r == EXTENT_E_COUNT ? COUNT : WRAP;
	}
	r = idmap_make(list, draft->n, page, ret_map, &why);
	if (r != 0)
		return refusals[r];
	*ret_len = idmap_format(ret_map, ret_text);
	return ret_map->n == draft->n ? ACCEPTED : MERGED;
}

/* A number whose count of digits is random, so that short and long ones are alike. */
static uint32_t any_number(void)
{
	return (uint32_t)(tap_random() >> (32 + tap_below(32)));
}

static uint32_t boundary(void)
{
	static const uint32_t values[] = {0,          1,          2,          65535,
					  65536,      2147483647, 2147483648, 4294967293,
					  4294967294, 4294967295};

	return tap_below(4) ? values[tap_below(10)] : any_number();
}

static void shuffle(struct draft *draft)
{
	for (size_t i = draft->n; i > 1; i--) {
		struct extent *a = &draft->extents[i - 1];
		struct extent *b = &draft->extents[tap_below(i)];
		struct extent held = *a;

		*a = *b;
		*b = held;
	}
}

/*
 * Both sides disjoint: starts grow by count and a gap, which is often none. SPAN bounds counts
 * and gaps; the last extents may pass the end of the ID space.
 */
static void draft_disjoint(struct draft *draft, size_t n, uint32_t span)
{
	uint32_t inner = tap_below(3) ? tap_below(span) : 0;
	uint32_t outer = any_number();
	bool gaps = tap_below(3) > 0;

	draft->n = n;
	for (size_t i = 0; i < n; i++) {
		uint32_t count = 1 + tap_below(span);

		draft->extents[i] = (struct extent){inner, outer, count};
		inner += count + (gaps ? tap_below(span) : 0);
		outer += count + (gaps ? tap_below(span) : 0);
	}
	if (tap_below(2))
		shuffle(draft);
}

/* Few enough extents that the text ends close to the page's end. */
static void draft_near_page(struct draft *draft)
{
	size_t n = 0, end = page - 10 + tap_below(16);
	char text[MOST * 33];

	do
		draft_disjoint(draft, MOST, 1 + tap_below(500000));
	while (format_raw(draft, text) < end);
	for (size_t i = 0; i < end; i++)
		n += text[i] == '\n';
	draft->n = n + tap_below(2);
}

/* One extent of which one side ends within two IDs of the last one, the other side before. */
static void draft_edge(struct draft *draft)
{
	uint32_t start = boundary(), other = tap_below((uint64_t)start + 1);
	uint32_t count = tap_below(5) - 3 - start;

	draft->n = 1;
	draft->extents[0] = tap_below(2) ? (struct extent){start, other, count}
					 : (struct extent){other, start, count};
}

static void draft_boundaries(struct draft *draft)
{
	draft->n = 1 + tap_below(4);
	for (size_t i = 0; i < draft->n; i++)
		draft->extents[i] = (struct extent){boundary(), boundary(), boundary()};
}

/* Break one extent, or lay it over another. */
static void spoil(struct draft *draft)
{
	struct extent *one = &draft->extents[tap_below(draft->n)];
	const struct extent *other = &draft->extents[tap_below(draft->n)];
	uint32_t within = other->count ? tap_below(other->count) : 0;

	switch (tap_below(5)) {
	case 0:
		one->inner = other->inner + within;
		break;
	case 1:
		one->outer = other->outer + within;
		break;
	case 2:
		one->count +=
			1 +
			tap_below(3); /* reaches its neighbour where there is no gap */
		break;
	case 3:
		one->inner = boundary();
		break;
	default:
		one->count = boundary();
	}
}

static void draft_random(struct draft *draft)
{
	switch (tap_below(7)) {
	case 0:
		draft_boundaries(draft);
		return;
	case 6:
		draft_edge(draft);
		return;
	case 1:
		draft_near_page(draft);
		return;
	case 2: /* few bytes an extent, at the limit of extents */
		draft_disjoint(draft, 335 + tap_below(11), 1 + tap_below(12));
		for (size_t i = 0; i < draft->n; i++)
			draft->extents[i].outer %= 65536;
		break;
	default:
		draft_disjoint(draft, 1 + tap_below(tap_below(4) ? 8 : MOST),
			       1 + any_number() / 8);
	}
	if (tap_below(3) == 0)
		spoil(draft);
}

static void show(const struct draft *draft, enum verdict verdict, int r)
{
	printf("# ours: %s, the kernel: %s;", verdict_names[verdict], strerror(-r));
	for (size_t i = 0; i < draft->n; i++)
		printf(" %u %u %u,", draft->extents[i].inner, draft->extents[i].outer,
		       draft->extents[i].count);
	putchar('\n');
}

/* Does each outer range of MAP lie inside one extent of PARENT? */
static bool inside(const struct idmap *map, const struct idmap *parent)
{
	for (size_t i = 0; i < map->n; i++) {
		const struct extent *e = &map->extents[i];
		const struct extent *frame = find_inner(parent, e->outer);

		if (!frame || e->count > frame->count - (e->outer - frame->inner))
			return false;
	}
	return true;
}

static void try_one(const struct idmap *parent)
{
	static char text[MOST * 33];
	struct idmap map = {0}, live = {0};
	struct draft draft;
	enum verdict verdict;
	size_t len;
	bool agreed;
	int r, expected;

	draft_random(&draft);
	verdict = judge(&draft, &map, text, &len);
	if (verdict <= MERGED && !inside(&map, parent))
		verdict = PARENT;
	counts->verdicts[verdict]++;
	if (len == page - 1 || len == page)
		counts->at_limit[len == page]++;
	r = write_fresh(text, len, &live);
	expected = verdict <= MERGED ? 0 : verdict == PARENT ? -EPERM : -EINVAL;
	agreed = r == expected && (r == 0 ? idmap_equal(&map, &live) : live.n == 0);
	CHECK(agreed);
	counts->disagreements += !agreed;
	if (!agreed)
		show(&draft, verdict, r);
}

static void try_batch(void)
{
	struct idmap parent = {0};

	read_own_map(ID_UID, &parent);
	counts->nested += parent.n > 1 ? BATCH : 0;
	for (unsigned int i = 0; i < BATCH; i++)
		try_one(&parent);
}

/* Cut WHOLE, inner IDs of a parent's extent, at random places. */
static void cut_extent(struct draft *draft, struct extent whole, unsigned int cuts)
{
	for (; cuts > 0; cuts--) {
		uint32_t count = any_number();

		if (count == 0 || count >= whole.count)
			continue;
		draft->extents[draft->n++] = (struct extent){0, whole.inner, count};
		whole.inner += count;
		whole.count -= count;
	}
	draft->extents[draft->n++] = (struct extent){0, whole.inner, whole.count};
}

/* The inner IDs of PARENT in pieces, put together in another order, some left out. */
static void draw_parent(enum id_kind kind, const struct idmap *parent,
			struct idmap *ret_map)
{
	uint32_t own = kind == ID_UID ? getuid() : getgid(), inner = 0;
	struct draft draft = {0};

	for (size_t i = 0; i < parent->n; i++)
		cut_extent(&draft, parent->extents[i], tap_below(3) + (parent->n == 1));
	shuffle(&draft);
	for (size_t i = 0; i < draft.n; i++) {
		struct extent *e = &draft.extents[i];

		e->inner = inner;
		inner += e->count;
		if (own - e->outer < e->count || tap_below(8) > 0)
			ret_map->extents[ret_map->n++] = *e;
	}
}

static void our_verdict_on_random_maps_is_the_kernels(void)
{
	static const struct nesting nesting = {draw_parent, try_batch};

	for (unsigned long i = 0; i < maps; i += BATCH)
		run_nested(&nesting, tap_below(2) * (1 + tap_below(3)));
	printf("# %6lu maps\n# %6lu disagreements\n# %6lu below a nested map\n"
	       "# %6lu of one byte less than a page\n# %6lu of a page\n",
	       maps, counts->disagreements, counts->nested, counts->at_limit[0],
	       counts->at_limit[1]);
	for (int i = 0; i < VERDICTS; i++) {
		printf("# %6lu %s\n", counts->verdicts[i], verdict_names[i]);
		CHECK(counts->verdicts[i] > 0 || maps < 10000);
	}
}

/* "4294967296 100000 1" maps inner 0: that is why id_parse() bounds every number. */
static void the_kernel_cuts_numbers_past_32_bits_that_we_refuse(void)
{
	for (int i = 0; i < 200; i++) {
		uint64_t inner = (1 + (uint64_t)any_number()) << 32 | tap_below(100000);
		char number[24], text[64];
		uint32_t ours;
		struct idmap live;

		snprintf(number, sizeof(number), "%llu", (unsigned long long)inner);
		snprintf(text, sizeof(text), "%s 100000 1", number);
		CHECK(id_parse(number, strlen(number), &ours) == ID_E_RANGE);
		CHECK(write_fresh(text, strlen(text), &live) == 0);
		CHECK(live.n == 1 && live.extents[0].inner == (uint32_t)inner);
	}
}

int main(int argc, char **argv)
{
	if (geteuid() != 0) {
		puts("1..0 # SKIP only root may write any map");
		return 0;
	}
	if (argc > 1)
		maps = strtoul(argv[1], NULL, 10);
	maps = (maps + BATCH - 1) / BATCH * BATCH;
	page = (size_t)sysconf(_SC_PAGESIZE);
	counts = share(sizeof(*counts));
	return TAP_RUN(TEST(our_verdict_on_random_maps_is_the_kernels),
		       TEST(the_kernel_cuts_numbers_past_32_bits_that_we_refuse));
}

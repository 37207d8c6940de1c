/* SPDX-License-Identifier: BSD-2-Clause */

/*
 * nested: what the planner accepts the kernel accepts, below other maps too.
 *
 * Each round makes a chain of user namespaces, one inside the other and three deep. In each, random
 * questions go to the planner, with the parent's map as /proc shows it there, until it accepts one
 * for either kind; both maps are written from the parent, and must read back as planned. At the
 * end the initial namespace reads the innermost maps, and every ID of the universe must be what
 * the models of all levels, one applied to the other, say.
 *
 * On the way the kernel must refuse what the planner refuses for its parent, and every text that
 * is shorter for joining two neighbours which continue each other. (That of all other texts none
 * is shorter is test-plan-model's to show.) A second run does that with maps up to the limits.
 *
 *	nested [CHAINS]		1000 unless said; IDMAP_SEED repeats a run. Root only.
 */

#include "tool/algebra.h"
#include "unit/plan-model.h"
#include "userns.h"

#include <linux/securebits.h>
#include <stdlib.h>
#include <sys/prctl.h>

#define WIDE 2048U /* inner IDs of maps with hundreds of extents */

/* Shared by all processes of a run. */
struct shared {
	int failures;
	uint64_t random; /* so that a child goes on where its parent stopped */
	int outer[ID_KINDS]
		 [UNIVERSE]; /* of the level so far, seen from the initial namespace */
	unsigned long maps, extents, joins, refusals, full;
};

/* What a chain is for. */
struct trial {
	unsigned int deepest;
	/* Write one kind's map of the child at DIR; returns an inner ID of it. */
	uint32_t (*write)(int dir, enum id_kind kind, unsigned int depth);
	void (*look)(pid_t innermost);
};

static struct shared *shared;
static unsigned long chains = 1000;
static size_t page;

/* One kind's map of the next level. */
struct level {
	struct question question;
	struct model model;
	struct idmap map;
};

/* The extent of PARENT that has ID, or any other one. */
static const struct extent *find_frame(const struct idmap *parent, uint32_t id)
{
	const struct extent *found = find_inner(parent, id);

	return found ? found : &parent->extents[tap_below(parent->n)];
}

/* Outer ranges that the parent lacks make poor plans: move most of them to IDs that it has. Half of
 * them may reach into the next extent, which is what wants splitting. */
static void fit(const struct idmap *parent, uint32_t *start, uint32_t *count)
{
	const struct extent *frame = find_frame(parent, *start);
	uint32_t end = tap_below(2) ? UNIVERSE : frame->inner + frame->count;

	if (tap_below(16) == 0)
		return;
	if (*start - frame->inner >= frame->count)
		*start = frame->inner + tap_below(frame->count);
	if (*start + *count > end)
		*count = end - *start;
}

static void random_level(struct level *level, enum id_kind kind,
			 const struct idmap *parent)
{
	struct question *q = &level->question;

	question_random(q);
	q->kind = kind;
	q->page = page;
	q->apart = false;
	q->has_layout = q->has_layout || q->n_specs == 0;
	q->has_parent = true;
	q->parent = *parent;
	if (parent->extents[0].count >= UNIVERSE) /* the initial namespace */
		return;
	fit(parent, &q->own, &(uint32_t){1});
	idset_clear(&q->grants.set);
	for (size_t i = 0; i < q->grants.n; i++) {
		struct range *range = &q->lines[i].range;

		fit(parent, &range->start, &range->count);
		idset_add(&q->grants.set, range->start, range->count);
	}
	idset_seal(&q->grants.set);
	for (size_t i = 0; i < q->n_specs; i++)
		fit(parent, &q->specs[i].extent.outer, &q->specs[i].extent.count);
}

/* Returns the set of answers that are right, 1 << PLAN_E_*; bit 0 for a plan that goes through. */
static unsigned int ask_model(struct level *level)
{
	const struct question *q = &level->question;
	struct model *m = &level->model;
	unsigned int right = 1;
	struct range missing;
	uint32_t largest;
	struct text text;

	memset(m->outer, -1, sizeof(m->outer));
	if (q->has_layout && !question_has_base(q))
		right = 1U << model_layout(m, q);
	if (right == 1)
		right = model_apply(m, q);
	if (right != 1)
		return right;
	model_text(m, q, &text);
	if (text.n == 0)
		return 1U << PLAN_E_EMPTY;
	if (model_missing(m, q, &missing, &largest) >= 0)
		return 1U << PLAN_E_PARENT;
	return 1;
}

/* Write, knowing that the kernel will refuse and that the map can still be written then. */
static void expect_refusal(int fd, const struct extent *list, size_t n)
{
	struct idmap map = {.n = n};

	memcpy(map.extents, list, n * sizeof(*list));
	CHECK(procmap_write(fd, &map) == -EPERM);
}

/* PLAN was refused for its parent, after it had been sorted and merged. */
static void expect_parent_refusal(int fd, const struct plan *plan)
{
	struct extent list[IDMAP_EXTENTS] = {{0}};

	for (size_t i = 0; i < plan->n; i++)
		list[i] = plan->list[i].extent;
	expect_refusal(fd, list, plan->n);
	shared->refusals++;
}

/* No two neighbours that continue each other may be one: the parent's map is in the way. */
static void expect_no_join(int fd, const struct idmap *map)
{
	for (size_t i = 1; i < map->n; i++) {
		struct idmap joined = *map;
		struct extent *kept = &joined.extents[i - 1];

		if (!extent_continues(kept, &joined.extents[i]))
			continue;
		kept->count += joined.extents[i].count;
		memmove(kept + 1, kept + 2, (map->n - i - 1) * sizeof(*kept));
		expect_refusal(fd, joined.extents, map->n - 1);
		shared->joins++;
	}
}

/* Ask one question. Returns whether the planner accepts. */
static bool ask(int fd, enum id_kind kind, const struct idmap *parent,
		struct level *level)
{
	struct plan plan = {0};
	struct plan_refusal why;
	unsigned int right;
	int r;

	random_level(level, kind, parent);
	right = ask_model(level);
	r = question_ask(&level->question, &plan, &level->map, &why);
	CHECK(r >= 0 && (right & 1U << r));
	if (r == PLAN_E_PARENT)
		expect_parent_refusal(fd, &plan);
	plan_clear(&plan);
	idset_clear(&level->question.grants.set);
	return r == 0;
}

/* Ask until the planner accepts, rather a map of several extents than of one. */
static void plan_level(int fd, enum id_kind kind, struct level *level)
{
	size_t wanted = 1 + tap_below(8);
	struct idmap parent = {0};
	int tries = 0;

	read_own_map(kind, &parent);
	while (tap_failures == 0)
		if (ask(fd, kind, &parent, level) &&
		    (level->map.n >= wanted || tries++ > 20))
			return;
}

/* Compare LIVE, seen from the parent, with the model's answer for every ID. */
static void check_live(const struct idmap *live, const int *outer)
{
	int shown[UNIVERSE];

	memset(shown, -1, sizeof(shown));
	for (size_t i = 0; i < live->n; i++) {
		const struct extent *e = &live->extents[i];

		CHECK(e->inner + e->count <= UNIVERSE);
		for (uint32_t k = 0; k < e->count && e->inner + k < UNIVERSE; k++)
			shown[e->inner + k] = (int)(e->outer + k);
	}
	CHECK(memcmp(shown, outer, sizeof(shown)) == 0);
}

/* The new level's answers, seen from the initial namespace. */
static void compose(enum id_kind kind, const struct model *m, bool first)
{
	int below[UNIVERSE];

	memcpy(below, shared->outer[kind], sizeof(below));
	for (uint32_t id = 0; id < UNIVERSE; id++) {
		int outer = m->outer[id];

		shared->outer[kind][id] = first || outer < 0 ? outer : below[outer];
	}
}

/* The kernel takes MAP, shows it again, and would have taken nothing shorter. */
static void write_map(int dir, enum id_kind kind, int fd, const struct idmap *map,
		      struct idmap *ret_live)
{
	expect_no_join(fd, map);
	CHECK(procmap_write(fd, map) == 0);
	CHECK(live_map(dir, kind, ret_live) == 0 && idmap_equal(ret_live, map));
	shared->maps++;
	shared->extents += map->n;
}

static uint32_t write_small(int dir, enum id_kind kind, unsigned int depth)
{
	struct level level;
	struct text text;
	struct idmap live;
	int fd;

	if (procmap_open_write(dir, kind, &fd) != 0)
		die("opening a map");
	plan_level(fd, kind, &level);
	model_text(&level.model, &level.question, &text);
	CHECK(text.n == level.map.n);
	write_map(dir, kind, fd, &level.map, &live);
	close(fd);
	check_live(&live, level.model.outer);
	compose(kind, &level.model, depth == 1);
	return level.map.extents[0].inner;
}

/* The innermost maps, seen from the initial namespace. */
static void look_at_all_ids(pid_t innermost)
{
	int dir = open_proc(innermost);

	for (enum id_kind kind = ID_UID; kind <= ID_GID; kind++) {
		struct idmap live;

		CHECK(live_map(dir, kind, &live) == 0);
		check_live(&live, shared->outer[kind]);
	}
	close(dir);
}

/* Inner 0..WIDE-1 as RUNS stretches of IDs, which lie on the outer side in another order. */
static void draw_wide(uint32_t outer[WIDE], uint32_t runs)
{
	uint32_t starts[IDMAP_EXTENTS + 1] = {0}, order[IDMAP_EXTENTS] = {0}, next = 0;

	for (uint32_t i = 0; i < runs; i++) {
		uint32_t other = tap_below(i + 1);

		starts[i + 1] = (uint32_t)((uint64_t)WIDE * (i + 1) / runs);
		order[i] = order[other];
		order[other] = i;
	}
	for (uint32_t i = 0; i < runs; i++)
		for (uint32_t id = starts[order[i]]; id < starts[order[i] + 1]; id++)
			outer[id] = next++;
}

/* Append OUTER to PLAN, cut at random, which the planner shall mend. */
static void append_pieces(struct plan *plan, const uint32_t outer[WIDE])
{
	uint32_t often = 1 + tap_below(20);

	for (uint32_t id = 0, end; id < WIDE; id = end) {
		struct extent piece;

		for (end = id + 1; end < WIDE && outer[end] == outer[end - 1] + 1; end++)
			if (tap_below(often) == 0)
				break;
		piece = (struct extent){id, outer[id], end - id};
		if (plan_append(plan, &piece, (struct origin){0}) != 0)
			die("appending");
	}
	for (size_t i = plan->n; i > 1; i--) {
		struct planned *a = &plan->list[i - 1], *b = &plan->list[tap_below(i)];
		struct planned held = *a;

		*a = *b;
		*b = held;
	}
}

/* Lines and bytes of the longest stretches that lie in one extent of PARENT each. */
static void measure_wide(const uint32_t outer[WIDE], const struct idmap *parent,
			 size_t *ret_lines, size_t *ret_bytes)
{
	const struct extent *frame = NULL;
	struct extent line = {0};
	size_t lines = 0, bytes = 0;

	for (uint32_t id = 0; id < WIDE; id++) {
		const struct extent *here = find_frame(parent, outer[id]);

		if (frame == here && outer[id] == outer[id - 1] + 1) {
			line.count++;
			continue;
		}
		bytes += lines > 0 ? model_line(&line) : 0;
		line = (struct extent){id, outer[id], 1};
		frame = here;
		lines++;
	}
	*ret_lines = lines;
	*ret_bytes = bytes + model_line(&line) - 1;
}

/* Returns whether the planner accepts. */
static bool plan_wide(const struct idmap *parent, struct idmap *ret_map)
{
	struct plan plan = {0};
	struct plan_refusal why;
	uint32_t outer[WIDE];
	size_t lines, bytes;
	char text[IDMAP_TEXT];
	int r, right;

	draw_wide(outer, 1 + tap_below(tap_below(2) ? 64 : IDMAP_EXTENTS));
	append_pieces(&plan, outer);
	measure_wide(outer, parent, &lines, &bytes);
	right = lines > IDMAP_EXTENTS ? PLAN_E_EXTENTS : bytes >= page ? PLAN_E_BYTES : 0;
	r = plan_finish(&plan, parent, page, ret_map, &why);
	plan_clear(&plan);
	CHECK(r == right);
	shared->full += r != 0;
	if (r == 0)
		CHECK(ret_map->n == lines && idmap_format(ret_map, text) == bytes);
	return r == 0;
}

static uint32_t write_wide(int dir, enum id_kind kind, unsigned int depth)
{
	struct idmap parent = {0}, map = {0}, live = {0};
	int fd;

	(void)depth;
	if (procmap_open_write(dir, kind, &fd) != 0)
		die("opening a map");
	read_own_map(kind, &parent);
	while (tap_failures == 0)
		if (plan_wide(&parent, &map))
			break;
	write_map(dir, kind, fd, &map, &live);
	close(fd);
	return map.extents[0].inner;
}

static void look_away(pid_t innermost)
{
	(void)innermost;
}

/* A process needs mapped IDs to make a namespace, and no other ID may take its capabilities. */
static void take_ids(const uint32_t ids[ID_KINDS])
{
	if (prctl(PR_SET_SECUREBITS, SECBIT_NO_SETUID_FIXUP) < 0 ||
	    syscall(SYS_setresgid, ids[ID_GID], ids[ID_GID], ids[ID_GID]) < 0 ||
	    syscall(SYS_setresuid, ids[ID_UID], ids[ID_UID], ids[ID_UID]) < 0 ||
	    prctl(PR_SET_DUMPABLE, 1) < 0)
		die("taking inner IDs");
}

/* Tell the initial namespace who is the innermost, and wait until it has looked. */
static void show_oneself(const int up[2], const int down[2])
{
	pid_t self = getpid();
	char done;

	close(down[1]);
	if (write(up[1], &self, sizeof(self)) != sizeof(self) ||
	    read(down[0], &done, 1) != 0)
		die("waiting for the initial namespace");
}

/* Leave a process of a chain, and tell the first one what it counted. */
static void leave(void)
{
	shared->failures += tap_failures;
	fflush(stdout);
	_exit(0);
}

/* Make the namespace of level DEPTH and those inside it. UP and DOWN lead to the first process. */
static void descend(const struct trial *trial, unsigned int depth, const int up[2],
		    const int down[2])
{
	uint32_t ids[ID_KINDS];
	int gate[2], dir, status;
	pid_t pid;

	if (pipe2(gate, O_CLOEXEC) < 0)
		die("pipe");
	pid = fork_userns();
	if (pid == 0) {
		close(gate[1]);
		if (read(gate[0], ids, sizeof(ids)) != sizeof(ids))
			_exit(1);
		take_ids(ids);
		tap_state = shared->random;
		if (depth < trial->deepest)
			descend(trial, depth + 1, up, down);
		else
			show_oneself(up, down);
		leave();
	}
	close(gate[0]);
	dir = open_proc(pid);
	for (enum id_kind kind = ID_UID; kind <= ID_GID; kind++)
		ids[kind] = trial->write(dir, kind, depth);
	close(dir);
	shared->random = tap_random();
	if (tap_failures == 0 && write(gate[1], ids, sizeof(ids)) != sizeof(ids))
		die("writing to the gate");
	close(gate[1]);
	if (waitpid(pid, &status, 0) != pid || status != 0)
		tap_failures++;
}

static void run_chain(const struct trial *trial)
{
	int up[2], down[2], status;
	pid_t first, innermost;

	if (pipe2(up, O_CLOEXEC) < 0 || pipe2(down, O_CLOEXEC) < 0)
		die("pipe");
	shared->random = tap_random();
	fflush(stdout);
	first = fork();
	if (first < 0)
		die("fork");
	if (first == 0) {
		tap_failures = 0;
		close(up[0]);
		close(down[1]);
		tap_state = shared->random;
		descend(trial, 1, up, down);
		leave();
	}
	close(up[1]);
	close(down[0]);
	if (read(up[0], &innermost, sizeof(innermost)) == sizeof(innermost))
		trial->look(innermost);
	else
		CHECK(shared->failures > 0);
	close(down[1]);
	close(up[0]);
	CHECK(waitpid(first, &status, 0) == first && status == 0);
}

static void run_chains(const struct trial *trial, unsigned long n)
{
	memset(shared, 0, sizeof(*shared));
	for (unsigned long i = 0; i < n && tap_failures == 0; i++) {
		run_chain(trial);
		tap_failures += shared->failures;
	}
	printf("# %lu maps\n# %lu extents\n# %lu texts with two neighbours joined refused\n"
	       "# %lu plans refused for the parent's map\n# %lu beyond a limit\n",
	       shared->maps, shared->extents, shared->joins, shared->refusals,
	       shared->full);
}

static void what_the_planner_accepts_the_kernel_accepts_three_deep(void)
{
	static const struct trial trial = {3, write_small, look_at_all_ids};

	run_chains(&trial, chains);
	CHECK(chains < 1000 || (shared->joins > 100 && shared->refusals > 100));
}

static void the_text_of_any_map_up_to_the_limits_is_the_shortest_the_kernel_accepts(void)
{
	static const struct trial trial = {2, write_wide, look_away};

	run_chains(&trial, chains / 8);
	CHECK(chains < 1000 || (shared->joins > 100 && shared->full > 0));
}

int main(int argc, char **argv)
{
	if (geteuid() != 0) {
		puts("1..0 # SKIP only root may write any map");
		return 0;
	}
	if (argc > 1)
		chains = strtoul(argv[1], NULL, 10);
	page = (size_t)sysconf(_SC_PAGESIZE);
	shared = share(sizeof(*shared));
	return TAP_RUN(
		TEST(what_the_planner_accepts_the_kernel_accepts_three_deep),
		TEST(the_text_of_any_map_up_to_the_limits_is_the_shortest_the_kernel_accepts));
}

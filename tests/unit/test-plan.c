/* SPDX-License-Identifier: BSD-2-Clause */
#include "tap.h"
#include "tool/plan.h"

#include <string.h>

#define PAGE 4096U

/* What is planned: numbers as people write them, words parted by single blanks. */
struct job {
	const char *layout; /* NULL: none */
	uint32_t own;
	uint32_t size;
	const char *grants; /* START:COUNT ..., line 1, 2, .. */
	const char *maps;   /* MAP ..., MAP 1, 2, .. */
	const char *parent; /* INNER:OUTER:COUNT ... */
	bool granted;       /* the grants must cover the map */
	enum id_kind kind;
};

/* Cut the first word of *AT off. Returns false at the end. */
static bool next_word(const char **at, char ret_word[64])
{
	size_t len = *at ? strcspn(*at, " ") : 0;

	if (len == 0)
		return false;
	snprintf(ret_word, 64, "%.*s", (int)len, *at);
	*at += len;
	*at += **at == ' ';
	return true;
}

static void make_grants(struct grants *grants, const char *text)
{
	char word[64];

	while (next_word(&text, word)) {
		struct range range = {0};

		grants->lines = reallocarray(grants->lines, grants->n + 1,
					     sizeof(*grants->lines));
		if (sscanf(word, "%u:%u", &range.start, &range.count) != 2 ||
		    !grants->lines)
			abort();
		grants->lines[grants->n] = (struct grant_line){range, grants->n + 1};
		grants->n++;
		idset_add(&grants->set, range.start, range.count);
	}
	idset_seal(&grants->set);
}

static void free_grants(struct grants *grants)
{
	free(grants->lines);
	idset_clear(&grants->set);
}

static size_t make_specs(const char *text, struct mapspec *specs)
{
	struct mapspec_refusal why;
	char word[64];
	size_t n = 0;

	while (next_word(&text, word)) {
		if (mapspec_parse(word, &specs[n], &why) != 0)
			abort();
		specs[n].position = n + 1;
		n++;
	}
	return n;
}

static void make_parent(const char *text, struct idmap *parent)
{
	struct mapspec specs[8];

	parent->n = make_specs(text, specs);
	for (size_t i = 0; i < parent->n; i++)
		parent->extents[i] = specs[i].extent;
}

/* The text that would be written for JOB, or why there is none. The caller frees it. */
static char *run(const struct job *job)
{
	struct account account = {.name = (char[]){"alice"}, .uid = job->own};
	struct grants grants = {0};
	struct plan plan = {0};
	struct plan_refusal why;
	struct mapspec specs[16];
	struct idmap map = {0}, parent = {0};
	size_t n = make_specs(job->maps, specs);
	enum layout layout;
	char *text;
	int r = 0;

	make_grants(&grants, job->grants);
	make_parent(job->parent, &parent);
	if (job->layout && layout_parse(job->layout, &layout))
		r = plan_layout(&plan, layout, job->own, &grants, job->size, &why);
	if (r == 0)
		r = plan_apply(&plan, job->kind, specs, n, &why);
	if (job->granted)
		plan_keep_apart(&plan, job->own, &grants.set);
	if (r == 0)
		r = plan_finish(&plan, job->parent ? &parent : NULL, PAGE, &map, &why);
	if (r == 0 && job->granted)
		r = plan_granted(&plan, job->own, &grants.set, &why);
	if (r == 0) {
		text = calloc(1, IDMAP_TEXT + 1);
		idmap_format(&map, text);
	} else {
		text = plan_explain(job->kind, r, &why, &account, &parent);
	}
	plan_clear(&plan);
	free_grants(&grants);
	return text;
}

static bool gives(struct job job, const char *expected)
{
	char *text = run(&job);
	bool right = strcmp(text, expected) == 0;

	if (!right)
		printf("# got:\n%s\n# not:\n%s\n", text, expected);
	free(text);
	return right;
}

static void stack_two_grants_adjacent_on_both_sides_become_one_extent(void)
{
	CHECK(gives((struct job){.layout = "subids",
				 .grants = "1000000:1000000000 1001000000:1000000000"},
		    "0 1000000 2000000000"));
}

static void three_extents_at_zero_are_stacked(void)
{
	CHECK(gives(
		(struct job){.layout = "subids",
			     .grants = "100000:65536 165536:65536 1000000:1000000000"},
		"0 100000 131072\n131072 1000000 1000000000"));
}

static void outer_inside_base_is_refused_and_both_extents_named(void)
{
	CHECK(gives(
		(struct job){.maps = "0:165536:65536 200000:200000:1"},
		"uid_map: outer 200000 lies in 165536..231071 of extent 0 165536 65536 "
		"(MAP 1) and in 200000..200000 of extent 200000 200000 1 (MAP 2)\n"
		"to take from the first what the second needs: +200000:200000:1"));
}

static void outer_inside_base_is_punched_out_by_a_plus(void)
{
	CHECK(gives((struct job){.maps = "0:165536:65536 +200000:200000:1"},
		    "0 165536 34464\n34465 200001 31071\n200000 200000 1"));
}

static void same_outer_twice_or_same_inner_is_refused_and_both_named(void)
{
	CHECK(gives((struct job){.maps = "1000:1001:1 1000:1002:1"},
		    "uid_map: inner 1000 lies in 1000..1000 of extent 1000 1001 1 (MAP "
		    "1) and "
		    "in 1000..1000 of extent 1000 1002 1 (MAP 2)\n"
		    "to take from the first what the second needs: +1000:1002:1"));
	CHECK(gives((struct job){.maps = "1001:1000:1 1002:1000:1", .kind = ID_GID},
		    "gid_map: outer 1000 lies in 1000..1000 of extent 1001 1000 1 (MAP "
		    "1) and "
		    "in 1000..1000 of extent 1002 1000 1 (MAP 2)\n"
		    "to take from the first what the second needs: +1002:1000:1"));
}

static void an_overlap_is_refused_before_a_sign_could_hide_it(void)
{
	CHECK(gives((struct job){.maps = "5:105:9 -0:10 0:100:8"},
		    "uid_map: outer 105..107 lies in 105..113 of extent 5 105 9 (MAP 1) "
		    "and in "
		    "100..107 of extent 0 100 8 (MAP 3)\n"
		    "to take from the first what the second needs: +0:100:8"));
}

static void chain_of_passthrough_keeps_every_other_id(void)
{
	CHECK(gives((struct job){.maps = "0:1000000:1000000000 +110:999:1 +999:998:1"},
		    "0 1000000 110\n110 999 1\n111 1000111 888\n999 998 1\n"
		    "1000 1001000 999999000"));
}

static void punch_one_makes_three_extents(void)
{
	CHECK(gives((struct job){.maps = "0:100000:65536 +33:33:1"},
		    "0 100000 33\n33 33 1\n34 100034 65502"));
}

static void an_overlay_cuts_several_extents_on_both_sides(void)
{
	CHECK(gives((struct job){.maps = "0:100:10 20:200:10 30:300:10 +5:295:20"},
		    "0 100 5\n5 295 20\n25 205 5"));
	CHECK(gives((struct job){.maps = "0:100:10 +4:107:2"},
		    "0 100 4\n4 107 2\n6 106 1\n9 109 1"));
}

static void a_minus_takes_inner_ids_out_and_moves_nothing(void)
{
	CHECK(gives((struct job){.maps = "0:100:10 10:300:10 -8:4 u:20:400:1 -g:0:5"},
		    "0 100 8\n12 302 8\n20 400 1"));
	CHECK(gives((struct job){.maps = "0:100:10 -0:4294967295"},
		    "uid_map: no extent is left to write; give at least one MAP "
		    "INNER:OUTER:COUNT"));
	CHECK(gives((struct job){.maps = "0:0:4294967295 -4294967294:1 -0:1"},
		    "1 1 4294967293"));
}

static void signs_act_from_left_to_right(void)
{
	CHECK(gives((struct job){.maps = "0:100:10 +5:5:1 -5:1"}, "0 100 5\n6 106 4"));
	CHECK(gives((struct job){.maps = "0:100:10 -5:1 +5:5:1"},
		    "0 100 5\n5 5 1\n6 106 4"));
	CHECK(gives((struct job){.maps = "+5:5:1 0:100:10 +5:6:1"},
		    "0 100 5\n5 6 1\n6 106 4"));
}

static void a_base_map_replaces_the_layout_of_its_kind_alone(void)
{
	struct job job = {.layout = "subids", .grants = "100000:10", .maps = "g:0:5:1"};

	CHECK(gives(job, "0 100000 10"));
	job.kind = ID_GID;
	CHECK(gives(job, "0 5 1"));
}

static void file_order_stacks_grants_as_they_stand(void)
{
	CHECK(gives((struct job){.layout = "subids", .grants = "100000:1000 1000:1"},
		    "0 100000 1000\n1000 1000 1"));
}

static void own_id_in_grant_is_mapped_once(void)
{
	CHECK(gives((struct job){.layout = "root",
				 .own = 1001,
				 .grants = "1001:1 165536:65536",
				 .granted = true},
		    "0 1001 1\n1 165536 65536"));
	CHECK(gives((struct job){.layout = "root", .own = 1001, .grants = "1000:10"},
		    "0 1001 1\n1 1000 1\n2 1002 8"));
	CHECK(gives((struct job){.layout = "subids", .own = 1001, .grants = "1000:10"},
		    "0 1000 10"));
}

static void one_id_grant_makes_two_ids(void)
{
	CHECK(gives((struct job){.layout = "root", .own = 1000, .grants = "100000:1"},
		    "0 1000 1\n1 100000 1"));
}

static void lines_that_overlap_grant_each_id_once_to_the_first(void)
{
	CHECK(gives(
		(struct job){.layout = "subids", .grants = "100:10 300:1 95:20 90:50"},
		"0 100 10\n10 300 1\n11 95 5\n16 110 5\n21 90 5\n26 115 25"));
	CHECK(gives((struct job){.layout = "subids", .grants = "100:10 100:10"},
		    "0 100 10"));
}

static void keep_id_lays_the_grants_around_the_own_id(void)
{
	CHECK(gives(
		(struct job){.layout = "keep-id", .own = 1000, .grants = "100000:65536"},
		"0 100000 1000\n1000 1000 1\n1001 101000 64536"));
	CHECK(gives((struct job){.layout = "keep-id", .own = 0, .grants = "100000:5"},
		    "0 0 1\n1 100000 5"));
	CHECK(gives((struct job){.layout = "keep-id", .own = 3, .grants = "10:2 20:5"},
		    "0 10 2\n2 20 1\n3 3 1\n4 21 4"));
}

static void keep_id_stays_short_before_the_own_id_when_grants_are_few(void)
{
	CHECK(gives((struct job){.layout = "keep-id", .own = 1000, .grants = "100000:10"},
		    "0 100000 10\n1000 1000 1"));
	CHECK(gives(
		(struct job){.layout = "keep-id", .own = 1000, .grants = "100000:1000"},
		"0 100000 1000\n1000 1000 1"));
}

static void self_maps_the_own_id_alone(void)
{
	CHECK(gives((struct job){.layout = "self", .own = 1000}, "0 1000 1"));
}

static void a_size_is_met_exactly(void)
{
	struct job job = {.own = 5, .grants = "100:10 200:10"};

	job.layout = "root";
	job.size = 13;
	CHECK(gives(job, "0 5 1\n1 100 10\n11 200 2"));
	job.size = 1;
	CHECK(gives(job, "0 5 1"));
	job.layout = "keep-id";
	job.size = 9;
	CHECK(gives(job, "0 100 5\n5 5 1\n6 105 3"));
	job.size = 4;
	CHECK(gives(job, "0 100 3\n5 5 1"));
	job.layout = "subids";
	job.size = 20;
	CHECK(gives(job, "0 100 10\n10 200 10"));
	job.layout = "self";
	job.size = 1;
	CHECK(gives(job, "0 5 1"));
}

static void a_size_over_the_grants_is_refused_with_the_count_needed(void)
{
	CHECK(gives(
		(struct job){
			.layout = "root", .own = 5, .grants = "100:10", .size = 70000},
		"uid_map: 70000 inner IDs are asked for, the layout has 11\n"
		"ask for a size of 11, or let /etc/subuid grant alice 69989 more IDs"));
	CHECK(gives((struct job){.layout = "self", .own = 5, .size = 2},
		    "uid_map: 2 inner IDs are asked for, the layout has 1\n"
		    "ask for a size of 1, or let /etc/subuid grant alice 1 more IDs"));
}

static void the_whole_id_space_stacks_without_wrapping(void)
{
	CHECK(gives((struct job){.layout = "subids", .grants = "0:4294967295"},
		    "0 0 4294967295"));
	CHECK(gives((struct job){.layout = "keep-id",
				 .own = 4294967294U,
				 .grants = "0:4294967295"},
		    "0 0 4294967295"));
	CHECK(gives((struct job){.layout = "root", .own = 7, .grants = "0:4294967295"},
		    "0 7 1\n1 0 7\n8 8 4294967287"));
}

static void crosses_parent_is_split_at_the_boundary(void)
{
	CHECK(gives((struct job){.maps = "0:0:1001", .parent = "0:1000:1 1:100000:65536"},
		    "0 0 1\n1 1 1000"));
	CHECK(gives((struct job){.maps = "0:0:500 500:500:501",
				 .parent = "1:100000:65536 0:1000:1"},
		    "0 0 1\n1 1 1000"));
}

static void parent_too_small_is_refused_and_the_largest_that_works_printed(void)
{
	CHECK(gives((struct job){.maps = "0:100000:65536",
				 .parent = "0:1000:1 1:100000:65535"},
		    "uid_map: extent 0 100000 65536 (MAP 1): outer 100000..165535 is not "
		    "in the "
		    "parent map, which has 0..65535\n"
		    "the largest that works: 0:0:65536\n"
		    "parent map: 0 1000 1, 1 100000 65535"));
	CHECK(gives(
		(struct job){.maps = "10:0:100", .parent = "5:105:20 30:130:50"},
		"uid_map: extent 10 0 100 (MAP 1): outer 0..4 is not in the parent map, "
		"which has no more of it in one piece than 30..79\n"
		"the largest that works: 40:30:50\n"
		"parent map: 5 105 20, 30 130 50"));
	CHECK(gives((struct job){.maps = "10:7:2", .parent = "20:105:20"},
		    "uid_map: extent 10 7 2 (MAP 1): outer 7..8 is not in the parent "
		    "map, which "
		    "has 20..39\n"
		    "the largest that works: 10:20:2\n"
		    "parent map: 20 105 20"));
	CHECK(gives((struct job){.maps = "10:7:2", .parent = ""},
		    "uid_map: extent 10 7 2 (MAP 1): outer 7..8 is not in the parent "
		    "map, which "
		    "is empty"));
}

static void podman_doc_slip_punches_the_outer_side(void)
{
	CHECK(gives((struct job){.maps = "0:0:65000 +100000:1:1"},
		    "0 0 1\n2 2 64998\n100000 1 1"));
}

static void seed_table_is_five_extents(void)
{
	CHECK(gives((struct job){.maps = "0:1000000:1000000000 +999:999:1 +1001:1001:1"},
		    "0 1000000 999\n999 999 1\n1000 1001000 1\n1001 1001 1\n"
		    "1002 1001002 999998998"));
}

/* N extents of COUNT IDs, from INNER and OUTER on, STEP apart; the explanation or NULL. */
static char *finish_many(size_t n, struct extent first, uint32_t step, struct idmap *map)
{
	struct account account = {.name = (char[]){"alice"}, .uid = 1000};
	struct plan plan = {0};
	struct plan_refusal why;
	char *text;
	int r;

	for (size_t i = 0; i < n; i++) {
		struct origin origin = {ORIGIN_ARGUMENT, i + 1, i + 1};

		plan_append(&plan, &first, origin);
		first.inner += step;
		first.outer += step;
	}
	r = plan_finish(&plan, NULL, PAGE, map, &why);
	text = r == 0 ? NULL : plan_explain(ID_UID, r, &why, &account, NULL);
	plan_clear(&plan);
	return text;
}

static void too_many_extents_are_refused_with_the_limit(void)
{
	struct idmap map;
	char *text = finish_many(341, (struct extent){0, 9, 1}, 2, &map);

	CHECK(text &&
	      strcmp(text, "uid_map: 341 of 340 extents\n1 extent at least must be "
			   "given up; those that save most: 680 689 1 (MAP 341)") == 0);
	free(text);
	text = finish_many(340, (struct extent){0, 9, 1}, 2, &map);
	CHECK(!text && map.n == 340);
	free(text);
}

static void too_long_a_text_is_refused_with_how_many_fit(void)
{
	struct idmap map;
	char *text = finish_many(340, (struct extent){1000, 100000, 1}, 2, &map);

	CHECK(text &&
	      strncmp(text,
		      "uid_map: 4759 of 4095 bytes, 292 extents fit\n48 extents at "
		      "least must be given up; those that save most: ",
		      strlen("uid_map: 4759 of 4095 bytes, 292 extents fit\n48 extents "
			     "at least must be given up; those that save most: ")) == 0);
	CHECK(text && strstr(text, " and 43 more"));
	free(text);
	CHECK(!finish_many(292, (struct extent){1000, 100000, 1}, 2, &map));
	text = finish_many(293, (struct extent){1000, 100000, 1}, 2, &map);
	CHECK(text);
	free(text);
}

static void a_text_of_4095_bytes_is_taken_and_of_4096_not(void)
{
	struct plan plan = {0};
	struct plan_refusal why;
	struct idmap map;
	char text[IDMAP_TEXT];

	/* 292 lines of 14 bytes make 4087 without the last newline. */
	for (uint32_t i = 0; i < 292; i++)
		plan_append(&plan, &(struct extent){1000 + 2 * i, 100000 + 2 * i, 1},
			    (struct origin){0});
	CHECK(plan_append(&plan, &(struct extent){0, 90, 10}, (struct origin){0}) == 0);
	CHECK(plan_finish(&plan, NULL, PAGE, &map, &why) == 0);
	CHECK(idmap_format(&map, text) == 4095);
	plan.list[0].extent = (struct extent){0, 900, 10};
	CHECK(plan_finish(&plan, NULL, PAGE, &map, &why) == PLAN_E_BYTES);
	CHECK(why.have == 4096 && why.want == 4095 && why.drop == 1 && why.fit == 292);
	plan_clear(&plan);
}

static void the_longest_lines_with_the_fewest_ids_are_given_up_first(void)
{
	struct plan plan = {0};
	struct plan_refusal why;
	struct idmap map;

	for (uint32_t i = 0; i < 340; i++)
		plan_append(&plan, &(struct extent){2 * i, 2 * i + 1, 1},
			    (struct origin){ORIGIN_GRANT, 1, 1});
	plan_append(&plan, &(struct extent){1000000, 1000000, 70},
		    (struct origin){ORIGIN_GRANT, 7, 7});
	plan_append(&plan, &(struct extent){2000000, 2000000, 50},
		    (struct origin){ORIGIN_GRANT, 8, 8});
	CHECK(plan_finish(&plan, NULL, PAGE, &map, &why) == PLAN_E_EXTENTS);
	CHECK(why.have == 342 && why.drop == 2 && why.fit == 340);
	CHECK(why.give_up[0].origin.first == 8 && why.give_up[1].origin.first == 7);
	plan_clear(&plan);
}

static void mergeable_over_limit_is_one_extent(void)
{
	struct idmap map;

	CHECK(!finish_many(1000, (struct extent){0, 5000, 1}, 1, &map));
	CHECK(map.n == 1 && map.extents[0].count == 1000 && map.extents[0].outer == 5000);
}

static void outer_ids_without_a_grant_are_refused_with_the_line_to_add(void)
{
	struct job job = {.own = 1000,
			  .grants = "100000:65536",
			  .maps = "0:100000:65546",
			  .granted = true};

	CHECK(gives(
		job,
		"uid_map: extent 0 100000 65546 (MAP 1): outer 165536..165545 is not "
		"granted to alice\nif 'idmap who 165536' names nobody, add to /etc/subuid: "
		"alice:165536:10"));
	job.kind = ID_GID;
	CHECK(gives(
		job,
		"gid_map: extent 0 100000 65546 (MAP 1): outer 165536..165545 is not "
		"granted to alice\nif 'idmap who 165536' names nobody, add to /etc/subgid: "
		"alice:165536:10"));
	job.grants = "100000:65536 165536:10";
	CHECK(gives(job, "0 100000 65546"));
}

static void a_user_without_an_entry_is_told_where_it_was_looked_for(void)
{
	CHECK(gives(
		(struct job){.own = 1000, .maps = "0:5:2", .granted = true},
		"uid_map: alice has no entry in /etc/subuid (searched for the owners "
		"alice "
		"and 1000): extent 0 5 2 (MAP 1): outer 5..6 is not granted to alice\n"
		"if 'idmap who 5' names nobody, add to /etc/subuid: alice:5:2"));
	CHECK(gives(
		(struct job){.own = 1000, .layout = "root", .kind = ID_GID},
		"gid_map: alice has no entry in /etc/subgid (searched for the owners "
		"alice "
		"and 1000)\nadd to /etc/subgid: alice:START:65536, from a START on which "
		"65536 IDs are nobody else's"));
}

static void the_own_id_needs_no_grant_but_stays_alone(void)
{
	struct job job = {
		.own = 99999, .layout = "root", .grants = "100000:10", .granted = true};

	CHECK(gives(job, "0 99999 1\n1 100000 10"));
	job.grants = "99999:11";
	CHECK(gives(job, "0 99999 11"));
	job.grants = "100000:10";
	job.granted = false;
	CHECK(gives(job, "0 99999 11"));
	job.layout = NULL;
	job.granted = true;
	job.maps = "1:100000:9 0:99999:1";
	CHECK(gives(job, "0 99999 1\n1 100000 9"));
	job.maps = "5:99999:11";
	CHECK(gives(job, "5 99999 1\n6 100000 10"));
	job.grants = "99990:9 100000:1";
	job.maps = "0:99995:6";
	CHECK(gives(job, "0 99995 4\n4 99999 1\n5 100000 1"));
}

static bool source_is(struct origin origin, const char *expected)
{
	char *text = plan_source(ID_GID, &origin, "service sss");
	bool right = text && strcmp(text, expected) == 0;

	free(text);
	return right;
}

static void every_extent_says_where_it_comes_from(void)
{
	CHECK(source_is((struct origin){.kind = ORIGIN_OWN}, "own gid"));
	CHECK(source_is((struct origin){ORIGIN_GRANT, 3, 3}, "/etc/subgid:3"));
	CHECK(source_is((struct origin){ORIGIN_GRANT, 3, 5}, "/etc/subgid:3-5"));
	CHECK(source_is((struct origin){ORIGIN_GRANT, 0, 0}, "service sss"));
	CHECK(source_is((struct origin){ORIGIN_ARGUMENT, 2, 2}, "MAP 2"));
	CHECK(source_is((struct origin){.kind = ORIGIN_LIVE}, "live"));
}

static void layouts_are_known_by_name(void)
{
	enum layout layout = LAYOUT_SELF;

	CHECK(layout_parse("root", &layout) && layout == LAYOUT_ROOT);
	CHECK(layout_parse("keep-id", &layout) && layout == LAYOUT_KEEP_ID);
	CHECK(layout_parse("subids", &layout) && layout == LAYOUT_SUBIDS);
	CHECK(layout_parse("self", &layout) && layout == LAYOUT_SELF);
	CHECK(!layout_parse("Root", &layout) && !layout_parse("", &layout));
}

/* N lines of COUNT IDs, STEP apart, from START on; stacked, and finished. */
static int stack_many(size_t n, uint32_t start, uint32_t count, uint32_t step,
		      struct idmap *ret_map)
{
	struct grants grants = {.lines = calloc(n, sizeof(*grants.lines)), .n = n};
	struct plan plan = {0};
	struct plan_refusal why;
	int r;

	for (size_t i = 0; i < n; i++) {
		grants.lines[i] = (struct grant_line){{start, count}, i + 1};
		start += step;
	}
	r = plan_layout(&plan, LAYOUT_SUBIDS, 7, &grants, 0, &why);
	if (r == 0)
		r = plan_finish(&plan, NULL, PAGE, ret_map, &why);
	plan_clear(&plan);
	free(grants.lines);
	return r;
}

static void a_million_lines_and_forty_thousand_neighbours_are_stacked(void)
{
	struct idmap map;

	CHECK(stack_many(40000, 100000, 1, 1, &map) == 0);
	CHECK(map.n == 1 && map.extents[0].count == 40000);
	CHECK(stack_many(1000000, 100000, 1000, 1, &map) == 0);
	CHECK(map.n == 1 && map.extents[0].count == 1000999);
	CHECK(stack_many(1000000, 100000, 1, 2, &map) == PLAN_E_EXTENTS);
}

int main(void)
{
	return TAP_RUN(
		TEST(stack_two_grants_adjacent_on_both_sides_become_one_extent),
		TEST(three_extents_at_zero_are_stacked),
		TEST(outer_inside_base_is_refused_and_both_extents_named),
		TEST(outer_inside_base_is_punched_out_by_a_plus),
		TEST(same_outer_twice_or_same_inner_is_refused_and_both_named),
		TEST(an_overlap_is_refused_before_a_sign_could_hide_it),
		TEST(chain_of_passthrough_keeps_every_other_id),
		TEST(punch_one_makes_three_extents),
		TEST(an_overlay_cuts_several_extents_on_both_sides),
		TEST(a_minus_takes_inner_ids_out_and_moves_nothing),
		TEST(signs_act_from_left_to_right),
		TEST(a_base_map_replaces_the_layout_of_its_kind_alone),
		TEST(file_order_stacks_grants_as_they_stand),
		TEST(own_id_in_grant_is_mapped_once), TEST(one_id_grant_makes_two_ids),
		TEST(lines_that_overlap_grant_each_id_once_to_the_first),
		TEST(keep_id_lays_the_grants_around_the_own_id),
		TEST(keep_id_stays_short_before_the_own_id_when_grants_are_few),
		TEST(self_maps_the_own_id_alone), TEST(a_size_is_met_exactly),
		TEST(a_size_over_the_grants_is_refused_with_the_count_needed),
		TEST(the_whole_id_space_stacks_without_wrapping),
		TEST(crosses_parent_is_split_at_the_boundary),
		TEST(parent_too_small_is_refused_and_the_largest_that_works_printed),
		TEST(podman_doc_slip_punches_the_outer_side),
		TEST(seed_table_is_five_extents),
		TEST(too_many_extents_are_refused_with_the_limit),
		TEST(too_long_a_text_is_refused_with_how_many_fit),
		TEST(a_text_of_4095_bytes_is_taken_and_of_4096_not),
		TEST(the_longest_lines_with_the_fewest_ids_are_given_up_first),
		TEST(mergeable_over_limit_is_one_extent),
		TEST(outer_ids_without_a_grant_are_refused_with_the_line_to_add),
		TEST(a_user_without_an_entry_is_told_where_it_was_looked_for),
		TEST(the_own_id_needs_no_grant_but_stays_alone),
		TEST(every_extent_says_where_it_comes_from),
		TEST(layouts_are_known_by_name),
		TEST(a_million_lines_and_forty_thousand_neighbours_are_stacked));
}

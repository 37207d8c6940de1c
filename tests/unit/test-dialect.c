/* SPDX-License-Identifier: BSD-2-Clause */
#include "tool/algebra.h"
#include "tool/dialect.h"

#include "unit/tap.h"

#include <inttypes.h>
#include <string.h>

#define PAGE 4096

static struct idmap make(size_t n, const struct extent *extents)
{
	struct idmap map = {.n = n};

	memcpy(map.extents, extents, n * sizeof(*extents));
	return map;
}

#define MAP(...)                                                             \
	make(sizeof((struct extent[]){__VA_ARGS__}) / sizeof(struct extent), \
	     (struct extent[]){__VA_ARGS__})

/* What DIALECT says of MAPS; the refusal's text when it refuses. The caller frees it. */
static char *say(const char *name, const struct dialect_maps *maps, int *ret_error)
{
	const struct dialect *dialect = dialect_find(name);
	struct dialect_refusal why;
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	*ret_error = dialect_write(out, dialect, maps, &why);
	fclose(out);
	if (*ret_error) {
		CHECK(len == 0);
		free(text);
		text = dialect_explain(dialect, NULL, *ret_error, &why);
	}
	return text;
}

static void check_says(const char *name, const struct dialect_maps *maps, int error,
		       const char *wanted)
{
	int got;
	char *text = say(name, maps, &got);
	bool right = got == error &&
		     (error ? strstr(text, wanted) != NULL : strcmp(text, wanted) == 0);

	CHECK(right);
	if (!right)
		printf("# %s: %d, %s\n", name, got, text);
	free(text);
}

static int read_text(const char *name, const char *text, struct dialect_maps *ret_maps,
		     struct dialect_refusal *ret_why)
{
	return dialect_read(dialect_find(name), text, strlen(text), PAGE, ret_maps,
			    ret_why);
}

static void check_reads(const char *name, const char *text, struct idmap uids,
			struct idmap gids)
{
	struct dialect_maps maps;
	struct dialect_refusal why;
	int error = read_text(name, text, &maps, &why);
	bool right = error == 0 && idmap_equal(&maps.maps[ID_UID], &uids) &&
		     idmap_equal(&maps.maps[ID_GID], &gids);

	CHECK(right);
	if (!right && error) {
		char *message = dialect_explain(dialect_find(name), "x", error, &why);
		printf("# %s %s: %s\n", name, text, message);
		free(message);
	}
}

static void check_refuses(const char *name, const char *text, int error,
			  const char *wanted)
{
	struct dialect_maps maps = {.target = "untouched"};
	struct dialect_refusal why;
	int got = read_text(name, text, &maps, &why);
	char *message = dialect_explain(dialect_find(name), "stdin", got, &why);
	bool right = got == error && strstr(message, wanted) &&
		     strncmp(message, "stdin:", 6) == 0;

	CHECK(right);
	CHECK(maps.target && strcmp(maps.target, "untouched") == 0);
	if (!right)
		printf("# %s '%s': %d, %s\n", name, text, got, message);
	free(message);
}

/* A root of its own, then grants; the gid map is another. */
static struct dialect_maps two_kinds(void)
{
	return (struct dialect_maps){
		.maps = {MAP({0, 1000, 1}, {1, 100000, 65536}), MAP({0, 200000, 500})},
	};
}

static struct dialect_maps one_kind(enum id_kind kind)
{
	struct dialect_maps maps = two_kinds();

	maps.maps[!kind].n = 0;
	return maps;
}

static void every_dialect_says_two_kinds_in_its_own_form(void)
{
	struct dialect_maps maps = two_kinds();

	check_says("newuidmap", &maps, 0,
		   "newuidmap PID 0 1000 1 1 100000 65536\n"
		   "newgidmap PID 0 200000 500\n");
	check_says("unshare", &maps, 0,
		   "--map-users=0:1000:1 --map-users=1:100000:65536"
		   " --map-groups=0:200000:500\n");
	check_says("podman", &maps, 0,
		   "--uidmap 0:1000:1 --uidmap 1:100000:65536 --gidmap 0:200000:500\n");
	check_says("docker-oci", &maps, 0,
		   "{\"uidMappings\":[{\"containerID\":0,\"hostID\":1000,\"size\":1},"
		   "{\"containerID\":1,\"hostID\":100000,\"size\":65536}],"
		   "\"gidMappings\":[{\"containerID\":0,\"hostID\":200000,\"size\":500}]}"
		   "\n");
	check_says("lxc", &maps, 0,
		   "lxc.idmap = u 0 1000 1\nlxc.idmap = u 1 100000 65536\n"
		   "lxc.idmap = g 0 200000 500\n");
	check_says("lxc-usernsexec", &maps, 0,
		   "-m u:0:1000:1 -m u:1:100000:65536 -m g:0:200000:500\n");
	check_says("subuid", &maps, 0,
		   "# /etc/subuid\nOWNER:1000:1\nOWNER:100000:65536\n"
		   "# /etc/subgid\nOWNER:200000:500\n");
	check_says("words", &maps, 0,
		   "Inner uid 0 is outer uid 1000.\n"
		   "Inner uids 1-65536 are outer uids 100000-165535.\n"
		   "Inner gids 0-499 are outer gids 200000-200499.\n");
}

static void target_and_owner_stand_in_their_places(void)
{
	struct dialect_maps maps = one_kind(ID_GID);

	maps.target = "4711";
	maps.owner = "alice";
	check_says("newuidmap", &maps, 0, "newgidmap 4711 0 200000 500\n");
	check_says("subuid", &maps, 0, "alice:200000:500\n");
}

static void kernel_is_the_bytes_of_one_kind(void)
{
	struct dialect_maps uids = one_kind(ID_UID), gids = one_kind(ID_GID);
	struct dialect_maps both = two_kinds();

	check_says("kernel", &uids, 0, "0 1000 1\n1 100000 65536");
	check_says("kernel", &gids, 0, "0 200000 500");
	check_says("kernel", &both, DIALECT_E_EXPRESS, "one kind");
}

static void unshare_2_38_says_one_extent_outer_first(void)
{
	struct dialect_maps one = {.maps = {MAP({0, 100000, 10}), MAP({5, 200000, 20})}};
	struct dialect_maps two = two_kinds();

	check_says("unshare-2.38", &one, 0,
		   "--map-users=100000,0,10 --map-groups=200000,5,20\n");
	check_says("unshare-2.38", &two, DIALECT_E_EXPRESS, "1:100000:65536");
}

static void podman_is_not_given_one_kind_since_it_would_copy_it(void)
{
	struct dialect_maps maps = one_kind(ID_UID);

	check_says("podman", &maps, DIALECT_E_EXPRESS, "this gid map: there is none");
	check_reads("podman", "--uidmap 0:5:7", MAP({0, 5, 7}), MAP({0, 5, 7}));
	check_reads("podman", "--gidmap=0:5:7", MAP({0, 5, 7}), MAP({0, 5, 7}));
}

static void nspawn_says_one_range_from_inner_0_for_both(void)
{
	struct dialect_maps maps = {.maps = {MAP({0, 70000, 9}), MAP({0, 70000, 9})}};
	struct dialect_maps two = two_kinds();

	check_says("nspawn", &maps, 0, "--private-users=70000:9\n");
	check_says("nspawn", &two, DIALECT_E_EXPRESS, "1:100000:65536");
	maps.maps[ID_GID] = MAP({0, 70001, 9});
	check_says("nspawn", &maps, DIALECT_E_EXPRESS, "0:70001:9");
	maps.maps[ID_UID] = MAP({1, 70000, 9});
	check_says("nspawn", &maps, DIALECT_E_EXPRESS, "does not start at inner 0");
	maps.maps[ID_GID].n = 0;
	check_says("nspawn", &maps, DIALECT_E_EXPRESS, "both kinds alike");
}

static void incus_says_only_what_lies_over_the_base(void)
{
	struct dialect_maps maps = {
		.maps = {MAP({0, 1000000, 110}, {110, 999, 1}, {111, 1000111, 888},
			     {999, 998, 1}, {1000, 1001000, 999999000}),
			 MAP({0, 1000000, 65536}, {65536, 10000, 100})},
	};

	check_says("incus", &maps, 0,
		   "uid 999 110\nuid 998 999\ngid 10000-10099 65536-65635\n");
}

static void incus_takes_no_extent_for_the_base_that_wraps_to_it(void)
{
	struct dialect_maps maps = {
		.maps = {MAP({0, 4294966295, 999}, {999, 2, 1}, {1000, 1001000, 1},
			     {1001, 0, 1}, {1002, 1001002, 1})},
	};

	check_says("incus", &maps, 0,
		   "uid 2 999\nuid 1001000 1000\nuid 0 1001\nuid 1001002 1002\n");
}

static void incus_refuses_what_no_base_and_entries_make(void)
{
	struct dialect_maps maps = {0};

	maps.maps[ID_UID] = MAP({0, 1000, 10}, {10, 5000, 10});
	check_says("incus", &maps, DIALECT_E_EXPRESS, "more than half");
	maps.maps[ID_UID] = MAP({1000, 10, 100});
	check_says("incus", &maps, DIALECT_E_EXPRESS, "from inner 0");
	maps.maps[ID_UID] = MAP({0, 1000, 10}, {20, 1020, 100});
	check_says("incus", &maps, DIALECT_E_EXPRESS, "10:1010:10");
	maps.maps[ID_UID] = MAP({0, 165536, 34464}, {34464, 5, 1}, {34465, 200001, 31071},
				{200000, 200000, 1});
	check_says("incus", &maps, DIALECT_E_EXPRESS, "200000:200000:1");
}

static void subuid_lines_are_the_outer_ranges_stitched(void)
{
	struct dialect_maps maps = {
		.maps = {MAP({0, 300, 50}, {50, 100, 100}, {500, 200, 100})}};

	check_says("subuid", &maps, 0, "OWNER:100:250\n");
	check_refuses("subuid", "alice:1:2\n", DIALECT_E_GRANTS, "layout=subids");
}

static void no_map_and_unmapped_outer_ids_are_refused_by_all(void)
{
	struct dialect_maps none = {0}, unmapped = {.maps = {MAP({0, ID_NONE, 1})}};

	for (const struct dialect *d = dialects; d->name; d++) {
		check_says(d->name, &none, DIALECT_E_EMPTY, "no map is there");
		check_says(d->name, &unmapped, DIALECT_E_EXPRESS, "0:4294967295:1");
		if (d->read)
			check_refuses(d->name,
				      d->read == dialect_find("docker-oci")->read
					      ? "{\"uidMappings\":[]}"
					      : " \n\n",
				      DIALECT_E_EMPTY, "no map is there");
	}
	CHECK(dialect_find("lxd") == NULL);
	CHECK(dialect_find("unshare")->row != dialect_find("unshare-2.38")->row);
}

static void every_form_that_a_tool_takes_is_read(void)
{
	struct idmap none = {0}, uids = MAP({0, 7, 3}), gids = MAP({0, 9, 4});

	check_reads("kernel", "         0          7          3\n", uids, uids);
	check_reads("newuidmap", "newgidmap 1 0 9 4\n\nnewuidmap fd:3 0 7 3", uids, gids);
	check_reads("unshare", "--map-users 0:7:3\n--map-groups=0:9:4", uids, gids);
	check_reads("unshare-2.38", "--map-groups 9,0,4 --map-users=7,0,3", uids, gids);
	check_reads("lxc", "lxc.idmap=u 0 7 3\n  lxc.idmap  =  g 0 9 4", uids, gids);
	check_reads("lxc-usernsexec", "-mu:0:7:3 -m g:0:9:4", uids, gids);
	check_reads("lxc-usernsexec", "-m b:0:7:3", uids, uids);
	check_reads("incus", "both 7-9 0-2", uids, uids);
	check_reads("incus", "gid 9-12 0-3\nuid 1 5", MAP({5, 1, 1}), gids);
	check_reads("nspawn", "--private-users=7:3\n", uids, uids);
	check_reads("words", "Inner uids 0-2 are outer uids 7-9.", uids, none);
	check_reads("docker-oci",
		    "{ \"gidMappings\" : [ {\"size\":4, \"hostID\":9 ,\n"
		    "\"containerID\":0}\t] }\n",
		    none, gids);
}

static void incus_entries_are_for_laying_over(void)
{
	struct dialect_maps maps;
	struct dialect_refusal why;

	CHECK(read_text("incus", "uid 1 5", &maps, &why) == 0 && maps.overlay);
	CHECK(read_text("kernel", "1 5 1", &maps, &why) == 0 && !maps.overlay);
}

static void words_that_do_not_belong_are_pointed_at(void)
{
	int form = DIALECT_E_FORM;

	check_refuses("kernel", "0 7 3\n1 2", form, "stdin:2:4: nothing");
	check_refuses("kernel", "0 7 3 4", form, "stdin:1:7: '4'");
	check_refuses("newuidmap", "newxidmap 1 0 7 3", form, "stdin:1:1: 'newxidmap'");
	check_refuses("newuidmap", "newuidmap", form, "stdin:1:10: nothing");
	check_refuses("newuidmap", "newuidmap 1 0 7", form, "a number");
	check_refuses("newuidmap", "newuidmap 1", form, "a number");
	check_refuses("newuidmap", "newuidmap 1 0 7 3\nnewuidmap 1 5 8 1", form,
		      "stdin:2:1");
	check_refuses("unshare", "--map-user=0:7:3", form, "'--map-user=0:7:3'");
	check_refuses("unshare", "--map-usersx 0:7:3", form, "'--map-usersx'");
	check_refuses("unshare", "--map-users=auto", form, "stdin:1:13: 'auto'");
	check_refuses("unshare", "--map-users", form, "nothing stands");
	check_refuses("unshare", "--map-users=0:7:3:4", form, "three numbers");
	check_refuses("unshare-2.38", "--map-users=7,0,3 --map-users=20,10,3", form,
		      "last alone");
	check_refuses("unshare-2.38", "--map-users=0:7:3", form, "OUTER,INNER,COUNT");
	check_refuses("podman", "--uidmap 0:7", form, "stdin:1:10: '0:7'");
	check_refuses("lxc", "lxc.rootfs = /x", form, "'lxc.rootfs'");
	check_refuses("lxc", "lxc.idmap = b 0 7 3", form, "u or g");
	check_refuses("lxc-usernsexec", "-m 0:7:3", form, "u:, g: or b:");
	check_refuses("incus", "user 7 0", form, "uid, gid or both");
	check_refuses("incus", "uid 7", form, "stdin:1:6: nothing");
	check_refuses("incus", "uid 7 0 1", form, "'1'");
	check_refuses("incus", "uid 9-7 0-2", form, "'9-7'");
	check_refuses("incus", "uid 0-4294967295 0-4294967295", form, "4294967294");
	check_refuses("nspawn", "--private-users=pick", form, "OUTER:COUNT");
	check_refuses("nspawn", "--private-users=1", form, "OUTER:COUNT");
	check_refuses("nspawn", "--private-users=1:2 x", form, "'x'");
	check_refuses("nspawn", "-U", form, "'-U'");
	check_refuses("words", "Inner uids 0-2 are outer gids 7-9.", form, "'gids'");
	check_refuses("words", "Inner uids 0-2 are outer uids 7-9", form, "full stop");
	check_refuses("words", "Inner pids 0-2 are outer pids 7-9.", form, "'Inner'");
}

static void json_of_another_shape_is_refused(void)
{
	static const char *const texts[] = {
		"",
		"[]",
		"{",
		"{}",
		"{\"mounts\":[]}",
		"{\"uidMappings\":{}}",
		"{\"uidMappings\":[{}]}",
		"{\"uidMappings\":[{\"containerID\":0,\"hostID\":1}]}",
		"{\"uidMappings\":[{\"containerID\":0,\"hostID\":1,\"hostID\":2}]}",
		"{\"uidMappings\":[{\"containerID\":0,\"hostID\":1,\"size\":1},]}",
		"{\"uidMappings\":[],\"uidMappings\":[]}",
		"{\"uidMappings\":[]} x",
		"{\"uidMappings\":[]",
		"{\"uidMappings",
		"{\"uidMappings\":[{\"containerID\":0,\"hostID\":1,\"size\":1,\"x\":1}]}",
	};

	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
		check_refuses("docker-oci", texts[i], DIALECT_E_FORM, "stdin:1:");
	check_refuses(
		"docker-oci",
		"{\"uidMappings\":[\n{\"containerID\":\"0\",\"hostID\":1,\"size\":1}]}",
		DIALECT_E_NUMBER, "stdin:2:16: '\"0\"'");
	check_refuses("docker-oci",
		      "{\"uidMappings\":[{\"containerID\":0,\"hostID\":1e3,\"size\":1}]}",
		      DIALECT_E_NUMBER, "'1e3'");
	check_refuses("docker-oci",
		      "{\"uidMappings\":[{\"containerID\":0,\"hostID\":-1,\"size\":1}]}",
		      DIALECT_E_NUMBER, "'-1'");
}

static void no_number_is_cut_or_guessed(void)
{
	static const char *const bad[] = {
		"4294967296", "18446744073709551616",
		"-1",         "+1",
		"0x10",       "010",
		"",           "1\r",
		"1\033[2J",
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		char text[100];

		snprintf(text, sizeof(text), "--uidmap 0:%s:1", bad[i]);
		check_refuses("podman", text, DIALECT_E_NUMBER, "stdin:1:12: ");
	}
	check_refuses("kernel", "0 1\033[2J 1", DIALECT_E_NUMBER, "'1\\^[[2J'");
	check_refuses("kernel", "0 1 1\r\n", DIALECT_E_NUMBER, "'1\\r'");
}

static void a_triple_that_is_no_extent_says_what_would_fit(void)
{
	check_refuses("kernel", "0 1 1\n5 6 0", DIALECT_E_EXTENT, "stdin:2:1: ");
	check_refuses("kernel", "0 4294967290 9", DIALECT_E_EXTENT,
		      "a count of 5 would fit");
	check_refuses("podman", "--uidmap 4294967290:0:9", DIALECT_E_EXTENT,
		      "stdin:1:10: inner 4294967290, outer 0, count 9: the inner IDs pass"
		      " 4294967294; a count of 5");
	check_refuses("kernel", "4294967295 0 1", DIALECT_E_EXTENT, "is not an ID");
	check_refuses("nspawn", "--private-users=5:0", DIALECT_E_EXTENT, "count is 0");
}

static void overlaps_are_refused_and_both_extents_named(void)
{
	check_refuses("podman", "--uidmap 0:1:1 --gidmap 0:5:10 --gidmap 9:100:1",
		      DIALECT_E_MAP, "gid map: 0:5:10 and 9:100:1");
	check_refuses("kernel", "0 5 10\n20 14 1", DIALECT_E_MAP, "share outer IDs");
}

static void unequal_ranges(void)
{
	check_refuses("incus", "gid 10000-110000 10000-20000", DIALECT_E_UNEQUAL,
		      "stdin:1:5: 100001 IDs against 10001");
	check_refuses("words", "Inner uids 0-2 are outer uids 7-10.", DIALECT_E_UNEQUAL,
		      "4 IDs against 3");
}

static void commas_in_doubt_are_refused_with_both_readings(void)
{
	const char *text = "--map-users=100000,0,65536";

	check_refuses("unshare", text, DIALECT_E_ORDER, "stdin:1:13: '100000,0,65536'");
	check_refuses("unshare", text, DIALECT_E_ORDER, "0:100000:65536 if it is OUTER,");
	check_refuses("unshare", text, DIALECT_E_ORDER, "100000:0:65536 if it is INNER,");
	check_reads("unshare-2.38", text, MAP({0, 100000, 65536}), (struct idmap){0});
	check_reads("unshare", "--map-users=5,5,10", MAP({5, 5, 10}), (struct idmap){0});
	check_refuses("unshare", "--map-users=5,6,0", DIALECT_E_EXTENT, "count is 0");
	check_refuses("unshare", "--map-users=5,6", DIALECT_E_FORM, "three numbers");
}

/* N one-ID extents, STEP apart on the inner side. */
static char *many_lines(uint32_t n, uint32_t step)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	for (uint32_t i = 0; i < n; i++)
		fprintf(out, "%" PRIu32 " %" PRIu32 " 1\n", i * step, i);
	fclose(out);
	return text;
}

static void more_than_340_extents_are_taken_only_if_they_merge(void)
{
	char *merge = many_lines(1000, 1), *apart = many_lines(341, 2);

	check_reads("kernel", merge, MAP({0, 0, 1000}), MAP({0, 0, 1000}));
	check_refuses("kernel", apart, DIALECT_E_MAP, "341 of 340 extents");
	free(merge);
	free(apart);
}

/* Five megabytes that are one word: a reader that looks ahead in them does not come to an end. */
static void json_without_blanks_is_read_in_one_pass(void)
{
	const char *comma = "{\"uidMappings\":[";
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	for (uint32_t i = 0; i < 100000; i++) {
		fprintf(out,
			"%s{\"containerID\":%" PRIu32 ",\"hostID\":%" PRIu32
			",\"size\":1}",
			comma, i, 100000 + i);
		comma = ",";
	}
	fputs("]}", out);
	fclose(out);
	check_reads("docker-oci", text, MAP({0, 100000, 100000}), (struct idmap){0});
	free(text);
}

static void a_text_over_a_page_is_refused_with_what_fits(void)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	for (uint32_t i = 0; i < 340; i++)
		fprintf(out, "%" PRIu32 " %" PRIu32 " 1\n", 1000 + 2 * i, 100000 + i);
	fclose(out);
	check_refuses("kernel", text, DIALECT_E_MAP, "of 4095 bytes");
	free(text);
}

/* A random map of at most MOST extents, gaps and all, in random order. */
static struct idmap random_map(uint32_t most)
{
	struct idmap map = {.n = 1 + tap_below(most)};
	uint32_t width = ID_NONE / (uint32_t)map.n;
	uint32_t turn = tap_below(map.n);

	for (size_t i = 0; i < map.n; i++) {
		uint32_t inner = width * (uint32_t)i;
		uint32_t outer = width * (((uint32_t)i + turn) % (uint32_t)map.n);
		uint32_t half = width / 2;

		map.extents[i] =
			(struct extent){inner + tap_below(half), outer + tap_below(half),
					1 + tap_below(half)};
	}
	for (size_t i = map.n - 1; i > 0; i--) {
		size_t j = tap_below(i + 1);
		struct extent e = map.extents[i];

		map.extents[i] = map.extents[j];
		map.extents[j] = e;
	}
	return map;
}

/* The same extents in the same order, for the kinds that there are. */
static bool same(const struct idmap *a, const struct idmap *b)
{
	return a->n == b->n &&
	       memcmp(a->extents, b->extents, a->n * sizeof(*a->extents)) == 0;
}

static void check_round_trip(const char *name, const struct dialect_maps *maps)
{
	struct dialect_maps back = {0};
	struct dialect_refusal why;
	int error;
	char *text = say(name, maps, &error);

	CHECK(error == 0);
	error = error ? error : read_text(name, text, &back, &why);
	CHECK(error == 0);
	for (enum id_kind kind = 0; kind < ID_KINDS; kind++)
		if (strcmp(name, "kernel") != 0 || maps->maps[kind].n > 0)
			CHECK(same(&maps->maps[kind], &back.maps[kind]));
	if (tap_failures)
		printf("# %s: %s\n", name, text);
	free(text);
}

static void a_round_trip_keeps_both_maps_and_their_order(void)
{
	static const char *const names[] = {"newuidmap",  "unshare", "podman",
					    "docker-oci", "lxc",     "lxc-usernsexec",
					    "words"};

	for (int round = 0; round < 100; round++) {
		struct dialect_maps maps = {.maps = {random_map(100), random_map(100)}};
		struct dialect_maps one = {.maps = {random_map(1), random_map(1)}};

		for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
			check_round_trip(names[i], &maps);
		check_round_trip("unshare-2.38", &one);
		one.maps[ID_UID].extents[0].inner = 0;
		one.maps[ID_GID] = one.maps[ID_UID];
		check_round_trip("nspawn", &one);
		maps.maps[round % 2].n = 0;
		check_round_trip("kernel", &maps);
		for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
			if (strcmp(names[i], "podman") != 0)
				check_round_trip(names[i], &maps);
	}
}

/* Lay ENTRIES over 0:BASE:COUNT, ID by ID, as Incus does, and ask where INNER goes. */
static uint32_t incus_model(const struct idmap *entries, uint32_t base, uint32_t count,
			    uint32_t inner)
{
	for (size_t i = 0; i < entries->n; i++)
		if (inner - entries->extents[i].inner < entries->extents[i].count)
			return entries->extents[i].outer + inner -
			       entries->extents[i].inner;
	return inner < count ? base + inner : ID_NONE;
}

static uint32_t ask(const struct idmap *map, uint32_t inner)
{
	return incus_model(map, 0, 0, inner);
}

/* Overlays of one to three IDs in a base of 1000, each with its own outer IDs below 10000. */
static struct idmap punched_base(void)
{
	struct idmap map = {0};
	uint32_t next = 0, entry = 0;

	while (next < 1000) {
		uint32_t run = 10 + tap_below(50), punched = 1 + tap_below(3);

		map.extents[map.n++] = (struct extent){next, 10000 + next, run};
		next += run;
		map.extents[map.n++] = (struct extent){next, 100 * ++entry, punched};
		next += punched;
	}
	map.extents[map.n++] = (struct extent){next, 10000 + next, 5};
	return map;
}

static void incus_entries_over_the_base_are_the_map_again(void)
{
	for (int round = 0; round < 100; round++) {
		struct dialect_maps maps = {.maps = {punched_base(), punched_base()}};
		struct dialect_maps back = {0};
		struct dialect_refusal why;
		int error;
		char *text = say("incus", &maps, &error);

		CHECK(error == 0 && read_text("incus", text, &back, &why) == 0);
		for (enum id_kind kind = 0; kind < ID_KINDS; kind++) {
			const struct idmap *map = &maps.maps[kind];
			const struct extent *last = &map->extents[map->n - 1];

			for (uint32_t id = 0; id < 1200; id++)
				CHECK(ask(map, id) ==
				      incus_model(&back.maps[kind], 10000,
						  last->inner + last->count, id));
		}
		free(text);
	}
}

/* Cut texts and changed bytes: whatever is read is a map, and every refusal has words. */
static void damaged_texts_never_crash(void)
{
	struct dialect_maps maps = two_kinds();

	for (int round = 0; round < 1000; round++)
		for (const struct dialect *d = dialects; d->name; d++) {
			struct dialect_refusal why;
			struct dialect_maps back;
			int error;
			char *text = say(d->name, &maps, &error);
			size_t len = tap_below(strlen(text) + 1);
			char *exact = malloc(len ? len : 1); /* reads past LEN show */

			memcpy(exact, text, len);
			if (len > 0)
				exact[tap_below(len)] = (char)tap_below(256);
			error = dialect_read(d, exact, len, PAGE, &back, &why);
			if (error) {
				char *message = dialect_explain(d, "x", error, &why);
				CHECK(error > 0 && message && !strchr(message, '\n'));
				free(message);
			} else {
				CHECK(back.maps[ID_UID].n + back.maps[ID_GID].n > 0);
			}
			free(exact);
			free(text);
		}
}

int main(void)
{
	return TAP_RUN(
		TEST(every_dialect_says_two_kinds_in_its_own_form),
		TEST(target_and_owner_stand_in_their_places),
		TEST(kernel_is_the_bytes_of_one_kind),
		TEST(unshare_2_38_says_one_extent_outer_first),
		TEST(podman_is_not_given_one_kind_since_it_would_copy_it),
		TEST(nspawn_says_one_range_from_inner_0_for_both),
		TEST(incus_says_only_what_lies_over_the_base),
		TEST(incus_takes_no_extent_for_the_base_that_wraps_to_it),
		TEST(incus_refuses_what_no_base_and_entries_make),
		TEST(subuid_lines_are_the_outer_ranges_stitched),
		TEST(no_map_and_unmapped_outer_ids_are_refused_by_all),
		TEST(every_form_that_a_tool_takes_is_read),
		TEST(incus_entries_are_for_laying_over),
		TEST(words_that_do_not_belong_are_pointed_at),
		TEST(json_of_another_shape_is_refused), TEST(no_number_is_cut_or_guessed),
		TEST(a_triple_that_is_no_extent_says_what_would_fit),
		TEST(overlaps_are_refused_and_both_extents_named), TEST(unequal_ranges),
		TEST(commas_in_doubt_are_refused_with_both_readings),
		TEST(more_than_340_extents_are_taken_only_if_they_merge),
		TEST(json_without_blanks_is_read_in_one_pass),
		TEST(a_text_over_a_page_is_refused_with_what_fits),
		TEST(a_round_trip_keeps_both_maps_and_their_order),
		TEST(incus_entries_over_the_base_are_the_map_again),
		TEST(damaged_texts_never_crash));
}

/* SPDX-License-Identifier: BSD-2-Clause */

/*
 * What the kernel shows of a map: the text by itself, and as a file uid_map in a folder. What is read
 * and written as the kernel shows it is read the same.
 */

#include "fuzz.h"
#include "trusted/live.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#define ROOM (IDMAP_EXTENTS * 33U)

/* The next number behind blanks, from *AT on. */
static bool oracle_next(const char *text, size_t len, size_t *at, uint32_t *ret_number)
{
	size_t start;

	while (*at < len && text[*at] == ' ')
		++*at;
	start = *at;
	while (*at < len && text[*at] >= '0' && text[*at] <= '9')
		++*at;
	return oracle_number(text + start, *at - start, ret_number) == 0;
}

static bool oracle_read(const char *text, size_t len, struct idmap *ret_map)
{
	size_t at = 0;

	ret_map->n = 0;
	while (at < len) {
		struct extent e;

		if (ret_map->n == IDMAP_EXTENTS ||
		    !oracle_next(text, len, &at, &e.inner) ||
		    !oracle_next(text, len, &at, &e.outer) ||
		    !oracle_next(text, len, &at, &e.count))
			return false;
		if (at == len || text[at] != '\n' || !oracle_range(e.inner, e.count) ||
		    (e.outer != ID_NONE && !oracle_range(e.outer, e.count)))
			return false;
		ret_map->extents[ret_map->n++] = e;
		at++;
	}
	return true;
}

static bool same(const struct idmap *a, const struct idmap *b)
{
	return a->n == b->n && (a->n == 0 || memcmp(a->extents, b->extents,
						    a->n * sizeof(*a->extents)) == 0);
}

static void check_round_trip(const struct idmap *map)
{
	char shown[ROOM + 1];
	struct idmap back;
	size_t len = 0;

	for (size_t i = 0; i < map->n; i++)
		len += (size_t)snprintf(shown + len, sizeof(shown) - len,
					"%10u %10u %10u\n", map->extents[i].inner,
					map->extents[i].outer, map->extents[i].count);
	HOLDS(live_parse(shown, len, &back) == 0 && same(map, &back));
}

static char folder[] = "/dev/shm/fuzz-live.XXXXXX";
static int dir = -1;

static void clean_up(void)
{
	unlinkat(dir, "uid_map", 0);
	unlinkat(dir, "setgroups", 0);
	rmdir(folder);
}

static void put(const char *name, const char *text, size_t len)
{
	int fd = openat(dir, name, O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0600);

	HOLDS(fd >= 0 && write(fd, text, len) == (ssize_t)len);
	close(fd);
}

/* The same through the file. */
static void check_file(const char *text, size_t len, int wanted, const struct idmap *map)
{
	struct idmap live;
	bool allowed;
	int r;

	if (dir < 0) {
		HOLDS(mkdtemp(folder));
		dir = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		atexit(clean_up);
	}
	put("uid_map", text, len);
	put("setgroups", text, len);
	r = live_map(dir, ID_UID, &live);
	HOLDS(r == wanted);
	HOLDS(r != 0 || same(map, &live));
	HOLDS(live_map(dir, ID_GID, &live) == -ENOENT);
	HOLDS(live_setgroups(dir, &allowed) == 0);
	HOLDS(allowed == (len >= 5 && memcmp(text, "allow", 5) == 0));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct idmap right;
	char *text = fuzz_copy(data, size);
	struct idmap map = {.n = 77};
	int wanted = oracle_read(text, size, &right) ? 0 : -EBADMSG;

	HOLDS(live_parse(text, size, &map) == wanted);
	if (wanted == 0) {
		HOLDS(same(&map, &right));
		check_round_trip(&map);
	} else {
		HOLDS(map.n == 77);
	}
	/* No map of the kernel's is longer. */
	if (size <= ROOM)
		check_file(text, size, wanted, &map);
	free(text);
	return 0;
}

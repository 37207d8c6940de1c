/* SPDX-License-Identifier: BSD-2-Clause */
#include "reserve.h"

#include "../trusted/autoclose.h"
#include "../trusted/live.h"
#include "message.h"
#include "namespaces.h"
#include "slice.h"

#include <bsd/libutil.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define FOLDER "idmap"
#define LOCK   "lock"
#define PREFIX "name."
#define NEW    "new"

/* PROC_USER_INIT_INO in the kernel's include/linux/proc_ns.h. */
#define INITIAL_INODE 4026531837U

/* The folder */

bool reserve_name_valid(const char *name)
{
	static const char letters[] = "0123456789abcdefghijklmnopqrstuvwxyz"
				      "ABCDEFGHIJKLMNOPQRSTUVWXYZ_.-";
	size_t len = strlen(name);

	return len > 0 && len <= 64 && strspn(name, letters) == len &&
	       !strchr("_.-", name[0]);
}

/* In a folder that another user can write to, anyone could hold the lock for ever. */
static int open_runtime(int *ret_dir, char **ret_message)
{
	const char *path = getenv("XDG_RUNTIME_DIR");
	char usual[32];
	struct stat st;
	int dir;

	snprintf(usual, sizeof(usual), "/run/user/%u", geteuid());
	if (!path || path[0] != '/')
		path = usual;
	dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0)
		return message_fail(ret_message,
				    "--auto keeps its lock in the folder %s%s: %s; set "
				    "XDG_RUNTIME_DIR to a folder that only you can "
				    "write to",
				    path,
				    path == usual ? " while XDG_RUNTIME_DIR isn't set"
						  : " (XDG_RUNTIME_DIR)",
				    strerror(errno));
	if (fstat(dir, &st) < 0 || st.st_uid != geteuid() || (st.st_mode & 022)) {
		close(dir);
		return message_fail(
			ret_message,
			"--auto won't keep its lock in %s, which isn't yours "
			"or which others can write to; set XDG_RUNTIME_DIR to "
			"a folder that only you can write to",
			path);
	}
	*ret_dir = dir;
	return 0;
}

/* MAKE it if it isn't there; without, *RET_FOLDER is -1 then. */
static int open_folder(bool make, int *ret_folder, char **ret_message)
{
	AUTOCLOSE int runtime = -1;
	int folder;

	if (open_runtime(&runtime, ret_message) != 0)
		return -1;
	if (make && mkdirat(runtime, FOLDER, 0700) < 0 && errno != EEXIST)
		goto fail;
	folder = openat(runtime, FOLDER, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (folder < 0 && (make || errno != ENOENT))
		goto fail;
	*ret_folder = folder;
	return 0;
fail:
	return message_fail(ret_message, "the folder " FOLDER " in XDG_RUNTIME_DIR: %s",
			    strerror(errno));
}

static int take_lock(struct reserve *reserve, char **ret_message)
{
	reserve->lock =
		flopenat(reserve->folder, LOCK, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (reserve->lock >= 0)
		return 0;
	return message_fail(ret_message, FOLDER "/" LOCK " in XDG_RUNTIME_DIR: %s",
			    strerror(errno));
}

/* Names: a link "name.web" to "100000:300000", since a link is made and replaced whole. */

static void recall(struct reserve *reserve, const char *name)
{
	char path[sizeof(PREFIX) + 64], text[32], *colon;
	uint32_t starts[ID_KINDS];
	ssize_t len;

	snprintf(path, sizeof(path), PREFIX "%s", name);
	len = readlinkat(reserve->folder, path, text, sizeof(text) - 1);
	text[len < 0 ? 0 : len] = '\0';
	colon = strchr(text, ':');
	if (colon && id_parse(text, (size_t)(colon - text), &starts[ID_UID]) == 0 &&
	    id_parse(colon + 1, strlen(colon + 1), &starts[ID_GID]) == 0)
		memcpy(reserve->starts, starts, sizeof(starts));
}

int reserve_remember(const struct reserve *reserve, const char *name, char **ret_message)
{
	char path[sizeof(PREFIX) + 64], text[32];

	snprintf(path, sizeof(path), PREFIX "%s", name);
	snprintf(text, sizeof(text), "%u:%u", reserve->starts[ID_UID],
		 reserve->starts[ID_GID]);
	unlinkat(reserve->folder, NEW, 0);
	if (symlinkat(text, reserve->folder, NEW) == 0 &&
	    renameat(reserve->folder, NEW, reserve->folder, path) == 0)
		return 0;
	return message_fail(ret_message, FOLDER "/%s in XDG_RUNTIME_DIR: %s", path,
			    strerror(errno));
}

/* What is in use */

/* A map of all IDs (of all but one, as some services have) hands them on and claims none. */
static int add_map(struct idset *used, const struct namespace_map *map)
{
	int r = 0;

	if (namespace_mapped(map) >= ID_MAX)
		return 0;
	for (size_t i = 0; i < map->n && r == 0; i++)
		if (map->extents[i].outer != ID_NONE)
			r = idset_add(used, map->extents[i].outer, map->extents[i].count);
	return r;
}

/*
 * Those below our own namespace, which are those with a parent. Ours holds all that can be given
 * out, and what is above or beside it shares IDs with it by the choice of whoever made it.
 */
static int add_seen(struct reserve *reserve, const struct namespaces *all)
{
	int r = 0;

	for (uint32_t i = 0; i < all->n; i++)
		for (enum id_kind kind = ID_UID; kind <= ID_GID && r == 0; kind++)
			if (all->list[i].parent != NAMESPACE_NONE)
				r = add_map(&reserve->used[kind],
					    &all->list[i].maps[kind]);
	return r;
}

/*
 * Which namespace another user's process is in is not told, but its maps are. In the initial
 * namespace that is enough, since all others are below it.
 */
static int add_denied(struct reserve *reserve, const struct namespaces *all)
{
	int r = 0;

	if (all->own == NAMESPACE_NONE || all->list[all->own].ino != INITIAL_INODE)
		return 0;
	for (size_t i = 0; i < all->missed.denied && r == 0; i++) {
		AUTOCLOSE int dir = -1;
		char path[32];
		struct idmap map;

		snprintf(path, sizeof(path), "/proc/%d", all->denied[i]);
		dir = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
		for (enum id_kind kind = ID_UID; kind <= ID_GID && r == 0; kind++)
			if (live_map(dir, kind, &map) == 0)
				r = add_map(&reserve->used[kind],
					    &(struct namespace_map){map.extents, map.n});
	}
	return r;
}

static int find_used(struct reserve *reserve, char **ret_message)
{
	struct namespaces all = {0};
	int r = namespaces_walk(&all);

	if (r == 0)
		r = add_seen(reserve, &all);
	if (r == 0)
		r = add_denied(reserve, &all);
	namespaces_clear(&all);
	if (r == 0)
		return 0;
	return message_fail(ret_message, "finding out which IDs are in use: %s",
			    strerror(-r));
}

int reserve_open(const char *name, bool hold, struct reserve *ret_reserve,
		 char **ret_message)
{
	__attribute__((cleanup(reserve_clear))) struct reserve reserve = {
		.open = true, .lock = -1, .folder = -1, .starts = {ID_NONE, ID_NONE}};

	if ((hold || name) && open_folder(hold, &reserve.folder, ret_message) != 0)
		return -1;
	if (hold && take_lock(&reserve, ret_message) != 0)
		return -1;
	if (name)
		recall(&reserve, name);
	if (find_used(&reserve, ret_message) != 0)
		return -1;
	*ret_reserve = reserve;
	reserve = (struct reserve){0};
	return 0;
}

/* The choice */

/* An outer range can't leave what the parent's map has. */
static int add_unmapped(struct idset *used, const struct idmap *parent)
{
	__attribute__((cleanup(idset_clear))) struct idset mapped = {0}, gaps = {0};
	struct range all = {0, ID_NONE};
	const struct idset space = {.ranges = &all, .n = 1};
	int r = 0;

	for (size_t i = 0; i < parent->n && r == 0; i++)
		r = idset_add(&mapped, parent->extents[i].inner,
			      parent->extents[i].count);
	idset_seal(&mapped);
	if (r == 0)
		r = slice_gaps(&space, &mapped, &gaps);
	for (size_t i = 0; i < gaps.n && r == 0; i++)
		r = idset_add(used, gaps.ranges[i].start, gaps.ranges[i].count);
	return r;
}

static int explain_full(enum id_kind kind, const char *source, const struct idset *gaps,
			uint32_t size, char **ret_message)
{
	uint32_t largest = slice_largest(gaps);
	char advice[64] = "end one of those that idmap ls shows";

	if (largest > 0)
		snprintf(advice, sizeof(advice), "--auto=%u would work", largest);
	return message_fail(ret_message,
			    "no slice of %u %ss: the largest piece of your grants in %s "
			    "that no live namespace uses has %u; %s",
			    size, id_words[kind].word, source, largest, advice);
}

int reserve_choose(struct reserve *reserve, enum id_kind kind,
		   const struct grants *grants, const struct idmap *parent, uint32_t own,
		   uint32_t size, char **ret_message)
{
	__attribute__((cleanup(idset_clear))) struct idset gaps = {0};
	struct idset *used = &reserve->used[kind];
	uint32_t *start = &reserve->starts[kind];
	int r = idset_add(used, own, 1);

	if (r == 0)
		r = add_unmapped(used, parent);
	idset_seal(used);
	if (r == 0)
		r = slice_gaps(&grants->set, used, &gaps);
	if (r == 0)
		r = slice_choose(&gaps, size, *start, start);
	if (r < 0)
		*ret_message = NULL;
	if (r <= 0)
		return r;
	return explain_full(kind, grants->source.name, &gaps, size, ret_message);
}

void reserve_clear(struct reserve *reserve)
{
	if (reserve->open && reserve->lock >= 0)
		close(reserve->lock);
	if (reserve->open && reserve->folder >= 0)
		close(reserve->folder);
	for (enum id_kind kind = ID_UID; kind <= ID_GID; kind++)
		idset_clear(&reserve->used[kind]);
	*reserve = (struct reserve){0};
}

/* SPDX-License-Identifier: BSD-2-Clause */
#pragma once

/*
 * namespaces: the user namespaces of this machine that can be seen from here, as values.
 *
 * One walk over /proc: a process costs one stat(2) of its ns/user, whose device and inode are the
 * identity of a namespace, and a namespace costs one read of each map. On top come the parents of
 * what was found, and what a bind mount holds open (user_namespaces(7), ioctl_ns(2)). A namespace
 * that only a descriptor of some process holds, and that has no child, is not found.
 *
 * What the caller may not see, or what ends during the walk, is counted and never an error.
 */

#include "../trusted/idmap.h"

#include <sys/types.h>

#define NAMESPACE_NONE UINT32_MAX

/* Maps and setgroups are known; can't be; or nobody tried so far. */
enum namespace_state { NAMESPACE_UNREAD, NAMESPACE_READ, NAMESPACE_REFUSED };

struct namespace_map {
	struct extent *
		extents; /* owned; outer as seen from here, ID_NONE: has no number here */
	size_t n;        /* 0: not written yet */
};

struct userns {
	dev_t dev;
	ino_t ino;
	uint32_t parent; /* index into the list; NAMESPACE_NONE: none that can be seen */
	uint32_t depth;  /* how many of them are above it */
	uid_t owner; /* as seen from here, which for an ID without number is the overflow ID;
			  * ID_NONE: can't be asked */
	uint32_t n_processes;
	pid_t pid;     /* the lowest of its processes; 0: it has none */
	char comm[64]; /* of that one, as the process chose it: bytes for vis(3) */
	char *mount;   /* owned: where it is bind-mounted; NULL: nowhere */
	enum namespace_state state;
	struct namespace_map maps[ID_KINDS];
	bool setgroups; /* allowed */
};

/* What is missing, as far as is known. */
struct namespaces_missed {
	size_t vanished; /* processes that ended before they could be asked */
	size_t denied;   /* processes that the caller may not ask */
	size_t mounts;   /* bind mounts that can't be opened or are covered */
	size_t unread;   /* namespaces whose maps can't be read */
	bool hidden;     /* /proc doesn't even list the processes of others (hidepid) */
};

struct namespaces {
	struct userns *list; /* parents before their children, siblings by inode */
	uint32_t n;
	uint32_t room;
	uint32_t *slots; /* owned, while walking: hash table of indices + 1 */
	uint32_t own;    /* the caller's own namespace */
	pid_t *denied;   /* owned: the processes of missed.denied */
	struct namespaces_missed missed;
};

/* Returns 0 or -errno (no memory, or no /proc). */
int namespaces_walk(struct namespaces *ret_namespaces);

void namespaces_clear(struct namespaces *namespaces);

/* IDs that MAP maps. */
uint64_t namespace_mapped(const struct namespace_map *map);

/* The inner ID that MAP has for OUTER, ID_NONE: none. */
uint32_t namespace_inner(const struct namespace_map *map, uint32_t outer);

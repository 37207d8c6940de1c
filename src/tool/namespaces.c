/* SPDX-License-Identifier: BSD-2-Clause */
#include "namespaces.h"

#include "../trusted/autoclose.h"
#include "../trusted/live.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/nsfs.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* The set of those that were visited */

/* The slot of a namespace, or the empty one where it belongs. All are on one file system. */
static uint32_t *find_slot(const struct namespaces *all, dev_t dev, ino_t ino)
{
	uint32_t mask = 2 * all->room - 1;
	uint32_t i = (uint32_t)(((uint64_t)ino * 0x9e3779b97f4a7c15U) >> 32);

	for (;; i++) {
		uint32_t *slot = &all->slots[i & mask];

		if (*slot == 0 ||
		    (all->list[*slot - 1].ino == ino && all->list[*slot - 1].dev == dev))
			return slot;
	}
}

static int grow(struct namespaces *all)
{
	uint32_t room = all->room ? all->room * 2 : 64;
	struct userns *list = reallocarray(all->list, room, sizeof(*list));
	uint32_t *slots = list ? calloc(room, 2 * sizeof(*slots)) : NULL;

	if (list)
		all->list = list;
	if (!slots)
		return -ENOMEM;
	free(all->slots);
	all->slots = slots;
	all->room = room;
	for (uint32_t i = 0; i < all->n; i++)
		*find_slot(all, list[i].dev, list[i].ino) = i + 1;
	return 0;
}

/* Returns 0 with *RET_INDEX, 1 if it is new there, or -ENOMEM. */
static int find_or_add(struct namespaces *all, dev_t dev, ino_t ino, uint32_t *ret_index)
{
	uint32_t *slot;

	if (all->n == all->room && grow(all) != 0)
		return -ENOMEM;
	slot = find_slot(all, dev, ino);
	if (*slot > 0) {
		*ret_index = *slot - 1;
		return 0;
	}
	all->list[all->n] = (struct userns){
		.dev = dev, .ino = ino, .parent = NAMESPACE_NONE, .owner = ID_NONE};
	*ret_index = all->n++;
	*slot = all->n;
	return 1;
}

/*
 * Add the namespace FD, which is closed, and those of its parents that are not known yet: where
 * one is known, so are all above it. Returns 0 with the index of the first, or -errno.
 */
static int add_chain(struct namespaces *all, int fd, uint32_t *ret_index)
{
	uint32_t child = NAMESPACE_NONE, index;
	int r = 1;

	while (fd >= 0 && r == 1) {
		AUTOCLOSE int this = fd;
		struct stat st;

		if (fstat(this, &st) < 0)
			return -errno;
		r = find_or_add(all, st.st_dev, st.st_ino, &index);
		if (r < 0)
			return r;
		if (child == NAMESPACE_NONE)
			*ret_index = index;
		else
			all->list[child].parent = index;
		if (r == 1)
			ioctl(this, NS_GET_OWNER_UID, &all->list[index].owner);
		child = index;
		/* EPERM: it is the initial namespace, or its parent is above our own. */
		fd = r == 1 ? ioctl(this, NS_GET_PARENT) : -1;
	}
	return 0;
}

/* Maps */

static int keep_map(const struct idmap *map, struct namespace_map *ret_map)
{
	if (map->n == 0)
		return 0;
	ret_map->extents = reallocarray(NULL, map->n, sizeof(*map->extents));
	if (!ret_map->extents)
		return -ENOMEM;
	memcpy(ret_map->extents, map->extents, map->n * sizeof(*map->extents));
	ret_map->n = map->n;
	return 0;
}

/*
 * Read maps and setgroups through the directory of a process. It may have entered another
 * namespace or ended meanwhile; then the next process of the namespace is as good.
 */
static int read_maps(struct userns *userns, int dir)
{
	struct idmap maps[ID_KINDS];
	bool setgroups = false;
	struct stat st;
	int r = live_map(dir, ID_UID, &maps[ID_UID]);

	if (r == 0)
		r = live_map(dir, ID_GID, &maps[ID_GID]);
	if (r == 0)
		r = live_setgroups(dir, &setgroups);
	if (fstatat(dir, "ns/user", &st, 0) < 0 || st.st_ino != userns->ino ||
	    st.st_dev != userns->dev)
		return 0;
	userns->state = r == 0 ? NAMESPACE_READ : NAMESPACE_REFUSED;
	userns->setgroups = setgroups;
	for (enum id_kind kind = ID_UID; kind <= ID_GID && r == 0; kind++)
		if (keep_map(&maps[kind], &userns->maps[kind]) != 0)
			return -ENOMEM;
	return 0;
}

/* Processes */

/* The list of those that may not be asked grows whenever their number becomes a power of two. */
static int miss(struct namespaces *all, pid_t pid)
{
	size_t n = all->missed.denied;
	pid_t *list = all->denied;

	if (errno == ENOENT || errno == ESRCH) {
		all->missed.vanished++;
		return 0;
	}
	if ((n & (n - 1)) == 0)
		list = reallocarray(list, n > 0 ? 2 * n : 1, sizeof(*list));
	if (!list)
		return -ENOMEM;
	list[n] = pid;
	all->denied = list;
	all->missed.denied++;
	return 0;
}

static int open_process(int proc, pid_t pid)
{
	char name[16];

	snprintf(name, sizeof(name), "%d", pid);
	return openat(proc, name, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

static void read_comm(int dir, char comm[64])
{
	AUTOCLOSE int fd = openat(dir, "comm", O_RDONLY | O_CLOEXEC);
	ssize_t len = fd < 0 ? -1 : read(fd, comm, 63);

	if (len > 0 && comm[len - 1] == '\n')
		len--;
	comm[len > 0 ? len : 0] = '\0';
}

/* A process of a namespace whose maps are not known yet. */
static int ask_process(struct namespaces *all, int proc, pid_t pid, uint32_t *ret_index)
{
	AUTOCLOSE int dir = open_process(proc, pid);
	int fd = dir < 0 ? -1 : openat(dir, "ns/user", O_RDONLY | O_CLOEXEC);
	int r;

	*ret_index = NAMESPACE_NONE;
	if (fd < 0)
		return miss(all, pid);
	r = add_chain(all, fd, ret_index);
	if (r != 0)
		return r;
	if (all->list[*ret_index].pid == 0)
		read_comm(dir, all->list[*ret_index].comm);
	if (all->list[*ret_index].state == NAMESPACE_UNREAD)
		r = read_maps(&all->list[*ret_index], dir);
	return r;
}

/* One process: one stat, unless there is something new to see. */
static int visit(struct namespaces *all, int proc, pid_t pid)
{
	char path[32];
	struct stat st;
	struct userns *userns;
	uint32_t index;
	int r = 0;

	snprintf(path, sizeof(path), "%d/ns/user", pid);
	if (fstatat(proc, path, &st, 0) < 0)
		return miss(all, pid);
	index = all->n > 0 ? *find_slot(all, st.st_dev, st.st_ino) - 1 : NAMESPACE_NONE;
	if (index == NAMESPACE_NONE || all->list[index].pid == 0 ||
	    all->list[index].state == NAMESPACE_UNREAD)
		r = ask_process(all, proc, pid, &index);
	if (r != 0 || index == NAMESPACE_NONE)
		return r;
	userns = &all->list[index];
	userns->n_processes++;
	if (userns->pid == 0)
		userns->pid = pid;
	return 0;
}

/* /proc lists them by number, so the first is the lowest. */
static int walk_processes(struct namespaces *all, DIR *proc)
{
	const struct dirent *entry;
	int r = 0;

	while (r == 0 && (entry = readdir(proc))) {
		uint32_t pid;

		if (id_parse(entry->d_name, strlen(entry->d_name), &pid) == 0)
			r = visit(all, dirfd(proc), (pid_t)pid);
	}
	return r;
}

/* Mounts */

/* mountinfo writes blanks and the like as \ and three octal digits. */
static void unescape(char *text)
{
	char *to = text;

	for (; *text; text++)
		if (text[0] == '\\' && text[1] && text[2] && text[3]) {
			*to++ = (char)((text[1] - '0') * 64 + (text[2] - '0') * 8 +
				       (text[3] - '0'));
			text += 3;
		} else {
			*to++ = *text;
		}
	*to = '\0';
}

/* MOUNT, owned by this, is where the namespace called "user:[INO]" ought to be. */
static int add_mount(struct namespaces *all, const char *name, char *mount)
{
	int fd = open(mount, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	unsigned long ino;
	struct stat st;
	uint32_t index;
	int r;

	if (fd < 0 || fstat(fd, &st) < 0 || sscanf(name, "user:[%lu]", &ino) != 1 ||
	    st.st_ino != ino) {
		all->missed.mounts++;
		free(mount);
		if (fd >= 0)
			close(fd);
		return 0;
	}
	r = add_chain(all, fd, &index);
	if (r != 0 || all->list[index].mount) {
		free(mount);
		return r;
	}
	all->list[index].mount = mount;
	return 0;
}

static bool hides(const char *options)
{
	const char *value = strstr(options, "hidepid=");

	value = value ? value + strlen("hidepid=") : "";
	return *value == '2' || *value == '4' || strncmp(value, "invisible", 9) == 0 ||
	       strncmp(value, "ptraceable", 10) == 0;
}

/* One line of mountinfo (proc_pid_mountinfo(5)). */
static int read_mount(struct namespaces *all, const char *line)
{
	char *root = NULL, *mount = NULL;
	int r = 0;

	if (!strstr(line, " - nsfs ") && !strstr(line, " - proc "))
		return 0;
	if (sscanf(line, "%*s %*s %*s %ms %ms", &root, &mount) == 2) {
		unescape(mount);
		if (strncmp(root, "user:[", 6) == 0) {
			r = add_mount(all, root, mount);
			mount = NULL;
		} else if (strcmp(mount, "/proc") == 0) {
			all->missed.hidden = geteuid() != 0 && hides(line);
		}
	}
	free(root);
	free(mount);
	return r;
}

static int walk_mounts(struct namespaces *all)
{
	FILE *file = fopen("/proc/self/mountinfo", "re");
	char *line = NULL;
	size_t room = 0;
	int r = 0;

	if (!file)
		return -errno;
	while (r == 0 && getline(&line, &room, file) > 0)
		r = read_mount(all, line);
	free(line);
	fclose(file);
	return r;
}

/* Namespaces without a process: the kernel shows a map only as a file of a process, so one of our
 * own enters. It keeps no privilege there that the caller lacks, and ends with us. */

static void enter(int fd, int ours, int theirs)
{
	char byte = 0;

	close(ours);
	if (setns(fd, CLONE_NEWUSER) == 0 && write(theirs, &byte, 1) == 1)
		(void)!read(theirs, &byte, 1); /* until the other end is closed */
	_exit(0);
}

static int read_by_entering(struct userns *userns, int proc, int fd)
{
	AUTOCLOSE int dir = -1;
	int ends[2], r = 0;
	char byte;
	pid_t pid;

	userns->state = NAMESPACE_REFUSED;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0)
		return -errno;
	pid = fork();
	if (pid == 0)
		enter(fd, ends[0], ends[1]);
	close(ends[1]);
	if (pid > 0 && read(ends[0], &byte, 1) == 1) {
		dir = open_process(proc, pid);
		r = dir < 0 ? 0 : read_maps(userns, dir);
	}
	close(ends[0]);
	if (pid > 0)
		waitpid(pid, NULL, 0);
	return r;
}

/* From the namespace FD, which is closed, up to the first whose maps are known. */
static int read_upwards(struct namespaces *all, int proc, int fd)
{
	int r = 0;

	while (fd >= 0 && r == 0) {
		AUTOCLOSE int this = fd;
		struct stat st;
		uint32_t index;

		if (fstat(this, &st) < 0)
			return -errno;
		index = *find_slot(all, st.st_dev, st.st_ino) - 1;
		if (index == NAMESPACE_NONE || all->list[index].state != NAMESPACE_UNREAD)
			return 0;
		r = read_by_entering(&all->list[index], proc, this);
		fd = ioctl(this, NS_GET_PARENT);
	}
	return r;
}

static bool is_unread(const struct namespaces *all, uint32_t index)
{
	return index != NAMESPACE_NONE && all->list[index].state == NAMESPACE_UNREAD;
}

/* What has no process is a parent of something that has one, or of a mount, or is mounted. */
static int read_rest(struct namespaces *all, int proc)
{
	int r = 0;

	for (uint32_t i = 0; i < all->n && r == 0; i++) {
		const struct userns *userns = &all->list[i];
		char path[32];
		int fd = -1;

		if (userns->pid > 0 && is_unread(all, userns->parent)) {
			snprintf(path, sizeof(path), "%d/ns/user", userns->pid);
			fd = openat(proc, path, O_RDONLY | O_CLOEXEC);
			if (fd >= 0) {
				AUTOCLOSE int child = fd;

				fd = ioctl(child, NS_GET_PARENT);
			}
		} else if (userns->mount && userns->state == NAMESPACE_UNREAD) {
			fd = open(userns->mount, O_RDONLY | O_CLOEXEC);
		}
		r = read_upwards(all, proc, fd);
	}
	return r;
}

/* Order */

struct tree {
	uint32_t *next;  /* sibling, by index; NAMESPACE_NONE: the last one */
	uint32_t *first; /* child, by index + 1; at 0 the first of those without parent */
};

static int compare_ino(const void *a, const void *b)
{
	const struct userns *x = a, *y = b;

	return (x->ino > y->ino) - (x->ino < y->ino);
}

/* Make lists of siblings, each in the order of inodes. PLACE: where an index of before has gone. */
static void link_siblings(struct namespaces *all, const uint32_t *place,
			  struct tree *tree)
{
	for (uint32_t i = 0; i <= all->n; i++)
		tree->first[i] = NAMESPACE_NONE;
	for (uint32_t i = all->n; i-- > 0;) {
		uint32_t *parent = &all->list[i].parent;

		*parent = *parent == NAMESPACE_NONE ? NAMESPACE_NONE : place[*parent];
		tree->next[i] = tree->first[*parent + 1];
		tree->first[*parent + 1] = i;
	}
}

/* Down to the first child, else on to the next sibling of the closest that has one. */
static uint32_t next_in_tree(const struct namespaces *all, const struct tree *tree,
			     uint32_t i)
{
	if (tree->first[i + 1] != NAMESPACE_NONE)
		return tree->first[i + 1];
	while (i != NAMESPACE_NONE && tree->next[i] == NAMESPACE_NONE)
		i = all->list[i].parent;
	return i == NAMESPACE_NONE ? NAMESPACE_NONE : tree->next[i];
}

/* Put the namespaces, sorted by inode, into tree order; PLACE becomes where each has gone. */
static void order(const struct namespaces *all, const struct tree *tree, uint32_t *place,
		  struct userns *ret_list)
{
	uint32_t n = 0;

	for (uint32_t i = tree->first[0]; i != NAMESPACE_NONE;
	     i = next_in_tree(all, tree, i)) {
		struct userns *userns = &ret_list[n];

		*userns = all->list[i];
		place[i] = n++;
		if (userns->parent == NAMESPACE_NONE)
			continue;
		userns->parent = place[userns->parent];
		userns->depth = ret_list[userns->parent].depth + 1;
	}
}

static int sort(struct namespaces *all)
{
	size_t n = all->n;
	struct tree tree = {calloc(n, sizeof(uint32_t)), calloc(n + 1, sizeof(uint32_t))};
	uint32_t *place = calloc(n, sizeof(*place));
	struct userns *list = calloc(n, sizeof(*list));
	bool ready = tree.next && tree.first && place && list;

	/* The depth keeps the index of before for a moment. */
	for (uint32_t i = 0; ready && i < n; i++)
		all->list[i].depth = i;
	if (ready) {
		qsort(all->list, n, sizeof(*all->list), compare_ino);
		for (uint32_t i = 0; i < n; i++) {
			place[all->list[i].depth] = i;
			all->list[i].depth = 0;
		}
		link_siblings(all, place, &tree);
		order(all, &tree, place, list);
		free(all->list);
		all->list = list;
		list = NULL;
	}
	free(tree.next);
	free(tree.first);
	free(place);
	free(list);
	return ready ? 0 : -ENOMEM;
}

static void find_own(struct namespaces *all)
{
	struct stat st;

	all->own = NAMESPACE_NONE;
	if (stat("/proc/self/ns/user", &st) < 0)
		return;
	for (uint32_t i = 0; i < all->n; i++)
		if (all->list[i].ino == st.st_ino && all->list[i].dev == st.st_dev)
			all->own = i;
}

static int walk(struct namespaces *all, DIR *proc)
{
	int r = walk_processes(all, proc);

	if (r == 0)
		r = walk_mounts(all);
	if (r == 0)
		r = read_rest(all, dirfd(proc));
	if (r == 0 && all->n > 0)
		r = sort(all);
	free(all->slots);
	all->slots = NULL;
	find_own(all);
	for (uint32_t i = 0; i < all->n; i++)
		all->missed.unread += all->list[i].state != NAMESPACE_READ;
	return r;
}

int namespaces_walk(struct namespaces *ret_namespaces)
{
	struct namespaces all = {0};
	DIR *proc = opendir("/proc");
	int r;

	if (!proc)
		return -errno;
	r = walk(&all, proc);
	closedir(proc);
	if (r == 0)
		*ret_namespaces = all;
	else
		namespaces_clear(&all);
	return r;
}

void namespaces_clear(struct namespaces *namespaces)
{
	for (uint32_t i = 0; i < namespaces->n; i++) {
		free(namespaces->list[i].mount);
		free(namespaces->list[i].maps[ID_UID].extents);
		free(namespaces->list[i].maps[ID_GID].extents);
	}
	free(namespaces->list);
	free(namespaces->slots);
	free(namespaces->denied);
	*namespaces = (struct namespaces){0};
}

uint64_t namespace_mapped(const struct namespace_map *map)
{
	uint64_t mapped = 0;

	for (size_t i = 0; i < map->n; i++)
		mapped += map->extents[i].count;
	return mapped;
}

uint32_t namespace_inner(const struct namespace_map *map, uint32_t outer)
{
	for (size_t i = 0; i < map->n; i++) {
		const struct extent *extent = &map->extents[i];

		if (extent->outer != ID_NONE && outer - extent->outer < extent->count)
			return extent->inner + (outer - extent->outer);
	}
	return ID_NONE;
}

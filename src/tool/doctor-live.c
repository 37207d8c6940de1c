/* SPDX-License-Identifier: BSD-2-Clause */
#include "../trusted/autoclose.h"
#include "../trusted/grant.h"
#include "../trusted/procmap.h"
#include "../trusted/target.h"
#include "doctor-parts.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* The user namespaces that have been seen. */
struct seen {
	ino_t *inodes; /* owned */
	size_t n;
};

/* Note INODE. Returns false if it was seen already. */
static bool is_new(struct seen *seen, ino_t inode)
{
	ino_t *inodes;

	for (size_t i = 0; i < seen->n; i++)
		if (seen->inodes[i] == inode)
			return false;
	inodes = reallocarray(seen->inodes, seen->n + 1, sizeof(*inodes));
	if (!inodes)
		return false;
	seen->inodes = inodes;
	inodes[seen->n++] = inode;
	return true;
}

/* One map against the files as they are now. */
enum match { MATCH_UNWRITTEN, MATCH_LAYOUT, MATCH_GRANTED, MATCH_EDITED };

static enum match match(const struct examination *e, enum id_kind kind,
			const struct idmap *live, struct range *ret_gap)
{
	uint32_t own = kind == ID_UID ? e->account.uid : e->account.gid;
	struct grant_answer answer;

	if (live->n == 0)
		return MATCH_UNWRITTEN;
	if (e->planned && idmap_equal(live, &e->answer.maps[kind]))
		return MATCH_LAYOUT;
	if (grant_check(&e->grants[kind].set, own, live, &answer) == 0)
		return MATCH_GRANTED;
	*ret_gap = answer.gap;
	return MATCH_EDITED;
}

static void say_map(struct examination *e, const char *pid, enum id_kind kind,
		    const struct idmap *live)
{
	static const char *const words[] = {
		[MATCH_UNWRITTEN] = "not written",
		[MATCH_LAYOUT] = "as the files are",
		[MATCH_GRANTED] = "another one than the layout, of granted IDs",
	};
	struct range gap = {0};
	enum match matched = match(e, kind, live, &gap);

	if (matched != MATCH_EDITED) {
		doctor_say(e, DOCTOR_OK, "live_map", "/proc", "%s of process %s: %s",
			   id_words[kind].map, pid, words[matched]);
		return;
	}
	doctor_say(e, DOCTOR_WARNING, "live_map", id_words[kind].grants,
		   "edited since: the processes in the namespace of %s keep the old map, "
		   "with "
		   "outer %u..%u",
		   pid, gap.start, gap.start + gap.count - 1);
	doctor_fix(e, "end them and start them anew (podman: podman system migrate)");
}

/* PID is a name in /proc, if it begins with a digit. */
static void examine_process(struct examination *e, int proc, const char *pid,
			    struct seen *seen)
{
	AUTOCLOSE int dir = openat(proc, pid, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct idmap live;
	struct stat st;
	uid_t uid;
	gid_t gid;

	if (dir < 0 || target_owner(dir, &uid, &gid) != 0 || uid != e->account.uid ||
	    fstatat(dir, "ns/user", &st, 0) < 0 || !is_new(seen, st.st_ino))
		return;
	for (enum id_kind kind = ID_UID; kind <= ID_GID; kind++)
		if (procmap_read(dir, kind, &live) == 0)
			say_map(e, pid, kind, &live);
}

void doctor_live(struct examination *e)
{
	struct seen seen = {0};
	struct dirent *entry;
	struct stat st;
	DIR *proc = opendir("/proc");

	/* Our own namespace is not one that the files have made. */
	if (stat("/proc/self/ns/user", &st) == 0)
		is_new(&seen, st.st_ino);
	while (proc && (entry = readdir(proc)))
		if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9')
			examine_process(e, dirfd(proc), entry->d_name, &seen);
	if (proc)
		closedir(proc);
	free(seen.inodes);
}

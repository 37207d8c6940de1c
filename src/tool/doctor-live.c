/* SPDX-License-Identifier: BSD-2-Clause */
#include "../trusted/autoclose.h"
#include "../trusted/grant.h"
#include "../trusted/procmap.h"
#include "../trusted/target.h"
#include "algebra.h"
#include "doctor-parts.h"

#include <dirent.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

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

static double seconds(struct timespec time)
{
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

/* When the process began, in seconds of CLOCK_REALTIME; infinity if it can't be told. */
static double start_of(int dir)
{
	AUTOCLOSE int fd = openat(dir, "stat", O_RDONLY | O_CLOEXEC);
	char text[1024];
	ssize_t len = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	long hertz = sysconf(_SC_CLK_TCK);
	struct timespec now, up;
	const char *fields;
	unsigned long long ticks;

	text[len > 0 ? len : 0] = '\0';
	fields = strrchr(text, ')'); /* the name before it may hold anything */
	if (!fields || sscanf(fields,
			      ") %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d "
			      "%*d %*d %*d "
			      "%*d %*d %llu",
			      &ticks) != 1)
		return INFINITY;
	clock_gettime(CLOCK_REALTIME, &now);
	clock_gettime(CLOCK_BOOTTIME, &up);
	return seconds(now) - seconds(up) + (double)ticks / (double)hertz;
}

static uint64_t mapped(const struct idmap *map)
{
	uint64_t total = 0;

	for (size_t i = 0; i < map->n; i++)
		total += map->extents[i].count;
	return total;
}

/* The file has been written since, and has more IDs than the map. */
static bool has_grown(const struct examination *e, enum id_kind kind, int dir,
		      const struct idmap *live)
{
	struct stat st;

	return e->planned && mapped(live) < mapped(&e->answer.maps[kind]) &&
	       stat(id_words[kind].grants, &st) == 0 &&
	       seconds(st.st_mtim) > start_of(dir);
}

/* What is to be said of one map against the files as they are now. */
struct verdict {
	bool edited;
	const char *word;
	struct range gap; /* outer IDs that are not granted; count 0: all are */
};

static struct verdict judge(const struct examination *e, enum id_kind kind, int dir,
			    const struct idmap *live)
{
	uint32_t own = kind == ID_UID ? e->account.uid : e->account.gid;
	struct grant_answer answer;

	if (live->n == 0)
		return (struct verdict){.word = "not written"};
	if (e->planned && idmap_equal(live, &e->answer.maps[kind]))
		return (struct verdict){.word = "as the files are"};
	if (grant_check(&e->grants[kind].set, own, live, &answer) != 0)
		return (struct verdict){true, "that has outer IDs no longer granted",
					answer.gap};
	if (answer.by_grant && has_grown(e, kind, dir, live))
		return (struct verdict){true, "that lacks IDs of the files", {0}};
	return (struct verdict){.word = "another one than the layout, of granted IDs"};
}

static void say_map(struct examination *e, const char *pid, enum id_kind kind, int dir,
		    const struct idmap *live)
{
	struct verdict verdict = judge(e, kind, dir, live);
	char gap[48] = "";

	if (!verdict.edited) {
		doctor_say(e, DOCTOR_OK, "live_map", "/proc", "%s of process %s: %s",
			   id_words[kind].map, pid, verdict.word);
		return;
	}
	if (verdict.gap.count > 0)
		snprintf(gap, sizeof(gap), ": %u..%u", verdict.gap.start,
			 verdict.gap.start + verdict.gap.count - 1);
	doctor_say(e, DOCTOR_WARNING, "live_map", id_words[kind].grants,
		   "edited since: the processes in the namespace of %s keep the old map, "
		   "%s%s",
		   pid, verdict.word, gap);
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
			say_map(e, pid, kind, dir, &live);
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

/* SPDX-License-Identifier: BSD-2-Clause */
#include "../trusted/autoclose.h"
#include "../trusted/grant.h"
#include "../trusted/live.h"
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

/* When the process had begun, in seconds of CLOCK_REALTIME, rounded up to a tick; infinity if it
 * can't be told. */
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
	return seconds(now) - seconds(up) + (double)(ticks + 1) / (double)hertz;
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

	return e->planned && e->grants[kind].source.part == SOURCE_FILE &&
	       mapped(live) < mapped(&e->answer.maps[kind]) &&
	       stat(id_words[kind].grants, &st) == 0 &&
	       seconds(st.st_mtim) > start_of(dir);
}

/* What is to be said of one map against the files as they are now. */
enum verdict {
	UNWRITTEN,
	DEFAULT,
	GRANTED,   /* another map, of granted IDs */
	UNGRANTED, /* has outer IDs that the file does not grant */
	OUTGROWN,  /* the file has been edited since, and grants more */
};

static enum verdict judge(const struct examination *e, enum id_kind kind, int dir,
			  const struct idmap *live, struct range *ret_gap)
{
	uint32_t own = kind == ID_UID ? e->account.uid : e->account.gid;
	struct grant_answer answer;

	if (live->n == 0)
		return UNWRITTEN;
	if (e->planned && idmap_equal(live, &e->answer.maps[kind]))
		return DEFAULT;
	if (grant_check(&e->grants[kind].set, own, live, &answer) != 0) {
		*ret_gap = answer.gap;
		return UNGRANTED;
	}
	return answer.by_grant && has_grown(e, kind, dir, live) ? OUTGROWN : GRANTED;
}

/* Whether the file was edited or the map never followed it, nobody has kept a record of. */
static void say_ungranted(struct examination *e, const char *pid, enum id_kind kind,
			  struct range gap)
{
	const struct source *source = &e->grants[kind].source;
	char last[16] = "";

	if (gap.count > 1)
		snprintf(last, sizeof(last), "..%u", gap.start + gap.count - 1);
	doctor_say(e, DOCTOR_WARNING, "live_map", source->name,
		   "%s of process %s maps IDs that %s does not grant %s: %u%s (never "
		   "granted, or %s since)",
		   id_words[kind].map, pid, source->name, e->account.name, gap.start,
		   last,
		   source->part == SOURCE_FILE ? "the file was edited" : "taken away");
}

static void say_map(struct examination *e, const char *pid, enum id_kind kind, int dir,
		    const struct idmap *live)
{
	static const char *const words[] = {
		[UNWRITTEN] = "not written",
		[DEFAULT] = "the default layout, as it is granted now",
		[GRANTED] = "not the default layout; all its outer IDs are granted",
	};
	struct range gap = {0};
	enum verdict verdict = judge(e, kind, dir, live, &gap);

	if (verdict == UNGRANTED) {
		say_ungranted(e, pid, kind, gap);
	} else if (verdict == OUTGROWN) {
		doctor_say(
			e, DOCTOR_WARNING, "live_map", id_words[kind].grants,
			"%s of process %s has fewer IDs than %s grants %s, and the file "
			"was edited since the process began",
			id_words[kind].map, pid, id_words[kind].grants, e->account.name);
	} else {
		doctor_say(e, DOCTOR_OK, "live_map", "/proc", "%s of process %s: %s",
			   id_words[kind].map, pid, words[verdict]);
		return;
	}
	doctor_fix(e,
		   "if it shall be as it is granted: end the processes of that namespace "
		   "and start them anew (podman: podman system migrate)");
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
		if (live_map(dir, kind, &live) == 0)
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

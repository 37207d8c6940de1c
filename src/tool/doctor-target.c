/* SPDX-License-Identifier: BSD-2-Clause */
#include "../trusted/autoclose.h"
#include "../trusted/diagnose.h"
#include "../trusted/live.h"
#include "../trusted/procmap.h"
#include "../trusted/target.h"
#include "doctor-parts.h"

#include <fcntl.h>
#include <grp.h>
#include <linux/nsfs.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#define DEPTH_LIMIT 33

static bool same(int ns, const struct stat *ours)
{
	struct stat st;

	return fstat(ns, &st) == 0 && st.st_dev == ours->st_dev &&
	       st.st_ino == ours->st_ino;
}

/* How many namespaces the target is below ours: 0 is ours; -1: it can't be told. */
static int depth_below(int dir)
{
	int ns = openat(dir, "ns/user", O_RDONLY | O_CLOEXEC);
	struct stat ours;
	int depth = 0;

	if (stat("/proc/self/ns/user", &ours) < 0)
		depth = -1;
	while (ns >= 0 && depth >= 0 && !same(ns, &ours)) {
		int parent = ioctl(ns, NS_GET_PARENT);

		close(ns);
		ns = parent;
		depth++;
	}
	if (ns < 0)
		return -1;
	close(ns);
	return depth;
}

static bool is_zombie(int dir)
{
	AUTOCLOSE int fd = openat(dir, "stat", O_RDONLY | O_CLOEXEC);
	char text[512];
	ssize_t len = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	const char *state;

	text[len > 0 ? len : 0] = '\0';
	state = strrchr(text, ')'); /* the name before it may hold anything */
	return state && strncmp(state, ") Z", 3) == 0;
}

static void fix_group(struct examination *e)
{
	const struct group *group = getgrgid(e->group);
	char *name = group ? doctor_quote(group->gr_name) : NULL;

	if (name)
		doctor_fix(e, "start the target with: sg %s -c COMMAND", name);
	else
		doctor_fix(e, "start the target with the group %u", e->group);
	free(name);
}

/* The namespace of another user's process can't be seen, but its map can. */
static bool has_our_map(const struct examination *e, int dir)
{
	const struct idmap *ours = &e->parents[ID_UID];
	struct idmap theirs;

	return live_map(dir, ID_UID, &theirs) == 0 && theirs.n == ours->n &&
	       memcmp(theirs.extents, ours->extents, ours->n * sizeof(*ours->extents)) ==
		       0;
}

/* These return true if the target is one that a map can be written to. */

static bool owner(struct examination *e, const char *target, int dir)
{
	const char *where;
	uid_t uid = 0;
	gid_t gid = 0;
	bool fits;

	target_owner(dir, &uid, &gid);
	/* A caller who must change his group was told so: it may be that of the target. */
	fits = e->privileged ||
	       (uid == e->account.uid && (gid == e->account.gid || gid == e->group));
	where = !fits && uid != e->account.uid && has_our_map(e, dir)
			? "; its uid_map is that of our own namespace, so it seems not "
			  "to "
			  "have unshared"
			: "";
	doctor_say(e, fits ? DOCTOR_OK : DOCTOR_PROBLEM, "target_owner", "/proc/PID",
		   "process %s has uid %u, gid %u; the caller uid %u, gid %u%s", target,
		   uid, gid, e->account.uid, e->account.gid, where);
	if (fits)
		return true;
	if (*where)
		doctor_fix(e, "name a process of your own that has called "
			      "unshare(CLONE_NEWUSER), such as: unshare -U sleep 60 &");
	else if (uid != e->account.uid)
		doctor_fix(e, "as root: idmap write --user %u %s", uid, target);
	else
		fix_group(e);
	return false;
}

static bool alive(struct examination *e, const char *target, int dir)
{
	if (!is_zombie(dir))
		return true;
	doctor_say(e, DOCTOR_PROBLEM, "target_zombie", "/proc/PID/stat",
		   "process %s has ended and waits for its parent", target);
	doctor_fix(e, "name a process of the namespace that runs");
	return false;
}

static bool near(struct examination *e, int dir)
{
	int depth = depth_below(dir);
	bool deepest = e->initial && depth >= DEPTH_LIMIT;

	if (depth < 2) {
		/* Ours, or not to be seen: diagnose() knows why. */
		if (depth == 1)
			doctor_say(e, DOCTOR_OK, "target_namespace", "ioctl_nsfs(2)",
				   "a child of ours");
		return true;
	}
	doctor_say(e, DOCTOR_PROBLEM, deepest ? "target_nesting" : "target_namespace",
		   "ioctl_nsfs(2)", "%d namespaces below ours%s", depth,
		   deepest ? ", which is the limit: no other can be made in it"
			   : ": its maps can only be written from its parent");
	if (deepest)
		doctor_fix(e, "start it in a namespace that is less deep");
	else
		doctor_fix(e, "in a process of its parent namespace: idmap write PID");
	return false;
}

/* What diagnose() would say if the kernel refused a helper that has all capabilities. NULL:
 * nothing that is a matter of the target. */
static const char *target_cause(const struct examination *e, enum id_kind kind, int dir,
				struct diagnosis *ret_diagnosis)
{
	static const struct idmap empty;
	struct refusal refusal = {dir, kind, &empty, 0, 2};
	AUTOCLOSE int fd = -1;

	refusal.map = e->planned ? &e->answer.maps[kind] : &empty;
	refusal.error = procmap_open_write(dir, kind, &fd);
	diagnose(&refusal, ret_diagnosis);
	return ret_diagnosis->known ? ret_diagnosis->cause : NULL;
}

/* Returns true if the other map has the same cause. */
static bool map_cause(struct examination *e, enum id_kind kind, int dir)
{
	char shown[IDMAP_TEXT];
	struct diagnosis d;
	const char *cause = target_cause(e, kind, dir, &d);
	size_t len = idmap_format(&d.shown, shown);
	bool written = d.shown.n > 0;

	shown[len] = '\0';
	for (char *c = shown; *c; c++)
		if (*c == '\n')
			*c = ',';
	doctor_say(e, cause ? DOCTOR_PROBLEM : DOCTOR_OK,
		   kind == ID_UID ? "target_uid_map" : "target_gid_map",
		   kind == ID_UID ? "/proc/PID/uid_map" : "/proc/PID/gid_map", "%s%s%s",
		   cause ? cause : "not written yet, and may be", written ? ": " : "",
		   shown);
	if (cause)
		doctor_fix(e, "%s", d.fix);
	return cause && !written;
}

void doctor_target(struct examination *e, const char *target, int dir)
{
	if (!owner(e, target, dir) || !alive(e, target, dir) || !near(e, dir))
		return;
	for (enum id_kind kind = ID_UID; kind <= ID_GID; kind++)
		if (map_cause(e, kind, dir))
			return;
}

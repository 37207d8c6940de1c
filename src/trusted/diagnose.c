/* SPDX-License-Identifier: BSD-2-Clause */
#include "diagnose.h"

#include "autoclose.h"
#include "live.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/capability.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>

static const char unbound[] = "the capability is not in the caller's bounding set";

/* Put down an answer; FORMAT goes on from what the fix says already. True, so that a cause can
 * end in: return holds && tell(...). */
static bool __attribute__((format(printf, 3, 4)))
tell(struct diagnosis *d, const char *cause, const char *format, ...)
{
	size_t len = strlen(d->fix);
	va_list args;

	d->cause = cause;
	va_start(args, format);
	vsnprintf(d->fix + len, sizeof(d->fix) - len, format, args);
	va_end(args);
	return true;
}

/* Only its parent may write a namespace's map: it must be neither our own nor further down. */
static bool wrong_namespace(const struct refusal *refusal, struct diagnosis *d)
{
	enum live_place place;

	if (live_place(refusal->target, &place) != 0 || place == LIVE_CHILD)
		return false;
	if (place == LIVE_OURS)
		return tell(
			d,
			"the target is in our own user namespace: it has not unshared "
			"yet",
			"call again once the target has called unshare(CLONE_NEWUSER)");
	return tell(d, "the target's user namespace is no child of ours",
		    "call from its parent user namespace");
}

/* What belonged to a process that has ended belongs to root, so its map can't be opened. */
static bool ended(const struct refusal *refusal, struct diagnosis *d)
{
	AUTOCLOSE int fd = openat(refusal->target, "stat", O_RDONLY | O_CLOEXEC);
	char text[64] = "";
	const char *state;

	if (fd >= 0 && read(fd, text, sizeof(text) - 1) < 0 && errno != ESRCH)
		return false;
	state = strrchr(text, ')');
	return (!state || strncmp(state, ") Z", 3) == 0) &&
	       tell(d, "the target has ended",
		    "name a running process of that namespace");
}

static bool written(const struct refusal *refusal, struct diagnosis *d)
{
	return live_map(refusal->target, refusal->kind, &d->shown) == 0 &&
	       d->shown.n > 0 &&
	       tell(d, "the map is written already, and can be only once",
		    "start the target in a new user namespace");
}

static bool not_dumpable(const struct refusal *refusal, struct diagnosis *d)
{
	return refusal->error == -EACCES &&
	       tell(d, "the target is not dumpable: its files in /proc belong to root",
		    "have it call prctl(PR_SET_DUMPABLE, 1) after it has changed its "
		    "IDs, and run only programs that its user may read");
}

static bool mounted_over(const struct refusal *refusal, struct diagnosis *d)
{
	return refusal->error == -EXDEV &&
	       tell(d, "something is mounted over the target's files in /proc",
		    "name the target by its PID, not by fd:N");
}

static bool no_new_privs(const struct refusal *refusal, struct diagnosis *d)
{
	return refusal->held == 0 && prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1 &&
	       tell(d,
		    "the caller has no_new_privs set: setuid and file capabilities are "
		    "void",
		    "start the caller without it (systemd: NoNewPrivileges=no)");
}

/* The path of this program, if it can stand in a command as it is. Not that of a loader which was
 * told to run it: privilege for that would be privilege for everybody. */
static const char *own_path(void)
{
	static char path[256];
	ssize_t len = readlink("/proc/self/exe", path, sizeof(path) - 1);
	const char *last = path + (len > 10 ? len - 10 : 0); /* "/newuidmap" */

	path[len > 0 ? len : 0] = '\0';
	if (strncmp(last, "/new", 4) != 0 ||
	    path[strspn(path, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
			      "0123456789/._+-")] != '\0')
		return "PATH-OF-THIS-PROGRAM";
	return path;
}

/* It may gain privilege, but the way it is installed or called gave none. */
static bool no_capability(const struct refusal *refusal, struct diagnosis *d)
{
	bool uid = refusal->kind == ID_UID;
	const char *name = uid ? "cap_setuid" : "cap_setgid";
	struct statvfs fs = {0};
	struct stat st;

	if (refusal->held > 0)
		return false;
	if (prctl(PR_CAPBSET_READ, uid ? CAP_SETUID : CAP_SETGID) != 1)
		return tell(d, unbound,
			    "start the caller with %s (systemd: CapabilityBoundingSet=)",
			    name);
	if (statvfs("/proc/self/exe", &fs) == 0 && fs.f_flag & ST_NOSUID)
		return tell(
			d, "this program lies on a file system mounted nosuid",
			"as root: mount -o remount,bind,suid $(findmnt -no TARGET -T %s)",
			own_path());
	if ((stat("/proc/self/exe", &st) == 0 && st.st_mode & S_ISUID &&
	     st.st_uid == 0) ||
	    getxattr("/proc/self/exe", "security.capability", NULL, 0) > 0)
		return tell(d, "its privilege is void: a tracer, securebits or CLONE_FS",
			    "call it without these (strace and gdb are tracers)");
	return tell(d, "this program is neither setuid root nor has it file capabilities",
		    "as root: setcap %s=ep %s", name, own_path());
}

static bool outer_zero(const struct refusal *refusal, struct diagnosis *d)
{
	if (refusal->kind != ID_UID || refusal->held > 1 ||
	    !idmap_has_outer_zero(refusal->map))
		return false;
	if (prctl(PR_CAPBSET_READ, CAP_SETFCAP) != 1)
		return tell(d, unbound,
			    "start the caller with cap_setfcap, which outer 0 takes");
	return tell(d, "outer 0 is asked for, and that needs cap_setfcap too",
		    "ask for another ID, or as root: setcap cap_setuid,cap_setfcap=ep %s",
		    own_path());
}

/* Of the COUNT outer IDs from START, how many lie inside the one extent of PARENT that has START
 * inside? 0 if none has. */
static uint32_t inside(const struct idmap *parent, uint32_t start, uint32_t count)
{
	for (size_t i = 0; i < parent->n; i++) {
		uint32_t before = start - parent->extents[i].inner;

		if (before < parent->extents[i].count &&
		    count <= parent->extents[i].count - before)
			return count;
		if (before < parent->extents[i].count)
			return parent->extents[i].count - before;
	}
	return 0;
}

/* An extent whose outer IDs lie in no one extent of our own map must be split, or can't be had. */
static bool crosses_parent(const struct refusal *refusal, struct diagnosis *d)
{
	AUTOCLOSE int self = open("/proc/self", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	const char *cause =
		"outer IDs do not lie inside one extent of the map we live in";
	const struct extent *e = refusal->map->extents, *end = e + refusal->map->n;

	if (live_map(self, refusal->kind, &d->shown) != 0)
		return false;
	while (e < end && inside(&d->shown, e->outer, e->count) == e->count)
		e++;
	if (e == end)
		return false;
	tell(d, cause, "instead of %u %u %u ask for", e->inner, e->outer, e->count);
	for (uint32_t done = 0, n = 1; done < e->count && n > 0; done += n) {
		n = inside(&d->shown, e->outer + done, e->count - done);
		if (n > 0)
			tell(d, cause, " %u %u %u", e->inner + done, e->outer + done, n);
		else
			tell(d, cause, " no more: outer %u is not mapped here",
			     e->outer + done);
	}
	return true;
}

static bool security_module(const struct refusal *refusal, struct diagnosis *d)
{
	AUTOCLOSE int fd = open("/proc/sys/kernel/apparmor_restrict_unprivileged_userns",
				O_RDONLY | O_CLOEXEC);
	char value = '0';

	(void)refusal;
	return fd >= 0 && read(fd, &value, 1) == 1 && value == '1' &&
	       tell(d, "AppArmor restricts user namespaces",
		    "give the target's program a profile with \"userns,\", or as root: "
		    "sysctl -w kernel.apparmor_restrict_unprivileged_userns=0");
}

void diagnose(const struct refusal *refusal, struct diagnosis *ret_diagnosis)
{
	static bool (*const holds[])(const struct refusal *, struct diagnosis *) = {
		ended,          wrong_namespace, written,       not_dumpable,
		mounted_over,   no_new_privs,    no_capability, outer_zero,
		crosses_parent, security_module,
	};

	*ret_diagnosis = (struct diagnosis){0};
	for (size_t i = 0; i < sizeof(holds) / sizeof(*holds) && !ret_diagnosis->known;
	     i++) {
		ret_diagnosis->shown.n = 0;
		ret_diagnosis->known = holds[i](refusal, ret_diagnosis);
	}
	if (ret_diagnosis->known)
		return;
	ret_diagnosis->shown.n = 0;
	tell(ret_diagnosis, "none of those that are known",
	     "look into the kernel's log: dmesg");
}

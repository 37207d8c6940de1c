/* SPDX-License-Identifier: BSD-2-Clause */
#include "doctor-parts.h"

#include <bsd/string.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/capability.h>
#include <sys/prctl.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#define MAX_NAMESPACES "/proc/sys/user/max_user_namespaces"
#define CLONE_SETTING  "/proc/sys/kernel/unprivileged_userns_clone"
#define APPARMOR       "/proc/sys/kernel/apparmor_restrict_unprivileged_userns"
#define YAMA           "/proc/sys/kernel/yama/ptrace_scope"
#define LSM_LIST       "/sys/kernel/security/lsm"

/* Extents before Linux 4.15, and the usual limit of namespaces of distributions that set one. */
#define EXTENTS_ONCE     5U
#define USUAL_NAMESPACES 15000L

static void kernel_limits(struct examination *e)
{
	long page = sysconf(_SC_PAGESIZE);
	unsigned major = 0, minor = 0;
	struct utsname name = {0};
	bool old;

	uname(&name);
	old = sscanf(name.release, "%u.%u", &major, &minor) == 2 &&
	      (major < 4 || (major == 4 && minor < 15));
	doctor_say(e, old ? DOCTOR_WARNING : DOCTOR_OK, "kernel", "uname(2)",
		   "Linux %s: a map has up to %u extents and %ld bytes (a page is %ld)",
		   name.release, old ? EXTENTS_ONCE : IDMAP_EXTENTS, page - 1, page);
	if (old)
		doctor_fix(e, "install a kernel of version 4.15 or later");
}

/* No errno: the caller's user ID is not in the map of our namespace. Its number doesn't tell: it
 * shows as 65534, which may be in the map. */
#define UNMAPPED 255

/* 0, UNMAPPED, or the errno of unshare(2) in a child that ends at once. */
static int try_unshare(void)
{
	int error, status = 0;
	pid_t pid = fork();

	if (pid == 0) {
		error = unshare(CLONE_NEWUSER) == 0 ? 0 : errno;
		_exit(error == EPERM && setreuid(getuid(), (uid_t)-1) < 0 ? UNMAPPED
									  : error);
	}
	if (pid < 0)
		return errno;
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return WIFEXITED(status) ? WEXITSTATUS(status) : EPERM;
}

/* Each of these says what it read and returns true if that is why unshare(2) ended in ERROR. */

static bool max_namespaces(struct examination *e, int error)
{
	char line[32] = "";
	int r = doctor_read(MAX_NAMESPACES, line, sizeof(line));
	long max = strtol(line, NULL, 10);

	if (r != 0) {
		doctor_say(e, DOCTOR_PROBLEM, "max_user_namespaces", MAX_NAMESPACES, "%s",
			   strerror(-r));
		doctor_fix(e, "boot a kernel with CONFIG_USER_NS=y");
		return true;
	}
	if (max == 0) {
		doctor_say(e, DOCTOR_PROBLEM, "max_user_namespaces", MAX_NAMESPACES,
			   "0: nobody may make a user namespace");
		doctor_fix(e, "as root: sysctl -w user.max_user_namespaces=%ld",
			   USUAL_NAMESPACES);
		return true;
	}
	if (error == ENOSPC && e->initial) {
		doctor_say(e, DOCTOR_PROBLEM, "max_user_namespaces", MAX_NAMESPACES,
			   "%ld, and user %s has as many", max, e->account.name);
		doctor_fix(
			e,
			"make the namespace from one that is less deep; in the initial "
			"namespace idmap doctor PID tells the depth");
		return true;
	}
	doctor_say(e, DOCTOR_OK, "max_user_namespaces", MAX_NAMESPACES,
		   "up to %ld for each user; how many there are can't be read", max);
	return false;
}

/* How deep we are can't be read inside: NS_GET_PARENT stops at the own namespace. */
static bool nesting(struct examination *e, int error)
{
	if (e->initial || error != ENOSPC) {
		doctor_say(e, DOCTOR_OK, "nesting", "/proc/self/ns/user",
			   e->initial ? "the initial namespace, 0 of 33 deep"
				      : "a nested namespace, less than 33 deep");
		return false;
	}
	doctor_say(e, DOCTOR_PROBLEM, "nesting", "unshare(2)",
		   "33 namespaces deep, which is the limit, or all that are allowed in a "
		   "namespace above are used up: '%s'",
		   strerror(error));
	doctor_fix(
		e,
		"make the namespace from one that is less deep; idmap doctor %d in the "
		"initial namespace tells the depth",
		getpid());
	return true;
}

static bool clone_setting(struct examination *e, int error)
{
	char line[64] = "absent, as in most kernels: no such restriction";
	bool off = doctor_read(CLONE_SETTING, line, sizeof(line)) == 0 &&
		   strcmp(line, "0") == 0;

	doctor_say(e,
		   !off         ? DOCTOR_OK
		   : error == 0 ? DOCTOR_WARNING
				: DOCTOR_PROBLEM,
		   "unprivileged_userns_clone", CLONE_SETTING, "%s", line);
	if (off)
		doctor_fix(e, "as root: sysctl -w kernel.unprivileged_userns_clone=1");
	return off && error == EPERM;
}

static bool apparmor(struct examination *e, int error)
{
	char line[64] = "absent: no such restriction";
	bool on =
		doctor_read(APPARMOR, line, sizeof(line)) == 0 && strcmp(line, "0") != 0;

	doctor_say(e,
		   !on          ? DOCTOR_OK
		   : error == 0 ? DOCTOR_WARNING
				: DOCTOR_PROBLEM,
		   "apparmor", APPARMOR, "%s%s", line,
		   on ? ": only programs whose profile says \"userns,\" get capabilities "
			"in a new namespace"
		      : "");
	if (on)
		doctor_fix(e, "as root: sysctl -w "
			      "kernel.apparmor_restrict_unprivileged_userns=0");
	return on && (error == EPERM || error == EACCES);
}

static bool seccomp(struct examination *e, int error)
{
	bool filtered = prctl(PR_GET_SECCOMP, 0, 0, 0, 0) == 2;
	bool blocks = filtered && (error == EPERM || error == ENOSYS);

	doctor_say(e, blocks ? DOCTOR_PROBLEM : DOCTOR_OK, "seccomp", "prctl(2)", "%s",
		   !filtered ? "no filter"
		   : blocks  ? "a filter is in place, and unshare(2) is refused"
			     : "a filter is in place, and lets unshare(2) pass");
	if (blocks)
		doctor_fix(e, "start the caller with a filter that allows unshare(2) "
			      "(podman, docker: --security-opt seccomp=FILE)");
	return blocks;
}

/* Who makes a namespace must have an ID in ours (create_user_ns() in kernel/user_namespace.c). An
 * empty map, which has nobody's, is a finding of its own. */
static bool unmapped(struct examination *e, int error)
{
	const struct idmap *map = &e->parents[ID_UID];

	if (error != UNMAPPED || map->n == 0)
		return error == UNMAPPED;
	doctor_say(
		e, DOCTOR_PROBLEM, "own_id", "/proc/self/uid_map",
		"the caller's user ID is not in the map of our namespace; it shows as %u",
		e->account.uid);
	doctor_fix(e, "enter the namespace as an ID that it maps: nsenter -S %u -G %u",
		   map->extents[0].inner, map->extents[0].inner);
	return true;
}

static void namespaces(struct examination *e)
{
	int error = try_unshare();
	bool told = max_namespaces(e, error);

	told |= nesting(e, told ? 0 : error);
	told |= clone_setting(e, error);
	told |= apparmor(e, error);
	told |= seccomp(e, error);
	told |= unmapped(e, error);
	if (error == 0 || told) {
		doctor_say(e, DOCTOR_OK, "unshare", "unshare(2)", "%s",
			   error == 0 ? "a child could make a user namespace"
				      : "refused for the reason above");
		return;
	}
	doctor_say(e, DOCTOR_PROBLEM, "unshare", "unshare(2)",
		   "a child could make no user namespace: %s", strerror(error));
	doctor_fix(e, error == EPERM
			      ? "leave the chroot, if you are in one; else look into "
				"the kernel's log: dmesg"
			      : "look into the kernel's log: dmesg");
}

/* Shown because reports of refusals are read with them at hand; neither forbids a map. */
static void modules(struct examination *e)
{
	char line[256];

	if (doctor_read(YAMA, line, sizeof(line)) != 0)
		strcpy(line, "absent: no such restriction");
	doctor_say(e, DOCTOR_OK, "yama", YAMA, "%s", line);
	if (doctor_read(LSM_LIST, line, sizeof(line)) != 0)
		strcpy(line, "can't be read: securityfs is not mounted here");
	doctor_say(e, DOCTOR_OK, "lsm", LSM_LIST, "%s", line);
}

static void no_new_privs(struct examination *e)
{
	bool set = prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1;

	doctor_say(e, set ? doctor_blocks(e) : DOCTOR_OK, "no_new_privs", "prctl(2)",
		   "%s",
		   set ? "1: setuid bits and file capabilities of the helpers are void"
		       : "0");
	if (set)
		doctor_fix(e, "start the caller without it (systemd: NoNewPrivileges=no; "
			      "podman, docker: no --security-opt no-new-privileges)");
}

/* cap_setfcap is needed by who has ID 0 among the grants. */
static void bounding_set(struct examination *e)
{
	static const struct {
		cap_value_t cap;
		const char *name;
	} needed[] = {{CAP_SETUID, " cap_setuid"},
		      {CAP_SETGID, " cap_setgid"},
		      {CAP_SETFCAP, " cap_setfcap"}};
	bool zero = idset_covers(&e->grants[ID_UID].set, 0, 1, NULL);
	char missing[64] = "";

	for (size_t i = 0; i < (zero ? 3 : 2); i++)
		if (prctl(PR_CAPBSET_READ, needed[i].cap) != 1)
			strlcat(missing, needed[i].name, sizeof(missing));
	doctor_say(e, missing[0] ? doctor_blocks(e) : DOCTOR_OK, "bounding_set",
		   "prctl(2)", "%s%s",
		   missing[0] ? "the helpers can't get" : "has what the helpers need",
		   missing);
	if (missing[0])
		doctor_fix(e,
			   "start the caller with%s in it (systemd: "
			   "CapabilityBoundingSet=)",
			   missing);
}

void doctor_kernel(struct examination *e)
{
	kernel_limits(e);
	namespaces(e);
	modules(e);
	no_new_privs(e);
	bounding_set(e);
}

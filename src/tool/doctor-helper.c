/* SPDX-License-Identifier: BSD-2-Clause */
#include "doctor-parts.h"
#include "helpers.h"

#include <bsd/vis.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/capability.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

/* A helper as it lies there. */
struct helper {
	enum id_kind kind;
	char *file;   /* behind all symlinks */
	char *quoted; /* for a shell */
	struct stat st;
	cap_t caps; /* NULL: none */
};

static void helper_clear(struct helper *helper)
{
	free(helper->file);
	free(helper->quoted);
	cap_free(helper->caps);
}

static const char *cause(enum id_kind kind, const char *of_uid, const char *of_gid)
{
	return kind == ID_UID ? of_uid : of_gid;
}

static bool gives(const struct helper *helper, cap_value_t cap)
{
	cap_flag_value_t value = CAP_CLEAR;

	if (helper->caps)
		cap_get_flag(helper->caps, cap, CAP_PERMITTED, &value);
	return value == CAP_SET;
}

/* File capabilities, where there are any, are all that a setuid bit gives to others than root
 * (handle_privileged_root() in security/commoncap.c). */
static bool is_setuid_root(const struct helper *helper)
{
	return !helper->caps && helper->st.st_mode & S_ISUID && helper->st.st_uid == 0;
}

static void privilege(struct examination *e, const struct helper *helper)
{
	bool uid = helper->kind == ID_UID;
	const char *name = uid ? "cap_setuid" : "cap_setgid";
	bool enough =
		is_setuid_root(helper) || gives(helper, uid ? CAP_SETUID : CAP_SETGID);
	bool zero = uid && idset_covers(&e->grants[ID_UID].set, 0, 1, NULL);
	char *caps = helper->caps ? cap_to_text(helper->caps, NULL) : NULL;

	doctor_say(e, enough ? DOCTOR_OK : doctor_blocks(e),
		   cause(helper->kind, "newuidmap_privilege", "newgidmap_privilege"),
		   "stat(2), security.capability",
		   "mode %04o, owner %u, capabilities: %s", helper->st.st_mode & 07777,
		   helper->st.st_uid, caps ? caps : "none");
	if (!enough)
		doctor_fix(e, "as root: setcap %s=ep %s", name, helper->quoted);
	if (enough && zero && !is_setuid_root(helper) && !gives(helper, CAP_SETFCAP)) {
		doctor_say(e, doctor_blocks(e), "outer_zero", "security.capability",
			   "outer 0 is granted, and to map it %s needs cap_setfcap too",
			   helper->file);
		doctor_fix(e, "as root: setcap cap_setuid,cap_setfcap=ep %s",
			   helper->quoted);
	}
	cap_free(caps);
}

/* Inside a user namespace that does not map the owner of a file, the file shows the overflow ID for
 * him, which may be a mapped ID as well, and nothing comes of its setuid bit or capabilities. */
static bool is_from_outside(const struct examination *e, const struct helper *helper)
{
	char overflow[16];

	return !e->initial &&
	       doctor_read("/proc/sys/kernel/overflowuid", overflow, sizeof(overflow)) ==
		       0 &&
	       helper->st.st_uid == strtoul(overflow, NULL, 10);
}

static void outside(struct examination *e, const struct helper *helper)
{
	doctor_say(e, doctor_blocks(e),
		   cause(helper->kind, "newuidmap_owner", "newgidmap_owner"), "stat(2)",
		   "the owner of %s shows as %u, as whoever has no ID in this user "
		   "namespace "
		   "does: its privilege can't be judged from inside",
		   helper->file, helper->st.st_uid);
	doctor_fix(e, "outside of this namespace: idmap doctor");
}

static void ownership(struct examination *e, const struct helper *helper)
{
	if (helper->st.st_uid == 0 && (helper->st.st_mode & 022) == 0)
		return;
	doctor_say(e, DOCTOR_WARNING,
		   cause(helper->kind, "newuidmap_owner", "newgidmap_owner"), "stat(2)",
		   "others than root can change %s: mode %04o, owner %u", helper->file,
		   helper->st.st_mode & 07777, helper->st.st_uid);
	/* chown(2) takes the setuid bit and the capabilities away. */
	doctor_fix(e, "as root: chown root %s; chmod go-w %s; setcap %s=ep %s",
		   helper->quoted, helper->quoted,
		   helper->kind == ID_UID ? "cap_setuid" : "cap_setgid", helper->quoted);
}

/* The line of mountinfo for the mount that FILE lies on: where it is mounted, quoted, and its
 * options. Returns false if it can't be found. */
static bool find_mount(const char *file, char **ret_point, char ret_options[256])
{
	FILE *table = fopen("/proc/self/mountinfo", "re");
	char *line = NULL, point[PATH_MAX], path[PATH_MAX];
	struct statx stx = {0};
	bool found = false;
	unsigned long id;
	size_t room = 0;

	if (table && statx(AT_FDCWD, file, 0, STATX_MNT_ID, &stx) == 0)
		while (!found && getline(&line, &room, table) > 0)
			found = sscanf(line, "%lu %*s %*s %*s %4095s %255s", &id, point,
				       ret_options) == 3 &&
				id == stx.stx_mnt_id;
	free(line);
	if (table)
		fclose(table);
	if (!found || strunvis(path, point) < 0)
		return false;
	*ret_point = doctor_quote(path);
	return *ret_point != NULL;
}

static void mount_options(struct examination *e, const struct helper *helper)
{
	char options[256] = "", *point = NULL;
	struct statvfs fs = {0};
	bool nosuid = statvfs(helper->file, &fs) == 0 && fs.f_flag & ST_NOSUID;
	bool known = find_mount(helper->file, &point, options);

	doctor_say(e, nosuid ? doctor_blocks(e) : DOCTOR_OK,
		   cause(helper->kind, "newuidmap_mount", "newgidmap_mount"),
		   "/proc/self/mountinfo", "on %s (%s)%s", known ? point : "?",
		   known ? options : "?",
		   nosuid ? ": nosuid makes setuid bits and file capabilities void" : "");
	if (nosuid)
		doctor_fix(e, "as root: mount -o remount,bind,suid %s",
			   known ? point : helper->quoted);
	free(point);
}

static void examine_helper(struct examination *e, enum id_kind kind, const char *path)
{
	__attribute__((cleanup(helper_clear))) struct helper helper = {
		.kind = kind,
		.file = realpath(path, NULL),
		.caps = cap_get_file(path),
	};

	helper.quoted = helper.file ? doctor_quote(helper.file) : NULL;
	if (!helper.quoted || stat(path, &helper.st) < 0) {
		doctor_say(e, doctor_blocks(e), id_words[kind].helper, "PATH", "%s: %s",
			   path, strerror(errno));
		return;
	}
	doctor_say(e, DOCTOR_OK, id_words[kind].helper, "PATH", "%s%s%s", path,
		   strcmp(path, helper.file) == 0 ? "" : " is ",
		   strcmp(path, helper.file) == 0 ? "" : helper.file);
	if (is_from_outside(e, &helper)) {
		outside(e, &helper);
	} else {
		privilege(e, &helper);
		ownership(e, &helper);
	}
	mount_options(e, &helper);
}

void doctor_helpers(struct examination *e)
{
	for (enum id_kind kind = ID_UID; kind <= ID_GID; kind++) {
		__attribute__((cleanup(helpers_clear))) struct helpers helpers = {0};
		const bool kinds[ID_KINDS] = {kind == ID_UID, kind == ID_GID};
		char *message = NULL;

		if (helpers_find(kinds, &helpers, &message) == 0) {
			examine_helper(e, kind, helpers.paths[kind]);
			continue;
		}
		free(message);
		doctor_say(e, doctor_blocks(e), id_words[kind].helper, "PATH",
			   "no %s in it", id_words[kind].helper);
		doctor_fix(e, "install idmap's own, or as root: apt-get install uidmap "
			      "(Fedora: dnf install shadow-utils)");
	}
}

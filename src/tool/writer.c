/* SPDX-License-Identifier: BSD-2-Clause */
#include "writer.h"

#include "../trusted/autoclose.h"
#include "../trusted/live.h"
#include "../trusted/procmap.h"
#include "helpers.h"
#include "message.h"
#include "verify.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/nsfs.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/capability.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

static void outcomes_clear(struct outcome (*outcomes)[ID_KINDS])
{
	free((*outcomes)[ID_UID].why);
	free((*outcomes)[ID_GID].why);
}

/* What the caller may do */

static bool has_capability(cap_value_t capability)
{
	cap_flag_value_t value = CAP_CLEAR;
	cap_t caps = cap_get_proc();

	if (caps)
		cap_get_flag(caps, capability, CAP_EFFECTIVE, &value);
	cap_free(caps);
	return value == CAP_SET;
}

bool writer_needs_grants(const bool kinds[ID_KINDS])
{
	return (kinds[ID_UID] && !has_capability(CAP_SETUID)) ||
	       (kinds[ID_GID] && !has_capability(CAP_SETGID));
}

/* True if the caller's effective user owns the target's user namespace. */
static bool is_owner(int dir)
{
	AUTOCLOSE int ns = openat(dir, "ns/user", O_RDONLY | O_CLOEXEC);
	uid_t owner;

	return ns >= 0 && ioctl(ns, NS_GET_OWNER_UID, &owner) == 0 && owner == geteuid();
}

static bool is_alone(const struct idmap *map, uint32_t own)
{
	return map->n == 0 || (map->n == 1 && map->extents[0].count == 1 &&
			       map->extents[0].outer == own);
}

/* "unshare -U sleep 60 & idmap $!": idmap may be there before unshare(2) has been called. */
static void await_namespace(int dir)
{
	const struct timespec pause = {.tv_nsec = 2000000};
	enum live_place place;

	for (int waited = 0; waited < WRITER_PATIENCE; waited += 2) {
		if (live_place(dir, &place) != 0 || place != LIVE_OURS)
			return;
		nanosleep(&pause, NULL);
	}
}

/* The rules of new_idmap_permitted() in kernel/user_namespace.c. */
enum writer_way writer_choose(int dir, const struct idmap maps[ID_KINDS])
{
	bool kinds[ID_KINDS] = {maps[ID_UID].n > 0, maps[ID_GID].n > 0};
	bool owner;

	await_namespace(dir);
	owner = is_owner(dir);
	if (!writer_needs_grants(kinds) && (owner || has_capability(CAP_SYS_ADMIN)))
		return WRITER_DIRECT;
	if (owner && is_alone(&maps[ID_UID], geteuid()) &&
	    is_alone(&maps[ID_GID], getegid()))
		return WRITER_SELF;
	return WRITER_HELPERS;
}

/* Checks before the first write */

/* The number by which /proc knows the target, for messages and helpers that know no fd:N; 0 if it
 * has been reaped. */
static int target_pid(int dir)
{
	FILE *file;
	int pid = 0;
	int fd = openat(dir, "stat", O_RDONLY | O_CLOEXEC);

	file = fd < 0 ? NULL : fdopen(fd, "r");
	if (!file)
		return 0;
	if (fscanf(file, "%d", &pid) != 1)
		pid = 0;
	fclose(file);
	return pid;
}

static int check_namespace(int dir, char **ret_message)
{
	int pid = target_pid(dir);
	enum live_place place;
	int r = live_place(dir, &place);

	if (pid == 0)
		return message_fail(ret_message, "the process has ended meanwhile");
	if (r == -EACCES || r == -EPERM)
		return message_fail(
			ret_message,
			"process %d: its user namespace can't be seen: it belongs to "
			"another user, or it is not dumpable",
			pid);
	if (r < 0)
		return message_fail(ret_message, "process %d: its user namespace: %s",
				    pid, strerror(-r));
	if (place == LIVE_OURS)
		return message_fail(
			ret_message,
			"process %d has not unshared yet: it is in the same user "
			"namespace as idmap; start it with unshare -U, or use idmap "
			"exec",
			pid);
	if (place == LIVE_ELSEWHERE)
		return message_fail(
			ret_message,
			"process %d: its user namespace is no child of ours: its maps "
			"can only be written from its parent user namespace",
			pid);
	return 0;
}

static int check_unwritten(int dir, enum id_kind kind, char **ret_message)
{
	struct idmap live;
	char text[IDMAP_TEXT];
	int r = live_map(dir, kind, &live);

	if (r != 0)
		return message_fail(ret_message, "process %d: reading %s: %s",
				    target_pid(dir), id_words[kind].map, strerror(-r));
	if (live.n == 0)
		return 0;
	return message_fail(
		ret_message,
		"process %d: %s is written already, and that can be done only once; "
		"it is\n%.*s",
		target_pid(dir), id_words[kind].map, (int)idmap_format(&live, text),
		text);
}

static int check_target(int dir, const struct idmap maps[ID_KINDS], char **ret_message)
{
	if (check_namespace(dir, ret_message) != 0)
		return -1;
	for (enum id_kind kind = ID_UID; kind <= ID_GID; kind++)
		if (maps[kind].n > 0 && check_unwritten(dir, kind, ret_message) != 0)
			return -1;
	return 0;
}

/* The write */

static const char *write_hint(int error)
{
	switch (error) {
	case -EPERM:
		return " (in the way may be outer 0 without CAP_SETFCAP, a parent map "
		       "without these outer IDs, or a security module)";
	case -EACCES:
		return " (the process is not dumpable, or belongs to another user)";
	default:
		return "";
	}
}

static struct outcome write_one(int dir, enum id_kind kind, const struct idmap *map)
{
	struct outcome outcome = {0};
	AUTOCLOSE int fd = -1;
	int r = procmap_open_write(dir, kind, &fd);

	if (r == 0)
		r = procmap_write(fd, map);
	outcome.written = r == 0;
	if (r != 0)
		message_fail(&outcome.why, "writing %s: %s%s", id_words[kind].map,
			     strerror(-r), write_hint(r));
	return outcome;
}

/* Writes ourselves; a failure of the first leaves the second alone. */
static void write_directly(int dir, const struct idmap maps[ID_KINDS],
			   struct outcome ret_outcomes[ID_KINDS])
{
	for (enum id_kind kind = ID_UID; kind <= ID_GID; kind++) {
		if (maps[kind].n == 0)
			continue;
		ret_outcomes[kind] = write_one(dir, kind, &maps[kind]);
		if (!ret_outcomes[kind].written)
			return;
	}
}

static int deny_setgroups(int dir, const struct idmap maps[ID_KINDS], char **ret_message)
{
	int r = maps[ID_GID].n > 0 ? procmap_deny_setgroups(dir) : 0;

	if (r == 0)
		return 0;
	return message_fail(ret_message, "denying setgroups: %s%s", strerror(-r),
			    write_hint(r));
}

static int write_by_helpers(int dir, const struct idmap maps[ID_KINDS], bool waits,
			    struct outcome ret_outcomes[ID_KINDS], char **ret_message)
{
	__attribute__((cleanup(helpers_clear))) struct helpers helpers = {0};
	const bool kinds[ID_KINDS] = {maps[ID_UID].n > 0, maps[ID_GID].n > 0};

	if (helpers_find(kinds, &helpers, ret_message) != 0)
		return -1;
	helpers_run(&helpers, dir, target_pid(dir), waits, maps, ret_outcomes);
	return 0;
}

/* Both failures, or the one and which map stands. */
static int check_outcomes(const struct outcome outcomes[ID_KINDS],
			  const struct idmap maps[ID_KINDS], char **ret_message)
{
	const struct outcome *uid = &outcomes[ID_UID], *gid = &outcomes[ID_GID];
	bool uid_failed = maps[ID_UID].n > 0 && !uid->written;
	bool gid_failed = maps[ID_GID].n > 0 && !gid->written;

	if (!uid_failed && !gid_failed)
		return 0;
	if (uid->written || gid->written)
		return message_fail(ret_message,
				    "%s\n%s is written and stands, for a map can't be "
				    "unwritten; %s is not: "
				    "start again with a fresh user namespace",
				    uid_failed ? uid->why : gid->why,
				    id_words[uid_failed ? ID_GID : ID_UID].map,
				    id_words[uid_failed ? ID_UID : ID_GID].map);
	return message_fail(ret_message, "%s%s%s", uid->why ? uid->why : "",
			    uid->why && gid->why ? "\n" : "", gid->why ? gid->why : "");
}

/* The proof */

static int verify_one(int dir, enum id_kind kind, const struct idmap *map,
		      char **ret_message)
{
	struct verify_difference difference;
	struct idmap live;
	char text[VERIFY_TEXT];
	int r = live_map(dir, kind, &live);

	if (r != 0)
		return message_fail(ret_message,
				    "%s is written but can't be read back: %s",
				    id_words[kind].map, strerror(-r));
	if (verify_maps(map, &live, &difference))
		return 0;
	verify_describe(&difference, text);
	return message_fail(ret_message, "%s is written but is not what was planned: %s",
			    id_words[kind].map, text);
}

static void trace_map(int dir, enum id_kind kind, const struct idmap *map,
		      enum writer_way way, void (*trace)(const char *line))
{
	static const char *const ways[] = {
		[WRITER_DIRECT] = "directly",
		[WRITER_SELF] = "directly (own ID alone)",
		[WRITER_HELPERS] = "by the helper",
		[WRITER_HELPERS_AWAITED] = "by the helper",
	};
	char line[160];

	snprintf(line, sizeof(line),
		 "%s of process %d: %zu of %u extents written %s, read back, equal",
		 id_words[kind].map, target_pid(dir), map->n, IDMAP_EXTENTS, ways[way]);
	trace(line);
}

int writer_write(int dir, const struct idmap maps[ID_KINDS], enum writer_way way,
		 void (*trace)(const char *line), char **ret_message)
{
	__attribute__((cleanup(outcomes_clear))) struct outcome outcomes[ID_KINDS] = {0};

	if (check_target(dir, maps, ret_message) != 0)
		return -1;
	if (way == WRITER_SELF && deny_setgroups(dir, maps, ret_message) != 0)
		return -1;
	if (way == WRITER_SELF && trace && maps[ID_GID].n > 0)
		trace("setgroups: denied, as the kernel demands of a gid_map without "
		      "privilege");
	if (way == WRITER_DIRECT || way == WRITER_SELF)
		write_directly(dir, maps, outcomes);
	else if (write_by_helpers(dir, maps, way == WRITER_HELPERS_AWAITED, outcomes,
				  ret_message) != 0)
		return -1;
	if (check_outcomes(outcomes, maps, ret_message) != 0)
		return -1;
	for (enum id_kind kind = ID_UID; kind <= ID_GID; kind++) {
		if (maps[kind].n == 0)
			continue;
		if (verify_one(dir, kind, &maps[kind], ret_message) != 0)
			return -1;
		if (trace)
			trace_map(dir, kind, &maps[kind], way, trace);
	}
	return 0;
}

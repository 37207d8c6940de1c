/* SPDX-License-Identifier: BSD-2-Clause */
#include "helper.h"

/*
 * What must hold, in this order; helper_main() at the end of this file is the same list in C.
 *
 *  1. Descriptors 0, 1 and 2 are open, so that nothing opened later is taken for one of them; the
 *     environment is empty.
 *  2. Without at least one triple it is a usage error, and nothing is touched.
 *  3. With the privilege of the install, two files are opened: nsswitch.conf and the grants. Where
 *     the first names a directory service, that is asked instead, but not before 7 (nss.h).
 *  4. Privilege is narrowed to the capability of the one write, not in effect (privs.h).
 *  5. The request is a map that the kernel takes as text (idmap.h).
 *  6. The caller is in passwd with his primary group (login.defs may allow another), and the
 *     target belongs to his real user and real group.
 *  7. Every outer ID is granted to him, or is his own alone (grant.h).
 *  8. The capability is raised, the map opened, for a gid map without any grant setgroups denied,
 *     and the map written with one write(2).
 *  9. All privilege is dropped before anything is said.
 */

#include "../trusted/diagnose.h"
#include "../trusted/grant.h"
#include "../trusted/plugin.h"
#include "../trusted/privs.h"
#include "../trusted/procmap.h"
#include "../trusted/setting.h"
#include "../trusted/target.h"
#include "../trusted/textfile.h"

#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <syslog.h>
#include <unistd.h>

#define EXTENT         "%u %u %u"
#define EXTENT_ARGS(e) (e).inner, (e).outer, (e).count

/* One call of the helper: who asks for what. */
struct call {
	enum id_kind kind;
	const char *target_name;
	int target;
	uid_t uid;
	gid_t gid;
	const struct passwd *user; /* NULL until he is known */
	struct idmap map;
	struct textfile grants;
	int grants_error; /* of the file, which counts unless */
	char service[64]; /* is asked in its place */
	bool absent;      /* it can't be: its plugin is not there */
};

/* What the caller wrote, as it may be shown: printable, and cut. */
static const char *shown(const char *text)
{
	static char safe[41];
	size_t n = 0;

	for (; n < sizeof(safe) - 1 && text[n]; n++)
		safe[n] = text[n] >= ' ' && text[n] <= '~' ? text[n] : '?';
	safe[n] = '\0';
	return safe;
}

/* Leave a trace: "user alice (1001), target 4711, 2 extents from 0 1001 1: written". */
static void record(const struct call *call, int priority, const char *answer)
{
	openlog(id_words[call->kind].helper, LOG_PID, LOG_AUTHPRIV);
	syslog(priority, "user %s (%u), target %s, %zu extents from " EXTENT ": %s",
	       call->user ? call->user->pw_name : "?", call->uid,
	       shown(call->target_name), call->map.n, EXTENT_ARGS(call->map.extents[0]),
	       answer);
	closelog();
}

static void say_absent(const struct call *call)
{
	if (call->absent)
		fprintf(stderr, "%s: libsubid_%s.so %s: %s counts\n",
			id_words[call->kind].helper, call->service,
			plugin_reason(NSS_E_ABSENT), id_words[call->kind].grants);
}

/* Drop all privilege, or say nothing; then say why, once the request is known to syslog too. */
static _Noreturn __attribute__((format(printf, 2, 3))) void fail(const struct call *call,
								 const char *format, ...)
{
	char reason[2048];
	va_list args;

	if (privs_drop() != 0)
		_exit(EXIT_FAILURE);
	va_start(args, format);
	vsnprintf(reason, sizeof(reason), format, args);
	va_end(args);
	if (call->map.n > 0) /* first: a stderr that nobody reads must not hide it */
		record(call, LOG_NOTICE, reason);
	say_absent(call);
	fprintf(stderr, "%s: %s\n", id_words[call->kind].helper, reason);
	exit(EXIT_FAILURE);
}

static void open_standard_descriptors(const struct call *call)
{
	int fd;

	while ((fd = open("/dev/null", O_RDWR)) >= 0 && fd <= 2)
		;
	if (fd < 0)
		fail(call, "/dev/null: %s", strerror(errno));
	close(fd);
}

/* Open the file of grants, and see whether nsswitch.conf says that they are elsewhere. */
static void open_grants(struct call *call)
{
	struct textfile file;
	int r = textfile_map("/etc/nsswitch.conf", 0, &file);

	if (r != 0 && r != -ENOENT)
		fail(call, "/etc/nsswitch.conf: %s", textfile_reason(r));
	if (r == 0)
		setting_subid_service(file.text, file.len, call->service);
	call->grants_error =
		textfile_map(id_words[call->kind].grants, O_NOFOLLOW, &call->grants);
}

static struct extent parse_triple(const struct call *call, char **triple)
{
	static const char *const field[] = {"inner", "outer", "count"};
	uint32_t n[3];
	struct extent extent;
	int r;

	for (int i = 0; i < 3; i++) {
		r = id_parse(triple[i], strlen(triple[i]), &n[i]);
		if (r != 0)
			fail(call, "%s \"%s\" %s: give a decimal number 0..4294967295",
			     field[i], shown(triple[i]), id_reason(r));
	}
	r = extent_make(n[0], n[1], n[2], &extent);
	if (r != 0)
		fail(call, "extent %u %u %u: %s", n[0], n[1], n[2], extent_reason(r));
	return extent;
}

/* Make the map of N triples; only here is memory taken by the caller's measure. */
static void parse_request(struct call *call, char **triples, size_t n)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	struct extent *list = calloc(n, sizeof(*list));
	struct idmap_refusal why;
	int r;

	if (!list)
		fail(call, "%s", strerror(ENOMEM));
	for (size_t i = 0; i < n; i++)
		list[i] = parse_triple(call, triples + 3 * i);
	r = idmap_make(list, n, page, &call->map, &why);
	free(list);
	if (r == IDMAP_E_INNER || r == IDMAP_E_OUTER)
		fail(call, "extents " EXTENT " and " EXTENT " share %s IDs",
		     EXTENT_ARGS(why.first), EXTENT_ARGS(why.second),
		     r == IDMAP_E_INNER ? "inner" : "outer");
	if (r == IDMAP_E_EXTENTS)
		fail(call, "%zu extents: a map holds at most %u", why.extents,
		     IDMAP_EXTENTS);
	if (r == IDMAP_E_BYTES)
		fail(call,
		     "the map is %zu bytes of text: at most %zu are taken, %zu extents "
		     "of it",
		     why.bytes, page - 1, why.fit);
}

/* Is the caller's group his primary one, or may it be another? */
static bool group_allowed(const struct call *call)
{
	struct textfile file;

	return call->gid == call->user->pw_gid ||
	       (textfile_map("/etc/login.defs", 0, &file) == 0 &&
		setting_login_defs(file.text, file.len, "GRANT_AUX_GROUP_SUBIDS"));
}

static void check_identity(struct call *call)
{
	const char *name = id_words[call->kind].helper, *cause;
	uid_t target_uid;
	gid_t target_gid;
	int r;

	errno = 0;
	call->user = getpwuid(call->uid);
	if (!call->user)
		fail(call, "user ID %u has no entry in passwd%s%s", call->uid,
		     errno ? ": " : "", errno ? strerror(errno) : "");
	r = target_open(call->target_name, &call->target);
	if (r != 0)
		fail(call, "target \"%s\" %s", shown(call->target_name),
		     target_reason(r));
	r = target_owner(call->target, &target_uid, &target_gid);
	if (r != 0)
		fail(call, "target %s: %s", shown(call->target_name), strerror(-r));
	if (call->uid != target_uid)
		cause = "the target runs as another user";
	else if (!group_allowed(call))
		cause = "your group is not your primary one, and /etc/login.defs does not say "
			"GRANT_AUX_GROUP_SUBIDS yes";
	else if (call->gid != target_gid)
		cause = "the target runs with another group";
	else
		return;
	fail(call,
	     "Target process is owned by a different user: "
	     "uid:%u pw_uid:%u st_uid:%u, gid:%u pw_gid:%u st_gid:%u\n"
	     "%s: cause: %s\n%s: fix: run both as user %u and group %u",
	     call->uid, call->user->pw_uid, target_uid, call->gid, call->user->pw_gid,
	     target_gid, name, cause, name, call->uid, call->user->pw_gid);
}

/* Have the grants of the service in the place of those of the file. */
static void ask_service(struct call *call)
{
	const struct nss_question question = {call->kind, call->user->pw_name, 0};
	static char text[NSS_TEXT];
	size_t len;
	int r = nss_ask(call->service, &question, text, &len);

	call->absent = r == NSS_E_ABSENT;
	if (r != 0 && !call->absent) {
		privs_drop();
		fail(call, "libsubid_%s.so%s %s", call->service, r < 0 ? ":" : "",
		     plugin_reason(r));
	}
	if (r == 0) {
		call->grants = (struct textfile){text, len};
		call->grants_error = 0;
	}
}

/* Returns whether at least one extent is covered by the grants, not only by the own ID. */
static bool check_grants(struct call *call)
{
	const struct subid_owner owner = {call->user->pw_name, call->uid};
	const char *path = id_words[call->kind].grants;
	bool asked;
	struct idset granted = {0};
	struct grant_answer answer;
	const struct extent *extent;

	if (call->service[0])
		ask_service(call);
	asked = call->service[0] && !call->absent;
	if (call->grants_error != 0)
		fail(call, "%s: %s", path, textfile_reason(call->grants_error));
	if (grant_collect(call->grants.text, call->grants.len, &owner, &granted) != 0)
		fail(call, "%s", strerror(ENOMEM));
	if (grant_check(&granted, call->kind == ID_UID ? call->uid : call->gid,
			&call->map, &answer) != 0) {
		extent = &call->map.extents[answer.index];
		fail(call,
		     "%s range [%u-%u) -> [%u-%u) not allowed\n"
		     "%s: no line of %s%s gives %s (uid %u) the IDs %u..%u: add %s:%u:%u",
		     id_words[call->kind].word, extent->inner,
		     extent->inner + extent->count, extent->outer,
		     extent->outer + extent->count, id_words[call->kind].helper,
		     asked ? "the service " : "", asked ? call->service : path,
		     call->user->pw_name, call->uid, answer.gap.start,
		     answer.gap.start + answer.gap.count - 1, call->user->pw_name,
		     answer.gap.start, answer.gap.count);
	}
	idset_clear(&granted);
	return answer.by_grant;
}

/* The kernel has refused WHAT: shadow's line, then the cause, found without any privilege. */
static _Noreturn void refused(const struct call *call, const char *what, int error,
			      int held)
{
	const char *name = id_words[call->kind].helper;
	const struct refusal refusal = {call->target, call->kind, &call->map, error,
					held};
	char shown[IDMAP_TEXT] = "";
	struct diagnosis d;

	privs_drop();
	diagnose(&refusal, &d);
	idmap_format(&d.shown, shown);
	fail(call, "%s failed: %s\n%s: cause: %s%s%.400s\n%s: fix: %s", what,
	     strerror(-error), name, d.cause, d.shown.n ? ":\n" : "", shown, name, d.fix);
}

/* The one act that needs privilege. */
static void write_map(const struct call *call, bool by_grant)
{
	bool uid = call->kind == ID_UID;
	int fd, r,
		held = privs_raise(call->kind, uid && idmap_has_outer_zero(&call->map));

	if (held < 0)
		fail(call, "can't raise the capability: %s", strerror(-held));
	r = procmap_open_write(call->target, call->kind, &fd);
	if (r != 0)
		refused(call, uid ? "open of uid_map" : "open of gid_map", r, held);
	r = by_grant || uid ? 0 : procmap_deny_setgroups(call->target);
	if (r != 0)
		refused(call, "write to setgroups", r, held);
	r = procmap_write(fd, &call->map);
	if (r != 0)
		refused(call, uid ? "write to uid_map" : "write to gid_map", r, held);
	r = privs_drop();
	if (r != 0)
		fail(call, "the map is written, but: %s", strerror(-r));
}

int helper_main(enum id_kind kind, int argc, char **argv)
{
	struct call call = {.kind = kind, .uid = getuid(), .gid = getgid()};
	int r;

	open_standard_descriptors(&call);
	clearenv();
	if (argc < 5 || (argc - 2) % 3 != 0)
		fail(&call, "usage: %s PID|fd:N INNER OUTER COUNT [INNER OUTER COUNT]...",
		     id_words[kind].helper);
	call.target_name = argv[1];
	open_grants(&call);
	r = privs_narrow(kind);
	if (r != 0)
		fail(&call, "can't give up privilege: %s", strerror(-r));
	parse_request(&call, argv + 2, (size_t)(argc - 2) / 3);
	check_identity(&call);
	write_map(&call, check_grants(&call));
	record(&call, LOG_INFO, "written");
	say_absent(&call);
	return EXIT_SUCCESS;
}

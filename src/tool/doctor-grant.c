/* SPDX-License-Identifier: BSD-2-Clause */
#include "../trusted/nss.h"
#include "../trusted/setting.h"
#include "doctor-parts.h"
#include "noentry.h"
#include "plan-parts.h"

#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LOGIN_DEFS "/etc/login.defs"
#define NSSWITCH   "/etc/nsswitch.conf"
#define AUX_GROUPS "GRANT_AUX_GROUP_SUBIDS"
#define NOBODY     65534U

static uint32_t last(struct range range)
{
	return range.start + range.count - 1;
}

/* The account */

static bool aux_groups_allowed(void)
{
	struct textfile file;
	bool allowed;

	if (textfile_map(LOGIN_DEFS, 0, &file) != 0)
		return false;
	allowed = setting_login_defs(file.text, file.len, AUX_GROUPS);
	textfile_unmap(&file);
	return allowed;
}

static void account(struct examination *e)
{
	const struct passwd *entry = getpwuid(getuid());
	const struct group *group;
	char *name;

	e->group = entry && !aux_groups_allowed() ? entry->pw_gid : getgid();
	if (!entry) {
		doctor_say(e, doctor_blocks(e), "account", "passwd",
			   "user ID %u has no entry", getuid());
		doctor_fix(e, "as root: useradd --uid %u NAME", getuid());
		return;
	}
	if (e->group == getgid()) {
		doctor_say(e, DOCTOR_OK, "account", "passwd", "%s, uid %u, gid %u",
			   entry->pw_name, getuid(), getgid());
		return;
	}
	doctor_say(e, doctor_blocks(e), "group", "passwd",
		   "the group %u is not the primary one of %s, %u", getgid(),
		   entry->pw_name, entry->pw_gid);
	group = getgrgid(entry->pw_gid);
	name = group ? doctor_quote(group->gr_name) : NULL;
	doctor_fix(e,
		   "start target and caller in a shell of: newgrp %s; or as root: echo "
		   "'" AUX_GROUPS " yes' >>" LOGIN_DEFS,
		   name ? name : "-");
	free(name);
}

/* The source of the grants. Returns false if it is unknown. */
static bool source(struct examination *e)
{
	const struct source *source = &e->grants[ID_UID].source;

	if (source->part == SOURCE_SWITCH) {
		doctor_say(e, doctor_blocks(e), "nsswitch", NSSWITCH, "%s",
			   textfile_reason(e->grants_error[ID_UID]));
		doctor_fix(e, "as root: chmod u=rw,go=r " NSSWITCH);
		return false;
	}
	if (source_is_absent(source)) {
		doctor_say(e, DOCTOR_WARNING, "nsswitch", NSSWITCH,
			   "subid: %s, but there is no libsubid_%s.so: the files count",
			   source->service, source->service);
		doctor_fix(e,
			   "install the package that has libsubid_%s.so (of SSSD: "
			   "sssd-common in Debian, sssd-client in Fedora); or, if the "
			   "files shall count, as root: sed -i '/^subid:/Id' " NSSWITCH,
			   source->service);
		return true;
	}
	doctor_say(e, DOCTOR_OK, "nsswitch", NSSWITCH, "subid: %s%s",
		   source->service[0] ? source->service : "files",
		   source->service[0] ? ", which is asked in the place of the files"
				      : "");
	return true;
}

/* What is granted, by file or service. Returns how many IDs. */
static uint64_t say_total(struct examination *e, enum id_kind kind)
{
	const struct grants *grants = &e->grants[kind];
	const struct grant_line *first = &grants->lines[0];
	char line[48] = "";
	uint64_t total = 0;

	for (size_t i = 0; i < grants->set.n; i++)
		total += grants->set.ranges[i].count;
	if (first->line > 0)
		snprintf(line, sizeof(line), ", from line %zu on", first->line);
	doctor_say(e, total < GRANT_USUAL ? DOCTOR_WARNING : DOCTOR_OK,
		   id_words[kind].grants + strlen("/etc/"), grants->source.name,
		   "%ju IDs%s: %u..%u%s%s", (uintmax_t)total, line, first->range.start,
		   last(first->range), grants->n > 1 ? " and more" : "",
		   total < GRANT_USUAL ? "; images use up to 65536" : "");
	return total;
}

/* The service */

static const char *service_fix(int error)
{
	switch (error) {
	case NSS_E_LOAD:
		return "see what is missing with ldd, or in the limits of the caller: "
		       "ulimit -n (64 at least) and ulimit -v (unlimited)";
	case NSS_E_FUNCTION:
		return "install a newer one: it needs shadow_subid_list_owner_ranges()";
	case NSS_E_CONNECTION:
		return "start the daemon that it asks (SSSD: systemctl start sssd), and "
		       "see that its directory can be reached";
	case NSS_E_ANSWER:
		return "see the log of the service (SSSD: /var/log/sssd)";
	case NSS_E_JAIL:
		return "a service can be asked from Linux 5.9 on";
	case NSS_E_SECONDS:
		return "see that its directory can be reached, and fast";
	case NSS_E_TEXT:
		return "have fewer ranges granted: a map holds 340 extents";
	case NSS_E_DIED:
		return "tell those who made it";
	default:
		return "end other processes of the caller";
	}
}

/* What noentry_explain() says of a service. */
static void no_range(struct examination *e, const struct grants *grants, const char *name)
{
	if (grants->void_line.line > 0)
		doctor_say(e, doctor_blocks(e), name, grants->source.name,
			   "range %zu of %s grants nothing: %s", grants->void_line.line,
			   e->account.name, grants->void_line.reason);
	else
		doctor_say(e, doctor_blocks(e), name, grants->source.name,
			   "%s has no range there, or is not known", e->account.name);
	doctor_fix(e, NOENTRY_SERVICE);
}

/* Returns true if there is something to make a layout of. */
static bool service_of(struct examination *e, enum id_kind kind)
{
	const struct grants *grants = &e->grants[kind];
	const char *name = id_words[kind].grants + strlen("/etc/");
	int error = e->grants_error[kind];
	char *why = error != 0 ? source_explain(&grants->source, error) : NULL;

	if (error != 0) {
		doctor_say(e, doctor_blocks(e), name, grants->source.name, "%s",
			   why ? why : "");
		doctor_fix(e, "%s", service_fix(error));
	} else if (grants->n == 0) {
		no_range(e, grants, name);
	} else {
		say_total(e, kind);
	}
	free(why);
	return grants->n > 0;
}

/* The files */

static void unreadable(struct examination *e, enum id_kind kind)
{
	const char *file = id_words[kind].grants;
	int error = e->grants_error[kind];

	doctor_say(e, doctor_blocks(e), file + strlen("/etc/"), file, "%s",
		   textfile_reason(error));
	if (error == -ELOOP)
		doctor_fix(e, "as root: cp --remove-destination \"$(readlink -f %s)\" %s",
			   file, file);
	else
		doctor_fix(e, "as root: chown root %s; chmod 644 %s", file, file);
}

/* What noentry_explain() says in one message. */
static void no_entry(struct examination *e, enum id_kind kind, const char *login)
{
	const struct void_line *line = &e->grants[kind].void_line;
	const char *file = id_words[kind].grants, *name = file + strlen("/etc/");
	bool there = e->grants_error[kind] != -ENOENT;
	uint32_t start = grants_free_start(kind);
	struct range largest = {0};

	if (line->line > 0) {
		doctor_say(e, doctor_blocks(e), name, file,
			   "line %zu names %s but grants nothing: %s", line->line,
			   e->account.name, line->reason);
		doctor_fix(e,
			   "idmap check says what is wrong with it, and idmap check "
			   "--fix %s prints "
			   "the file corrected where that is sure",
			   file);
		return;
	}
	doctor_say(e, doctor_blocks(e), name, file, "%sno entry for %s or %u",
		   there ? "" : "the file does not exist: ", e->account.name,
		   e->account.uid);
	if (!getpwuid(e->account.uid))
		doctor_fix(e, "first give UID %u an account", e->account.uid);
	else if (!noentry_here(kind, start, GRANT_USUAL, &largest))
		doctor_fix(e,
			   "nothing can be granted here; map this namespace's own IDs: "
			   "0:%u:%u, or --layout self",
			   largest.start, largest.count);
	else
		doctor_fix(e, "as root: %s%s%susermod --add-sub%ss %u-%u %s",
			   there ? "" : "touch ", there ? "" : file, there ? "" : "; ",
			   id_words[kind].word, start, start + GRANT_USUAL - 1, login);
}

/* Returns true if there is something to make a layout of. */
static bool file_of(struct examination *e, enum id_kind kind)
{
	const struct grants *grants = &e->grants[kind];
	char *login = doctor_quote(e->account.name);
	uint32_t start = grants_free_start(kind);

	if (e->grants_error[kind] != 0 && e->grants_error[kind] != -ENOENT)
		unreadable(e, kind);
	else if (grants->n == 0)
		no_entry(e, kind, login ? login : "");
	else if (say_total(e, kind) < GRANT_USUAL)
		doctor_fix(e, "as root: usermod --add-sub%ss %u-%u %s",
			   id_words[kind].word, start, start + GRANT_USUAL - 1,
			   login ? login : "");
	free(login);
	return grants->n > 0;
}

static bool grants_of(struct examination *e, enum id_kind kind)
{
	switch (e->grants[kind].source.part) {
	case SOURCE_SERVICE:
		return service_of(e, kind);
	case SOURCE_FILE:
		return file_of(e, kind);
	default:
		return false; /* source() has said why */
	}
}

/* The parent map */

/* What of the granted RANGE lies in FRAME, an extent of our own map; count 0: nothing. */
static struct range piece(struct range range, const struct extent *frame)
{
	struct extent extent =
		extent_clip(&(struct extent){range.start, range.start, range.count},
			    SIDE_OUTER, frame->inner, frame->inner + frame->count);

	return (struct range){extent.outer, extent.count};
}

/* How the grants of KIND lie in our own map. */
struct fit {
	struct range largest;             /* in one extent of it */
	const struct grant_line *missing; /* the first that is not all in it, or NULL */
	bool crosses;                     /* a range lies in more than one extent */
};

static struct fit fit_grants(const struct grants *grants, const struct idmap *parent)
{
	struct fit fit = {0};

	for (size_t i = 0; i < grants->n; i++) {
		const struct range *range = &grants->lines[i].range;
		uint32_t found = 0;

		for (size_t k = 0; k < parent->n; k++) {
			struct range part = piece(*range, &parent->extents[k]);

			found += part.count;
			fit.crosses |= part.count > 0 && found > part.count;
			if (part.count > fit.largest.count)
				fit.largest = part;
		}
		if (found < range->count && !fit.missing)
			fit.missing = &grants->lines[i];
	}
	return fit;
}

/* START, or behind all IDs from START to END that are an account's. */
static uint32_t behind_accounts(enum id_kind kind, uint32_t start, uint32_t end)
{
	const struct passwd *user;
	const struct group *group;

	setpwent();
	while (kind == ID_UID && (user = getpwent()))
		if (user->pw_uid >= start && user->pw_uid < end && user->pw_uid != NOBODY)
			start = user->pw_uid + 1;
	endpwent();
	setgrent();
	while (kind == ID_GID && (group = getgrent()))
		if (group->gr_gid >= start && group->gr_gid < end &&
		    group->gr_gid != NOBODY)
			start = group->gr_gid + 1;
	endgrent();
	return start;
}

/* IDs that could be granted here instead: as usual if our map has them, else in its largest
 * extent, behind the accounts and before nobody. */
static struct range grantable(enum id_kind kind, const struct idmap *parent)
{
	struct range usual = {grants_free_start(kind), GRANT_USUAL};
	const struct extent *most = &parent->extents[0];
	uint32_t start, end;

	for (size_t i = 0; i < parent->n; i++) {
		if (piece(usual, &parent->extents[i]).count == usual.count)
			return usual;
		if (parent->extents[i].count > most->count)
			most = &parent->extents[i];
	}
	end = most->inner + most->count;
	start = behind_accounts(kind, most->inner, end);
	if (start <= NOBODY && end > NOBODY)
		end = NOBODY;
	return (struct range){start, end - start};
}

/* usermod(8) takes no grant from a user who has processes. */
static void fix_missing(struct examination *e, enum id_kind kind, size_t line)
{
	struct range instead = grantable(kind, &e->parents[kind]);

	if (instead.count == 0 || line == 0)
		doctor_fix(e, "give this namespace a larger map");
	else
		doctor_fix(e,
			   "give this namespace a larger map; or as root: sed -i "
			   "'%zus/:.*/:%u:%u/' %s",
			   line, instead.start, instead.count, id_words[kind].grants);
}

static void say_missing(struct examination *e, enum id_kind kind, const char *path,
			const struct fit *fit)
{
	const struct range *range = &fit->missing->range;

	doctor_say(e, doctor_blocks(e), id_words[kind].map, path,
		   "of the granted %u..%u not all are in our own map; of all grants %u "
		   "in one "
		   "piece",
		   range->start, last(*range), fit->largest.count);
	fix_missing(e, kind, fit->missing->line);
}

static void say_fit(struct examination *e, enum id_kind kind, const char *path,
		    const struct fit *fit)
{
	const struct idmap *parent = &e->parents[kind];
	uint32_t most = 0;

	for (size_t i = 0; i < parent->n; i++)
		if (parent->extents[i].count > most)
			most = parent->extents[i].count;
	doctor_say(e, fit->crosses ? DOCTOR_WARNING : DOCTOR_OK, id_words[kind].map, path,
		   "%zu extent%s, the largest of %u IDs; of the grants up to %u in one "
		   "piece%s",
		   parent->n, parent->n == 1 ? "" : "s", most, fit->largest.count,
		   fit->crosses ? ": a range lies in several extents and must be split"
				: "");
	if (fit->crosses)
		doctor_fix(e, "idmap splits it; for newuidmap by hand: idmap dump "
			      "--format=newuidmap");
}

/* Returns true if the grants can be mapped in a namespace made here. */
static bool parent_map(struct examination *e, enum id_kind kind)
{
	const char *path = kind == ID_UID ? "/proc/self/uid_map" : "/proc/self/gid_map";
	struct fit fit = fit_grants(&e->grants[kind], &e->parents[kind]);

	if (e->parents[kind].n == 0) {
		doctor_say(e, DOCTOR_PROBLEM, id_words[kind].map, path,
			   "not written yet, so that nothing can be mapped here");
		doctor_fix(e,
			   "in the parent namespace: idmap write PID, with a process of "
			   "this one");
	} else if (fit.missing) {
		say_missing(e, kind, path, &fit);
	} else {
		say_fit(e, kind, path, &fit);
	}
	return e->parents[kind].n > 0 && !fit.missing;
}

/* The layout */

static void layout(struct examination *e)
{
	const struct request request = {.kinds = {true, true}};
	const struct idmap *maps = e->answer.maps;
	char text[IDMAP_TEXT], *message = NULL;

	e->planned = request_plan(&request, !e->privileged, &e->answer, &message) == 0;
	if (e->planned) {
		doctor_say(e, DOCTOR_OK, "layout", "idmap dump",
			   "uid_map: %zu extent%s, %zu bytes; gid_map: %zu extent%s, "
			   "%zu bytes",
			   maps[ID_UID].n, maps[ID_UID].n == 1 ? "" : "s",
			   idmap_format(&maps[ID_UID], text), maps[ID_GID].n,
			   maps[ID_GID].n == 1 ? "" : "s",
			   idmap_format(&maps[ID_GID], text));
		return;
	}
	for (char *c = message; c && *c; c++)
		if (*c == '\n')
			*c = ';';
	doctor_say(e, DOCTOR_PROBLEM, "layout", "idmap dump", "%s",
		   message ? message : "?");
	doctor_fix(e, "grant fewer and larger ranges, or give MAPs");
	free(message);
}

void doctor_grants(struct examination *e)
{
	bool usable = source(e);

	account(e);
	for (enum id_kind kind = ID_UID; kind <= ID_GID; kind++)
		usable &= grants_of(e, kind);
	for (enum id_kind kind = ID_UID; kind <= ID_GID; kind++)
		usable &= parent_map(e, kind);
	if (usable)
		layout(e);
}

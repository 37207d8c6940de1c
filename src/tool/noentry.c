/* SPDX-License-Identifier: BSD-2-Clause */
#include "noentry.h"

#include "../trusted/autoclose.h"
#include "../trusted/live.h"
#include "message.h"

#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <stdio.h>
#include <unistd.h>

bool noentry_here(enum id_kind kind, uint32_t start, uint32_t count,
		  struct range *ret_largest)
{
	__attribute__((cleanup(idset_clear))) struct idset ours = {0};
	AUTOCLOSE int self = open("/proc/self", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct range largest = {0};
	struct idmap map = {0};
	int r = self < 0 ? -errno : live_map(self, kind, &map);

	for (size_t i = 0; r == 0 && i < map.n; i++)
		r = idset_add(&ours, map.extents[i].inner, map.extents[i].count);
	idset_seal(&ours);
	/* What can't be seen is no reason to say that usermod doesn't help. */
	if (r != 0 || idset_covers(&ours, start, count, NULL))
		return true;
	for (size_t i = 0; i < ours.n; i++)
		if (ours.ranges[i].count > largest.count)
			largest = ours.ranges[i];
	*ret_largest = largest;
	return false;
}

/* Lines that were meant to grant. Returns true if there are some. */
static bool say_void(FILE *out, const struct account *account, const bool lacks[ID_KINDS],
		     const struct grants grants[ID_KINDS])
{
	bool said = false;

	for (enum id_kind kind = ID_UID; kind <= ID_GID; kind++) {
		const struct void_line *line = &grants[kind].void_line;

		if (!lacks[kind] || line->line == 0)
			continue;
		fprintf(out, "%s%s:%zu names %s but grants nothing (%s): run idmap check",
			said ? "\n" : "", grants[kind].source.name, line->line,
			account->name, line->reason);
		said = true;
	}
	return said;
}

/* No line of a file would help. */
static bool say_service(FILE *out, const struct account *account,
			const bool lacks[ID_KINDS], const struct grants grants[ID_KINDS])
{
	enum id_kind kind = lacks[ID_UID] ? ID_UID : ID_GID;
	bool both = lacks[ID_UID] && lacks[ID_GID];

	if (grants[kind].source.part != SOURCE_SERVICE)
		return false;
	fprintf(out, "%s grants %s no %s IDs: " NOENTRY_SERVICE, grants[kind].source.name,
		account->name,
		both             ? "user and group"
		: kind == ID_UID ? "user"
				 : "group");
	return true;
}

static void say_no_entry(FILE *out, const struct account *account,
			 const bool lacks[ID_KINDS])
{
	bool both = lacks[ID_UID] && lacks[ID_GID];

	fprintf(out, "no entry for %s or %u in %s%s%s: ", account->name, account->uid,
		id_words[lacks[ID_UID] ? ID_UID : ID_GID].grants,
		both ? " and none in " : "", both ? id_words[ID_GID].grants : "");
}

/* Below a namespace that lacks the usual IDs nothing new can be granted. */
static bool say_inside(FILE *out, const bool lacks[ID_KINDS])
{
	struct range largest[ID_KINDS] = {{0}, {0}};
	bool inside = false, alike;

	for (enum id_kind kind = ID_UID; kind <= ID_GID; kind++)
		inside |= lacks[kind] && !noentry_here(kind, grants_free_start(kind),
						       GRANT_USUAL, &largest[kind]);
	if (!inside)
		return false;
	fputs("this user namespace has no IDs that could be granted; what works are MAPs "
	      "of its own IDs, such as\n ",
	      out);
	alike = largest[ID_UID].start == largest[ID_GID].start &&
		largest[ID_UID].count == largest[ID_GID].count;
	if (alike)
		fprintf(out, " 0:%u:%u", largest[ID_UID].start, largest[ID_UID].count);
	for (enum id_kind kind = ID_UID; kind <= ID_GID && !alike; kind++)
		if (largest[kind].count > 0)
			fprintf(out, " %c:0:%u:%u", id_words[kind].word[0],
				largest[kind].start, largest[kind].count);
	fputs("\n(without privilege here: --layout self)", out);
	return true;
}

static void say_usermod(FILE *out, const struct account *account,
			const bool lacks[ID_KINDS])
{
	fputs("root can add one with\n  ", out);
	for (enum id_kind kind = ID_UID; kind <= ID_GID; kind++)
		if (access(id_words[kind].grants, F_OK) < 0 && errno == ENOENT)
			fprintf(out, "touch %s; ", id_words[kind].grants);
	fputs("usermod", out);
	for (enum id_kind kind = ID_UID; kind <= ID_GID; kind++) {
		uint32_t start = grants_free_start(kind);

		if (lacks[kind])
			fprintf(out, " --add-sub%ss %u-%u", id_words[kind].word, start,
				start + GRANT_USUAL - 1);
	}
	fprintf(out, " %s", account->name);
}

static void say_missing_files(FILE *out)
{
	for (enum id_kind kind = ID_UID; kind <= ID_GID; kind++)
		if (access(id_words[kind].grants, F_OK) < 0 && errno == ENOENT)
			fprintf(out, "%s does not exist; ", id_words[kind].grants);
}

int noentry_explain(const struct account *account, const bool lacks[ID_KINDS],
		    const struct grants grants[ID_KINDS], char **ret_message)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	*ret_message = NULL;
	if (!out)
		return -1;
	if (!say_void(out, account, lacks, grants) &&
	    !say_service(out, account, lacks, grants)) {
		say_no_entry(out, account, lacks);
		if (!getpwuid(account->uid)) {
			fprintf(out,
				"UID %u has no account in passwd; root can make one "
				"with\n"
				"  useradd --uid %u NAME",
				account->uid, account->uid);
		} else if (!say_inside(out, lacks)) {
			say_missing_files(out);
			say_usermod(out, account, lacks);
		}
	}
	if (fclose(out) == 0)
		*ret_message = text;
	return -1;
}

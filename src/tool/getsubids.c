/* SPDX-License-Identifier: BSD-2-Clause */

/*
 * getsubids [-g] OWNER: the ranges that a subuid or subgid file grants, or the directory service in
 * their place (source.h), in the words of shadow's program of that name, which rootless tools
 * call: "0: alice 100000 65536".
 *
 * A line counts when its owner is OWNER byte by byte, or the UID of the login OWNER; an OWNER that
 * is a number is no other login's UID, so a caller who asks for both gets no line twice.
 */

#include "../trusted/nss.h"
#include "../trusted/subid.h"
#include "account.h"

#include <bsd/vis.h>
#include <err.h>
#include <errno.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FOUND = 0, NO_RANGES = 1, NOT_LOOKED_UP = 2 };

static int print_usage(void)
{
	fputs("Usage: getsubids [-g] OWNER\n"
	      "\n"
	      "List the subordinate user IDs of a login name or UID; with -g its group "
	      "IDs.\n",
	      stderr);
	return NO_RANGES;
}

/* Say ERROR of SOURCE. No byte of it may steer the terminal. */
static void complain(const struct source *source, int error)
{
	char *message = source_explain(source, error), *safe = NULL;

	if (message && stravis(&safe, message, VIS_NOSLASH) >= 0)
		warnx("%s", safe);
	free(safe);
	free(message);
}

static size_t print_ranges(const struct textfile *file, const struct subid_owner *owner)
{
	struct subid_reader reader = {.at = file->text, .end = file->text + file->len};
	struct subid_line line = {0};
	size_t n = 0;

	for (; subid_next(&reader, owner, &line); n++)
		printf("%zu: %s %u %u\n", n, owner->name, line.start, line.count);
	return n;
}

/* An owner that is no login has no second spelling; ID_NONE is nobody's. */
static int find_owner(const char *name, struct subid_owner *ret_owner)
{
	const struct passwd *entry;
	uint32_t uid = ID_NONE;

	errno = 0;
	entry = getpwnam(name);
	if (!entry && errno != 0 && errno != ENOENT && errno != ESRCH)
		return -errno;
	if (entry)
		uid = entry->pw_uid;
	*ret_owner = (struct subid_owner){.name = name, .uid = uid};
	return 0;
}

static int list(const char *name, enum id_kind kind)
{
	char safe[4 * 64 + 1];
	struct subid_owner owner = {0};
	struct void_line line = {0};
	struct source source = {0};
	struct textfile file = {"", 0};
	bool found;
	int r = find_owner(name, &owner);

	strnvis(safe, name, sizeof(safe), VIS_NOSLASH);
	if (r != 0) {
		warnx("looking up the account %s: %s", safe, strerror(-r));
		return NOT_LOOKED_UP;
	}
	r = source_open(kind, name, &source, &file);
	if (source_is_absent(&source))
		complain(&source, NSS_E_ABSENT);
	if (r != 0 && r != NSS_E_USER) {
		complain(&source, r);
		return NOT_LOOKED_UP;
	}
	found = print_ranges(&file, &owner) > 0;
	if (!found)
		line = grants_find_void(file.text, file.len, &owner);
	textfile_unmap(&file);
	if (found)
		return FOUND;
	if (line.line > 0)
		warnx("%s:%zu names %s but grants nothing (%s): run idmap check",
		      source.name, line.line, safe, line.reason);
	warnx("%s has no ranges in %s", safe, source.name);
	return NO_RANGES;
}

int main(int argc, char **argv)
{
	enum id_kind kind = ID_UID;
	int option, status;

	while ((option = getopt(argc, argv, "g")) != -1) {
		if (option != 'g')
			return print_usage();
		kind = ID_GID;
	}
	if (optind + 1 != argc)
		return print_usage();
	status = list(argv[optind], kind);
	if (fflush(stdout) != 0 || ferror(stdout)) {
		warn("standard output");
		return NOT_LOOKED_UP;
	}
	return status;
}

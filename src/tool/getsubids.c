/* SPDX-License-Identifier: BSD-2-Clause */

/*
 * getsubids [-g] OWNER: the ranges that a subuid or subgid file grants, in the words of shadow's
 * program of that name, which rootless tools call: "0: alice 100000 65536".
 *
 * A line counts when its owner is OWNER byte by byte, or the UID of the login OWNER; an OWNER that
 * is a number is no other login's UID, so a caller who asks for both gets no line twice.
 */

#include "../trusted/setting.h"
#include "../trusted/subid.h"
#include "../trusted/textfile.h"
#include "account.h"

#include <bsd/vis.h>
#include <err.h>
#include <errno.h>
#include <fcntl.h>
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

/* True if nsswitch.conf has the helpers ask another service. */
static bool asks_service(char service[64])
{
	struct textfile file;
	bool asks;

	if (textfile_map("/etc/nsswitch.conf", 0, &file) != 0)
		return false;
	asks = setting_subid_service(file.text, file.len, service);
	textfile_unmap(&file);
	return asks;
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
	const char *path = id_words[kind].grants;
	char service[64], safe[4 * 64 + 1];
	struct subid_owner owner = {0};
	struct void_line line = {0};
	struct textfile file;
	bool found;
	int r = find_owner(name, &owner);

	strnvis(safe, name, sizeof(safe), VIS_NOSLASH);
	if (r != 0) {
		warnx("looking up the account %s: %s", safe, strerror(-r));
		return NOT_LOOKED_UP;
	}
	if (asks_service(service)) {
		warnx("/etc/nsswitch.conf says subid: %s, a service that can't be asked "
		      "here",
		      service);
		return NOT_LOOKED_UP;
	}
	r = textfile_map(path, O_NOFOLLOW, &file);
	if (r != 0) {
		warnx("%s: %s", path, grants_reason(r));
		return NOT_LOOKED_UP;
	}
	found = print_ranges(&file, &owner) > 0;
	if (!found)
		line = grants_find_void(file.text, file.len, &owner);
	textfile_unmap(&file);
	if (found)
		return FOUND;
	if (line.line > 0)
		warnx("%s:%zu names %s but grants nothing (%s): run idmap check", path,
		      line.line, safe, line.reason);
	warnx("%s has no ranges in %s", safe, path);
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

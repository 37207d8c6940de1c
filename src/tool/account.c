/* SPDX-License-Identifier: BSD-2-Clause */
#include "account.h"

#include "../trusted/subid.h"
#include "../trusted/textfile.h"

#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int account_make(const char *name, uid_t uid, gid_t gid,
			struct account *ret_account)
{
	char *copy = strdup(name);

	if (!copy)
		return -ENOMEM;
	*ret_account = (struct account){.name = copy, .uid = uid, .gid = gid};
	return 0;
}

int account_find(const char *name_or_uid, struct account *ret_account)
{
	const struct passwd *entry;
	uint32_t uid;

	errno = 0;
	entry = getpwnam(name_or_uid);
	if (!entry && id_parse(name_or_uid, strlen(name_or_uid), &uid) == 0 &&
	    uid != ID_NONE) {
		errno = 0;
		entry = getpwuid(uid);
	}
	if (!entry) /* some name services report a missing entry as an error of their own */
		return errno == 0 || errno == ESRCH ? -ENOENT : -errno;
	return account_make(entry->pw_name, entry->pw_uid, entry->pw_gid, ret_account);
}

int account_self(struct account *ret_account)
{
	const struct passwd *entry = getpwuid(getuid());
	char number[sizeof("4294967295")];

	snprintf(number, sizeof(number), "%u", getuid());
	return account_make(entry ? entry->pw_name : number, getuid(), getgid(),
			    ret_account);
}

void account_clear(struct account *account)
{
	free(account->name);
	*account = (struct account){0};
}

static int grants_add(struct grants *grants, const struct subid_line *line, size_t number)
{
	struct grant_line *lines =
		reallocarray(grants->lines, grants->n + 1, sizeof(*lines));

	if (!lines)
		return -ENOMEM;
	grants->lines = lines;
	lines[grants->n++] = (struct grant_line){{line->start, line->count}, number};
	return idset_add(&grants->set, line->start, line->count);
}

int grants_load(const struct account *account, enum id_kind kind,
		struct grants *ret_grants)
{
	const struct subid_owner owner = {.name = account->name, .uid = account->uid};
	struct grants grants = {.path = id_words[kind].grants};
	struct textfile file;
	struct subid_reader reader;
	struct subid_line line;
	int r = textfile_map(grants.path, O_NOFOLLOW, &file);

	if (r != 0)
		return r;
	reader = (struct subid_reader){.at = file.text, .end = file.text + file.len};
	while (r == 0 && subid_next(&reader, &owner, &line))
		r = grants_add(&grants, &line, reader.line);
	textfile_unmap(&file);
	if (r != 0) {
		grants_clear(&grants);
		return r;
	}
	idset_seal(&grants.set);
	*ret_grants = grants;
	return 0;
}

void grants_clear(struct grants *grants)
{
	free(grants->lines);
	idset_clear(&grants->set);
	*grants = (struct grants){0};
}

uint32_t grants_free_start(enum id_kind kind)
{
	struct textfile file;
	uint32_t start = 100000;

	if (textfile_map(id_words[kind].grants, O_NOFOLLOW, &file) != 0)
		return start;
	for (const char *at = file.text, *end = at + file.len; at < end;) {
		const char *newline = memchr(at, '\n', (size_t)(end - at));
		const char *stop = newline ? newline : end;
		struct subid_line line;

		if (subid_parse(at, (size_t)(stop - at), &line) == 0 &&
		    line.start + line.count > start)
			start = line.start + line.count;
		at = newline ? newline + 1 : end;
	}
	textfile_unmap(&file);
	return range_valid(start, GRANT_USUAL) ? start : 100000;
}

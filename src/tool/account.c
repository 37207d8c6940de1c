/* SPDX-License-Identifier: BSD-2-Clause */
#include "account.h"

#include "../trusted/nss.h"
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
	struct grants grants = {0};
	struct textfile file = {"", 0};
	struct subid_reader reader;
	struct subid_line line;
	int r = source_open(kind, account->name, &grants.source, &file);

	ret_grants->source = grants.source;
	if (r != 0 && r != NSS_E_USER)
		return r;
	reader = (struct subid_reader){.at = file.text, .end = file.text + file.len};
	for (r = 0; r == 0 && subid_next(&reader, &owner, &line);)
		r = grants_add(&grants, &line,
			       grants.source.part == SOURCE_FILE ? reader.line : 0);
	if (grants.n == 0)
		grants.void_line = grants_find_void(file.text, file.len, &owner);
	textfile_unmap(&file);
	if (r != 0) {
		grants_clear(&grants);
		return r;
	}
	idset_seal(&grants.set);
	*ret_grants = grants;
	return 0;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

/* Is TEXT[0..LEN) OWNER, but for blanks around it? */
static bool names(const char *text, size_t len, const char *owner)
{
	while (len > 0 && is_blank(*text))
		text++, len--;
	while (len > 0 && is_blank(text[len - 1]))
		len--;
	return len > 0 && len == strlen(owner) && memcmp(text, owner, len) == 0;
}

static const char *void_reason(const char *text, size_t len, size_t owner_len)
{
	static const char *const reasons[] = {
		[SUBID_E_LENGTH] = "a line of 1024 bytes or more",
		[SUBID_E_FIELDS] = "not of the form OWNER:START:COUNT",
		[SUBID_E_START] = "START is no plain number",
		[SUBID_E_COUNT] = "COUNT is no plain number",
		[SUBID_E_ZERO] = "COUNT is 0",
		[SUBID_E_RANGE] = "the range passes the largest ID",
	};
	struct subid_line line;
	int r = subid_parse(text, len, &line);

	if (is_blank(text[0]) || is_blank(text[owner_len - 1]))
		return "a blank is part of the name";
	return r > 0 ? reasons[r] : NULL;
}

struct void_line grants_find_void(const char *text, size_t len,
				  const struct subid_owner *owner)
{
	struct void_line found = {0};
	char number[sizeof("4294967295")];

	snprintf(number, sizeof(number), "%u", owner->uid);
	for (const char *at = text, *end = text + len; at < end && !found.reason;) {
		const char *newline = memchr(at, '\n', (size_t)(end - at));
		size_t line_len = (size_t)((newline ? newline : end) - at);
		const char *colon = memchr(at, ':', line_len);
		size_t owner_len = colon ? (size_t)(colon - at) : line_len;

		found.line++;
		if (names(at, owner_len, owner->name) || names(at, owner_len, number))
			found.reason = void_reason(at, line_len, owner_len);
		at += line_len + (newline != NULL);
	}
	return found.reason ? found : (struct void_line){0};
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

/* SPDX-License-Identifier: BSD-2-Clause */
#pragma once

/*
 * account: a login and what it is granted, with the line each range came from.
 *
 * The helpers need only a set; a person wants to see file and line, and a layout stacks the
 * ranges in their order there, so the tool keeps them as they stand.
 */

#include "../trusted/idset.h"
#include "../trusted/subid.h"
#include "source.h"

#include <stdbool.h>
#include <sys/types.h>

struct account {
	char *name; /* owned */
	uid_t uid;
	gid_t gid; /* primary group */
};

/* Look up by login name or, if all digits and no such login, by UID. Returns 0, -ENOENT (no such
 * account) or -errno. */
int account_find(const char *name_or_uid, struct account *ret_account);

/* The caller: real uid and real gid. An account without a passwd entry gets its number as name. */
int account_self(struct account *ret_account);

void account_clear(struct account *account);

struct grant_line {
	struct range range;
	size_t line; /* in the file, from 1; 0: it is a directory service's */
};

/* A line that names an owner but grants nothing. */
struct void_line {
	size_t line;        /* from 1; 0: there is none */
	const char *reason; /* "COUNT is no plain number"; static */
};

/* One kind's grants of one account. */
struct grants {
	struct source source;
	struct grant_line *lines; /* owned, in the order of the source */
	size_t n;
	struct idset set;           /* the same IDs as a set, sealed */
	struct void_line void_line; /* if N is 0 */
};

/* Returns as source_open() does; then only RET_GRANTS->source is set, for source_explain(). A
 * service that knows no such user is no error: it grants him nothing. */
int grants_load(const struct account *account, enum id_kind kind,
		struct grants *ret_grants);

void grants_clear(struct grants *grants);

/* The first line of TEXT whose owner, blanks aside, is OWNER, and which grants him nothing. */
struct void_line grants_find_void(const char *text, size_t len,
				  const struct subid_owner *owner);

/*
 * Where a new grant of 65536 IDs could start: behind every range of KIND's file, and not below
 * 100000, where accounts have their own IDs. A file that can't be read holds none.
 */
#define GRANT_USUAL 65536U
uint32_t grants_free_start(enum id_kind kind);

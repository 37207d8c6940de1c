/* SPDX-License-Identifier: BSD-2-Clause */
#pragma once

/*
 * lint-parts: what the parts of lint share and nobody else needs.
 */

#include "../trusted/subid.h"
#include "lint.h"

#define LINT_TICK 65536U /* things done between two calls of tick */

/* How many turns before its own something is fetched: the tables of a million owners are in no cache,
 * and waiting for each place alone would take longer than all else. */
#define LINT_AHEAD 16

struct lint_entry {
	const char *text; /* the line, in the mapped file */
	size_t line;
	struct range range;
	uint32_t owner; /* index into lint->owners; first lint_owner_hash() */
	uint32_t owner_len;
};

/* An owner as it is written. Two may be one account: its login name and its UID; then SAME of
 * both is one index, and sums are kept there. */
struct lint_owner {
	const char *name; /* in the mapped file */
	char *namesake;   /* owned: the account whose UID is the name */
	uint32_t len;
	uint32_t same;
	uint32_t number; /* the name, if it is a number; else ID_NONE */
	uint32_t uid;    /* ID_NONE: no account */
	uint32_t gid;
	bool is_login, is_uid, is_group, shared;
	uint32_t named; /* number of the file whose names were looked at last, from 1 */
	/* Of each kind, in the file that was looked at last: */
	uint32_t seen[ID_KINDS];  /* its number, from 1 */
	uint32_t first[ID_KINDS]; /* the first entry */
	uint64_t total[ID_KINDS];
};

/* One of the hash table. Most misses are seen by the hash alone, without a look at a name. */
struct lint_slot {
	uint32_t hash;
	uint32_t owner; /* index + 1; 0: empty */
};

struct lint_owners {
	struct lint_owner *list; /* owned */
	uint32_t n;
	struct lint_slot *slots; /* owned; a power of two */
	uint32_t n_slots;
	uint32_t n_numbers; /* owners that are a number */
};

struct lint_account {
	uint32_t id;
	char *name; /* owned */
};

/* lint-owner.c */
uint32_t lint_owner_hash(const char *name, size_t len);
int lint_number_owners(struct lint_owners *owners, struct lint_file *file);
/* The slot of NAME, or the empty one where it would be. There must be slots. */
struct lint_slot *lint_find_slot(const struct lint_owners *owners, const char *name,
				 size_t len, uint32_t hash);
struct lint_owner *lint_find_owner(const struct lint_owners *owners, const char *name);
int lint_check_owners(struct lint *lint);
void lint_owners_clear(struct lint_owners *owners);

/* lint-account.c: see who the owners are. */
int lint_accounts(struct lint *lint);

/* lint-range.c: sort a file's ranges; then, with the accounts known, judge them. */
int lint_sort_ranges(const struct lint *lint, struct lint_file *file);
int lint_check_ranges(struct lint *lint, size_t index);

/* lint-line.c, pure. The fault of a line by itself, or LINT_RULES; a line may have several, one is
 * named. RET_COLUMN is from 1. PARSED is subid_parse()'s answer. */
enum lint_rule lint_line_fault(const char *text, size_t len, int parsed,
			       const struct subid_line *line, size_t *ret_column);

/* A line as its writer surely meant it, without newline; a comment behind it goes in front, on a
 * line of its own. Returns its length, or 0: there is no sure correction. */
#define LINT_FIXED (2 * SUBID_LINE)
size_t lint_line_fix(const char *text, size_t len, char ret_text[LINT_FIXED]);

/* lint-file.c */
void lint_read_settings(struct lint *lint);
int lint_read_sources(struct lint *lint);
int lint_read_file(struct lint *lint, size_t index);

/* lint.c: note a finding, whose rule, file, place and facts are set; severity, if more than the
 * usual one is asked for. Returns 0 or -ENOMEM. */
int lint_note(struct lint *lint, struct lint_finding finding);
int lint_note_as(struct lint *lint, enum lint_severity severity,
		 struct lint_finding finding);

/* True if nothing is left to be said of a line by RULE, a note: it was said for a line before. It
 * spares the making of a finding where a million lines have the same. */
bool lint_is_said(struct lint *lint, size_t file, enum lint_rule rule, size_t line);

/* A finding on ENTRY, at its field 0, 1 or 2. */
struct lint_finding lint_at(const struct lint *lint, size_t file,
			    const struct lint_entry *entry, int field,
			    enum lint_rule rule);

static inline uint32_t lint_last(struct range range)
{
	return range.start + range.count - 1;
}

/* SPDX-License-Identifier: BSD-2-Clause */
#pragma once

/*
 * lint: what is wrong with subuid and subgid files, as findings in the order of files and lines.
 *
 * Whether a line grants is subid_parse()'s verdict alone, the one the helpers go by; lint adds
 * why, where, and what only shows when lines, files and accounts are seen together. All of it is
 * near-linear: one pass over each file, one sort and one sweep of its ranges, one pass over the
 * accounts.
 */

#include "../trusted/idset.h"
#include "source.h"

#include <stdio.h>

enum lint_severity { LINT_NOTE, LINT_WARNING, LINT_ERROR };

enum lint_rule {
	/* the file */
	LINT_UNREADABLE,
	LINT_SYMLINK,
	LINT_WRITABLE,
	LINT_FILE_OWNER,
	LINT_GROUP_WRITABLE,
	LINT_NOT_ASKED,
	LINT_PLUGIN_ABSENT,
	LINT_USERADD_RANGE,
	/* a line by itself */
	LINT_LONG_LINE,
	LINT_CONTROL,
	LINT_CRLF,
	LINT_INLINE_COMMENT,
	LINT_TRAILING_BLANK,
	LINT_BLANK_AROUND_COLON,
	LINT_RANGE_FORM,
	LINT_FIELDS,
	LINT_NUMBER,
	LINT_SIGN,
	LINT_HEX,
	LINT_LEADING_ZERO,
	LINT_TOO_LARGE,
	LINT_ZERO_COUNT,
	LINT_PAST_THE_END,
	LINT_NIS_ENTRY,
	LINT_NO_FINAL_NEWLINE,
	/* its owner */
	LINT_ORPHAN,
	LINT_KEYED_BY_GROUP,
	LINT_NUMERIC_LOGIN,
	LINT_ONE_FILE_ONLY,
	LINT_COUNTS_DIFFER,
	LINT_SMALL,
	/* its range */
	LINT_OVERLAP,
	LINT_DUPLICATE,
	LINT_COLLIDES,
	LINT_OWN_ID,
	LINT_SYSTEMD_DYNAMIC,
	LINT_SYSTEMD_NSPAWN,
	LINT_ABOVE_2_31,
	LINT_RULES
};

extern const struct lint_rule_words {
	const char *name;
	enum lint_severity severity; /* the usual one */
	const char *reason; /* why it matters: the second half of every message */
} lint_rules[LINT_RULES];

extern const char *const lint_severities[]; /* "note", "warning", "error" */

/* LINT_RULES if there is no such rule. */
enum lint_rule lint_rule_find(const char *name);

struct lint_finding {
	enum lint_rule rule;
	enum lint_severity severity;
	size_t file;         /* index into lint->files */
	size_t line, column; /* from 1; 0: the whole file, the whole line */
	const char *text;    /* of the line, LEN bytes; NULL: the whole file */
	size_t len;
	bool grants;        /* subid_parse()'s verdict on the line */
	size_t more;        /* a note: lines that it holds for as well */
	struct range range; /* that it is about; of an overlap: the shared IDs */
	size_t other_line;  /* of an overlap or duplicate */
	size_t other_file;  /* of what only a pair of files shows */
	const char *other_text;
	uint64_t value; /* an ID, a total, an error: as the rule has it */
	uint64_t other_value;
	const char *name; /* of another account; owned by lint */
};

struct lint_entry; /* a line that grants */
struct lint_owners;
struct lint_account;

struct lint_file {
	const char *path;
	enum id_kind kind;
	bool is_answer; /* of a service, FILE is the text then */
	int error;      /* why it couldn't be asked, for source_explain() */
	struct textfile file;
	struct lint_entry *entries; /* owned */
	size_t n;
	uint32_t *order;      /* owned: the entries, by start, count and owner */
	struct idset granted; /* all ranges, sealed */
	struct range next;    /* that useradd would hand out; a count of 0: none */
	struct lint_account *accounts; /* owned: who has one of these IDs, by ID */
	size_t n_accounts;
	size_t notes
		[LINT_RULES]; /* where the one note of a rule is in the findings, + 1 */
};

/* How useradd(8) hands out subordinate IDs (login.defs(5)). */
struct lint_useradd {
	uint32_t min, max, count;
	uint32_t own_min, own_max; /* of ordinary accounts */
};

struct lint {
	/* Set by the caller, before lint_run(). */
	bool on[LINT_RULES];
	bool each;          /* say a note for each of its lines, not once a file */
	const char *shared; /* owners that may overlap, with commas between; or NULL */
	void (*tick)(const char *what, size_t done); /* called now and then; or NULL */

	struct lint_file *files; /* owned */
	size_t n_files;
	size_t n_given; /* those that the caller added; behind them stand a service's answers */
	struct lint_useradd useradd[ID_KINDS];
	struct source sources[ID_KINDS]; /* of the kinds whose own file is checked */
	char names[ID_KINDS][96];        /* of the answers: "service sss (subuid)" */
	struct lint_owners *owners;
	struct lint_finding *findings; /* owned, sorted */
	size_t n;
	size_t room;
};

/* Add a file to be read. KIND by its name: "gid" in its last part makes it a subgid file. Returns
 * 0 or -ENOMEM. */
int lint_add_file(struct lint *lint, const char *path);

/*
 * Where a directory service is asked in the place of /etc/subuid or /etc/subgid, what it grants the
 * caller is checked behind the files. Returns 0 or -ENOMEM; a file that can't be read is a finding.
 */
int lint_run(struct lint *lint);

/* Print what FINDING says, without place and rule. Bytes of the file pass through vis(3). */
void lint_say(const struct lint *lint, const struct lint_finding *finding, FILE *out);

/* Print the first file with all corrected that has one sure correction and a finding. */
void lint_fix(const struct lint *lint, FILE *out);

/*
 * The next stretch of IDs, within those that useradd may hand out, that FILE grants to nobody.
 * Start with {0} (a count of 0); each call goes on behind the stretch it is given.
 */
bool lint_next_gap(const struct lint *lint, const struct lint_file *file,
		   struct range *gap);

void lint_clear(struct lint *lint);

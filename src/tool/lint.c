/* SPDX-License-Identifier: BSD-2-Clause */
#include "lint.h"

#include "lint-parts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

const char *const lint_severities[] = {
	[LINT_NOTE] = "note", [LINT_WARNING] = "warning", [LINT_ERROR] = "error"};

const struct lint_rule_words lint_rules[LINT_RULES] = {
	[LINT_UNREADABLE] = {"unreadable", LINT_ERROR, "it grants nothing"},
	[LINT_SYMLINK] = {"symlink", LINT_ERROR,
			  "the helpers follow none, so nothing in it is granted"},
	[LINT_WRITABLE] =
		{"writable", LINT_ERROR,
		 "anybody could grant himself any ID, so the helpers refuse it"},
	[LINT_FILE_OWNER] = {"file-owner", LINT_ERROR,
			     "its owner could grant himself any ID"},
	[LINT_GROUP_WRITABLE] = {"group-writable", LINT_ERROR,
				 "its members could grant themselves any ID"},
	[LINT_NOT_ASKED] = {"not-asked", LINT_WARNING,
			    "the helpers ask that service and never this file"},
	[LINT_PLUGIN_ABSENT] = {"plugin-absent", LINT_WARNING,
				"this file counts only until it is there"},
	[LINT_USERADD_RANGE] = {"useradd-range", LINT_WARNING,
				"useradd takes the next range by these values alone"},
	[LINT_LONG_LINE] = {"long-line", LINT_ERROR,
			    "a line of 1024 bytes or more grants nothing"},
	[LINT_CONTROL] = {"control", LINT_ERROR,
			  "readers differ on where such a line ends"},
	[LINT_CRLF] = {"crlf", LINT_ERROR,
		       "the CR belongs to the count, so the line grants nothing"},
	[LINT_INLINE_COMMENT] = {"inline-comment", LINT_ERROR,
				 "a comment needs a line of its own; this line grants "
				 "nothing"},
	[LINT_TRAILING_BLANK] = {"trailing-blank", LINT_ERROR,
				 "a line with a blank behind its count grants nothing"},
	[LINT_BLANK_AROUND_COLON] = {"blank-around-colon", LINT_ERROR,
				     "a blank before a colon belongs to the field, and "
				     "not every "
				     "reader skips one behind it"},
	[LINT_RANGE_FORM] = {"range-form", LINT_ERROR,
			     "only OWNER:START:COUNT grants anything"},
	[LINT_FIELDS] = {"fields", LINT_ERROR, "only OWNER:START:COUNT grants anything"},
	[LINT_NUMBER] = {"number", LINT_ERROR,
			 "a line without two plain numbers grants nothing"},
	[LINT_SIGN] = {"sign", LINT_ERROR,
		       "readers differ on signs, so the line grants nothing here"},
	[LINT_HEX] = {"hex", LINT_ERROR,
		      "readers differ on 0x, so the line grants nothing here"},
	[LINT_LEADING_ZERO] = {"leading-zero", LINT_ERROR,
			       "octal to some readers, decimal to others, so the line "
			       "grants "
			       "nothing here"},
	[LINT_TOO_LARGE] = {"too-large", LINT_ERROR,
			    "IDs have 32 bits, so the line grants nothing"},
	[LINT_ZERO_COUNT] = {"zero-count", LINT_ERROR,
			     "it grants nothing, and old readers took it for all IDs"},
	[LINT_PAST_THE_END] = {"past-the-end", LINT_ERROR,
			       "4294967294 is the largest ID, so the line grants "
			       "nothing"},
	[LINT_NIS_ENTRY] = {"nis-entry", LINT_WARNING,
			    "a line that begins with + or - is skipped"},
	[LINT_NO_FINAL_NEWLINE] = {"no-final-newline", LINT_WARNING,
				   "some readers skip the line, or the whole file, and "
				   "what is "
				   "appended next joins it"},
	[LINT_ORPHAN] = {"orphan", LINT_WARNING,
			 "whoever gets this name or UID next gets the IDs and the files "
			 "of the last"},
	[LINT_KEYED_BY_GROUP] = {"keyed-by-group", LINT_WARNING,
				 "subgid is keyed by user, and this is only a group"},
	[LINT_NUMERIC_LOGIN] = {"numeric-login", LINT_WARNING,
				"the line grants to both accounts"},
	[LINT_ONE_FILE_ONLY] = {"one-file-only", LINT_WARNING,
				"a user namespace needs both maps"},
	[LINT_COUNTS_DIFFER] = {"counts-differ", LINT_WARNING,
				"IDs past the shorter one have no partner in the other "
				"map"},
	[LINT_SMALL] = {"small", LINT_NOTE,
			"images with an ID up to 65534 (nobody) won't fit"},
	[LINT_OVERLAP] = {"overlap", LINT_ERROR,
			  "each owner can be the other's users, and read their files"},
	[LINT_DUPLICATE] = {"duplicate", LINT_WARNING, "the second adds nothing"},
	[LINT_COLLIDES] = {"collides-with-accounts", LINT_ERROR,
			   "the line's owner can become that account"},
	[LINT_OWN_ID] = {"own-id", LINT_WARNING,
			 "everybody may map his own ID without a grant, and a map holds "
			 "it only once"},
	[LINT_SYSTEMD_DYNAMIC] = {"systemd-dynamic", LINT_NOTE,
				  "systemd gives these to services with DynamicUser="},
	[LINT_SYSTEMD_NSPAWN] = {"systemd-nspawn", LINT_NOTE,
				 "systemd-nspawn and systemd-nsresourced take free ones "
				 "there"},
	[LINT_ABOVE_2_31] = {"above-2-31", LINT_NOTE,
			     "some programs print such IDs as negative numbers"},
};

enum lint_rule lint_rule_find(const char *name)
{
	enum lint_rule rule = 0;

	while (rule < LINT_RULES && strcmp(lint_rules[rule].name, name) != 0)
		rule++;
	return rule;
}

/* Findings */

bool lint_is_said(struct lint *lint, size_t file, enum lint_rule rule, size_t line)
{
	size_t note = lint->files[file].notes[rule];

	if (note == 0 || lint->findings[note - 1].line > line)
		return !lint->on[rule];
	lint->findings[note - 1].more++;
	return true;
}

/* Let a note that was made before stand for this one too, at the first of their lines. */
static bool fold(struct lint *lint, const struct lint_finding *finding)
{
	size_t *note = &lint->files[finding->file].notes[finding->rule];
	struct lint_finding *old;
	size_t more;

	if (*note == 0) {
		*note = lint->n + 1;
		return false;
	}
	old = &lint->findings[*note - 1];
	more = old->more + 1;
	if (finding->line < old->line)
		*old = *finding;
	old->more = more;
	return true;
}

int lint_note_as(struct lint *lint, enum lint_severity severity,
		 struct lint_finding finding)
{
	finding.severity = severity;
	if (!lint->on[finding.rule] ||
	    (severity == LINT_NOTE && !lint->each && fold(lint, &finding)))
		return 0;
	if (lint->n == lint->room) {
		size_t room = lint->room ? lint->room * 2 : 64;
		struct lint_finding *findings =
			reallocarray(lint->findings, room, sizeof(*findings));

		if (!findings)
			return -ENOMEM;
		lint->findings = findings;
		lint->room = room;
	}
	lint->findings[lint->n++] = finding;
	return 0;
}

int lint_note(struct lint *lint, struct lint_finding finding)
{
	return lint_note_as(lint, lint_rules[finding.rule].severity, finding);
}

/* Where field FIELD of a line that grants begins, from 1; blanks may stand before a number. */
static size_t field_column(const char *text, int field)
{
	const char *at = text;

	for (; field > 0; field--)
		at = strchr(at, ':') + 1;
	if (at > text)
		at += strspn(at, " \t\v\f\r");
	return (size_t)(at - text) + 1;
}

struct lint_finding lint_at(const struct lint *lint, size_t file,
			    const struct lint_entry *entry, int field,
			    enum lint_rule rule)
{
	const struct textfile *whole = &lint->files[file].file;
	size_t left = (size_t)(whole->text + whole->len - entry->text);
	const char *newline = memchr(entry->text, '\n', left);

	return (struct lint_finding){
		.rule = rule,
		.file = file,
		.line = entry->line,
		.column = field_column(entry->text, field),
		.text = entry->text,
		.len = newline ? (size_t)(newline - entry->text) : left,
		.grants = true,
		.range = entry->range,
	};
}

static int compare_findings(const void *a, const void *b)
{
	const struct lint_finding *x = a, *y = b;

	if (x->file != y->file)
		return x->file < y->file ? -1 : 1;
	if (x->line != y->line)
		return x->line < y->line ? -1 : 1;
	if (x->column != y->column)
		return x->column < y->column ? -1 : 1;
	return (x->rule > y->rule) - (x->rule < y->rule);
}

/* The whole */

int lint_add_file(struct lint *lint, const char *path)
{
	const char *slash = strrchr(path, '/');
	struct lint_file *files =
		reallocarray(lint->files, lint->n_files + 1, sizeof(*files));

	if (!files)
		return -ENOMEM;
	lint->files = files;
	files[lint->n_files++] = (struct lint_file){
		.path = path,
		.kind = strstr(slash ? slash : path, "gid") ? ID_GID : ID_UID,
	};
	return 0;
}

int lint_run(struct lint *lint)
{
	int r = 0;

	lint->owners = calloc(1, sizeof(*lint->owners));
	if (!lint->owners)
		return -ENOMEM;
	lint_read_settings(lint);
	r = lint_read_sources(lint);
	for (size_t i = 0; i < lint->n_files && r == 0; i++)
		r = lint_read_file(lint, i);
	for (size_t i = 0; i < lint->n_files && r == 0; i++)
		r = lint_sort_ranges(lint, &lint->files[i]);
	if (r == 0)
		r = lint_accounts(lint);
	if (r == 0)
		r = lint_check_owners(lint);
	for (size_t i = 0; i < lint->n_files && r == 0; i++)
		r = lint_check_ranges(lint, i);
	if (lint->n > 0)
		qsort(lint->findings, lint->n, sizeof(*lint->findings), compare_findings);
	return r;
}

void lint_clear(struct lint *lint)
{
	for (size_t i = 0; i < lint->n_files; i++) {
		struct lint_file *file = &lint->files[i];

		for (size_t j = 0; j < file->n_accounts; j++)
			free(file->accounts[j].name);
		free(file->accounts);
		free(file->entries);
		free(file->order);
		idset_clear(&file->granted);
		textfile_unmap(&file->file);
	}
	if (lint->owners)
		lint_owners_clear(lint->owners);
	free(lint->owners);
	free(lint->files);
	free(lint->findings);
	*lint = (struct lint){0};
}

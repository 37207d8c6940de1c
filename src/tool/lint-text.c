/* SPDX-License-Identifier: BSD-2-Clause */
#include "lint-parts.h"

#include <bsd/vis.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* What a sentence is made of. */
struct saying {
	FILE *out;
	const struct lint *lint;
	const struct lint_file *file;
	const struct lint_finding *finding;
};

/* Bytes of a file, for a person: cut to what a name may need. */
static void say_bytes(FILE *out, const char *text, size_t len)
{
	char safe[4 * 64 + 1];
	const bool cut = len > 64;

	strvisx(safe, text, cut ? 64 : len, VIS_NOSLASH | VIS_TAB | VIS_NL);
	fprintf(out, "%s%s", safe, cut ? "..." : "");
}

static void say_owner(const struct saying *say, const char *line)
{
	const struct textfile *file = &say->file->file;
	const char *colon = memchr(line, ':', (size_t)(file->text + file->len - line));

	say_bytes(say->out, line, colon ? (size_t)(colon - line) : 0);
}

static void say_range(FILE *out, struct range range)
{
	fprintf(out, "%u..%u", range.start, lint_last(range));
}

/* newuidmap that is setuid root opens the file before it drops root. */
static const char denied_reason[] =
	"helpers that are setuid root read it all the same, to those with file "
	"capabilities, "
	"which read as the caller, it grants nothing; chmod 644 serves both";

static bool is_denied(const struct lint_finding *finding)
{
	return finding->rule == LINT_UNREADABLE &&
	       (int)(int64_t)finding->value == -EACCES;
}

static void say_unreadable(const struct saying *say)
{
	const struct lint_file *file = say->file;
	char *why, *safe = NULL;

	if (!file->is_answer) {
		fputs(textfile_reason((int)(int64_t)say->finding->value), say->out);
		return;
	}
	why = source_explain(&say->lint->sources[file->kind], file->error);
	if (why && stravis(&safe, why, VIS_NOSLASH) >= 0)
		fputs(safe, say->out);
	free(safe);
	free(why);
}

static void say_file_owner(const struct saying *say)
{
	fprintf(say->out, "owned by UID %" PRIu64 " and not by root",
		say->finding->value);
}

static void say_group(const struct saying *say)
{
	fprintf(say->out, "writable by the group %" PRIu64, say->finding->value);
}

static void say_not_asked(const struct saying *say)
{
	const char *service = say->lint->sources[say->file->kind].service;

	fputs("/etc/nsswitch.conf says subid: ", say->out);
	say_bytes(say->out, service, strlen(service));
}

static void say_absent(const struct saying *say)
{
	say_not_asked(say);
	fputs(", but the plugin of that service is not there", say->out);
}

static void say_useradd(const struct saying *say)
{
	const struct lint_useradd *useradd = &say->lint->useradd[say->file->kind];
	const char *prefix = say->file->kind == ID_UID ? "UID" : "GID";

	if (say->finding->range.count == 0) {
		fprintf(say->out,
			"no %u free IDs in one piece are left in %u..%u, SUB_%s_MIN to "
			"SUB_%s_MAX of /etc/login.defs",
			useradd->count, useradd->min, useradd->max, prefix, prefix);
		return;
	}
	fputs("the next range would be ", say->out);
	say_range(say->out, say->finding->range);
	if (say->finding->name) {
		fprintf(say->out, ", which holds %" PRIu64 " of account ",
			say->finding->value);
		say_bytes(say->out, say->finding->name, strlen(say->finding->name));
	} else {
		fprintf(say->out,
			", in which accounts are made, %u..%u; raise SUB_%s_MIN in "
			"/etc/login.defs",
			useradd->own_min, useradd->own_max, prefix);
	}
}

static void say_control(const struct saying *say)
{
	fprintf(say->out, "byte 0x%02x",
		(unsigned char)say->finding->text[say->finding->column - 1]);
}

static void say_long(const struct saying *say)
{
	fprintf(say->out, "a line of %zu bytes", say->finding->len);
}

static void say_range_form(const struct saying *say)
{
	char fixed[LINT_FIXED];

	fputs("FIRST-LAST; it should be ", say->out);
	say_bytes(say->out, fixed,
		  lint_line_fix(say->finding->text, say->finding->len, fixed));
}

/* The field that COLUMN lies in, quoted. */
static void say_field(const struct saying *say, const char *what)
{
	const struct lint_finding *finding = say->finding;
	size_t from = finding->column - 1, to = from;

	while (from > 0 && finding->text[from - 1] != ':')
		from--;
	while (to < finding->len && finding->text[to] != ':')
		to++;
	fputc('\'', say->out);
	say_bytes(say->out, finding->text + from, to - from);
	fprintf(say->out, "' %s", what);
}

static void say_fields(const struct saying *say)
{
	size_t n = 1;

	for (size_t i = 0; i < say->finding->len; i++)
		n += say->finding->text[i] == ':';
	if (n == 3)
		fputs("an empty field", say->out);
	else
		fprintf(say->out, "%zu field%s, not 3", n, n == 1 ? "" : "s");
}

static void say_number(const struct saying *say)
{
	say_field(say, id_reason(ID_E_DIGIT));
}

static void say_sign(const struct saying *say)
{
	say_field(say, "has a sign");
}

static void say_hex(const struct saying *say)
{
	say_field(say, "is hexadecimal");
}

static void say_zero(const struct saying *say)
{
	say_field(say, id_reason(ID_E_ZERO));
}

static void say_large(const struct saying *say)
{
	say_field(say, id_reason(ID_E_RANGE));
}

static void say_past(const struct saying *say)
{
	struct range range = say->finding->range;

	fprintf(say->out, "%u IDs from %u on pass the last; ", range.count, range.start);
	if (range.start == ID_NONE)
		fputs("none starts there", say->out);
	else
		fprintf(say->out, "at most %u fit", ID_NONE - range.start);
}

static void say_orphan(const struct saying *say)
{
	fputs("no account '", say->out);
	say_owner(say, say->finding->text);
	fputc('\'', say->out);
}

static void say_numeric(const struct saying *say)
{
	say_owner(say, say->finding->text);
	fputs(" is a login name, and the UID of ", say->out);
	say_bytes(say->out, say->finding->name, strlen(say->finding->name));
}

static void say_one_file(const struct saying *say)
{
	say_owner(say, say->finding->text);
	fprintf(say->out, " has nothing in %s",
		say->lint->files[say->finding->other_file].path);
}

static void say_counts(const struct saying *say)
{
	say_owner(say, say->finding->text);
	fprintf(say->out, " has %" PRIu64 " IDs here and %" PRIu64 " in %s",
		say->finding->value, say->finding->other_value,
		say->lint->files[say->finding->other_file].path);
}

static void say_small(const struct saying *say)
{
	say_owner(say, say->finding->text);
	fprintf(say->out, " has %" PRIu64 " of the usual 65536 IDs", say->finding->value);
}

static void say_overlap(const struct saying *say)
{
	say_range(say->out, say->finding->range);
	fputs(" of ", say->out);
	say_owner(say, say->finding->text);
	fputs(" on this line and of ", say->out);
	say_owner(say, say->finding->other_text);
	fprintf(say->out, " on line %zu", say->finding->other_line);
}

static void say_duplicate(const struct saying *say)
{
	fprintf(say->out, "the same as line %zu", say->finding->other_line);
}

static void say_collides(const struct saying *say)
{
	fprintf(say->out, "%" PRIu64 " is the %s of account ", say->finding->value,
		say->file->kind == ID_UID ? "UID" : "GID");
	say_bytes(say->out, say->finding->name, strlen(say->finding->name));
}

static void say_own(const struct saying *say)
{
	fprintf(say->out, "%" PRIu64 " is the owner's own %s", say->finding->value,
		id_words[say->file->kind].word);
}

static void say_stretch(const struct saying *say)
{
	say_range(say->out, say->finding->range);
	fputs(say->finding->rule == LINT_SYSTEMD_DYNAMIC  ? " touches 61184..65519"
	      : say->finding->rule == LINT_SYSTEMD_NSPAWN ? " touches 524288..1879048191"
							  : " passes 2147483647",
	      say->out);
}

/* By rule: what is fixed, or what says it. */
static const struct {
	const char *fact;
	void (*say)(const struct saying *say);
} sentences[LINT_RULES] = {
	[LINT_UNREADABLE] = {.say = say_unreadable},
	[LINT_SYMLINK] = {"a symbolic link", NULL},
	[LINT_WRITABLE] = {.say = say_unreadable},
	[LINT_FILE_OWNER] = {.say = say_file_owner},
	[LINT_GROUP_WRITABLE] = {.say = say_group},
	[LINT_NOT_ASKED] = {.say = say_not_asked},
	[LINT_PLUGIN_ABSENT] = {.say = say_absent},
	[LINT_USERADD_RANGE] = {.say = say_useradd},
	[LINT_LONG_LINE] = {.say = say_long},
	[LINT_CONTROL] = {.say = say_control},
	[LINT_CRLF] = {"the line ends in CR LF", NULL},
	[LINT_INLINE_COMMENT] = {"a comment behind a line", NULL},
	[LINT_TRAILING_BLANK] = {"a blank behind the count", NULL},
	[LINT_BLANK_AROUND_COLON] = {"a blank beside a colon", NULL},
	[LINT_RANGE_FORM] = {.say = say_range_form},
	[LINT_FIELDS] = {.say = say_fields},
	[LINT_NUMBER] = {.say = say_number},
	[LINT_SIGN] = {.say = say_sign},
	[LINT_HEX] = {.say = say_hex},
	[LINT_LEADING_ZERO] = {.say = say_zero},
	[LINT_TOO_LARGE] = {.say = say_large},
	[LINT_ZERO_COUNT] = {"a count of 0", NULL},
	[LINT_PAST_THE_END] = {.say = say_past},
	[LINT_NIS_ENTRY] = {"an entry of NIS", NULL},
	[LINT_NO_FINAL_NEWLINE] = {"no newline at the end of the file", NULL},
	[LINT_ORPHAN] = {.say = say_orphan},
	[LINT_KEYED_BY_GROUP] = {.say = say_orphan},
	[LINT_NUMERIC_LOGIN] = {.say = say_numeric},
	[LINT_ONE_FILE_ONLY] = {.say = say_one_file},
	[LINT_COUNTS_DIFFER] = {.say = say_counts},
	[LINT_SMALL] = {.say = say_small},
	[LINT_OVERLAP] = {.say = say_overlap},
	[LINT_DUPLICATE] = {.say = say_duplicate},
	[LINT_COLLIDES] = {.say = say_collides},
	[LINT_OWN_ID] = {.say = say_own},
	[LINT_SYSTEMD_DYNAMIC] = {.say = say_stretch},
	[LINT_SYSTEMD_NSPAWN] = {.say = say_stretch},
	[LINT_ABOVE_2_31] = {.say = say_stretch},
};

void lint_say(const struct lint *lint, const struct lint_finding *finding, FILE *out)
{
	const struct saying say = {out, lint, &lint->files[finding->file], finding};

	if (sentences[finding->rule].say)
		sentences[finding->rule].say(&say);
	else
		fputs(sentences[finding->rule].fact, out);
	if (finding->more > 0)
		fprintf(out, " (as on %zu more line%s)", finding->more,
			finding->more == 1 ? "" : "s");
	fprintf(out, ": %s",
		is_denied(finding) ? denied_reason : lint_rules[finding->rule].reason);
}

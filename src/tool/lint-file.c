/* SPDX-License-Identifier: BSD-2-Clause */
#include "lint-parts.h"

#include "../trusted/nss.h"
#include "account.h"
#include "input.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

/* Settings */

/* Set *NUMBER to the value of the last line NAME of login.defs, read as useradd does: by
 * strtoul(3), which takes octal and hex. */
static void read_number(const struct textfile *file, const char *name, uint32_t *number)
{
	size_t n = strlen(name);

	for (const char *at = file->text, *end = at + file->len; at < end;) {
		const char *newline = memchr(at, '\n', (size_t)(end - at));
		size_t len = (size_t)((newline ? newline : end) - at);
		char value[32] = "", *rest;

		if (len > n && len - n < sizeof(value) && memcmp(at, name, n) == 0) {
			unsigned long read;

			memcpy(value, at + n, len - n);
			read = strtoul(value, &rest, 0);
			if ((value[0] == ' ' || value[0] == '\t') && rest != value)
				*number = read < ID_NONE ? (uint32_t)read : ID_MAX;
		}
		at += len + 1;
	}
}

void lint_read_settings(struct lint *lint)
{
	static const struct {
		const char *min, *max, *count, *own_min, *own_max;
	} names[ID_KINDS] = {
		{"SUB_UID_MIN", "SUB_UID_MAX", "SUB_UID_COUNT", "UID_MIN", "UID_MAX"},
		{"SUB_GID_MIN", "SUB_GID_MAX", "SUB_GID_COUNT", "GID_MIN", "GID_MAX"},
	};
	struct textfile file = {"", 0};

	if (textfile_map("/etc/login.defs", 0, &file) != 0)
		file = (struct textfile){"", 0};
	for (int kind = 0; kind < ID_KINDS; kind++) {
		struct lint_useradd useradd = {100000, 600100000, 65536, 1000, 60000};

		read_number(&file, names[kind].min, &useradd.min);
		read_number(&file, names[kind].max, &useradd.max);
		read_number(&file, names[kind].count, &useradd.count);
		read_number(&file, names[kind].own_min, &useradd.own_min);
		read_number(&file, names[kind].own_max, &useradd.own_max);
		lint->useradd[kind] = useradd;
	}
	textfile_unmap(&file);
}

/* Is it one of the two that the helpers and useradd read? */
static bool is_system_file(const struct lint_file *file)
{
	return strcmp(file->path, id_words[file->kind].grants) == 0;
}

static int add_answer(struct lint *lint, enum id_kind kind, int error,
		      const struct textfile *text)
{
	const struct source source = lint->sources[kind];
	struct lint_file *new;
	int r;

	snprintf(lint->names[kind], sizeof(lint->names[kind]), "%s (%s)", source.name,
		 id_words[kind].grants + strlen("/etc/"));
	r = lint_add_file(lint, lint->names[kind]);
	if (r != 0)
		return r;
	new = &lint->files[lint->n_files - 1];
	new->kind = kind;
	new->is_answer = true;
	new->error = error;
	new->file = *text;
	return 0;
}

/* Ask a service, where there is one, what it grants the caller; it can't list all. */
int lint_read_sources(struct lint *lint)
{
	struct account account = {0};
	int r = account_self(&account);

	lint->n_given = lint->n_files;
	for (size_t i = 0; i < lint->n_given && r == 0; i++) {
		enum id_kind kind = lint->files[i].kind;
		struct source *source = &lint->sources[kind];
		struct textfile text = {"", 0};
		int error;

		if (!is_system_file(&lint->files[i]) || source->part != SOURCE_NONE)
			continue;
		error = source_open(kind, account.name, source, &text);
		if (source->part == SOURCE_SERVICE)
			r = add_answer(lint, kind, error, &text);
		else
			textfile_unmap(&text);
	}
	account_clear(&account);
	return r;
}

/* The file as such */

static int note_file(struct lint *lint, size_t file, enum lint_rule rule, uint64_t value)
{
	return lint_note(
		lint, (struct lint_finding){.rule = rule, .file = file, .value = value});
}

/* What only counts for the two files that the helpers and useradd read. */
static int check_system_file(struct lint *lint, size_t file)
{
	const struct source *source = &lint->sources[lint->files[file].kind];
	struct stat st;
	int r = 0;

	if (stat(lint->files[file].path, &st) < 0)
		st = (struct stat){0};
	if (st.st_uid != 0)
		r = note_file(lint, file, LINT_FILE_OWNER, st.st_uid);
	if (r == 0 && st.st_gid != 0 && st.st_mode & S_IWGRP)
		r = note_file(lint, file, LINT_GROUP_WRITABLE, st.st_gid);
	if (r == 0 && source->part == SOURCE_SERVICE)
		r = note_file(lint, file, LINT_NOT_ASKED, 0);
	if (r == 0 && source_is_absent(source))
		r = note_file(lint, file, LINT_PLUGIN_ABSENT, 0);
	return r;
}

/* A pipe in the shape of a mapped file, which lives as long as the findings point into it. */
static int map_stdin(struct textfile *ret_file)
{
	char *text = NULL, *message = NULL;
	void *map = NULL;
	size_t len;

	if (input_read("-", &text, &len, &message) != 0) {
		free(message);
		return -EIO;
	}
	if (len > 0)
		map = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			   -1, 0);
	if (map == MAP_FAILED) {
		free(text);
		return -ENOMEM;
	}
	if (len > 0)
		memcpy(map, text, len);
	free(text);
	*ret_file = (struct textfile){len > 0 ? map : "", len};
	return 0;
}

static int map_file(struct lint_file *file)
{
	if (strcmp(file->path, "-") != 0)
		return textfile_map(file->path, O_NOFOLLOW, &file->file);
	file->path = input_name(file->path);
	return map_stdin(&file->file);
}

static int open_file(struct lint *lint, size_t file)
{
	struct lint_file *new = &lint->files[file];
	int e, r = 0;

	/* A user without ranges is no fault: root has none where a directory has the users'. */
	if (new->is_answer)
		return new->error == 0 || new->error == NSS_E_USER
			       ? 0
			       : note_file(lint, file, LINT_UNREADABLE, 0);
	e = map_file(new);
	if (e == -ELOOP) {
		r = note_file(lint, file, LINT_SYMLINK, 0);
		e = textfile_map(new->path, 0, &new->file);
	}
	if (e != 0)
		new->file = (struct textfile){"", 0};
	if (e != 0 && r == 0)
		r = note_file(lint, file,
			      e == TEXTFILE_E_WRITABLE ? LINT_WRITABLE : LINT_UNREADABLE,
			      (uint64_t)(int64_t)e);
	if (r == 0 && is_system_file(new))
		r = check_system_file(lint, file);
	return r;
}

/* Lines */

static int add_entry(struct lint_file *file, size_t *room, const struct subid_line *line,
		     const char *text, size_t number)
{
	uint32_t owner = lint_owner_hash(line->owner, line->owner_len);

	if (file->n == *room) {
		size_t more = *room ? *room * 2 : 64;
		struct lint_entry *entries =
			reallocarray(file->entries, more, sizeof(*entries));

		if (!entries)
			return -ENOMEM;
		file->entries = entries;
		*room = more;
	}
	file->entries[file->n++] = (struct lint_entry){text,
						       number,
						       {line->start, line->count},
						       owner,
						       (uint32_t)line->owner_len};
	return 0;
}

static int check_line(struct lint *lint, size_t file, const char *text, size_t len,
		      size_t number, int parsed, const struct subid_line *line)
{
	struct lint_finding finding = {
		.file = file,
		.line = number,
		.text = text,
		.len = len,
		.grants = parsed == 0,
		.range = {line->start, line->count},
	};

	finding.rule = lint_line_fault(text, len, parsed, line, &finding.column);
	if (finding.rule == LINT_RULES)
		return 0;
	/* Behind a colon the helpers skip blanks; elsewhere they belong to the owner's name. */
	if (finding.rule == LINT_BLANK_AROUND_COLON && finding.column > 1 &&
	    parsed == 0 && text[finding.column - 2] == ':')
		return lint_note_as(lint, LINT_WARNING, finding);
	return lint_note(lint, finding);
}

static int check_final_newline(struct lint *lint, size_t file, const char *text,
			       size_t len, size_t number, bool grants)
{
	return lint_note(lint, (struct lint_finding){
				       .rule = LINT_NO_FINAL_NEWLINE,
				       .file = file,
				       .line = number,
				       .column = len + 1,
				       .text = text,
				       .len = len,
				       .grants = grants,
			       });
}

int lint_read_file(struct lint *lint, size_t index)
{
	struct lint_file *file = &lint->files[index];
	size_t room = 0, number = 0;
	int r = open_file(lint, index);

	for (const char *at = file->file.text, *end = at + file->file.len;
	     r == 0 && at < end;) {
		const char *newline = memchr(at, '\n', (size_t)(end - at));
		size_t len = (size_t)((newline ? newline : end) - at);
		struct subid_line line;
		int parsed = subid_parse(at, len, &line);

		number++;
		r = check_line(lint, index, at, len, number, parsed, &line);
		if (r == 0 && parsed == 0)
			r = add_entry(file, &room, &line, at, number);
		if (r == 0 && !newline)
			r = check_final_newline(lint, index, at, len, number,
						parsed == 0);
		if (lint->tick && number % LINT_TICK == 0)
			lint->tick("lines", number);
		at += len + (newline != NULL);
	}
	return r == 0 ? lint_number_owners(lint->owners, file) : r;
}

/* The corrected file */

static bool drops(const struct lint_finding *finding)
{
	return finding->rule == LINT_DUPLICATE;
}

void lint_fix(const struct lint *lint, FILE *out)
{
	const struct textfile *file = &lint->files[0].file;
	size_t number = 0, next = 0;

	for (const char *at = file->text, *end = at + file->len; at < end;) {
		const char *newline = memchr(at, '\n', (size_t)(end - at));
		size_t len = (size_t)((newline ? newline : end) - at), fixed = 0;
		char text[LINT_FIXED];
		bool found = false, dropped = false;

		number++;
		while (next < lint->n && lint->findings[next].file == 0 &&
		       lint->findings[next].line <= number) {
			found |= lint->findings[next].line == number;
			dropped |= lint->findings[next].line == number &&
				   drops(&lint->findings[next]);
			next++;
		}
		if (found && !dropped)
			fixed = lint_line_fix(at, len, text);
		if (!dropped) {
			fwrite(fixed > 0 ? text : at, 1, fixed > 0 ? fixed : len, out);
			fputc('\n', out);
		}
		at += len + (newline != NULL);
	}
}

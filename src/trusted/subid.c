/* SPDX-License-Identifier: BSD-2-Clause */
#include "subid.h"

#include <stdio.h>
#include <string.h>

struct field {
	const char *text;
	size_t len;
};

/* Cut LINE at its colons into exactly three fields, none of them empty. Returns NULL, or where it
 * can't. */
static const char *split(const char *line, size_t len, struct field ret_fields[3])
{
	const char *at = line, *end = line + len;

	for (int i = 0; i < 3; i++) {
		const char *colon = memchr(at, ':', (size_t)(end - at));
		const char *stop = colon ? colon : end;

		if (stop == at || (i < 2 && !colon))
			return stop;
		if (i == 2 && colon)
			return colon;
		ret_fields[i] = (struct field){at, (size_t)(stop - at)};
		at = stop + 1;
	}
	return NULL;
}

/* A number field: what strtoul(3) takes as blanks may stand before it, nothing behind it. */
static int parse_number(const struct field *field, uint32_t *ret_number,
			const char **ret_fault)
{
	const char *at = field->text, *end = at + field->len;
	int r;

	while (at < end && (*at == ' ' || (*at >= '\t' && *at <= '\r')))
		at++;
	r = id_parse(at, (size_t)(end - at), ret_number);
	if (r == ID_E_DIGIT)
		while (*at >= '0' && *at <= '9')
			at++;
	*ret_fault = at;
	return r;
}

int subid_parse(const char *text, size_t len, struct subid_line *ret_line)
{
	struct field fields[3];
	const char *fault;

	*ret_line = (struct subid_line){0};
	if (len >= SUBID_LINE)
		return SUBID_E_LENGTH;
	if (len == 0 || text[0] == '#' || text[0] == '+' || text[0] == '-')
		return SUBID_E_COMMENT;
	fault = split(text, len, fields);
	if (fault) {
		ret_line->column = (size_t)(fault - text) + 1;
		return SUBID_E_FIELDS;
	}
	ret_line->owner = fields[0].text;
	ret_line->owner_len = fields[0].len;
	ret_line->number_error = parse_number(&fields[1], &ret_line->start, &fault);
	ret_line->column = (size_t)(fault - text) + 1;
	if (ret_line->number_error != 0)
		return SUBID_E_START;
	ret_line->number_error = parse_number(&fields[2], &ret_line->count, &fault);
	ret_line->column = (size_t)(fault - text) + 1;
	if (ret_line->number_error != 0)
		return SUBID_E_COUNT;
	if (ret_line->count == 0)
		return SUBID_E_ZERO;
	return range_valid(ret_line->start, ret_line->count) ? 0 : SUBID_E_RANGE;
}

/* Does LINE begin with OWNER and a colon? */
static bool owned_by(const char *line, size_t len, const char *owner, size_t owner_len)
{
	return len > owner_len && line[owner_len] == ':' &&
	       memcmp(line, owner, owner_len) == 0;
}

bool subid_next(struct subid_reader *reader, const struct subid_owner *owner,
		struct subid_line *ret_line)
{
	char number[11];
	size_t name_len = strlen(owner->name);
	size_t number_len = (size_t)snprintf(number, sizeof(number), "%u", owner->uid);

	while (reader->at < reader->end) {
		const char *line = reader->at, *before = reader->before;
		const char *newline = memchr(line, '\n', (size_t)(reader->end - line));
		size_t len = (size_t)((newline ? newline : reader->end) - line);

		reader->before = line;
		reader->at = line + len + 1;
		reader->line++;
		if ((owned_by(line, len, owner->name, name_len) ||
		     owned_by(line, len, number, number_len)) &&
		    (!before || !memchr(before, '\0', (size_t)(line - before))) &&
		    subid_parse(line, len, ret_line) == 0)
			return true;
	}
	return false;
}

/* SPDX-License-Identifier: BSD-2-Clause */
#include "lint-parts.h"

#include <stdio.h>
#include <string.h>

static bool is_blank(char byte)
{
	return byte == ' ' || byte == '\t';
}

static size_t find_control(const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		unsigned char byte = (unsigned char)text[i];

		if ((byte < ' ' && byte != '\t' && (byte != '\r' || i + 1 < len)) ||
		    byte == 0x7f)
			return i + 1;
	}
	return 0;
}

/* Nearly every line: nothing in it but what is printed, so no rule has anything to say. */
static bool is_plain(const char *text, size_t len)
{
	bool plain = true;

	for (size_t i = 0; i < len; i++)
		plain &= (unsigned char)text[i] > ' ' && text[i] != 0x7f;
	return plain;
}

/* Where a '#' stands behind a blank, from 1, or 0. */
static size_t find_comment(const char *text, size_t len)
{
	for (size_t i = 1; i < len; i++)
		if (text[i] == '#' && is_blank(text[i - 1]))
			return i + 1;
	return 0;
}

/* True if nothing stands in it, or nothing before a '#'. */
static bool is_empty(const char *text, size_t len)
{
	while (len > 0 && is_blank(*text))
		text++, len--;
	return len == 0 || *text == '#';
}

/* Read A-B, A <= B, as in OWNER:A-B. */
static bool parse_range(const char *text, size_t len, struct range *ret_range)
{
	const char *dash = memchr(text, '-', len);
	uint32_t start, last;

	if (!dash || id_parse(text, (size_t)(dash - text), &start) != 0 ||
	    id_parse(dash + 1, (size_t)(text + len - dash - 1), &last) != 0 ||
	    last < start || last > ID_MAX)
		return false;
	*ret_range = (struct range){start, last - start + 1};
	return true;
}

static bool is_range_form(const char *text, size_t len, size_t *ret_column)
{
	const char *colon = memchr(text, ':', len);
	struct range range;

	if (!colon || !parse_range(colon + 1, (size_t)(text + len - colon - 1), &range))
		return false;
	*ret_column = (size_t)(colon - text) + 2;
	return true;
}

/* A byte that is no digit stands at COLUMN, in START or COUNT. */
static enum lint_rule digit_fault(const char *text, size_t len, size_t column)
{
	const char *at = text + column - 1, *end = text + len, *behind = at;

	if (at < end && (*at == '+' || *at == '-') && (is_blank(at[-1]) || at[-1] == ':'))
		return LINT_SIGN;
	if (at < end && (*at == 'x' || *at == 'X') && at[-1] == '0' &&
	    (is_blank(at[-2]) || at[-2] == ':'))
		return LINT_HEX;
	while (behind < end && is_blank(*behind))
		behind++;
	if (behind == at)
		return LINT_NUMBER;
	if (behind == end)
		return LINT_TRAILING_BLANK;
	return *behind == ':' ? LINT_BLANK_AROUND_COLON : LINT_NUMBER;
}

static enum lint_rule number_fault(const char *text, size_t len,
				   const struct subid_line *line)
{
	switch (line->number_error) {
	case ID_E_EMPTY:
		return LINT_FIELDS;
	case ID_E_ZERO:
		return LINT_LEADING_ZERO;
	case ID_E_RANGE:
		return LINT_TOO_LARGE;
	default:
		return digit_fault(text, len, line->column);
	}
}

/* A line that grants may still have blanks that not every reader takes. */
static enum lint_rule blank_fault(const char *text, size_t len, size_t *ret_column)
{
	for (size_t i = 0; i < len; i++) {
		if (!is_blank(text[i]))
			continue;
		if (i == 0 || text[i - 1] == ':' || (i + 1 < len && text[i + 1] == ':')) {
			*ret_column = i + 1;
			return LINT_BLANK_AROUND_COLON;
		}
	}
	return LINT_RULES;
}

/* Of a void line that neither a control byte, CRLF nor a comment explains. */
static enum lint_rule void_fault(const char *text, size_t len, int parsed,
				 const struct subid_line *line, size_t *ret_column)
{
	enum lint_rule rule;

	switch (parsed) {
	case SUBID_E_FIELDS:
		return is_range_form(text, len, ret_column) ? LINT_RANGE_FORM
							    : LINT_FIELDS;
	case SUBID_E_ZERO:
		return LINT_ZERO_COUNT;
	case SUBID_E_RANGE:
		return LINT_PAST_THE_END;
	default:
		rule = number_fault(text, len, line);
		/* The first such blank, which the parser may take for the owner's. */
		return rule == LINT_BLANK_AROUND_COLON
			       ? blank_fault(text, len, ret_column)
			       : rule;
	}
}

enum lint_rule lint_line_fault(const char *text, size_t len, int parsed,
			       const struct subid_line *line, size_t *ret_column)
{
	if (parsed == 0 && is_plain(text, len))
		return LINT_RULES;
	if (parsed == SUBID_E_COMMENT) {
		*ret_column = 1;
		return len == 0 || text[0] == '#' ? LINT_RULES : LINT_NIS_ENTRY;
	}
	if (parsed == SUBID_E_LENGTH) {
		*ret_column = SUBID_LINE;
		return LINT_LONG_LINE;
	}
	*ret_column = find_control(text, len);
	if (*ret_column > 0)
		return LINT_CONTROL;
	*ret_column = len;
	if (text[len - 1] == '\r')
		return LINT_CRLF;
	if (is_empty(text, len))
		return LINT_RULES;
	if (parsed == 0)
		return blank_fault(text, len, ret_column);
	*ret_column = find_comment(text, len);
	if (*ret_column > 0)
		return LINT_INLINE_COMMENT;
	*ret_column = line->column;
	return void_fault(text, len, parsed, line, ret_column);
}

/* Corrections */

static size_t trim(const char **text, size_t len)
{
	while (len > 0 && is_blank((*text)[0]))
		(*text)++, len--;
	while (len > 0 && (is_blank((*text)[len - 1]) || (*text)[len - 1] == '\r'))
		len--;
	return len;
}

/* Write the fields of TEXT, trimmed, with a colon between. A second and last one A-B becomes
 * START:COUNT. */
static size_t join_fields(const char *text, size_t len, char *ret_text)
{
	const char *end = text + len, *colon;
	char *to = ret_text;

	for (int i = 0;; i++) {
		const char *field = text;
		struct range range;
		size_t n;

		colon = memchr(text, ':', (size_t)(end - text));
		n = trim(&field, (size_t)((colon ? colon : end) - text));
		if (i == 1 && !colon && parse_range(field, n, &range)) {
			to += sprintf(to, "%u:%u", range.start, range.count);
		} else {
			memcpy(to, field, n);
			to += n;
		}
		if (!colon)
			return (size_t)(to - ret_text);
		*to++ = ':';
		text = colon + 1;
	}
}

size_t lint_line_fix(const char *text, size_t len, char ret_text[LINT_FIXED])
{
	size_t comment = find_comment(text, len), behind = 0, n;
	struct subid_line line;

	if (len >= SUBID_LINE)
		return 0;
	if (comment > 0) {
		const char *from = text + comment - 1;

		behind = trim(&from, len - comment + 1);
		memcpy(ret_text, from, behind);
		ret_text[behind++] = '\n';
		len = comment - 1;
	}
	n = join_fields(text, len, ret_text + behind);
	/* Only what the one parser then takes is sure. */
	return subid_parse(ret_text + behind, n, &line) == 0 ? behind + n : 0;
}

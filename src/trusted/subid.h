/* SPDX-License-Identifier: BSD-2-Clause */
#pragma once

/*
 * subid: the lines of /etc/subuid and /etc/subgid, OWNER:START:COUNT (subuid(5)).
 *
 * A line either grants exactly its range or nothing: one that is not understood whole is void,
 * and we never understand more than shadow's newuidmap does. A line grants when it has exactly
 * three non-empty fields, is shorter than SUBID_LINE bytes, and START and COUNT are plain
 * decimal numbers (blanks may stand before them, as in shadow; nothing may stand behind them)
 * with COUNT >= 1 and a valid range. OWNER is all before the first colon; '#', '+' and '-' in
 * front of it make the line a comment or an NIS entry. The last line needs no newline. A line
 * behind one with a NUL byte is void: shadow takes the two for one.
 */

#include "extent.h"

#define SUBID_LINE 1024U /* lines of this many bytes or more are void */

/* Whose lines count: those of his login name, byte by byte, and those of his UID in decimal. */
struct subid_owner {
	const char *name;
	uint32_t uid;
};

enum {
	SUBID_E_LENGTH = 1, /* SUBID_LINE bytes or more */
	SUBID_E_COMMENT,    /* empty, or begins with '#', '+' or '-' */
	SUBID_E_FIELDS,     /* not three non-empty fields */
	SUBID_E_START,      /* START is no number; column says where */
	SUBID_E_COUNT,      /* COUNT is no number; column says where */
	SUBID_E_ZERO,       /* COUNT is 0 */
	SUBID_E_RANGE,      /* START + COUNT - 1 passes ID_MAX */
};

struct subid_line {
	const char *owner; /* points into the text, OWNER_LEN bytes, not terminated */
	size_t owner_len;
	uint32_t start;
	uint32_t count;
	int number_error; /* SUBID_E_START, SUBID_E_COUNT: the ID_E_* */
	size_t column;    /* where the fault lies, from 1; 0 if nowhere in particular */
};

/* Read one line TEXT[0..LEN), without its newline. Returns 0 or SUBID_E_*; RET is filled as far
 * as the line was understood. */
int subid_parse(const char *text, size_t len, struct subid_line *ret_line);

/* Where a pass over a whole file stands. Start with {.at = text, .end = text + len}. */
struct subid_reader {
	const char *at;
	const char *end;
	const char *before; /* the line before, NULL: none */
	size_t line;        /* number of the line that was returned last, from 1 */
};

/*
 * Go on to the next line that grants OWNER something. Returns true with *RET_LINE and
 * reader->line, or false at the end. One pass, no allocation: lines of other owners cost one
 * search for their newline and one comparison.
 */
bool subid_next(struct subid_reader *reader, const struct subid_owner *owner,
		struct subid_line *ret_line);

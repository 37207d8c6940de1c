/* SPDX-License-Identifier: BSD-2-Clause */
#pragma once

/*
 * dialect-reader: a cursor over the text of a dialect, and the extents found so far.
 *
 * Whatever is refused is pointed at by a span of the text itself, so that line and column are
 * counted once, in one place. Used by the readers alone.
 */

#include "dialect-parts.h"

struct span {
	const char *text;
	size_t len;
};

struct dialect_reader {
	const struct dialect *dialect;
	struct span text; /* all of it */
	struct span rest; /* not read yet */
	struct extent *list[ID_KINDS];
	size_t n[ID_KINDS];
	size_t room[ID_KINDS];
	bool overlay;
	struct dialect_refusal *why;
};

/* Note where VALUE stands. Returns ERROR. */
int reader_refuse(struct dialect_reader *r, struct span value, int error);

/* Refuse VALUE since WANTED ("three numbers") belongs there. Returns DIALECT_E_FORM. */
int reader_refuse_form(struct dialect_reader *r, struct span value, const char *wanted);

/* Returns 0 or DIALECT_E_NUMBER. */
int reader_number(struct dialect_reader *r, struct span span, uint32_t *ret_number);

/* The kinds that one extent goes to, as a set of bits. */
enum { FOR_UID = 1 << ID_UID, FOR_GID = 1 << ID_GID, FOR_BOTH = FOR_UID | FOR_GID };

/* Add the extent ASKED, which stands at WHERE. Returns 0, DIALECT_E_EXTENT or -ENOMEM. */
int reader_add(struct dialect_reader *r, unsigned int kinds, struct span where,
	       struct extent asked);

/* Take the next line that holds a word; false at the end of the text. */
bool reader_line(struct dialect_reader *r, struct span *ret_line);

/* Refuse a word that is left of LINE. Returns 0 or DIALECT_E_FORM. */
int reader_end(struct dialect_reader *r, struct span *line);

/* Take the blanks off the front of REST. */
void span_skip(struct span *rest);

/* Take the next word out of REST; an empty one at the end of REST if there is none. */
struct span span_word(struct span *rest);

/* Take all up to SEPARATOR, or to the end, out of REST, and the separator too. */
struct span span_field(struct span *rest, char separator);

bool span_is(struct span span, const char *text);

/* Take PREFIX off the front of SPAN; false if it isn't there. */
bool span_take(struct span *span, const char *prefix);

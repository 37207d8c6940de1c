/* SPDX-License-Identifier: BSD-2-Clause */
#pragma once

/*
 * dialect: one tool's way to say the two maps of a user namespace, out and in.
 *
 * The same three numbers stand in two orders and with four separators, so a dialect is always
 * named, never detected. What a dialect can't say is refused, never said nearly; what could be
 * read in two ways is refused with both readings. What was written and is read back is the same
 * map, for every dialect that carries one. Pure: a buffer in, a stream out.
 */

#include "../trusted/idmap.h"

#include <stdio.h>

struct dialect_maps {
	struct idmap maps[ID_KINDS]; /* n = 0: that kind is not there */
	const char *target;          /* write, newuidmap: whose map; NULL: "PID" */
	const char *owner;   /* write, subuid: who gets the grant; NULL: "OWNER" */
	const uint32_t *own; /* his own IDs, which alone need none; NULL: not known */
	bool overlay; /* read, incus: '+' MAPs over a base that the text doesn't say */
};

enum {
	DIALECT_E_EMPTY = 1, /* no map to write, or none in the text */
	DIALECT_E_EXPRESS,   /* write: the dialect can't say this map */
	DIALECT_E_GRANTS,    /* read: subuid lines say no inner IDs */
	DIALECT_E_FORM,      /* read: a word that does not belong there */
	DIALECT_E_NUMBER,    /* read: not a number; number_error is the ID_E_* */
	DIALECT_E_EXTENT,    /* read: the triple is no extent; number_error: EXTENT_E_* */
	DIALECT_E_UNEQUAL,   /* read: two ranges of different length */
	DIALECT_E_ORDER,     /* read: inner and outer could be either way round */
	DIALECT_E_MAP,       /* read: the extents are no map; number_error: IDMAP_E_* */
};

/* Where and why. The words of VALUE are in the text that was read: explain before freeing it. */
struct dialect_refusal {
	enum id_kind kind;   /* EXPRESS, MAP: whose map */
	const char *reason;  /* EXPRESS: what it can't say; FORM: what belongs there */
	size_t line, column; /* read, but MAP: from 1 */
	const char *value;   /* FORM, NUMBER: the bytes there */
	size_t value_len;
	int number_error;
	struct extent first;  /* EXPRESS: the extent, count 0: the whole map; EXTENT, */
	struct extent second; /* UNEQUAL: as asked; ORDER: one reading and the other */
	struct idmap_refusal map; /* MAP, */
	size_t page;              /* and the limit of its bytes */
};

struct dialect_reader;

struct dialect {
	const char *name; /* "unshare" */
	const char *form; /* for a person: "--map-users=INNER:OUTER:COUNT ..." */
	int (*write)(FILE *out, const struct dialect *dialect,
		     const struct dialect_maps *maps, struct dialect_refusal *why);
	int (*read)(struct dialect_reader *r);
	const struct dialect_row *row; /* NULL: not a dialect of options */
};

/* All of them, ended by one without a name. */
extern const struct dialect dialects[];

/* NULL if there is none of that name. */
const struct dialect *dialect_find(const char *name);

/*
 * Write MAPS to OUT. Nothing is written when it is refused. The caller checks OUT for errors.
 * Returns 0, DIALECT_E_* with *RET_WHY, or -ENOMEM.
 */
int dialect_write(FILE *out, const struct dialect *dialect,
		  const struct dialect_maps *maps, struct dialect_refusal *ret_why);

/*
 * Read TEXT[0..LEN) whole. PAGE as for idmap_make(), which judges the maps. Where the text does
 * not say the kind (kernel; "both" of others), both kinds get the map, as of a MAP without letter.
 * Returns 0, DIALECT_E_* with *RET_WHY, or -ENOMEM.
 */
int dialect_read(const struct dialect *dialect, const char *text, size_t len, size_t page,
		 struct dialect_maps *ret_maps, struct dialect_refusal *ret_why);

/*
 * English for a refusal, no newline at the end. WHERE is the name of what was read ("stdin"),
 * NULL when writing. The caller frees it; NULL only without memory.
 */
char *dialect_explain(const struct dialect *dialect, const char *where, int error,
		      const struct dialect_refusal *why);

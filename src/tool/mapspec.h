/* SPDX-License-Identifier: BSD-2-Clause */
#pragma once

/*
 * mapspec: one MAP argument, [+|-][u:|g:|b:]INNER:OUTER:COUNT, or -[u:|g:|b:]INNER:COUNT.
 *
 * The sign says what is done to the map so far: none makes it (part of) the base and replaces the
 * layout, '+' lays an extent over it, '-' takes inner IDs out. The letter says to which of the
 * two maps it goes; without one, to both.
 */

#include "../trusted/extent.h"

enum mapspec_sign { MAPSPEC_BASE, MAPSPEC_OVERLAY, MAPSPEC_REMOVE };

struct mapspec {
	enum mapspec_sign sign;
	bool applies[ID_KINDS];
	struct extent extent; /* MAPSPEC_REMOVE: outer is 0 and means nothing */
	size_t position;      /* which MAP of the command line, from 1 */
};

enum {
	MAPSPEC_E_FIELDS = 1, /* not the number of fields the sign wants */
	MAPSPEC_E_NUMBER,     /* a field is no number: number_error is the ID_E_* */
	MAPSPEC_E_COUNT,      /* count 0 */
	MAPSPEC_E_INNER,      /* inner range passes ID_MAX */
	MAPSPEC_E_OUTER,      /* outer range passes ID_MAX */
};

struct mapspec_refusal {
	const char *field; /* "inner", "outer", "count" */
	size_t offset;     /* of the fault in TEXT, in bytes from 0 */
	int number_error;
};

/* True if TEXT can only be meant as a MAP (it holds a colon or starts with + or -), so that a
 * word of a command line that is neither PID nor fd:N is reported as a bad MAP. */
bool mapspec_looks_like(const char *text);

/* Returns 0 or MAPSPEC_E_* with *RET_WHY. The caller sets ret_spec->position. */
int mapspec_parse(const char *text, struct mapspec *ret_spec,
		  struct mapspec_refusal *ret_why);

/* True if one of SPECS is a base MAP for KIND, so that no layout is wanted. */
bool mapspec_has_base(const struct mapspec *specs, size_t n, enum id_kind kind);

/* One line of English for a refusal: names TEXT, the field, what is wrong and what would work.
 * The caller frees it; NULL only without memory. */
char *mapspec_explain(const char *text, int error, const struct mapspec_refusal *why);

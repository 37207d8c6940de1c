/* SPDX-License-Identifier: BSD-2-Clause */
#pragma once

/*
 * id: one user or group ID, and which of the two kinds it is.
 *
 * An ID is 0..ID_MAX. 4294967295 is no ID: it is (uid_t)-1, the kernel's "no such ID", and what
 * it shows for an ID that is not mapped. IDs are read as digits only, because what strtoul(3)
 * takes on top ("+1", " 1", "010" as 8, 2^32 as 0) has been a hole in every program of this
 * kind (CVE-2016-6252), and because the kernel silently cuts a number of more than 32 bits.
 */

#include <stddef.h>
#include <stdint.h>

#define ID_MAX  4294967294U /* the largest ID */
#define ID_NONE 4294967295U /* not an ID; as a count: all of them */

enum id_kind { ID_UID, ID_GID };
#define ID_KINDS 2

/* What differs between the two kinds in words and files; indexed by enum id_kind. */
struct id_words {
	const char *word;   /* "uid", as in messages */
	const char *map;    /* "uid_map", below /proc/PID */
	const char *grants; /* "/etc/subuid" */
	const char *helper; /* "newuidmap" */
};

extern const struct id_words id_words[ID_KINDS];

enum {
	ID_E_EMPTY = 1, /* no digit at all */
	ID_E_DIGIT,     /* a byte that is not 0-9: sign, blank, x, NUL */
	ID_E_ZERO,      /* leading zero: octal to some readers, decimal to others */
	ID_E_RANGE,     /* over 4294967295 */
};

/*
 * Read TEXT[0..LEN) whole as a number 0..4294967295 (a count may be that large, an ID may not:
 * extent_make() and range_valid() say so). Returns 0 or ID_E_*.
 */
int id_parse(const char *text, size_t len, uint32_t *ret_number);

/* The reason for an ID_E_*, as the end of a sentence: "has a leading zero". */
const char *id_reason(int error);

/* SPDX-License-Identifier: BSD-2-Clause */
#pragma once

/*
 * doctor: all that can stand in the way of a map, examined before it does. Each cause is a finding:
 * the value that was read, where, and if it is in the way, the command that mends it.
 *
 * Nothing is changed. One thing is tried, in a child that ends at once: unshare(2), because only
 * the kernel knows how many namespaces are counted and how deep we are. The exit of "idmap doctor"
 * is the worst finding: a problem keeps the default layout from being written by this caller, a
 * warning does not.
 */

#include <stddef.h>

enum doctor_state { DOCTOR_OK, DOCTOR_WARNING, DOCTOR_PROBLEM };

/* "ok", "warning", "problem" */
extern const char *const doctor_words[];

struct finding {
	enum doctor_state state;
	const char *cause; /* a word, static */
	char *source;      /* owned: the file or call the value is from */
	char *evidence;    /* owned, one line */
	char *fix;         /* owned; NULL: nothing needs mending */
};

struct findings {
	struct finding *list; /* owned */
	size_t n;
	enum doctor_state worst;
};

/*
 * Examine the caller and this system and, unless TARGET (PID or fd:N) is NULL, whether its maps can
 * be written. Returns 0, -ENOMEM, or why TARGET can't be opened: TARGET_E_* or -errno
 * (target_reason() words both).
 */
int doctor_examine(const char *target, struct findings *ret_findings);

void findings_clear(struct findings *findings);

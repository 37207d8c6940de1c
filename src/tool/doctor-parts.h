/* SPDX-License-Identifier: BSD-2-Clause */
#pragma once

/*
 * doctor-parts: what the examinations share and nobody else needs. Each takes the caller as it is
 * known so far and adds its findings; none fails: what can't be read is a finding too.
 */

#include "doctor.h"
#include "request.h"

#include <errno.h>
#include <stdbool.h>

struct examination {
	struct findings findings;
	bool no_memory;  /* a finding was lost */
	bool privileged; /* writes maps without helpers and grants */
	bool initial;    /* we are in the initial user namespace */
	struct account account;
	gid_t group; /* that the caller should have: his own, or his primary one */
	struct grants grants[ID_KINDS];
	int grants_error[ID_KINDS]; /* of grants_load() */
	struct idmap parents[ID_KINDS];
	bool planned;         /* ANSWER holds the default layout */
	struct answer answer; /* planned: the maps of it */
};

/* In the order in which they are called and shown. */
void doctor_kernel(struct examination *e);
void doctor_helpers(struct examination *e);
void doctor_grants(struct examination *e);
void doctor_live(struct examination *e);
void doctor_target(struct examination *e, const char *target, int dir);

/* The state of what is in the way of the helpers only: no problem to whoever doesn't need them. */
enum doctor_state doctor_blocks(const struct examination *e);

/* Add a finding. */
void doctor_say(struct examination *e, enum doctor_state state, const char *cause,
		const char *source, const char *format, ...)
	__attribute__((format(printf, 5, 6)));

/* Give the last finding its fix. A command for root begins with "as root: " and ends the text. */
void doctor_fix(struct examination *e, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* The first line of a small file, cut to ROOM - 1 bytes. Returns 0 or -errno. */
int doctor_read(const char *path, char *ret_line, size_t room);

/* TEXT as one word for a shell; the caller frees it; NULL without memory. */
char *doctor_quote(const char *text);

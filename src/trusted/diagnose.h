/* SPDX-License-Identifier: BSD-2-Clause */
#pragma once

/*
 * diagnose: why a map was refused. The kernel gives one word for nine causes; they are asked here
 * one after the other, and the first that holds is the answer, with what mends it.
 *
 * Runs after all privilege is gone. Reads only /proc, a bounded number of bytes, and allocates
 * nothing. Source of the causes: map_write() and new_idmap_permitted() in
 * kernel/user_namespace.c, bprm_fill_uid() in fs/exec.c, capabilities(7).
 */

#include "idmap.h"

/* What is known of the refusal. */
struct refusal {
	int target; /* directory of /proc */
	enum id_kind kind;
	const struct idmap *map;
	int error; /* -errno of the kernel's answer */
	int held;  /* capabilities in effect at that time, as privs_raise() returned it */
};

struct diagnosis {
	bool known;        /* one of the known causes holds */
	const char *cause; /* one sentence; static */
	char fix[512];
	struct idmap shown; /* belongs to the cause as its evidence; n = 0: nothing */
};

/* Always gives an answer; where no known cause holds it says so, and where to look. */
void diagnose(const struct refusal *refusal, struct diagnosis *ret_diagnosis);

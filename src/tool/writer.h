/* SPDX-License-Identifier: BSD-2-Clause */
#pragma once

/*
 * writer: brings two finished maps into a target's namespace and proves that they are there.
 *
 * Three ways, chosen for each target, not for each user: directly where the kernel lets the
 * caller (the capabilities, in the parent namespace), directly with setgroups denied for a map of
 * nothing but the caller's own ID, and through newuidmap and newgidmap otherwise, both started at
 * once. A map can't be unwritten, so every check comes before the first write, and when one of
 * two fails the message says which one stands.
 */

#include "../trusted/idmap.h"

enum writer_way {
	WRITER_DIRECT,
	WRITER_SELF,
	WRITER_HELPERS,
	WRITER_HELPERS_AWAITED, /* the same, and the target waits for this process */
};

/* True if the caller lacks CAP_SETUID or CAP_SETGID for one of KINDS, so that the helpers, which
 * ask for grants, must write for him (unless the map is his own ID alone). */
bool writer_needs_grants(const bool kinds[ID_KINDS]);

/* Which way the maps will go. A map with n = 0 is not to be written. A target that has not
 * unshared yet is given WRITER_PATIENCE ms to do so. */
#define WRITER_PATIENCE 500
enum writer_way writer_choose(int dir, const struct idmap maps[ID_KINDS]);

/*
 * Write MAPS to the target with directory DIR (target.h), read both back and compare through the
 * index. TRACE, if not NULL, is called with a line for --verbose.
 * Returns 0, or -1 with *RET_MESSAGE for a person (caller frees).
 */
int writer_write(int dir, const struct idmap maps[ID_KINDS], enum writer_way way,
		 void (*trace)(const char *line), char **ret_message);

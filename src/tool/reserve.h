/* SPDX-License-Identifier: BSD-2-Clause */
#pragma once

/*
 * reserve: slices of the grants that no live namespace uses, chosen by one process at a time.
 *
 * The kernel alone says what is in use: the maps of the namespaces that are alive. Between choice
 * and map, when nobody could see the slice yet, stands the lock, and it is held by the very process
 * that the map is for, until it becomes COMMAND (the descriptor is close-on-exec):
 *
 *	lock ── walk ── choose ── unshare ── map written ── exec COMMAND
 *	╰──────────────── held ────────────────────────────╯
 *	                                     ╰──────── seen in /proc ───── end
 *
 * So at any time a slice is seen, or the lock is held, or nobody has it: whoever is killed when,
 * nothing is left to clean up, and a slice is free the moment its last process is gone. The lock
 * is the user's own, as are his grants, in $XDG_RUNTIME_DIR/idmap; beside it is a link for each
 * name that says where its slices began. That is a wish, no claim: a lost one harms nobody.
 */

#include "../trusted/idmap.h"
#include "account.h"

struct reserve {
	bool open;  /* else lock and folder mean nothing */
	int lock;   /* -1: not taken */
	int folder; /* of the lock and the names; -1: there is none */
	struct idset used[ID_KINDS];
	uint32_t starts
		[ID_KINDS]; /* where the slices begin; before the choice, where those of
				    * NAME began last; ID_NONE: nowhere */
};

/* A name of a slice: letters, digits, '_', '.' and '-', the first a letter or digit, up to 64. */
bool reserve_name_valid(const char *name);

/*
 * Find out what is in use and, if NAME is not NULL, where its slices were. HOLD: take the lock
 * first, waiting for it, and make the folder if there is none; without, nothing is written, and
 * what is chosen is only what would be. Returns 0, or -1 with *RET_MESSAGE.
 */
int reserve_open(const char *name, bool hold, struct reserve *ret_reserve,
		 char **ret_message);

/*
 * Choose SIZE IDs of GRANTS that PARENT, the map of the namespace we are in, has in one piece,
 * without OWN, which all instances would share. Returns 0 with reserve->starts[KIND], or -1 with
 * *RET_MESSAGE.
 */
int reserve_choose(struct reserve *reserve, enum id_kind kind,
		   const struct grants *grants, const struct idmap *parent, uint32_t own,
		   uint32_t size, char **ret_message);

/* Let NAME remember the starts. Returns 0, or -1 with *RET_MESSAGE. The lock is held. */
int reserve_remember(const struct reserve *reserve, const char *name, char **ret_message);

/* Give the lock back and free the rest. */
void reserve_clear(struct reserve *reserve);

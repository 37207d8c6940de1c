/* SPDX-License-Identifier: BSD-2-Clause */
#pragma once

/*
 * target: the process whose maps are written, held as an open directory /proc/PID.
 *
 * Everything about a target goes through that one directory descriptor, so a PID that is used
 * anew in between cannot be mistaken for it. It is named by a PID, by fd:N where N is an
 * inherited descriptor of the directory /proc/PID, or by fd:N where N is a pidfd. A directory
 * must lie on procfs, else a symlink named uid_map in a folder of the caller's own would aim a
 * privileged write anywhere.
 */

#include "id.h"

#include <sys/types.h>

enum {
	TARGET_E_NAME = 1, /* neither a PID nor fd:N */
	TARGET_E_CLOSED,   /* fd:N: no such descriptor */
	TARGET_E_KIND,     /* fd:N: neither a directory of procfs nor a pidfd */
	TARGET_E_GONE,     /* no such process, or the pidfd's process has been reaped */
	TARGET_E_HIDDEN,   /* a process that this /proc does not show (hidepid) */
};

/*
 * Open the target called NAME. *RET_DIR is a new descriptor, close-on-exec.
 * Returns 0, TARGET_E_*, or -errno.
 */
int target_open(const char *name, int *ret_dir);

/* Who owns the target: user and group of its /proc directory. Returns 0 or -errno. */
int target_owner(int dir, uid_t *ret_uid, gid_t *ret_gid);

/* The reason for any error of target_open(), as the end of a sentence. */
const char *target_reason(int error);

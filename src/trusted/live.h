/* SPDX-License-Identifier: BSD-2-Clause */
#pragma once

/*
 * live: what the user namespace of a process is like now: its maps, setgroups, and where it lies.
 *
 * Reads only, and takes no privilege: a helper comes here when all of it is gone, to say why the
 * kernel refused. DIR is a target's directory (target.h); a file that something is mounted over is
 * refused, -EXDEV.
 */

#include "idmap.h"

/*
 * Read what the kernel shows in /proc/PID/uid_map: blanks before each number, a newline after
 * each third. An outer ID that the reader's namespace lacks stands there as 4294967295 and is
 * kept as ID_NONE, the one exception to extent's invariant. Returns 0, or -EBADMSG if TEXT is
 * not of that form or has more than IDMAP_EXTENTS lines.
 */
int live_parse(const char *text, size_t len, struct idmap *ret_map);

/* Read a map; an unwritten one has n = 0. Returns 0, -EBADMSG or -errno. */
int live_map(int dir, enum id_kind kind, struct idmap *ret_map);

/* Whether setgroups(2) is allowed. Returns 0 or -errno. */
int live_setgroups(int dir, bool *ret_allowed);

/* Where the namespace lies: only that of a child can be written from ours. */
enum live_place { LIVE_OURS, LIVE_CHILD, LIVE_ELSEWHERE };

/* Returns 0 or -errno (-EACCES: the process is not dumpable, or another user's). */
int live_place(int dir, enum live_place *ret_place);

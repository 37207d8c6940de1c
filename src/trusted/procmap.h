/* SPDX-License-Identifier: BSD-2-Clause */
#pragma once

/*
 * procmap: uid_map, gid_map and setgroups of a target (user_namespaces(7)).
 *
 * A map can be written once, with one write(2), and never unwritten. The kernel asks for the
 * privilege at open AND at write, so procmap_open_write() comes after the capability is raised.
 * DIR is always a target's directory (target.h); a file that something is mounted over is refused,
 * -EXDEV.
 */

#include "idmap.h"

/* Read the live map; an unwritten one has n = 0. Returns 0, -EBADMSG or -errno. */
int procmap_read(int dir, enum id_kind kind, struct idmap *ret_map);

/* Open the map for the one write. Returns 0 or -errno (-EACCES: target is not dumpable). */
int procmap_open_write(int dir, enum id_kind kind, int *ret_fd);

/* Write MAP in one write(2). Returns 0 or -errno (-EPERM: one of kernel-facts' many causes). */
int procmap_write(int fd, const struct idmap *map);

/* Whether setgroups(2) is allowed in the target's namespace. Returns 0 or -errno. */
int procmap_setgroups_allowed(int dir, bool *ret_allowed);

/*
 * Deny setgroups(2) in the target's namespace, for good. Must come before gid_map is written; then
 * it is denied anyway or too late: -EPERM. Returns 0 or -errno.
 */
int procmap_deny_setgroups(int dir);

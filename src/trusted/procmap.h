/* SPDX-License-Identifier: BSD-2-Clause */
#pragma once

/*
 * procmap: writing uid_map, gid_map and setgroups of a target (user_namespaces(7)).
 *
 * A map can be written once, with one write(2), and never unwritten. The kernel asks for the
 * privilege at open AND at write, so procmap_open_write() comes after the capability is raised.
 * DIR is always a target's directory (target.h).
 */

#include "idmap.h"

/*
 * Open a file of the target itself: DIR may have been opened in a mount namespace of the caller's
 * own, where he can mount anything over anything; that is refused, -EXDEV. FLAGS as for open(2).
 * (openat2(2): Linux 5.6.) Returns a descriptor, or -1 with errno set.
 */
int procmap_open(int dir, const char *name, uint32_t flags);

/* Open the map for the one write. Returns 0 or -errno (-EACCES: target is not dumpable). */
int procmap_open_write(int dir, enum id_kind kind, int *ret_fd);

/* Write MAP in one write(2). Returns 0 or -errno (-EPERM: one of the causes in diagnose.h). */
int procmap_write(int fd, const struct idmap *map);

/*
 * Deny setgroups(2) in the target's namespace, for good. Must come before gid_map is written; then
 * it is denied anyway or too late: -EPERM. Returns 0 or -errno.
 */
int procmap_deny_setgroups(int dir);

/* SPDX-License-Identifier: BSD-2-Clause */
#pragma once

/*
 * spawn: the calling process itself in new namespaces, its maps written from outside.
 *
 * A map must be written from the parent namespace, but COMMAND shall take the caller's
 * place, so that nobody has to pass on PID, signals and exit status. So the roles are
 * turned round: a child stays outside and writes the maps of its parent, which waits.
 *
 *	caller ──┬── unshare ── go ──╮           ╭── reap, take the IDs, exec COMMAND
 *	         ╰── writer: waits ──┴── writes ─╯
 *
 * Whichever of the two fails or is killed, the other one ends: the writer by its death
 * signal and the end of the pipe it waits at, the caller by the writer's exit status.
 *
 * The caller must be single-threaded. Its signal mask and dispositions come back unchanged,
 * and all descriptors are close-on-exec.
 */

#include "../trusted/id.h"

enum {
	SPAWN_E_WRITER = 1, /* the maps were not written; the writer has said why */
	SPAWN_E_ENDED,      /* spawn_below_init(): COMMAND has run and ended */
};

/*
 * Move into a new user namespace and those of NAMESPACES (CLONE_NEW*). WRITE_MAPS runs in
 * the writer with the caller's /proc directory (target.h), returns 0 on success, and prints
 * its own errors. Returns 0, SPAWN_E_WRITER or -errno (unshare(2)).
 */
int spawn_unshare(int namespaces, int (*write_maps)(int dir, void *context),
		  void *context);

/*
 * After CLONE_NEWPID: fork the first process of the new PID namespace, which does nothing
 * but reap, under the inner IDS, and a second one, to become COMMAND. Returns 0 in the
 * second. The caller passes signals on to it, stops when it stops, and gets SPAWN_E_ENDED
 * with *RET_STATUS (wait(2)) when it and all others in the namespace are gone, or -errno if
 * it could not start. The caller's death, however it comes, ends the whole namespace.
 */
int spawn_below_init(const uint32_t ids[ID_KINDS], int *ret_status);

/*
 * In the process that becomes COMMAND: make mounts private (CLONE_NEWNS), mount a fresh
 * /proc (with CLONE_NEWPID as well), leave all groups where setgroups(2) is allowed, take
 * the inner IDS. Returns 0, or -errno and in *RET_STEP what could not be done.
 */
int spawn_settle(int namespaces, const uint32_t ids[ID_KINDS], const char **ret_step);

/*
 * execvp(3) without its shell: a file that the kernel does not take is an error (-ENOEXEC).
 * Returns only on failure, with -errno.
 */
int spawn_exec(char *const argv[]);

/* SPDX-License-Identifier: BSD-2-Clause */
#pragma once

/*
 * privs: the three stages of a helper's privilege, each entered once and never left upwards
 * further than the next line says.
 *
 *   privs_narrow()  all three uids are the caller's; of the capabilities only CAP_SETUID (or
 *                   CAP_SETGID) and, for uids, CAP_SETFCAP stay permitted, none is in effect
 *   privs_raise()   the one needed for the write is in effect; CAP_SETFCAP only when asked
 *   privs_drop()    nothing is left; may come at any time
 *
 * A setuid install and one with file capabilities run through the same three calls. Since the
 * effective uid is the caller's from the first on, the kernel sees the owner of the namespace
 * and CAP_SYS_ADMIN is never needed. Each stage that takes away tries to get it back and fails
 * loudly if that works.
 */

#include "id.h"

#include <stdbool.h>

/* Each returns 0 or -errno; -ENOTRECOVERABLE: a privilege that was dropped could be regained. On
 * an error, exit. */
int privs_narrow(enum id_kind kind);
int privs_drop(void);

/* Returns how many are in effect, 2 if that includes CAP_SETFCAP, 0: the install gave none. */
int privs_raise(enum id_kind kind, bool with_setfcap);

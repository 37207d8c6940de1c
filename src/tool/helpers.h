/* SPDX-License-Identifier: BSD-2-Clause */
#pragma once

/*
 * helpers: newuidmap and newgidmap, ours or another's, as PATH has them.
 *
 * Both run at once. The target is handed on as descriptor 3 ("fd:3"), so that no PID used anew can
 * be mistaken for it; a helper too old to know that form answers with its usage and has touched
 * nothing, and is asked again with the PID. That costs two more programs, so a target that can't
 * end before its helpers do, unless it is killed, is named by PID at once.
 */

#include "../trusted/idmap.h"

struct helpers {
	char *paths[ID_KINDS]; /* owned; NULL for a kind that is not asked for */
};

/* Find the helper of each of KINDS. Returns 0, or -1 with *RET_MESSAGE. */
int helpers_find(const bool kinds[ID_KINDS], struct helpers *ret_helpers,
		 char **ret_message);

/* What became of one map. */
struct outcome {
	bool written;
	char *why; /* not written: why; owned, NULL without memory */
};

/* Have MAPS (n = 0: not that kind) written to the target with directory DIR and number PID.
 * WAITS: the target waits for this process. */
void helpers_run(const struct helpers *helpers, int dir, int pid, bool waits,
		 const struct idmap maps[ID_KINDS],
		 struct outcome ret_outcomes[ID_KINDS]);

void helpers_clear(struct helpers *helpers);

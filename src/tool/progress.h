/* SPDX-License-Identifier: BSD-2-Clause */
#pragma once

/*
 * progress: when a line of progress is due. Nobody waits for what takes under a second, so the
 * first one comes after that, and then five a second. What is said, and where, is the program's.
 */

#include <stdbool.h>
#include <stdint.h>

struct progress {
	uint64_t due; /* monotonic time of the next line in ns; 0: never */
	bool shown;   /* there has been one */
};

/* Begin now. Not WANTED: nothing will ever be due. */
void progress_start(struct progress *progress, bool wanted);

/* True if a line is due now; the next one then is not for a fifth of a second. */
bool progress_due(struct progress *progress);

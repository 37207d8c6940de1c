/* SPDX-License-Identifier: BSD-2-Clause */
#include "progress.h"

#include <time.h>

#define FIRST 1000000000U
#define NEXT  200000000U

static uint64_t now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000000U + (uint64_t)time.tv_nsec;
}

void progress_start(struct progress *progress, bool wanted)
{
	*progress = (struct progress){.due = wanted ? now() + FIRST : 0};
}

bool progress_due(struct progress *progress)
{
	uint64_t time;

	if (progress->due == 0)
		return false;
	time = now();
	if (time < progress->due)
		return false;
	progress->due = time + NEXT;
	progress->shown = true;
	return true;
}

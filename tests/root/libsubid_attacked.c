/* SPDX-License-Identifier: BSD-2-Clause */

/*
 * libsubid_attacked: a directory service's plugin that does no wrong while others attack it. It gives
 * everybody uid 500000..565535 and gid 700000..765535, and where there is a file /run/tmp/wait it first
 * waits until it is gone. (It may write none: that it waits is seen by its child being there.)
 */

#include <stdlib.h>
#include <unistd.h>

struct subid_range {
	unsigned long start, count;
};

int shadow_subid_list_owner_ranges(const char *owner, int type,
				   struct subid_range **ranges, int *count);

int shadow_subid_list_owner_ranges(const char *owner, int type,
				   struct subid_range **ranges, int *count)
{
	struct subid_range *range = malloc(sizeof(*range));

	(void)owner;
	if (!range)
		return 3;
	while (access("/run/tmp/wait", F_OK) == 0)
		usleep(1000);
	*range = (struct subid_range){type == 1 ? 500000 : 700000, 65536};
	*ranges = range;
	*count = 1;
	return 0;
}

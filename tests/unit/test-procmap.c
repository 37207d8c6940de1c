/* SPDX-License-Identifier: BSD-2-Clause */
#include "../../src/trusted/procmap.h"
#include "tap.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

static void where_there_is_no_such_file_nothing_is_opened(void)
{
	int dir = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int fd;

	CHECK(procmap_open_write(dir, ID_UID, &fd) == -ENOENT);
	CHECK(procmap_open_write(dir, ID_GID, &fd) == -ENOENT);
	CHECK(procmap_deny_setgroups(dir) == -ENOENT);
	close(dir);
}

/* A pipe of one page takes a page of the text and no more. */
static void a_map_that_is_written_in_part_is_an_error(void)
{
	struct idmap map = {.n = IDMAP_EXTENTS};
	int ends[2];

	for (uint32_t i = 0; i < map.n; i++)
		map.extents[i] = (struct extent){4000000000U + i, 4000000000U + i, 1};
	CHECK(pipe2(ends, O_NONBLOCK | O_CLOEXEC) == 0);
	CHECK(fcntl(ends[1], F_SETPIPE_SZ, 1) > 0);
	CHECK(procmap_write(ends[1], &map) == -EIO);
	CHECK(procmap_write(ends[1], &map) == -EAGAIN);
	close(ends[0]);
	close(ends[1]);
}

int main(void)
{
	return TAP_RUN(TEST(where_there_is_no_such_file_nothing_is_opened),
		       TEST(a_map_that_is_written_in_part_is_an_error));
}

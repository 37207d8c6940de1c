/* SPDX-License-Identifier: BSD-2-Clause */
#include "procmap.h"

#include "autoclose.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/syscall.h>

int procmap_open(int dir, const char *name, uint32_t flags)
{
	struct open_how how = {
		.flags = flags | O_CLOEXEC,
		.resolve = RESOLVE_NO_XDEV | RESOLVE_NO_SYMLINKS,
	};

	return (int)syscall(SYS_openat2, dir, name, &how, sizeof(how));
}

/* Write TEXT in one write(2). Returns 0 or -errno; a short write is -EIO. */
static int write_once(int fd, const char *text, size_t len)
{
	ssize_t n = write(fd, text, len);

	if (n < 0)
		return -errno;
	return (size_t)n == len ? 0 : -EIO;
}

int procmap_open_write(int dir, enum id_kind kind, int *ret_fd)
{
	int fd = procmap_open(dir, id_words[kind].map, O_WRONLY);

	if (fd < 0)
		return -errno;
	*ret_fd = fd;
	return 0;
}

int procmap_write(int fd, const struct idmap *map)
{
	char text[IDMAP_TEXT];

	return write_once(fd, text, idmap_format(map, text));
}

int procmap_deny_setgroups(int dir)
{
	AUTOCLOSE int fd = procmap_open(dir, "setgroups", O_WRONLY);

	return fd < 0 ? -errno : write_once(fd, "deny", 4);
}

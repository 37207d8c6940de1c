/* SPDX-License-Identifier: BSD-2-Clause */
#include "procmap.h"

#include "autoclose.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/syscall.h>

/* The kernel pads: up to 3 * 10 digits, 2 blanks and a newline a line. One byte more to see an
 * excess. */
#define SHOWN (IDMAP_EXTENTS * 33U + 1U)

/* Open a file of the target itself. DIR may have been opened in a mount namespace of the caller's
 * own, where he can mount anything over anything. (openat2(2): Linux 5.6.) */
static int open_own(int dir, const char *name, uint32_t flags)
{
	struct open_how how = {
		.flags = flags | O_CLOEXEC,
		.resolve = RESOLVE_NO_XDEV | RESOLVE_NO_SYMLINKS,
	};

	return (int)syscall(SYS_openat2, dir, name, &how, sizeof(how));
}

/* Read the whole of a small file below DIR. Returns its length or -errno. */
static ssize_t read_file(int dir, const char *name, char *ret_text, size_t room)
{
	AUTOCLOSE int fd = open_own(dir, name, O_RDONLY);
	size_t len = 0;
	ssize_t n = 1;

	while (fd >= 0 && n > 0 && len < room) {
		n = read(fd, ret_text + len, room - len);
		len += n > 0 ? (size_t)n : 0;
	}
	return fd < 0 || n < 0 ? -errno : (ssize_t)len;
}

/* Write TEXT in one write(2). Returns 0 or -errno; a short write is -EIO. */
static int write_once(int fd, const char *text, size_t len)
{
	ssize_t n = write(fd, text, len);

	if (n < 0)
		return -errno;
	return (size_t)n == len ? 0 : -EIO;
}

int procmap_read(int dir, enum id_kind kind, struct idmap *ret_map)
{
	char text[SHOWN];
	ssize_t len = read_file(dir, id_words[kind].map, text, sizeof(text));

	return len < 0 ? (int)len : idmap_parse(text, (size_t)len, ret_map);
}

int procmap_open_write(int dir, enum id_kind kind, int *ret_fd)
{
	int fd = open_own(dir, id_words[kind].map, O_WRONLY);

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

int procmap_setgroups_allowed(int dir, bool *ret_allowed)
{
	char text[8];
	ssize_t len = read_file(dir, "setgroups", text, sizeof(text));

	if (len < 0)
		return (int)len;
	*ret_allowed = len >= 5 && memcmp(text, "allow", 5) == 0;
	return 0;
}

int procmap_deny_setgroups(int dir)
{
	AUTOCLOSE int fd = open_own(dir, "setgroups", O_WRONLY);

	return fd < 0 ? -errno : write_once(fd, "deny", 4);
}

/* SPDX-License-Identifier: BSD-2-Clause */
#include "live.h"

#include "autoclose.h"
#include "procmap.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/nsfs.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

/* The kernel pads: up to 3 * 10 digits, 2 blanks and a newline a line. One byte more to see an
 * excess. */
#define SHOWN (IDMAP_EXTENTS * 33U + 1U)

/* Read the whole of a small file below DIR. Returns its length or -errno. */
static ssize_t read_file(int dir, const char *name, char *ret_text, size_t room)
{
	AUTOCLOSE int fd = procmap_open(dir, name, O_RDONLY);
	size_t len = 0;
	ssize_t n = 1;

	while (fd >= 0 && n > 0 && len < room) {
		n = read(fd, ret_text + len, room - len);
		len += n > 0 ? (size_t)n : 0;
	}
	return fd < 0 || n < 0 ? -errno : (ssize_t)len;
}

/* Cut the next number off the text between *AT and END. */
static bool next_number(const char **at, const char *end, uint32_t *ret_number)
{
	const char *start;

	while (*at < end && **at == ' ')
		(*at)++;
	for (start = *at; *at < end && **at != ' ' && **at != '\n'; (*at)++)
		;
	return id_parse(start, (size_t)(*at - start), ret_number) == 0;
}

int live_parse(const char *text, size_t len, struct idmap *ret_map)
{
	const char *at = text, *end = text + len;
	struct idmap map = {0};

	while (at < end) {
		struct extent e;

		if (map.n == IDMAP_EXTENTS || !next_number(&at, end, &e.inner) ||
		    !next_number(&at, end, &e.outer) ||
		    !next_number(&at, end, &e.count) || at == end || *at++ != '\n' ||
		    !range_valid(e.inner, e.count) ||
		    (e.outer != ID_NONE && !range_valid(e.outer, e.count)))
			return -EBADMSG;
		map.extents[map.n++] = e;
	}
	*ret_map = map;
	return 0;
}

int live_map(int dir, enum id_kind kind, struct idmap *ret_map)
{
	char text[SHOWN];
	ssize_t len = read_file(dir, id_words[kind].map, text, sizeof(text));

	return len < 0 ? (int)len : live_parse(text, (size_t)len, ret_map);
}

int live_setgroups(int dir, bool *ret_allowed)
{
	char text[8];
	ssize_t len = read_file(dir, "setgroups", text, sizeof(text));

	if (len < 0)
		return (int)len;
	*ret_allowed = len >= 5 && memcmp(text, "allow", 5) == 0;
	return 0;
}

/* Is the user namespace open as FD our own? */
static bool is_ours(int fd)
{
	struct stat ours, theirs;

	return stat("/proc/self/ns/user", &ours) == 0 && fstat(fd, &theirs) == 0 &&
	       ours.st_dev == theirs.st_dev && ours.st_ino == theirs.st_ino;
}

int live_place(int dir, enum live_place *ret_place)
{
	AUTOCLOSE int own = openat(dir, "ns/user", O_RDONLY | O_CLOEXEC);
	AUTOCLOSE int parent = own < 0 ? -1 : ioctl(own, NS_GET_PARENT);

	if (own < 0)
		return -errno;
	*ret_place = is_ours(own)      ? LIVE_OURS
		     : is_ours(parent) ? LIVE_CHILD
				       : LIVE_ELSEWHERE;
	return 0;
}

/* SPDX-License-Identifier: BSD-2-Clause */

/*
 * A word as a number, as an ID, as the name of a target; up to three words between colons as an
 * extent; lines as a stream of IDs.
 */

#include "fuzz.h"
#include "tool/idstream.h"
#include "tool/idword.h"
#include "tool/plan.h"
#include "trusted/extent.h"
#include "trusted/target.h"

#include <fcntl.h>
#include <limits.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Descriptors that a caller may have left open: a directory of /proc, a pidfd, another directory. */
enum { FD_PROC = 40, FD_PIDFD, FD_FOLDER };

static void open_at(int fd, int number)
{
	HOLDS(fd >= 0 && dup2(fd, number) == number);
	close(fd);
}

static void set_up(void)
{
	static bool done;

	if (done)
		return;
	done = true;
	open_at(open("/proc/self", O_RDONLY | O_DIRECTORY), FD_PROC);
	open_at((int)syscall(SYS_pidfd_open, getpid(), 0), FD_PIDFD);
	open_at(open("/", O_RDONLY | O_DIRECTORY), FD_FOLDER);
}

static void check_number(const char *text, size_t len)
{
	uint32_t number = 7, wanted = 7;
	int right = oracle_number(text, len, &wanted);
	char again[12];

	HOLDS(id_parse(text, len, &number) == right);
	HOLDS(number == wanted);
	if (right != 0) {
		HOLDS(id_reason(right));
		return;
	}
	snprintf(again, sizeof(again), "%u", number);
	HOLDS(strlen(again) == len && memcmp(again, text, len) == 0);
}

static void check_extent(const char *text, size_t len)
{
	uint32_t n[3] = {0};
	struct extent e = {1, 2, 3};
	const char *at = text, *end = text + len;
	bool inner, outer;
	int r;

	for (int i = 0; i < 3; i++) {
		const char *colon = memchr(at, ':', (size_t)(end - at));
		const char *stop = colon && i < 2 ? colon : end;

		if (id_parse(at, (size_t)(stop - at), &n[i]) != 0)
			return;
		at = stop < end ? stop + 1 : end;
	}
	r = extent_make(n[0], n[1], n[2], &e);
	inner = oracle_range(n[0], n[2]);
	outer = oracle_range(n[1], n[2]);
	HOLDS(range_valid(n[0], n[2]) == inner && range_valid(n[1], n[2]) == outer);
	HOLDS((r == 0) == (inner && outer));
	if (r == 0)
		HOLDS(e.inner == n[0] && e.outer == n[1] && e.count == n[2]);
	else
		HOLDS(e.inner == 1 && extent_reason(r) &&
		      r == (n[2] == 0 ? EXTENT_E_COUNT
			    : !inner  ? EXTENT_E_INNER
				      : EXTENT_E_OUTER));
}

static void check_idword(const char *word)
{
	uint32_t id = 7, wanted;
	char *message = NULL;
	bool right = oracle_number(word, strlen(word), &wanted) == 0 && wanted <= ID_MAX;

	HOLDS((idword_parse("ID", word, ID_UID, &id, &message) == 0) == right);
	HOLDS(id == (right ? wanted : 7));
	HOLDS(right == !message);
	free(message);
}

/* Is FD the directory of the process that NAME names? */
static void check_opened(bool is_fd, uint32_t number, int fd)
{
	char path[32];
	struct stat is, wanted;

	snprintf(path, sizeof(path), "/proc/%u", is_fd ? (uint32_t)getpid() : number);
	HOLDS(fstat(fd, &is) == 0);
	if (stat(path, &wanted) == 0)
		HOLDS(is.st_dev == wanted.st_dev && is.st_ino == wanted.st_ino);
	HOLDS(fcntl(fd, F_GETFD) == FD_CLOEXEC);
	close(fd);
}

static void check_target(const char *name)
{
	bool is_fd = strncmp(name, "fd:", 3) == 0, named, ours;
	const char *digits = name + (is_fd ? 3 : 0);
	uint32_t number = 0;
	int fd = -1, r;

	named = oracle_number(digits, strlen(digits), &number) == 0 &&
		number <= INT_MAX && (is_fd || number > 0);
	ours = number >= FD_PROC && number <= FD_FOLDER;
	/* What else whoever started this has left open is not ours to say. */
	if (named && is_fd && !ours && fcntl((int)number, F_GETFD) >= 0)
		return;
	r = target_open(name, &fd);
	HOLDS((r == TARGET_E_NAME) == !named);
	if (named && is_fd)
		HOLDS(r == (!ours                 ? TARGET_E_CLOSED
			    : number == FD_FOLDER ? TARGET_E_KIND
						  : 0));
	if (r == 0)
		check_opened(is_fd, number, fd);
	else
		HOLDS(fd == -1 && target_reason(r));
}

/* What the stream is to say of the line from *AT on: 0 or an ID_E_*. */
static int oracle_line(const char *text, size_t len, size_t *at, uint32_t *ret_id)
{
	size_t start = *at;
	int r;

	while (*at < len && text[*at] != '\n')
		++*at;
	r = oracle_number(text + start, *at - start, ret_id);
	if (*at < len)
		++*at;
	return r == 0 && *ret_id > ID_MAX ? ID_E_RANGE : r;
}

/* Where one read(2) ends and the next begins is not to matter: three packets are three reads. */
static int open_stream(const char *text, size_t len)
{
	size_t cuts[] = {0, len / 3, len / 3 * 2, len};
	int ends[2];

	HOLDS(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) == 0);
	for (int i = 0; i < 3; i++) {
		size_t n = cuts[i + 1] - cuts[i];

		if (n > 0)
			HOLDS(write(ends[1], text + cuts[i], n) == (ssize_t)n);
	}
	close(ends[1]);
	return ends[0];
}

static void check_stream(const char *text, size_t len)
{
	static uint32_t ids[IDSTREAM_IDS];
	static struct idstream stream;
	size_t n = 1, at = 0, lines = 0;
	uint32_t wanted = 0;
	int r = 0;

	stream = (struct idstream){.fd = open_stream(text, len)};
	while (r == 0 && n > 0) {
		r = idstream_read(&stream, ids, &n);
		for (size_t i = 0; i < n; i++, lines++)
			HOLDS(oracle_line(text, len, &at, &wanted) == 0 &&
			      ids[i] == wanted);
	}
	if (r == 0)
		HOLDS(at == len);
	else
		HOLDS(r == oracle_line(text, len, &at, &wanted) && ++lines);
	HOLDS(stream.line == lines);
	close(stream.fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = fuzz_copy(data, size), *word = fuzz_string(data, size);
	enum layout layout;

	set_up();
	check_number(text, size);
	check_extent(text, size);
	check_idword(word);
	check_target(word);
	check_stream(text, size);
	layout_parse(word, &layout);
	free(text);
	free(word);
	return 0;
}

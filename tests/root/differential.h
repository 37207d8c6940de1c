/* SPDX-License-Identifier: BSD-2-Clause */
#pragma once

/*
 * differential: what the test programs share that ask our helpers and the system's the same. They
 * run in tests/in-private, from whose root they open the files of grants before they become a
 * caller for good.
 */

#include "userns.h"

#include <ctype.h>
#include <spawn.h>
#include <sys/prctl.h>

#define SYSTEM_HELPERS "/usr/bin"
#define SAID           512U /* bytes of a helper's first line */

struct caller {
	const char *name;
	uint32_t uid;
	uint32_t gid;
};

/* Turn into CALLER for good, with a /proc of his own: only exec gives that by itself. */
static inline void become(const struct caller *caller)
{
	if (setresgid(caller->gid, caller->gid, caller->gid) != 0 ||
	    setresuid(caller->uid, caller->uid, caller->uid) != 0 ||
	    prctl(PR_SET_DUMPABLE, 1) != 0)
		die(caller->name);
}

static inline int open_grants(enum id_kind kind)
{
	int fd = open(id_words[kind].grants, O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		die(id_words[kind].grants);
	return fd;
}

static inline void overwrite(int fd, const char *text, size_t len)
{
	if (ftruncate(fd, 0) != 0 || pwrite(fd, text, len, 0) != (ssize_t)len)
		die("writing grants");
}

/* Run PROGRAM. Returns its exit status, -1 if a signal ended it, and the first line it says. */
static inline int run_helper(const char *program, char **argv, char ret_said[SAID])
{
	posix_spawn_file_actions_t actions;
	int out[2], status;
	ssize_t len;
	pid_t pid;

	if (pipe2(out, O_CLOEXEC) != 0)
		die("pipe");
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, out[1], 2);
	errno = posix_spawn(&pid, program, &actions, NULL, argv, environ);
	if (errno != 0)
		die(program);
	posix_spawn_file_actions_destroy(&actions);
	close(out[1]);
	len = read(out[0], ret_said, SAID - 1);
	ret_said[len > 0 ? len : 0] = '\0';
	ret_said[strcspn(ret_said, "\n")] = '\0';
	waitpid(pid, &status, 0);
	close(out[0]);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* One of LIST; the first is the usual one. */
static inline const char *pick(const char *const *list, size_t n)
{
	return tap_below(6) ? list[0] : list[tap_below(n)];
}
#define PICK(...)                                \
	pick((const char *const[]){__VA_ARGS__}, \
	     sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *))

/* Print TEXT as comments of TAP, each byte that is not plain as a number. */
static inline void show_bytes(const char *text, size_t len)
{
	printf("# \"");
	for (size_t i = 0; i < len; i++) {
		unsigned char byte = (unsigned char)text[i];

		if (byte == '\n')
			printf("\\n%s", i + 1 < len ? "\"\n# \"" : "");
		else if (isprint(byte) && byte != '"' && byte != '\\')
			putchar(byte);
		else
			printf("\\%03o", byte);
	}
	puts("\"");
}

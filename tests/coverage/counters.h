/* SPDX-License-Identifier: BSD-2-Clause */
#pragma once

/*
 * counters: included before each source of a build for coverage (-include), so that gcov can write
 * its counters where a process has made that impossible.
 */

#include <fcntl.h>
#include <linux/landlock.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/syscall.h>
#include <unistd.h>

void __gcov_dump(void);

/* Who has done his work is not killed for counters that pass a limit of the file size. (Of
 * destructors gcov's is the last.) */
static void __attribute__((destructor)) counters_begin(void)
{
	signal(SIGXFSZ, SIG_IGN);
}

/* _exit(2) ends a process before gcov's own exit handler. */
static inline void __attribute__((noreturn)) counters_exit(int status)
{
	counters_begin();
	__gcov_dump();
	_exit(status);
}

/* A process that forbids itself to open files for writing may go on to write to the counters. */
static inline void counters_allow(long number, ...)
{
	struct landlock_path_beneath_attr rule = {
		.allowed_access = LANDLOCK_ACCESS_FS_WRITE_FILE,
	};
	va_list args;

	if (number != SYS_landlock_restrict_self)
		return;
	rule.parent_fd = open("/mnt", O_PATH | O_CLOEXEC);
	va_start(args, number);
	syscall(SYS_landlock_add_rule, va_arg(args, long), LANDLOCK_RULE_PATH_BENEATH,
		&rule, 0);
	va_end(args);
	close(rule.parent_fd);
}

#define _exit             counters_exit
#define syscall(num, ...) (counters_allow(num, __VA_ARGS__), syscall(num, __VA_ARGS__))

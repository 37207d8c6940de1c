/* SPDX-License-Identifier: BSD-2-Clause */
#pragma once

/*
 * userns: what the test programs share that make user namespaces, one inside the other, and look
 * at their maps.
 */

#include "trusted/live.h"
#include "trusted/procmap.h"
#include "unit/tap.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static inline __attribute__((noreturn)) void die(const char *what)
{
	printf("Bail out! %s: %s\n", what, strerror(errno));
	fflush(stdout);
	_exit(1);
}

/* SIZE bytes that a process shares with those it forks. */
static inline void *share(size_t size)
{
	void *shared = mmap(NULL, size, PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (shared == MAP_FAILED)
		die("mmap");
	return shared;
}

static inline int open_proc(pid_t pid)
{
	char path[32];
	int dir;

	snprintf(path, sizeof(path), "/proc/%d", pid);
	dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0)
		die(path);
	return dir;
}

/* Like fork(2), into a new user namespace. */
static inline pid_t fork_userns(void)
{
	long pid = -1;

	fflush(stdout);
	/* Namespaces are freed some time after their last process: wait for room. */
	for (int tries = 0; pid < 0 && tries < 5000; tries++) {
		pid = syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, NULL, NULL, NULL, NULL);
		if (pid < 0 && errno != ENOSPC)
			break;
		if (pid < 0)
			usleep(1000);
	}
	if (pid < 0)
		die("no user namespace");
	return (pid_t)pid;
}

/* A process that sleeps in a new user namespace. */
static inline pid_t spawn_sleeper(void)
{
	pid_t pid = fork_userns();

	if (pid == 0)
		for (;;)
			pause();
	return pid;
}

static inline void end_sleeper(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

/* The extent of PARENT that has the inner ID, or NULL. */
static inline const struct extent *find_inner(const struct idmap *parent, uint32_t id)
{
	for (size_t i = 0; i < parent->n; i++)
		if (id - parent->extents[i].inner < parent->extents[i].count)
			return &parent->extents[i];
	return NULL;
}

/* Our own namespace's map. */
static inline void read_own_map(enum id_kind kind, struct idmap *ret_map)
{
	int self = open_proc(getpid());

	CHECK(live_map(self, kind, ret_map) == 0 && ret_map->n > 0);
	close(self);
}

/* What happens in and to namespaces that lie one inside the other. */
struct nesting {
	/* The map of the next level, made of its parent's; the writer's own ID must stay mapped. */
	void (*draw)(enum id_kind kind, const struct idmap *parent,
		     struct idmap *ret_map);
	void (*work)(void);
};

static inline void write_nested(pid_t pid, const struct nesting *nesting)
{
	int dir = open_proc(pid);

	for (enum id_kind kind = ID_UID; kind <= ID_GID; kind++) {
		struct idmap parent, map = {0};
		int fd;

		read_own_map(kind, &parent);
		nesting->draw(kind, &parent, &map);
		if (procmap_open_write(dir, kind, &fd) != 0 ||
		    procmap_write(fd, &map) != 0)
			die("writing the map of a nested namespace");
		close(fd);
	}
	close(dir);
}

/*
 * Do the work in a process DEPTH user namespaces below this one. Its random numbers go on from one
 * of ours, its failures become one of ours.
 */
static inline void run_nested(const struct nesting *nesting, unsigned int depth)
{
	uint64_t state = tap_random();
	int gate[2], status;
	char go = 0;
	pid_t pid;

	if (pipe2(gate, O_CLOEXEC) < 0)
		die("pipe");
	fflush(stdout);
	pid = depth > 0 ? fork_userns() : fork();
	if (pid == 0) {
		close(gate[1]);
		if (read(gate[0], &go, 1) != 1)
			_exit(1);
		tap_state = state;
		tap_failures = 0;
		if (depth > 1)
			run_nested(nesting, depth - 1);
		else
			nesting->work();
		fflush(stdout);
		_exit(tap_failures > 0);
	}
	close(gate[0]);
	if (pid < 0)
		die("fork");
	if (depth > 0)
		write_nested(pid, nesting);
	if (write(gate[1], &go, 1) != 1)
		die("writing to the gate");
	close(gate[1]);
	CHECK(waitpid(pid, &status, 0) == pid && status == 0);
}

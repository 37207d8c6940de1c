/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A fresh target for each timed call, always under the same PID.
 *
 *   fresh-target USER PID ASK READY
 *
 * A map is written once, so every call of a helper needs a new user namespace; and hyperfine
 * repeats one command line, so the new target must have the old one's PID (clone3 with set_tid).
 * Each line read from the FIFO ASK kills the target and makes the next one, owned by USER; then a
 * line goes to the FIFO READY. So a prepare step is `echo >ASK; read _ <READY`, and none of it is
 * in the time measured. Run it as root in a pid namespace of its own.
 */
#define _GNU_SOURCE
#include <err.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <pwd.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static pid_t clone_as(pid_t pid)
{
	struct clone_args args = {
		.exit_signal = SIGCHLD,
		.set_tid = (uint64_t)(uintptr_t)&pid,
		.set_tid_size = 1,
	};

	return (pid_t)syscall(SYS_clone3, &args, sizeof(args));
}

/* A change of IDs leaves the process undumpable, and /proc/PID root's: so dumpable again, last. */
static void be_target(const struct passwd *user, int ready)
{
	if (setresgid(user->pw_gid, user->pw_gid, user->pw_gid) ||
	    setresuid(user->pw_uid, user->pw_uid, user->pw_uid))
		err(1, "can't become %s", user->pw_name);
	if (prctl(PR_SET_DUMPABLE, 1) || prctl(PR_SET_PDEATHSIG, SIGKILL))
		err(1, "prctl");
	if (unshare(CLONE_NEWUSER))
		err(1, "can't make a user namespace");
	if (write(ready, "", 1) != 1)
		err(1, "pipe");
	for (;;)
		pause();
}

static void make_target(const struct passwd *user, pid_t pid)
{
	int pipefd[2];
	char byte;
	pid_t got;

	if (pipe2(pipefd, O_CLOEXEC))
		err(1, "pipe");
	got = clone_as(pid);
	if (got < 0)
		err(1, "can't make a process %d", pid);
	if (!got)
		be_target(user, pipefd[1]);
	close(pipefd[1]);
	if (read(pipefd[0], &byte, 1) != 1)
		errx(1, "the target died");
	close(pipefd[0]);
}

static void kill_target(pid_t pid)
{
	if (kill(pid, SIGKILL) || waitpid(pid, NULL, 0) != pid)
		err(1, "can't end process %d", pid);
}

static void open_once(const char *path, int flags, const char *text)
{
	char buf[16];
	int fd = open(path, flags | O_CLOEXEC);

	if (fd < 0)
		err(1, "%s", path);
	if (text ? write(fd, text, strlen(text)) < 0 : read(fd, buf, sizeof(buf)) < 0)
		err(1, "%s", path);
	close(fd);
}

int main(int argc, char **argv)
{
	struct passwd *user;
	pid_t pid;

	if (argc != 5)
		errx(2, "usage: fresh-target USER PID ASK READY");
	user = getpwnam(argv[1]);
	if (!user) {
		warnx("no user %s", argv[1]);
		return 1;
	}
	pid = (pid_t)atoi(argv[2]);
	make_target(user, pid);
	for (;;) {
		open_once(argv[3], O_RDONLY, NULL);
		kill_target(pid);
		make_target(user, pid);
		open_once(argv[4], O_WRONLY, "\n");
	}
}

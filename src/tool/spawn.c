/* SPDX-License-Identifier: BSD-2-Clause */
#include "spawn.h"

#include "../trusted/target.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <paths.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <stdnoreturn.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* (musl has no close_range(2), nor has glibc before 2.34; Linux before 5.9 closes nothing.) */
static void close_from(unsigned int fd)
{
	syscall(SYS_close_range, fd, ~0U, 0);
}

/* End of file instead of a byte: the caller failed or was killed before it had unshared. */
static noreturn void run_writer(int gate, int dir, int (*write_maps)(int, void *),
				void *context)
{
	char go;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (read(gate, &go, 1) != 1)
		_exit(1);
	_exit(write_maps(dir, context) == 0 ? 0 : 1);
}

/* The /proc directory is opened before the fork: should the caller die, the writer can't
 * take another process with its PID for it. */
static int open_self(int *ret_dir)
{
	char pid[16];
	int r;

	snprintf(pid, sizeof(pid), "%d", getpid());
	r = target_open(pid, ret_dir);
	return r > 0 ? -ESRCH : r;
}

/* Returns its PID or -errno. */
static pid_t start_writer(const int gate[2], int (*write_maps)(int, void *),
			  void *context)
{
	int dir, r = open_self(&dir);
	pid_t writer;

	if (r < 0)
		return r;
	writer = fork();
	if (writer == 0) {
		close(gate[1]);
		run_writer(gate[0], dir, write_maps, context);
	}
	if (writer < 0)
		writer = -errno;
	close(dir);
	return writer;
}

/* Unshare, let the writer go or see end of file, and reap it. Closes GATE. */
static int pass_gate(int gate, int namespaces, pid_t writer)
{
	int status, r = unshare(CLONE_NEWUSER | namespaces) < 0 ? -errno : 0;

	if (r == 0 && write(gate, "", 1) != 1)
		r = -errno;
	close(gate);
	if (waitpid(writer, &status, 0) < 0)
		status = -1;
	return r == 0 && status != 0 ? SPAWN_E_WRITER : r;
}

/* SIGCHLD may have been inherited as ignored; then there is no exit status to reap. The
 * caller keeps both ends of the pipe, so that a dead writer is no SIGPIPE. */
int spawn_unshare(int namespaces, int (*write_maps)(int dir, void *context),
		  void *context)
{
	sighandler_t sigchld;
	pid_t writer;
	int gate[2], r;

	if (pipe2(gate, O_CLOEXEC) < 0)
		return -errno;
	sigchld = signal(SIGCHLD, SIG_DFL);
	writer = start_writer(gate, write_maps, context);
	r = writer;
	if (writer > 0)
		r = pass_gate(gate[1], namespaces, writer);
	else
		close(gate[1]);
	close(gate[0]);
	signal(SIGCHLD, sigchld);
	return r;
}

/* EPERM of setgroups(2) is its denial, under which the groups have to stay. */
static int take_ids(const uint32_t ids[ID_KINDS])
{
	gid_t gid = ids[ID_GID];
	uid_t uid = ids[ID_UID];

	if (setgroups(0, NULL) < 0 && errno != EPERM)
		return -errno;
	if (setresgid(gid, gid, gid) < 0 || setresuid(uid, uid, uid) < 0)
		return -errno;
	return 0;
}

static int settle_mounts(int namespaces, const char **ret_step)
{
	if (!(namespaces & CLONE_NEWNS))
		return 0;
	*ret_step = "make mounts private";
	if (mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
		return -errno;
	if (!(namespaces & CLONE_NEWPID))
		return 0;
	*ret_step = "mount a fresh /proc";
	if (mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL) < 0)
		return -errno;
	return 0;
}

int spawn_settle(int namespaces, const uint32_t ids[ID_KINDS], const char **ret_step)
{
	int r = settle_mounts(namespaces, ret_step);

	if (r == 0) {
		*ret_step = "take the inner IDs";
		r = take_ids(ids);
	}
	return r;
}

/*
 * With SIGCHLD ignored the kernel reaps. The death signal comes after the change of IDs,
 * which clears it; a caller that died before has closed the other end of READY.
 */
static noreturn void run_init(int ready, const uint32_t ids[ID_KINDS])
{
	if (take_ids(ids) < 0 || prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 ||
	    signal(SIGCHLD, SIG_IGN) == SIG_ERR || write(ready, "", 1) != 1)
		_exit(1);
	close_from(0);
	for (;;)
		pause();
}

/* Returns its PID, when it is ready, or -errno. */
static pid_t start_init(const uint32_t ids[ID_KINDS])
{
	int ready[2];
	pid_t init;
	char byte;

	if (pipe2(ready, O_CLOEXEC) < 0)
		return -errno;
	init = fork();
	if (init == 0) {
		close(ready[0]);
		run_init(ready[1], ids);
	}
	if (init < 0)
		init = -errno;
	close(ready[1]);
	if (init > 0 && read(ready[0], &byte, 1) != 1) {
		waitpid(init, NULL, 0);
		init = -ECHILD;
	}
	close(ready[0]);
	return init;
}

/*
 * Only what another process sent is passed on: a terminal's signal (si_code > 0) has
 * reached COMMAND as well, in the same process group. All signals are blocked here.
 */
static int wait_passing_signals(pid_t command, const sigset_t *all)
{
	siginfo_t info;
	int status;

	for (;;) {
		if (sigwaitinfo(all, &info) < 0)
			continue;
		if (info.si_signo != SIGCHLD) {
			if (info.si_code <= 0)
				kill(command, info.si_signo);
			continue;
		}
		if (waitpid(command, &status, WNOHANG | WUNTRACED) != command)
			continue;
		if (!WIFSTOPPED(status))
			return status;
		raise(SIGSTOP);
	}
}

/* COMMAND gets the signal mask and disposition that the caller came with. */
static int run_command(int *ret_status)
{
	sighandler_t sigchld = signal(SIGCHLD, SIG_DFL);
	sigset_t all, mask;
	pid_t command;
	int r;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &mask);
	command = fork();
	r = command < 0 ? -errno : 0;
	if (command > 0) {
		/* COMMAND's pipes must end when COMMAND closes them. */
		close_from(3);
		*ret_status = wait_passing_signals(command, &all);
		r = SPAWN_E_ENDED;
	}
	sigprocmask(SIG_SETMASK, &mask, NULL);
	signal(SIGCHLD, sigchld);
	return r;
}

int spawn_below_init(const uint32_t ids[ID_KINDS], int *ret_status)
{
	pid_t init = start_init(ids);
	int r;

	if (init < 0)
		return init;
	r = run_command(ret_status);
	if (r != 0) {
		kill(init, SIGKILL);
		waitpid(init, NULL, 0);
	}
	return r;
}

/* As a shell searches: a file found but not permitted counts if no other one is found, a
 * folder that can't be searched is as good as empty. */
static int search_exec(const char *path, char *const argv[])
{
	char file[PATH_MAX];
	int denied = -ENOENT;

	while (path) {
		const char *end = strchrnul(path, ':');
		int len = (int)(end - path);
		const char *dir = len > 0 ? path : ".";
		int n = snprintf(file, sizeof(file), "%.*s/%s", len > 0 ? len : 1, dir,
				 argv[0]);

		if (n > 0 && (size_t)n < sizeof(file))
			execv(file, argv);
		else
			errno = ENOENT;
		if (errno == EACCES)
			denied = access(file, F_OK) == 0 ? -EACCES : denied;
		else if (errno != ENOENT && errno != ENOTDIR)
			return -errno;
		path = *end ? end + 1 : NULL;
	}
	return denied;
}

int spawn_exec(char *const argv[])
{
	const char *path = getenv("PATH");

	if (argv[0][0] == '\0')
		return -ENOENT;
	if (!strchr(argv[0], '/'))
		return search_exec(path ? path : _PATH_DEFPATH, argv);
	execv(argv[0], argv);
	return -errno;
}

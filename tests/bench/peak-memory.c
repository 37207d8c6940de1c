/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The peak of a program's private (anonymous) memory in KiB, on stdout.
 *
 *   peak-memory USER COMMAND [ARG]...
 *
 * ru_maxrss counts the pages of mapped files too, which are the page cache's. Anonymous memory is
 * given back only by a system call (munmap, brk, madvise, exit), so its peak is the largest RssAnon
 * seen on entry to any: the program is traced by root (a setuid program keeps its privilege then)
 * and read at each. RssAnon is exact up to a batch of some dozen pages a CPU.
 */
#define _GNU_SOURCE
#include <err.h>
#include <grp.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#define OPTIONS (PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL)

static long private_kib(pid_t pid)
{
	char path[64], line[256];
	long kib = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	file = fopen(path, "re");
	if (!file)
		return 0;
	while (fgets(line, sizeof(line), file))
		if (sscanf(line, "RssAnon: %ld", &kib) == 1)
			break;
	fclose(file);
	return kib;
}

static void run_traced(const char *name, char **argv)
{
	struct passwd *user = getpwnam(name);

	if (!user)
		errx(1, "no user %s", name);
	if (ptrace(PTRACE_TRACEME, 0, 0, 0)) /* still root: a setuid program stays one */
		err(1, "ptrace");
	if (initgroups(name, user->pw_gid) ||
	    setresgid(user->pw_gid, user->pw_gid, user->pw_gid) ||
	    setresuid(user->pw_uid, user->pw_uid, user->pw_uid))
		err(1, "can't become %s", name);
	raise(SIGSTOP);
	execvp(argv[0], argv);
	err(127, "%s", argv[0]);
}

/* Until the end of pid; returns its wait status. */
static int follow(pid_t pid, long *ret_peak)
{
	long kib, peak = 0;
	int status, sig = 0;

	for (;;) {
		if (ptrace(PTRACE_SYSCALL, pid, 0, sig))
			err(1, "ptrace");
		if (waitpid(pid, &status, 0) != pid)
			err(1, "waitpid");
		if (!WIFSTOPPED(status))
			break;
		sig = WSTOPSIG(status) & 0x7f;
		if (sig == SIGTRAP)
			sig = 0;
		if (status >> 8 == (SIGTRAP | PTRACE_EVENT_EXEC << 8))
			peak = 0;
		kib = private_kib(pid);
		if (kib > peak)
			peak = kib;
	}
	*ret_peak = peak;
	return status;
}

int main(int argc, char **argv)
{
	int status;
	long peak;
	pid_t pid;

	if (argc < 3)
		errx(2, "usage: peak-memory USER COMMAND [ARG]...");
	pid = fork();
	if (pid < 0)
		err(1, "fork");
	if (!pid)
		run_traced(argv[1], argv + 2);
	if (waitpid(pid, &status, 0) != pid || !WIFSTOPPED(status))
		errx(1, "the traced process did not start");
	if (ptrace(PTRACE_SETOPTIONS, pid, 0, OPTIONS))
		err(1, "ptrace");
	status = follow(pid, &peak);
	printf("%ld\n", peak);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

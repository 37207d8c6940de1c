/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How many signals do processes send themselves in a second of processor time, in thousands?
 *
 *   time-signals SECONDS PID...
 *
 * For each PID a process enters its user namespace, becomes inner 0 there, and sends itself SIGUSR1
 * in a loop, as signal1 of will-it-scale does. The kernel counts a pending signal for the sender's
 * user ID in his namespace, then for the owner of the namespace in its parent, and so on
 * (inc_rlimit_get_ucounts() in kernel/ucount.c); processors meet where two processes share one of
 * these counts.
 */
#define _GNU_SOURCE
#include <err.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

struct shared {
	atomic_bool stop;
	_Alignas(64) unsigned long sent[];
};

/* Of all senders, which have ended. */
static double processor_seconds(void)
{
	struct rusage used;

	if (getrusage(RUSAGE_CHILDREN, &used))
		err(1, "getrusage");
	return (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
	       (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6;
}

static void enter(const char *pid)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/proc/%s/ns/user", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || setns(fd, CLONE_NEWUSER))
		err(1, "%s", path);
	if (setresgid(0, 0, 0) || setresuid(0, 0, 0))
		err(1, "can't become inner 0 of %s", pid);
}

static void handle(int sig)
{
	(void)sig;
}

/* From the moment that nobody holds the other end of GATE. */
static unsigned long send_signals(int gate, const struct shared *shared)
{
	unsigned long sent = 0;
	char byte;

	signal(SIGUSR1, handle);
	if (read(gate, &byte, 1) != 0)
		err(1, "read");
	for (; !shared->stop; sent++)
		raise(SIGUSR1);
	return sent;
}

int main(int argc, char **argv)
{
	size_t n = (size_t)argc - 2;
	unsigned long total = 0;
	struct timespec pause;
	struct shared *shared;
	double seconds;
	int gate[2];

	if (argc < 3)
		errx(2, "usage: time-signals SECONDS PID...");
	seconds = strtod(argv[1], NULL);
	shared = mmap(NULL, sizeof(*shared) + n * sizeof(*shared->sent),
		      PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (shared == MAP_FAILED || pipe2(gate, O_CLOEXEC))
		err(1, "memory or pipe");
	for (size_t i = 0; i < n; i++) {
		pid_t pid = fork();

		if (pid < 0)
			err(1, "fork");
		if (pid == 0) {
			close(gate[1]);
			enter(argv[2 + i]);
			shared->sent[i] = send_signals(gate[0], shared);
			_exit(0);
		}
	}
	pause.tv_sec = (time_t)seconds;
	pause.tv_nsec = (long)((seconds - (double)pause.tv_sec) * 1e9);
	nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL); /* all have entered */
	close(gate[1]);
	nanosleep(&pause, NULL);
	shared->stop = true;
	for (size_t i = 0; i < n; i++) {
		int status;

		if (wait(&status) < 0 || status != 0)
			errx(1, "a sender failed");
	}
	for (size_t i = 0; i < n; i++)
		total += shared->sent[i];
	printf("%.0f\n", (double)total / processor_seconds() / 1e3);
	return 0;
}

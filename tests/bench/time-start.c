/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How many COMMANDs do WORKERS run to their end, all together, in a second, and how many in a second
 * of the processor time that this takes?
 *
 *   time-start SECONDS WORKERS COMMAND [ARG]...
 *
 * Each worker starts the next one when the last has ended. One that fails ends it all.
 */
#define _GNU_SOURCE
#include <err.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void run_once(char **argv)
{
	int status;
	pid_t pid;

	if (posix_spawnp(&pid, argv[0], NULL, NULL, argv, environ))
		errx(1, "can't start %s", argv[0]);
	if (waitpid(pid, &status, 0) != pid || status != 0)
		errx(1, "%s failed with wait status %d", argv[0], status);
}

/* Of all that has ended below this process. */
static double processor_seconds(void)
{
	struct rusage used;

	if (getrusage(RUSAGE_CHILDREN, &used))
		err(1, "getrusage");
	return (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
	       (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6;
}

struct work {
	double rate;      /* in a second */
	double processor; /* seconds for one */
};

/* From the moment that nobody holds the other end of GATE. */
static struct work work(int gate, double seconds, char **argv)
{
	unsigned long done = 0;
	double start, end;
	char byte;

	if (read(gate, &byte, 1) != 0)
		err(1, "read");
	start = now();
	do {
		run_once(argv);
		done++;
		end = now();
	} while (end < start + seconds);
	return (struct work){(double)done / (end - start),
			     processor_seconds() / (double)done};
}

int main(int argc, char **argv)
{
	unsigned long workers;
	double rate = 0, processor = 0;
	struct work *done;
	double seconds;
	int gate[2];

	if (argc < 4)
		errx(2, "usage: time-start SECONDS WORKERS COMMAND [ARG]...");
	seconds = strtod(argv[1], NULL);
	workers = strtoul(argv[2], NULL, 10);
	done = mmap(NULL, (workers + 1) * sizeof(*done), PROT_READ | PROT_WRITE,
		    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (done == MAP_FAILED || pipe2(gate, O_CLOEXEC))
		err(1, "memory or pipe");
	for (unsigned long i = 0; i < workers; i++) {
		pid_t pid = fork();

		if (pid < 0)
			err(1, "fork");
		if (pid == 0) {
			close(gate[1]);
			done[i] = work(gate[0], seconds, argv + 3);
			_exit(0);
		}
	}
	close(gate[1]);
	for (unsigned long i = 0; i < workers; i++) {
		int status;

		if (wait(&status) < 0 || status != 0)
			errx(1, "a worker failed");
	}
	for (unsigned long i = 0; i < workers; i++) {
		rate += done[i].rate;
		processor += done[i].rate * done[i].processor;
	}
	printf("%.1f\t%.1f\n", rate, rate / processor);
	return 0;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a system call or a command costs outside and inside user namespaces, side by side.
 *
 *   time-inside fstat ROUNDS FOLDER PID...      fstat(2) of every file in FOLDER, opened before
 *   time-inside stat ROUNDS PATH PID...         stat(2) of PATH
 *   time-inside access ROUNDS PATH PID...       access(2) of PATH
 *   time-inside eaccess ROUNDS PATH PID...      the same with AT_EACCESS
 *   time-inside run ROUNDS COMMAND PID...       COMMAND (words at blanks), its children too
 *
 * PID names a process in the namespace; 0 is outside. Namespaces take turns in each round, so that
 * what else the machine does hits all alike; and it is processor time that counts, since none of
 * this waits for anything. One line a PID: the median, in ns a call. All calls are made with the
 * outer uid and gid 1000, which every namespace must map to its 0.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <err.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { CALLS = 4000, PASSES = 3, OUTSIDE = 1000 };

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static int *fds;
static int files;

static void open_all(const char *folder)
{
	struct rlimit limit;
	struct dirent *entry;
	DIR *dir = opendir(folder);

	if (!dir)
		err(1, "%s", folder);
	if (getrlimit(RLIMIT_NOFILE, &limit))
		err(1, "getrlimit");
	limit.rlim_cur = limit.rlim_max;
	fds = calloc(limit.rlim_max, sizeof(*fds));
	if (!fds || setrlimit(RLIMIT_NOFILE, &limit))
		err(1, "%lu open files", (unsigned long)limit.rlim_max);
	while ((entry = readdir(dir))) {
		if (entry->d_name[0] == '.')
			continue;
		fds[files] = openat(dirfd(dir), entry->d_name, O_RDONLY);
		if (fds[files++] < 0)
			err(1, "%s/%s", folder, entry->d_name);
	}
	closedir(dir);
}

/* Not fstat(3), which is newfstatat(2) in some C libraries. */
static double time_fstat(const char *folder)
{
	struct stat st;
	double start = now();

	(void)folder;
	for (int pass = 0; pass < PASSES; pass++)
		for (int i = 0; i < files; i++)
			if (syscall(SYS_fstat, fds[i], &st))
				err(1, "fstat");
	return (now() - start) / PASSES / files;
}

static double time_stat(const char *path)
{
	struct stat st;
	double start = now();

	for (int i = 0; i < CALLS; i++)
		if (stat(path, &st))
			err(1, "%s", path);
	return (now() - start) / CALLS;
}

static double time_access(const char *path)
{
	double start = now();

	for (int i = 0; i < CALLS; i++)
		if (access(path, R_OK))
			err(1, "%s", path);
	return (now() - start) / CALLS;
}

static double time_eaccess(const char *path)
{
	double start = now();

	for (int i = 0; i < CALLS; i++)
		if (syscall(SYS_faccessat2, AT_FDCWD, path, R_OK, AT_EACCESS))
			err(1, "%s", path);
	return (now() - start) / CALLS;
}

static double time_run(const char *command)
{
	char *words[64], *text = strdup(command);
	int n = 0, status;
	struct rusage used;
	pid_t pid;

	for (char *word = strtok(text, " "); word && n < 63; word = strtok(NULL, " "))
		words[n++] = word;
	words[n] = NULL;
	pid = vfork();
	if (!pid) {
		execvp(words[0], words);
		_exit(127);
	}
	if (wait4(pid, &status, 0, &used) != pid || status != 0)
		errx(1, "'%s' failed", command);
	free(text);
	return (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1e9 +
	       (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) * 1e3;
}

static const struct load {
	const char *name;
	double (*time)(const char *arg);
} loads[] = {
	{"fstat", time_fstat},     {"stat", time_stat}, {"access", time_access},
	{"eaccess", time_eaccess}, {"run", time_run},
};

static const struct load *find_load(const char *name)
{
	for (size_t i = 0; i < sizeof(loads) / sizeof(*loads); i++)
		if (strcmp(loads[i].name, name) == 0)
			return &loads[i];
	errx(2, "no load %s", name);
}

static int open_namespace(const char *pid)
{
	char path[64];
	int fd;

	if (strcmp(pid, "0") == 0)
		return -1;
	snprintf(path, sizeof(path), "/proc/%s/ns/user", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		err(1, "%s", path);
	return fd;
}

static void enter(int namespace)
{
	unsigned id = namespace < 0 ? OUTSIDE : 0;

	if (namespace >= 0 && setns(namespace, CLONE_NEWUSER))
		err(1, "setns");
	if (setresgid(id, id, id) || setresuid(id, id, id))
		err(1, "can't become %u", id);
}

static void time_once(const struct load *load, const char *arg, int namespace,
		      double *ret_ns)
{
	int status;
	pid_t pid = fork();

	if (pid < 0)
		err(1, "fork");
	if (!pid) {
		enter(namespace);
		*ret_ns = load->time(arg);
		_exit(0);
	}
	if (waitpid(pid, &status, 0) != pid || status != 0)
		errx(1, "%s failed", load->name);
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
	size_t rounds, n;
	const struct load *load;
	double *ns;
	int *namespaces;

	if (argc < 5)
		errx(2, "usage: time-inside fstat|stat|access|eaccess|run ROUNDS ARG "
			"PID...");
	load = find_load(argv[1]);
	rounds = strtoul(argv[2], NULL, 10);
	n = (size_t)argc - 4;
	namespaces = calloc(n, sizeof(*namespaces));
	ns = mmap(NULL, n * rounds * sizeof(*ns), PROT_READ | PROT_WRITE,
		  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (!namespaces || ns == MAP_FAILED)
		err(1, "memory");
	for (size_t i = 0; i < n; i++)
		namespaces[i] = open_namespace(argv[4 + i]);
	if (load->time == time_fstat)
		open_all(argv[3]);
	for (size_t round = 0; round < rounds; round++)
		for (size_t i = 0; i < n; i++)
			time_once(load, argv[3], namespaces[i], &ns[i * rounds + round]);
	for (size_t i = 0; i < n; i++) {
		qsort(ns + i * rounds, rounds, sizeof(*ns), compare);
		printf("%.1f\n", ns[i * rounds + rounds / 2]);
	}
	return 0;
}

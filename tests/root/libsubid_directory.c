/* SPDX-License-Identifier: BSD-2-Clause */

/*
 * libsubid_directory.so: a directory service's plugin for newuidmap and idmap, and all that one may
 * do wrong. Asked for OWNER's ranges it does what /run/directory/OWNER.uid (or .gid) says, asked
 * for the owners of ID what /run/directory/ID.uid says. There is no such user without that file. A
 * line is one of
 *
 *	range START COUNT     one more range of the answer, each number of 64 bits
 *	owner UID             one more owner
 *	repeat N              N times the last one
 *	number N              say that there are N, however many there are
 *	null                  hand out no list
 *	status N              return N, not 0
 *	crash, abort, hang, exit N, _exit N, print, close, drip, grandchild, kill, program
 *
 * Built with -DLACKING it is one that has no function to ask.
 */

#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#define ANSWER 3 /* the pipe that is none of a plugin's business */

struct range {
	unsigned long start, count;
};

struct answer {
	struct range *ranges;
	uid_t *owners;
	int n;
	bool numbered;
	int number; /* that is said, if NUMBERED */
	int status;
};

#ifdef LACKING
int shadow_subid_something_else(void);
int shadow_subid_something_else(void)
{
	return 0;
}
#else
int shadow_subid_list_owner_ranges(const char *owner, int type, struct range **ranges,
				   int *n);
int shadow_subid_find_subid_owners(unsigned long id, int type, uid_t **uids, int *n);
int shadow_subid_has_range(const char *owner, unsigned long start, unsigned long count,
			   int type, bool *result);

static void add(struct answer *answer, unsigned long start, unsigned long count)
{
	size_t n = 2 * (size_t)answer->n + 1;
	bool full =
		(answer->n & (answer->n + 1)) == 0; /* 0, 1, 3, 7: it grows to 2 n + 1 */

	if (full) {
		answer->ranges = reallocarray(answer->ranges, n, sizeof(struct range));
		answer->owners = reallocarray(answer->owners, n, sizeof(uid_t));
	}
	if (!answer->ranges || !answer->owners)
		abort();
	answer->ranges[answer->n] = (struct range){start, count};
	answer->owners[answer->n] = (uid_t)start;
	answer->n++;
}

static void repeat(struct answer *answer, unsigned long times)
{
	struct range last = answer->ranges[answer->n - 1];

	while (--times > 0)
		add(answer, last.start, last.count);
}

static void hang(void)
{
	for (;;)
		pause();
}

static void drip(void)
{
	static const char line[] = "alice:100000:65536\n";

	while (write(ANSWER, line, sizeof(line) - 1) > 0)
		usleep(100000);
	abort();
}

/* One that outlives us and keeps the pipe open, for longer than anybody waits. */
static void leave_grandchild(void)
{
	if (fork() == 0) {
		sleep(30);
		_exit(0);
	}
}

static void print(void)
{
	printf("alice:100000:65536\n");
	fflush(stdout);
	fprintf(stderr, "alice:100000:65536\n");
}

static void close_all(void)
{
	for (int fd = 0; fd < 1024; fd++)
		close(fd);
}

/* A plugin that is a few lines around a program. */
static void run_program(struct answer *answer)
{
	FILE *program = popen("echo 100000 65536", "r");
	unsigned long start, count;

	if (program && fscanf(program, "%lu %lu", &start, &count) == 2)
		add(answer, start, count);
	if (program)
		pclose(program);
}

static void misbehave(struct answer *answer, const char *word, int number)
{
	if (strcmp(word, "crash") == 0)
		raise(SIGSEGV);
	else if (strcmp(word, "abort") == 0)
		abort();
	else if (strcmp(word, "hang") == 0)
		hang();
	else if (strcmp(word, "exit") == 0)
		exit(number);
	else if (strcmp(word, "_exit") == 0)
		_exit(number);
	else if (strcmp(word, "print") == 0)
		print();
	else if (strcmp(word, "close") == 0)
		close_all();
	else if (strcmp(word, "drip") == 0)
		drip();
	else if (strcmp(word, "grandchild") == 0)
		leave_grandchild();
	else if (strcmp(word, "kill") == 0)
		kill(getppid(), SIGKILL);
	else if (strcmp(word, "program") == 0)
		run_program(answer);
	else
		_exit(99); /* a misspelt test */
}

static void obey(struct answer *answer, const char *word, unsigned long a,
		 unsigned long b)
{
	if (strcmp(word, "range") == 0)
		add(answer, a, b);
	else if (strcmp(word, "owner") == 0)
		add(answer, a, 0);
	else if (strcmp(word, "repeat") == 0)
		repeat(answer, a);
	else if (strcmp(word, "number") == 0)
		answer->number = (int)a, answer->numbered = true;
	else if (strcmp(word, "null") == 0)
		answer->ranges = NULL;
	else if (strcmp(word, "status") == 0)
		answer->status = (int)a;
	else
		misbehave(answer, word, (int)a);
}

static struct answer look_up(const char *key, int type)
{
	struct answer answer = {0};
	char path[256], line[128], word[32], a[32], b[32];
	FILE *file;

	snprintf(path, sizeof(path), "/run/directory/%.200s.%s", key,
		 type == 1 ? "uid" : "gid");
	file = fopen(path, "re");
	if (!file) {
		answer.status = 1;
		return answer;
	}
	while (fgets(line, sizeof(line), file)) {
		strcpy(a, "0");
		strcpy(b, "0");
		if (sscanf(line, "%31s %31s %31s", word, a, b) > 0)
			obey(&answer, word, strtoul(a, NULL, 0), strtoul(b, NULL, 0));
	}
	fclose(file);
	return answer;
}

int shadow_subid_list_owner_ranges(const char *owner, int type, struct range **ranges,
				   int *n)
{
	struct answer answer = look_up(owner, type);

	*ranges = answer.ranges;
	*n = answer.numbered ? answer.number : answer.n;
	return answer.status;
}

int shadow_subid_find_subid_owners(unsigned long id, int type, uid_t **uids, int *n)
{
	struct answer answer;
	char key[32];

	snprintf(key, sizeof(key), "%lu", id);
	answer = look_up(key, type);
	*uids = answer.owners;
	*n = answer.numbered ? answer.number : answer.n;
	return answer.status;
}

/* Asked by shadow's newuidmap alone. */
int shadow_subid_has_range(const char *owner, unsigned long start, unsigned long count,
			   int type, bool *result)
{
	struct answer answer = look_up(owner, type);

	*result = 0;
	for (int i = 0; i < answer.n; i++)
		*result |=
			start >= answer.ranges[i].start &&
			start - answer.ranges[i].start + count <= answer.ranges[i].count;
	return answer.status;
}
#endif

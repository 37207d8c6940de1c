/* SPDX-License-Identifier: BSD-2-Clause */

/*
 * forest: grows user namespaces as stdin says, one a line, and says what they are:
 *
 *	NAME PARENT OWNER PROCESSES UID_MAP GID_MAP
 *
 * PARENT is "-" (the own namespace) or the name of an earlier line; OWNER the ID, in PARENT, of who
 * makes it, as user and as group. A map is INNER:OUTER:COUNT with commas between, or "-": not
 * written. With 0 PROCESSES only a descriptor of this program holds the namespace.
 *
 * Prints NAME, INODE and PID (that of its first process; 0: none) a line, "ready" in the end, and
 * holds it all until it is killed.
 */

#include <err.h>
#include <fcntl.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define TREES 8192

static struct tree {
	char *name;
	pid_t pid; /* 0: dead */
	int fd;    /* -1: a process holds it */
	char *maps[2];
} trees[TREES];
static size_t n;
static int life[2]; /* all processes read it, and end with it */

static const char *const files[2] = {"uid_map", "gid_map"};

static int open_ns(pid_t pid)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/ns/user", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		err(1, "%s", path);
	return fd;
}

static void enter(const struct tree *parent)
{
	int fd = parent->fd >= 0 ? parent->fd : open_ns(parent->pid);

	if (setns(fd, CLONE_NEWUSER) < 0)
		err(1, "setns %s", parent->name);
}

static void write_file(pid_t pid, const char *name, const char *text)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/%s", pid, name);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text))
		err(1, "%s of %s: %s", name, trees[n].name, text);
	close(fd);
}

/* "0:5:1,2:3:4" as the kernel takes it. */
static void write_map(pid_t pid, const char *name, const char *map)
{
	char *text = strdup(map);

	for (char *at = text; *at; at++)
		*at = (char)(*at == ':' ? ' ' : *at == ',' ? '\n' : *at);
	if (strcmp(text, "-") != 0)
		write_file(pid, name, text);
	free(text);
}

/* A map can only be written from the parent. */
static void write_maps(pid_t pid, const struct tree *parent)
{
	pid_t writer;
	int status;

	for (int kind = 0; !parent && kind < 2; kind++)
		write_map(pid, files[kind], trees[n].maps[kind]);
	if (!parent)
		return;
	writer = fork();
	if (writer == 0) {
		enter(parent);
		for (int kind = 0; kind < 2; kind++)
			write_map(pid, files[kind], trees[n].maps[kind]);
		_exit(0);
	}
	if (waitpid(writer, &status, 0) < 0 || status != 0)
		errx(1, "%s: no map", trees[n].name);
}

static void live(void)
{
	char byte;

	(void)!read(life[0], &byte, 1);
	_exit(0);
}

/* The first process of a namespace; SYNC is a socket to the program. */
static void grow(const struct tree *parent, unsigned owner, unsigned processes, int sync)
{
	char byte = 0;

	if (parent)
		enter(parent);
	close(life[1]);
	if (owner > 0 && (syscall(SYS_setresgid, owner, owner, owner) < 0 ||
			  syscall(SYS_setresuid, owner, owner, owner) < 0))
		err(1, "%s: owner %u", trees[n].name, owner);
	if (parent && owner == 0 &&
	    (syscall(SYS_setresgid, 0, 0, 0) < 0 || syscall(SYS_setresuid, 0, 0, 0) < 0))
		err(1, "%s: owner 0", trees[n].name);
	if (unshare(CLONE_NEWUSER) < 0)
		err(1, "%s: unshare", trees[n].name);
	if (write(sync, &byte, 1) != 1 || read(sync, &byte, 1) != 1)
		_exit(1);
	for (unsigned i = 1; i < processes; i++)
		if (fork() == 0)
			live();
	if (write(sync, &byte, 1) != 1)
		_exit(1);
	close(sync);
	if (processes > 0)
		live();
	_exit(0);
}

static void plant(const struct tree *parent, unsigned owner, unsigned processes)
{
	struct tree *tree = &trees[n];
	int ends[2], fd;
	struct stat st;
	char byte;
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0)
		err(1, "socketpair");
	pid = fork();
	if (pid == 0) {
		close(ends[0]);
		grow(parent, owner, processes, ends[1]);
	}
	close(ends[1]);
	if (pid < 0 || read(ends[0], &byte, 1) != 1)
		errx(1, "%s did not grow", tree->name);
	fd = open_ns(pid);
	fstat(fd, &st);
	write_maps(pid, parent);
	if (write(ends[0], &byte, 1) != 1 || read(ends[0], &byte, 1) != 1)
		errx(1, "%s ended", tree->name);
	close(ends[0]);
	tree->pid = processes > 0 ? pid : 0;
	tree->fd = processes > 0 ? -1 : fd;
	if (processes > 0)
		close(fd);
	else
		waitpid(pid, NULL, 0);
	printf("%s %ju %d\n", tree->name, (uintmax_t)st.st_ino, tree->pid);
	n++;
}

static const struct tree *find(const char *name)
{
	for (size_t i = n; i-- > 0;)
		if (strcmp(trees[i].name, name) == 0)
			return &trees[i];
	if (strcmp(name, "-") != 0)
		errx(1, "%s: no such parent", name);
	return NULL;
}

int main(void)
{
	char *parent;
	unsigned owner, processes;

	if (pipe2(life, O_CLOEXEC) < 0)
		err(1, "pipe");
	setvbuf(stdout, NULL, _IOLBF, 0);
	while (n < TREES &&
	       scanf("%ms %ms %u %u %ms %ms", &trees[n].name, &parent, &owner, &processes,
		     &trees[n].maps[0], &trees[n].maps[1]) == 6) {
		plant(find(parent), owner, processes);
		free(parent);
	}
	puts("ready");
	pause();
	return 0;
}

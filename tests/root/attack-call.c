/* SPDX-License-Identifier: BSD-2-Clause */

/*
 * attack-call: run a program as a caller with odd habits would.
 *
 *	attack-call HABIT... -- PROGRAM [ARG]...
 *
 * A HABIT is a word of the table below, or WORD=NUMBER. They are taken up from left to right; the last
 * is exec's own. Where the program runs as a child, its exit status is passed on, 128 and more for a
 * signal.
 */

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

static _Noreturn void die(const char *text)
{
	fprintf(stderr, "attack-call: %s: %s\n", text, strerror(errno));
	exit(99);
}

static void ignore_signals(long n)
{
	(void)n;
	for (int i = 1; i < NSIG; i++)
		signal(i, SIG_IGN);
}

static void block_signals(long n)
{
	sigset_t all;

	(void)n;
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, NULL);
}

/* All of them wait to be delivered. */
static void pend_signals(long n)
{
	block_signals(n);
	for (int i = 1; i < NSIG; i++)
		if (i != SIGKILL && i != SIGSTOP)
			raise(i);
}

static const struct itimerval *after(long usec)
{
	static struct itimerval timer;

	timer.it_value = (struct timeval){usec / 1000000, usec % 1000000};
	return &timer;
}

static void armed(int result)
{
	if (result < 0)
		die("setitimer");
}

static void real_timer(long usec)
{
	armed(setitimer(ITIMER_REAL, after(usec), NULL));
}

static void virtual_timer(long usec)
{
	armed(setitimer(ITIMER_VIRTUAL, after(usec), NULL));
}

static void profile_timer(long usec)
{
	armed(setitimer(ITIMER_PROF, after(usec), NULL));
}

static void odd_personality(long n)
{
	(void)n;
	if (personality(READ_IMPLIES_EXEC | ADDR_NO_RANDOMIZE | ADDR_COMPAT_LAYOUT |
			MMAP_PAGE_ZERO | STICKY_TIMEOUTS) < 0)
		die("personality");
}

/* N is a descriptor that becomes one end of a socket; the other end is never read, and full. */
static void full_socket(long n)
{
	static const char block[4096];
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) < 0)
		die("socketpair");
	while (send(pair[0], block, sizeof(block), MSG_DONTWAIT) > 0)
		;
	while (send(pair[0], block, 1, MSG_DONTWAIT) > 0)
		;
	dup2(pair[0], (int)n);
}

/* N becomes a pipe that nobody reads any more. */
static void broken_pipe(long n)
{
	int ends[2];

	if (pipe(ends) < 0)
		die("pipe");
	close(ends[0]);
	dup2(ends[1], (int)n);
}

/* N becomes a terminal; what is shown there goes to the old stdout. */
static void terminal(long n)
{
	int master = posix_openpt(O_RDWR | O_NOCTTY), slave;
	char text[4096];
	ssize_t len;

	if (master < 0 || grantpt(master) < 0 || unlockpt(master) < 0)
		die("posix_openpt");
	slave = open(ptsname(master), O_RDWR | O_NOCTTY);
	if (slave < 0)
		die("ptsname");
	if (fork() == 0) {
		close(slave);
		while ((len = read(master, text, sizeof(text))) > 0)
			if (write(1, text, (size_t)len) < 0)
				break;
		_exit(0);
	}
	close(master);
	dup2(slave, (int)n);
	close(slave);
}

static void close_fd(long n)
{
	close((int)n);
}

/* N descriptors more. */
static void many_fds(long n)
{
	while (n-- > 0)
		if (open("/", O_RDONLY | O_DIRECTORY) < 0)
			die("open");
}

/* N children have ended and wait to be asked how; N more are still there. */
static void have_children(long n)
{
	while (n-- > 0) {
		if (fork() == 0)
			_exit(0);
		if (fork() == 0) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			signal(SIGALRM, SIG_DFL); /* the parent may be gone by now */
			alarm(20);
			close(1); /* else who reads there waits for us */
			close(2);
			pause();
		}
	}
}

/* Go on in a child that shares something with its parent. */
static void share(unsigned long flags)
{
	long pid = syscall(SYS_clone, flags | SIGCHLD, NULL, NULL, NULL, NULL);
	int status;

	if (pid < 0)
		die("clone");
	if (pid == 0)
		return;
	if (waitpid((pid_t)pid, &status, 0) < 0)
		die("waitpid");
	exit(WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
}

static void share_fs(long n)
{
	(void)n;
	share(CLONE_FS);
}

static void share_files(long n)
{
	(void)n;
	share(CLONE_FILES);
}

/* A filler of N bytes in the environment, in strings of 100,000. */
static void huge_environment(long n)
{
	char name[32], *value;

	for (; n > 0; n -= 100000) {
		size_t len = n < 100000 ? (size_t)n : 100000;

		value = malloc(len + 1);
		if (!value)
			die("malloc");
		memset(value, 'x', len);
		value[len] = '\0';
		snprintf(name, sizeof(name), "X%ld", n);
		setenv(name, value, 1);
		free(value);
	}
}

static bool by_descriptor;

static void exec_descriptor(long n)
{
	(void)n;
	by_descriptor = true;
}

static const struct {
	const char *word;
	void (*take_up)(long);
} habits[] = {
	{"ignore", ignore_signals},
	{"block", block_signals},
	{"pend", pend_signals},
	{"real", real_timer},
	{"virtual", virtual_timer},
	{"profile", profile_timer},
	{"personality", odd_personality},
	{"socket", full_socket},
	{"broken", broken_pipe},
	{"terminal", terminal},
	{"close", close_fd},
	{"fds", many_fds},
	{"children", have_children},
	{"share-fs", share_fs},
	{"share-files", share_files},
	{"environment", huge_environment},
	{"execveat", exec_descriptor},
};

static void take_up(char *word)
{
	char *value = strchr(word, '=');

	if (value)
		*value++ = '\0';
	for (size_t i = 0; i < sizeof(habits) / sizeof(habits[0]); i++)
		if (strcmp(word, habits[i].word) == 0) {
			habits[i].take_up(value ? strtol(value, NULL, 10) : 0);
			return;
		}
	errno = EINVAL;
	die(word);
}

int main(int argc, char **argv)
{
	int fd;

	while (*++argv && strcmp(*argv, "--") != 0)
		take_up(*argv);
	if (argc < 3 || !*argv || !*++argv)
		return 2;
	if (by_descriptor) {
		fd = open(*argv, O_PATH);
		syscall(SYS_execveat, fd, "", argv, environ, AT_EMPTY_PATH);
	} else {
		execv(*argv, argv);
	}
	die(*argv);
}

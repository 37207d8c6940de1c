/* SPDX-License-Identifier: BSD-2-Clause */
#include "nss.h"

#include "plugin.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int64_t milliseconds(void)
{
	struct timespec now = {0};

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Read all that comes from FD. */
static int receive(int fd, char *text, size_t *ret_len)
{
	int64_t end = milliseconds() + NSS_SECONDS * 1000, left;
	struct pollfd wait = {.fd = fd, .events = POLLIN};
	ssize_t n = 1;

	for (*ret_len = 0; n > 0 && *ret_len < NSS_TEXT; *ret_len += (size_t)n) {
		left = end - milliseconds();
		if (left <= 0 || poll(&wait, 1, (int)left) != 1)
			return NSS_E_SECONDS;
		n = read(fd, text + *ret_len, NSS_TEXT - *ret_len);
		if (n < 0)
			return -errno;
	}
	return *ret_len < NSS_TEXT ? 0 : NSS_E_TEXT;
}

int nss_ask(const char *service, const struct nss_question *question,
	    char ret_text[NSS_TEXT], size_t *ret_len)
{
	int ends[2], status = 0, r;

	signal(SIGCHLD, SIG_DFL); /* a caller who ignores it would take the status away */
	if (pipe2(ends, O_CLOEXEC) < 0)
		return -errno;
	const pid_t child = fork();
	if (child == 0)
		plugin_run(service, question, ends[1]);
	r = child < 0 ? -errno : 0;
	close(ends[1]);
	if (r == 0)
		r = receive(ends[0], ret_text, ret_len);
	/* Killing changes nothing if it has exited. */
	if (child > 0 && kill(child, SIGKILL) == 0)
		waitpid(child, &status, 0);
	close(ends[0]);
	if (r != 0)
		return r;
	r = WIFEXITED(status) ? WEXITSTATUS(status) : NSS_E_DIED;
	if (r == NSS_ANSWERED)
		return 0;
	return r >= NSS_E_ABSENT && r <= NSS_E_JAIL ? r : NSS_E_DIED;
}

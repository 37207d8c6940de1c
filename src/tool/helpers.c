/* SPDX-License-Identifier: BSD-2-Clause */
#include "helpers.h"

#include "message.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define TARGET_FD   3
#define TARGET_NAME "fd:3"

/* One call of a helper. */
struct call {
	pid_t pid;
	int output; /* where it says something: stdout and stderr */
	int error;  /* -errno: it could not be started */
};

static char *find_in_path(const char *name)
{
	const char *path = getenv("PATH");

	for (const char *at = path ? path : "/usr/bin:/bin"; *at;) {
		size_t len = strcspn(at, ":");
		char *file;

		if (asprintf(&file, "%.*s/%s", (int)len, at, name) < 0)
			return NULL;
		if (len > 0 && access(file, X_OK) == 0)
			return file;
		free(file);
		at += len + (at[len] == ':');
	}
	return NULL;
}

int helpers_find(const bool kinds[ID_KINDS], struct helpers *ret_helpers,
		 char **ret_message)
{
	struct helpers helpers = {0};

	for (enum id_kind kind = ID_UID; kind <= ID_GID; kind++) {
		if (!kinds[kind])
			continue;
		helpers.paths[kind] = find_in_path(id_words[kind].helper);
		if (helpers.paths[kind])
			continue;
		helpers_clear(&helpers);
		return message_fail(
			ret_message,
			"%s is not in PATH, and without it only root may write this "
			"map: install idmap's own, or the package uidmap (Debian, "
			"Ubuntu) or shadow-utils (Fedora)",
			id_words[kind].helper);
	}
	*ret_helpers = helpers;
	return 0;
}

void helpers_clear(struct helpers *helpers)
{
	for (enum id_kind kind = ID_UID; kind <= ID_GID; kind++) {
		free(helpers->paths[kind]);
		helpers->paths[kind] = NULL;
	}
}

static int spawn(const char *path, char *const argv[], int dir, int output,
		 pid_t *ret_pid)
{
	posix_spawn_file_actions_t actions;
	int r = posix_spawn_file_actions_init(&actions);

	if (r != 0)
		return -r;
	r = posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
	if (r == 0)
		r = posix_spawn_file_actions_adddup2(&actions, output, STDERR_FILENO);
	if (r == 0)
		r = posix_spawn_file_actions_adddup2(&actions, dir, TARGET_FD);
	if (r == 0)
		r = posix_spawn(ret_pid, path, &actions, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	return -r;
}

/* HELPER TARGET INNER OUTER COUNT [INNER OUTER COUNT]... */
static struct call start(char *path, char *target, const struct idmap *map, int dir)
{
	struct call call = {.output = -1};
	char numbers[IDMAP_TEXT], *argv[3 * IDMAP_EXTENTS + 3], *save;
	size_t n = 0;
	int ends[2];

	if (pipe2(ends, O_CLOEXEC) < 0) {
		call.error = -errno;
		return call;
	}
	numbers[idmap_format(map, numbers)] = '\0';
	argv[n++] = path;
	argv[n++] = target;
	for (char *at = strtok_r(numbers, " \n", &save); at;
	     at = strtok_r(NULL, " \n", &save))
		argv[n++] = at;
	argv[n] = NULL;
	call.error = spawn(path, argv, dir, ends[1], &call.pid);
	call.output = ends[0];
	close(ends[1]);
	return call;
}

/* All that comes through FD, which is closed. NULL if nothing does. */
static char *hear(int fd)
{
	FILE *file = fdopen(fd, "r");
	char *said = NULL;
	size_t room = 0;

	if (!file) {
		close(fd);
		return NULL;
	}
	if (getdelim(&said, &room, '\0', file) <= 0) {
		free(said);
		said = NULL;
	}
	fclose(file);
	if (said && said[strlen(said) - 1] == '\n')
		said[strlen(said) - 1] = '\0';
	return said;
}

/* Wait for CALL to end. */
static struct outcome finish(const struct call *call, const char *path)
{
	struct outcome outcome = {0};
	char *said = call->output < 0 ? NULL : hear(call->output);
	int status = -1;

	while (call->error == 0 && waitpid(call->pid, &status, 0) < 0 && errno == EINTR)
		;
	outcome.written = status == 0;
	if (outcome.written)
		free(said);
	else if (said)
		outcome.why = said;
	else if (call->error != 0)
		message_fail(&outcome.why, "%s: %s", path, strerror(-call->error));
	else if (status != -1 && WIFSIGNALED(status))
		message_fail(&outcome.why, "%s was killed by signal %d", path,
			     WTERMSIG(status));
	else
		message_fail(&outcome.why, "%s failed and did not say why", path);
	return outcome;
}

/* shadow 4.13 takes fd:3 for a bad PID. */
static bool knows_no_fd(const struct outcome *outcome)
{
	return !outcome->written && outcome->why &&
	       strncmp(outcome->why, "usage: ", 7) == 0;
}

void helpers_run(const struct helpers *helpers, int dir, int pid, bool waits,
		 const struct idmap maps[ID_KINDS], struct outcome ret_outcomes[ID_KINDS])
{
	struct sigaction inherited, usual = {.sa_handler = SIG_DFL};
	char target[sizeof("2147483647")] = TARGET_NAME;
	bool pending[ID_KINDS] = {maps[ID_UID].n > 0, maps[ID_GID].n > 0};
	struct call calls[ID_KINDS];

	/* Were SIGCHLD ignored, as some parents leave it, their exit status would be lost. */
	sigaction(SIGCHLD, &usual, &inherited);
	for (int attempt = waits; attempt < 2; attempt++) {
		if (attempt > 0)
			snprintf(target, sizeof(target), "%d", pid);
		for (enum id_kind kind = ID_UID; kind <= ID_GID; kind++)
			if (pending[kind])
				calls[kind] = start(helpers->paths[kind], target,
						    &maps[kind], dir);
		for (enum id_kind kind = ID_UID; kind <= ID_GID; kind++) {
			if (!pending[kind])
				continue;
			ret_outcomes[kind] = finish(&calls[kind], helpers->paths[kind]);
			pending[kind] = attempt == 0 && knows_no_fd(&ret_outcomes[kind]);
			if (pending[kind])
				free(ret_outcomes[kind].why);
		}
	}
	sigaction(SIGCHLD, &inherited, NULL);
}

/* SPDX-License-Identifier: BSD-2-Clause */
#include "process.h"

#include "../trusted/target.h"
#include "command.h"
#include "message.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

/* Three numbers that somebody has put between blanks, commas or dashes: "0 1 1". */
static const char *map_hint(const char *word)
{
	bool numbers = *word && word[strspn(word, "0123456789 \t,-")] == '\0';

	return numbers ? "; a MAP is INNER:OUTER:COUNT with colons, such as 0:1:1" : "";
}

int process_take(const char **target, const char *word, char **ret_message)
{
	if (*target)
		return message_fail(ret_message, "'%s': the process is %s already%s",
				    word, *target, map_hint(word));
	*target = word;
	return 0;
}

int process_refuse(const char *name, int error, char **ret_message)
{
	bool is_fd = strncmp(name, "fd:", 3) == 0;
	bool number = *name && name[strspn(name, "0123456789")] == '\0';

	if (error == TARGET_E_NAME)
		message_fail(ret_message, "'%s' %s%s", name, target_reason(error),
			     number ? "" : map_hint(name));
	else if (error == TARGET_E_GONE && is_fd)
		message_fail(ret_message, "%s: the process has ended", name);
	else
		message_fail(ret_message, "%s %s", name, target_reason(error));
	return error == TARGET_E_NAME ? COMMAND_USAGE : COMMAND_FAILED;
}

bool process_has_ended(int dir)
{
	int fd = openat(dir, "stat", O_RDONLY | O_CLOEXEC);
	char byte;
	bool ended = fd < 0 ? errno == ESRCH : read(fd, &byte, 1) < 0 && errno == ESRCH;

	if (fd >= 0)
		close(fd);
	return ended;
}

int process_open(const char *name, int *ret_dir, char **ret_message)
{
	int dir = -1;
	int r = target_open(name, &dir);

	if (r == 0 && process_has_ended(dir)) {
		close(dir);
		r = TARGET_E_GONE;
	}
	if (r != 0)
		return process_refuse(name, r, ret_message);
	*ret_dir = dir;
	return 0;
}

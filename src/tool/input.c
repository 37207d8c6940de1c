/* SPDX-License-Identifier: BSD-2-Clause */
#include "input.h"

#include "message.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *input_name(const char *path)
{
	return strcmp(path, "-") == 0 ? "stdin" : path;
}

static int fail(const char *path, char **ret_message)
{
	const char *quote = *path ? "" : "'";

	return message_fail(ret_message, "%s%s%s: %s", quote, input_name(path), quote,
			    strerror(errno));
}

int input_read(const char *path, char **ret_text, size_t *ret_len, char **ret_message)
{
	FILE *file = strcmp(path, "-") == 0 ? stdin : fopen(path, "re");
	char *text = NULL;
	size_t room = 0;
	ssize_t len;
	bool failed;

	if (!file)
		return fail(path, ret_message);
	errno = 0;
	len = getdelim(&text, &room, '\0', file);
	failed = len < 0 && errno != 0;
	if (failed)
		fail(path, ret_message);
	if (file != stdin)
		fclose(file);
	if (failed) {
		free(text);
		return -1;
	}
	/* An empty file leaves a buffer without text. */
	if (len < 0 && text)
		*text = '\0';
	*ret_text = text;
	*ret_len = len < 0 ? 0 : (size_t)len;
	return 0;
}

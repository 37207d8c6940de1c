/* SPDX-License-Identifier: BSD-2-Clause */
#include "input.h"

#include "message.h"

#include <errno.h>
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

static int read_all(FILE *file, FILE *copy)
{
	char bytes[65536];
	size_t n;

	while ((n = fread(bytes, 1, sizeof(bytes), file)) > 0)
		fwrite(bytes, 1, n, copy);
	return ferror(file) ? -1 : 0;
}

int input_read(const char *path, char **ret_text, size_t *ret_len, char **ret_message)
{
	FILE *file = strcmp(path, "-") == 0 ? stdin : fopen(path, "re"), *copy;
	char *text = NULL;
	size_t len = 0;
	int r;

	if (!file)
		return fail(path, ret_message);
	copy = open_memstream(&text, &len);
	r = copy ? read_all(file, copy) : -1;
	if (r != 0)
		fail(path, ret_message);
	if (file != stdin)
		fclose(file);
	if (copy && fclose(copy) != 0 && r == 0)
		r = fail(path, ret_message);
	if (r != 0) {
		free(text);
		return r;
	}
	*ret_text = text;
	*ret_len = len;
	return 0;
}

/* SPDX-License-Identifier: BSD-2-Clause */
#include "setting.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

/* Cut the next line off the text between *AT and END. NULL at the end. */
static const char *next_line(const char **at, const char *end, size_t *ret_len)
{
	const char *line = *at, *newline = memchr(line, '\n', (size_t)(end - line));

	if (line == end)
		return NULL;
	*ret_len = (size_t)((newline ? newline : end) - line);
	*at = line + *ret_len + (newline != NULL);
	return line;
}

bool setting_login_defs(const char *text, size_t len, const char *name)
{
	const char *end = text + len, *line;
	char copy[256], found[64], value[8];
	bool yes = false;
	int fields;

	while ((line = next_line(&text, end, &len))) {
		while (len > 0 && isspace((unsigned char)line[len - 1]))
			len--;
		if (len >= sizeof(copy))
			continue;
		snprintf(copy, sizeof(copy), "%.*s", (int)len, line);
		fields = sscanf(copy, " %63[^ \t]%*[ \t\"]%7[^\"]", found, value);
		if (fields > 0 && strcmp(found, name) == 0)
			yes = fields > 1 && strcasecmp(value, "yes") == 0;
	}
	return yes;
}

bool setting_subid_service(const char *text, size_t len, char ret_service[64])
{
	const char *end = text + len, *line;
	bool named = false;

	while (!named && (line = next_line(&text, end, &len))) {
		if (len < 6 || strncasecmp(line, "subid:", 6) != 0)
			continue;
		for (line += 6, len -= 6; len > 0 && isblank((unsigned char)*line); len--)
			line++;
		snprintf(ret_service, 64, "%.*s", len < 63 ? (int)len : 63, line);
		ret_service[strcspn(ret_service, " \t")] = '\0';
		named = ret_service[0] != '\0';
	}
	if (!named || ret_service[0] == '#' || strcmp(ret_service, "files") == 0)
		ret_service[0] = '\0';
	return ret_service[0] != '\0';
}

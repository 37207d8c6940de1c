/* SPDX-License-Identifier: BSD-2-Clause */
#include "setting.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

/* Copy the next line into LINE, cut to its room. Returns false at the end. */
static bool next_line(const char **at, const char *end, char line[256])
{
	const char *newline = memchr(*at, '\n', (size_t)(end - *at));
	const char *stop = newline ? newline : end;

	if (*at == end)
		return false;
	snprintf(line, 256, "%.*s", stop - *at < 256 ? (int)(stop - *at) : 255, *at);
	*at = stop + (newline != NULL);
	return true;
}

bool setting_login_defs(const char *text, size_t len, const char *name)
{
	const char *end = text + len;
	char line[256], found[64], value[8];
	bool yes = false;

	while (next_line(&text, end, line))
		if (sscanf(line, " %63[^ \t]%*[ \t\"]%7[^ \t\"]", found, value) == 2 &&
		    strcmp(found, name) == 0)
			yes = strcasecmp(value, "yes") == 0;
	return yes;
}

bool setting_subid_service(const char *text, size_t len, char ret_service[64])
{
	const char *end = text + len;
	char line[256];

	while (next_line(&text, end, line))
		if (strncasecmp(line, "subid:", 6) == 0 &&
		    sscanf(line + 6, " %63s", ret_service) == 1)
			return ret_service[0] != '#' && strcmp(ret_service, "files") != 0;
	return false;
}

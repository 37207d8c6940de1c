/* SPDX-License-Identifier: BSD-2-Clause */

/* login.defs: only a last line of exactly that name, whose value is yes, says yes. */

#include "fuzz.h"
#include "trusted/setting.h"

#include <ctype.h>

#define NAME "GRANT_AUX_GROUP_SUBIDS"

enum answer { ANOTHER, NO, YES };

static bool is_space(char c)
{
	return c != '\0' && strchr(" \t\n\v\f\r", c);
}

/* A line without its newline, which ends at a NUL too. */
static enum answer oracle_line(const char *line, size_t len)
{
	char copy[256] = "";
	const char *at = copy, *value;

	while (len > 0 && is_space(line[len - 1]))
		len--;
	if (len > 255)
		return ANOTHER;
	memcpy(copy, line, len);
	while (is_space(*at))
		at++;
	if (strncmp(at, NAME, strlen(NAME)) != 0)
		return ANOTHER;
	at += strlen(NAME);
	if (*at != '\0' && *at != ' ' && *at != '\t')
		return ANOTHER;
	value = at + strspn(at, " \t\"");
	if (strncasecmp(value, "yes", 3) != 0)
		return NO;
	return value[3] == '\0' || value[3] == '"' ? YES : NO;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = fuzz_copy(data, size);
	enum answer last = NO;

	for (size_t start = 0, i = 0; i <= size; i++)
		if (i == size || text[i] == '\n') {
			enum answer answer = oracle_line(text + start, i - start);

			last = answer == ANOTHER ? last : answer;
			start = i + 1;
		}
	HOLDS(setting_login_defs(text, size, NAME) == (last == YES));
	free(text);
	return 0;
}

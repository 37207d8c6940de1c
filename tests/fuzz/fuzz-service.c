/* SPDX-License-Identifier: BSD-2-Clause */

/* nsswitch.conf: where grants come from. Only a word that is "files", or none, means the files. */

#include "fuzz.h"
#include "trusted/setting.h"

#include <ctype.h>

/* Where the word at AT ends. */
static size_t word_end(const char *text, size_t at, size_t len)
{
	while (at < len && text[at] != ' ' && text[at] != '\t' && text[at] != '\n' &&
	       text[at] != '\0')
		at++;
	return at;
}

/* Is "subid:", in any case, at AT? */
static bool is_subid(const char *text, size_t at, size_t len)
{
	static const char name[] = "subid:";

	for (size_t i = 0; i < 6; i++)
		if (at + i >= len || tolower((unsigned char)text[at + i]) != name[i])
			return false;
	return true;
}

/* Byte by byte: the first line of the database that has a word. */
static bool oracle_service(const char *text, size_t len, char ret_service[64])
{
	for (size_t at = 0; at < len; at++) {
		size_t start = at + 6, n;

		if ((at > 0 && text[at - 1] != '\n') || !is_subid(text, at, len))
			continue;
		while (start < len && (text[start] == ' ' || text[start] == '\t'))
			start++;
		n = word_end(text, start, len) - start;
		if (n == 0)
			continue;
		if (n > 63)
			n = 63;
		memcpy(ret_service, text + start, n);
		ret_service[n] = '\0';
		return text[start] != '#' && strcmp(ret_service, "files") != 0;
	}
	return false;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = fuzz_copy(data, size);
	char service[64] = "", wanted[64] = "";
	bool elsewhere = oracle_service(text, size, wanted);

	HOLDS(setting_subid_service(text, size, service) == elsewhere);
	if (elsewhere)
		HOLDS(strcmp(service, wanted) == 0);
	free(text);
	return 0;
}

/* SPDX-License-Identifier: BSD-2-Clause */
#include "id.h"

const struct id_words id_words[ID_KINDS] = {
	[ID_UID] = {"uid", "uid_map", "/etc/subuid", "newuidmap"},
	[ID_GID] = {"gid", "gid_map", "/etc/subgid", "newgidmap"},
};

int id_parse(const char *text, size_t len, uint32_t *ret_number)
{
	uint64_t number = 0;

	if (len == 0)
		return ID_E_EMPTY;
	for (size_t i = 0; i < len; i++)
		if (text[i] < '0' || text[i] > '9')
			return ID_E_DIGIT;
	if (text[0] == '0' && len > 1)
		return ID_E_ZERO;
	for (size_t i = 0; i < len; i++) {
		number = number * 10 + (uint64_t)(text[i] - '0');
		if (number > UINT32_MAX)
			return ID_E_RANGE;
	}
	*ret_number = (uint32_t)number;
	return 0;
}

const char *id_reason(int error)
{
	static const char *const reason[] = {
		[ID_E_EMPTY] = "is empty",
		[ID_E_DIGIT] = "is not a number of digits only",
		[ID_E_ZERO] = "has a leading zero",
		[ID_E_RANGE] = "is over 4294967295",
	};

	return reason[error];
}

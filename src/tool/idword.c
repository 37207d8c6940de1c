/* SPDX-License-Identifier: BSD-2-Clause */
#include "idword.h"

#include "message.h"

#include <ctype.h>
#include <string.h>

const char *idword_reason(int error)
{
	return error == ID_E_RANGE ? "is over 4294967294, the largest ID"
				   : id_reason(error);
}

int idword_parse(const char *what, const char *word, enum id_kind kind, uint32_t *ret_id,
		 char **ret_message)
{
	uint32_t id;
	int r = id_parse(word, strlen(word), &id);

	if (r == 0 && id == ID_NONE)
		r = ID_E_RANGE;
	if (r == 0) {
		*ret_id = id;
		return 0;
	}
	if (r == ID_E_DIGIT && (isalpha((unsigned char)word[0]) || word[0] == '_'))
		return message_fail(ret_message,
				    "%s '%s': names are not taken: give the number (%s "
				    "%s)",
				    what, word, kind == ID_UID ? "id -u" : "getent group",
				    word);
	return message_fail(ret_message, "%s '%s' %s", what, word, idword_reason(r));
}

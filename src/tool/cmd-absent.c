/* SPDX-License-Identifier: BSD-2-Clause */
#include "cmd-absent.h"

#include "../trusted/nss.h"
#include "command.h"

void absent_say(const struct source *source)
{
	if (source_is_absent(source))
		command_fail(COMMAND_DONE, source_explain(source, NSS_E_ABSENT));
}

void absent_say_answer(const struct answer *answer)
{
	for (enum id_kind kind = ID_UID; kind <= ID_GID; kind++)
		absent_say(&answer->grants[kind].source);
}

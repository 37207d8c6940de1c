/* SPDX-License-Identifier: BSD-2-Clause */
#pragma once

/*
 * idword: an ID as a word of the command line. Names are not taken, since one would have to say in
 * which namespace it is looked up.
 */

#include "../trusted/id.h"

/* Why a text that is no ID is none: id_reason() and the limit. */
const char *idword_reason(int error);

/* Read WORD as an ID of KIND, which is WHAT ("ID", "--setuid") in a message. Returns 0, or -1 with
 * *RET_MESSAGE. */
int idword_parse(const char *what, const char *word, enum id_kind kind, uint32_t *ret_id,
		 char **ret_message);

/* SPDX-License-Identifier: BSD-2-Clause */
#pragma once

/*
 * cmd-absent: the word on stderr that files count where nsswitch.conf names a directory service,
 * since its plugin is not there. It is no error; the helpers say the same.
 */

#include "request.h"

/* Say it if it is so. */
void absent_say(const struct source *source);

/* Of all grants that were loaded. */
void absent_say_answer(const struct answer *answer);

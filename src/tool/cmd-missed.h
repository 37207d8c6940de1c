/* SPDX-License-Identifier: BSD-2-Clause */
#pragma once

/*
 * cmd-missed: what the verbs that walk the namespaces could not see, so that nobody takes what is
 * shown for all there is.
 */

#include "namespaces.h"

/* Say it on stderr, a line for each kind. It is no error. */
void missed_say(const struct namespaces_missed *missed);

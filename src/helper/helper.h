/* SPDX-License-Identifier: BSD-2-Clause */
#pragma once

/*
 * helper: the whole of newuidmap and newgidmap. Which of the two it is, is fixed when it is
 * compiled: the caller chooses argv[0] and is not asked.
 */

#include "../trusted/id.h"

/* Returns the exit status: 0 the map stands, 1 anything else. */
int helper_main(enum id_kind kind, int argc, char **argv);

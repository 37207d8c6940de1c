/* SPDX-License-Identifier: BSD-2-Clause */
#pragma once

/*
 * process: the process that a command line names, for all verbs alike: which word it is, whether
 * it can be opened, and the words for it if not.
 */

#include <stdbool.h>

/* Let WORD be the *TARGET, of which there is only one (NULL: none yet). Returns 0, or -1 with
 * *RET_MESSAGE. */
int process_take(const char **target, const char *word, char **ret_message);

/*
 * Open the directory of process NAME (target.h). Returns 0, or with *RET_MESSAGE the exit status:
 * COMMAND_USAGE for a NAME that can be no process, COMMAND_FAILED for one that isn't there.
 */
int process_open(const char *name, int *ret_dir, char **ret_message);

/* The directory of a process that has been reaped can still be open, and has nothing in it. */
bool process_has_ended(int dir);

/* Say an error of target_open(), as process_open() does. */
int process_refuse(const char *name, int error, char **ret_message);

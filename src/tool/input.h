/* SPDX-License-Identifier: BSD-2-Clause */
#pragma once

/*
 * input: a FILE of the command line, read to its end, so that pipes and files of /proc, which
 * have no size, are as good as any other. "-" is standard input. (What decides on grants is read
 * by textfile instead, which takes regular files alone.)
 */

#include <stddef.h>

/* How messages call PATH: "stdin" for "-". */
const char *input_name(const char *path);

/* Read all of PATH. The caller frees *RET_TEXT, *RET_LEN bytes and a NUL behind them. Returns 0, or -1 with *RET_MESSAGE. */
int input_read(const char *path, char **ret_text, size_t *ret_len, char **ret_message);

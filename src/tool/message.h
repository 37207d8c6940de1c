/* SPDX-License-Identifier: BSD-2-Clause */
#pragma once

/*
 * message: the text of an error for a person. It is made where the facts are and printed only by
 * the program (command_fail()), so that nothing in between prints or exits.
 */

/* Set *RET_MESSAGE to the formatted text (the caller frees it; NULL without memory). Returns -1,
 * so that a function that fails can return what this returns. */
int message_fail(char **ret_message, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

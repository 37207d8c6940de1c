/* SPDX-License-Identifier: BSD-2-Clause */
#include "message.h"

#include <stdarg.h>
#include <stdio.h>

int message_fail(char **ret_message, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	if (vasprintf(ret_message, format, args) < 0)
		*ret_message = NULL;
	va_end(args);
	return -1;
}

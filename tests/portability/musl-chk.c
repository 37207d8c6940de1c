/* SPDX-License-Identifier: BSD-2-Clause */

/*
 * musl-chk: what Debian's libcap.a, which is made for glibc, calls that musl has not.
 */

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

int __asprintf_chk(char **ret, int flag, const char *format, ...);
int __snprintf_chk(char *s, size_t n, int flag, size_t room, const char *format, ...);
int __sprintf_chk(char *s, int flag, size_t room, const char *format, ...);

int __asprintf_chk(char **ret, int flag, const char *format, ...)
{
	va_list args;
	int n;

	(void)flag;
	va_start(args, format);
	n = vasprintf(ret, format, args);
	va_end(args);
	return n;
}

int __snprintf_chk(char *s, size_t n, int flag, size_t room, const char *format, ...)
{
	va_list args;
	int len;

	(void)flag;
	va_start(args, format);
	len = vsnprintf(s, n < room ? n : room, format, args);
	va_end(args);
	return len;
}

int __sprintf_chk(char *s, int flag, size_t room, const char *format, ...)
{
	va_list args;
	int len;

	(void)flag;
	va_start(args, format);
	len = vsnprintf(s, room, format, args);
	va_end(args);
	return len;
}

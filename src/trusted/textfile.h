/* SPDX-License-Identifier: BSD-2-Clause */
#pragma once

/*
 * textfile: a configuration file below /etc, mapped whole and read-only.
 *
 * Only a regular file that not everybody may write is taken: a FIFO would hang a privileged
 * reader, and a world-writable /etc/subuid would let anybody grant himself anything.
 */

#include <stddef.h>

struct textfile {
	const char *text; /* LEN bytes, not terminated; "" when empty */
	size_t len;
};

enum {
	TEXTFILE_E_TYPE = 1, /* not a regular file */
	TEXTFILE_E_WRITABLE, /* writable by everybody */
};

/*
 * FLAGS is O_NOFOLLOW, or 0 where a symlink is fine: nsswitch.conf and login.defs are some on
 * systems that manage them elsewhere. Returns 0, TEXTFILE_E_*, or -errno (-ELOOP: a symlink).
 */
int textfile_map(const char *path, int flags, struct textfile *ret_file);

void textfile_unmap(struct textfile *file);

/* The reason for any error of textfile_map(), as the end of a sentence. */
const char *textfile_reason(int error);

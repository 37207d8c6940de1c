/* SPDX-License-Identifier: BSD-2-Clause */
#pragma once

/*
 * textfile: a configuration file below /etc, mapped whole and read-only.
 *
 * Only a regular file is taken, reached without a symlink at its end, and not writable by
 * everybody: a FIFO would hang a privileged reader, a symlink would let it read elsewhere, and a
 * world-writable /etc/subuid would let anybody grant himself anything.
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

/* Returns 0, TEXTFILE_E_*, or -errno (-ELOOP: a symlink). */
int textfile_map(const char *path, struct textfile *ret_file);

void textfile_unmap(struct textfile *file);

/* The reason for any error of textfile_map(), as the end of a sentence. */
const char *textfile_reason(int error);

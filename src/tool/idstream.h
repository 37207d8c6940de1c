/* SPDX-License-Identifier: BSD-2-Clause */
#pragma once

/*
 * idstream: IDs from a descriptor, one a line, in batches of what one read(2) brings; and answers
 * back as text. So a pipe that waits for each answer gets it at once, and a file goes through in
 * large pieces. The last line needs no newline.
 */

#include "../trusted/id.h"

#include <stdbool.h>

#define IDSTREAM_BYTES 65536U
#define IDSTREAM_IDS   (IDSTREAM_BYTES / 2) /* the shortest line is a digit and a newline */
#define IDSTREAM_TEXT  (IDSTREAM_IDS * 11U) /* room for as many answers */

/* Start with {.fd = FD}. */
struct idstream {
	int fd;
	bool ended;
	size_t line; /* number of the line that was read last, from 1 */
	size_t len;  /* bytes that wait for the rest of their line */
	char bytes[IDSTREAM_BYTES];
};

/*
 * The next IDs to IDS and their number to *RET_N; 0 of them with 0 returned is the end. Returns
 * 0, -errno, or the ID_E_* of line stream->line, whose text then is stream->bytes[0..len); the
 * *RET_N IDs before it count.
 */
int idstream_read(struct idstream *stream, uint32_t ids[IDSTREAM_IDS], size_t *ret_n);

/* One line an answer, UNMAPPED (at most 10 bytes) for ID_NONE. Returns the length. */
size_t idstream_format(const uint32_t *answers, size_t n, const char *unmapped,
		       char *ret_text);

/* Write all of TEXT. Returns 0 or -errno. */
int idstream_write(int fd, const char *text, size_t len);

/* SPDX-License-Identifier: BSD-2-Clause */
#include "idstream.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

/* Leave only BYTES from START on. */
static void drop(struct idstream *stream, size_t start)
{
	stream->len -= start;
	memmove(stream->bytes, stream->bytes + start, stream->len);
}

/* Read all whole lines; at the end the rest is one. On an error the line stands first. */
static int parse_lines(struct idstream *stream, uint32_t *ids, size_t *ret_n)
{
	size_t n = 0, start = 0;
	int r = 0;

	while (r == 0 && start < stream->len) {
		const char *text = stream->bytes + start;
		const char *end = memchr(text, '\n', stream->len - start);
		size_t len = end ? (size_t)(end - text) : stream->len - start;

		/* Wait for the rest, unless there is no room for it. */
		if (!end && !stream->ended && (start > 0 || len < IDSTREAM_BYTES))
			break;
		stream->line++;
		r = id_parse(text, len, &ids[n]);
		if (r == 0 && ids[n] == ID_NONE)
			r = ID_E_RANGE;
		if (r == 0) {
			n++;
			start += len + (end != NULL);
		} else {
			drop(stream, start);
			stream->len = len;
			start = 0;
		}
	}
	if (r == 0)
		drop(stream, start);
	*ret_n = n;
	return r;
}

int idstream_read(struct idstream *stream, uint32_t ids[IDSTREAM_IDS], size_t *ret_n)
{
	size_t n = 0;
	ssize_t got;
	int r = 0;

	while (r == 0 && n == 0 && !stream->ended) {
		do
			got = read(stream->fd, stream->bytes + stream->len,
				   IDSTREAM_BYTES - stream->len);
		while (got < 0 && errno == EINTR);
		if (got < 0)
			return -errno;
		stream->ended = got == 0;
		stream->len += (size_t)got;
		r = parse_lines(stream, ids, &n);
	}
	*ret_n = n;
	return r;
}

static char *format_id(char *at, uint32_t id)
{
	char digits[10];
	size_t first = sizeof(digits);

	do
		digits[--first] = (char)('0' + id % 10);
	while ((id /= 10) > 0);
	memcpy(at, digits + first, sizeof(digits) - first);
	return at + sizeof(digits) - first;
}

size_t idstream_format(const uint32_t *answers, size_t n, const char *unmapped,
		       char *ret_text)
{
	char *at = ret_text;

	for (size_t i = 0; i < n; i++) {
		at = answers[i] == ID_NONE ? stpcpy(at, unmapped)
					   : format_id(at, answers[i]);
		*at++ = '\n';
	}
	return (size_t)(at - ret_text);
}

int idstream_write(int fd, const char *text, size_t len)
{
	while (len > 0) {
		ssize_t written = write(fd, text, len);

		if (written < 0 && errno == EINTR)
			continue;
		if (written < 0)
			return -errno;
		text += written;
		len -= (size_t)written;
	}
	return 0;
}

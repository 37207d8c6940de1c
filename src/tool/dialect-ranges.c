/* SPDX-License-Identifier: BSD-2-Clause */
#include "dialect-reader.h"

/* "FIRST-LAST", or "ID" for one. */
static int read_range(struct dialect_reader *r, struct span value, uint32_t *ret_start,
		      uint32_t *ret_count)
{
	struct span rest = value;
	struct span first = span_field(&rest, '-');
	bool one = first.len == value.len;
	uint32_t start = 0, last;
	int error = reader_number(r, first, &start);

	if (error)
		return error;
	last = start;
	if (!one)
		error = reader_number(r, rest, &last);
	if (error)
		return error;
	if (last < start || last > ID_MAX)
		return reader_refuse_form(r, value,
					  "ID or FIRST-LAST, up to 4294967294,");
	*ret_start = start;
	*ret_count = last - start + 1;
	return 0;
}

static int add_ranges(struct dialect_reader *r, unsigned int kinds, struct span inner,
		      struct span outer)
{
	struct extent asked = {0}, other = {0};
	int error = read_range(r, inner, &asked.inner, &asked.count);

	if (!error)
		error = read_range(r, outer, &asked.outer, &other.count);
	if (error)
		return error;
	if (asked.count == other.count)
		return reader_add(r, kinds, outer, asked);
	r->why->first = (struct extent){asked.inner, asked.outer, other.count};
	r->why->second = asked;
	return reader_refuse(r, outer, DIALECT_E_UNEQUAL);
}

/* "uid OUTER INNER", "gid ..." or "both ...". */
static int read_incus(struct dialect_reader *r, struct span line)
{
	struct span word = span_word(&line);
	struct span outer = span_word(&line);
	struct span inner = span_word(&line);
	unsigned int kinds;
	int error;

	if (span_is(word, "uid"))
		kinds = FOR_UID;
	else if (span_is(word, "gid"))
		kinds = FOR_GID;
	else if (span_is(word, "both"))
		kinds = FOR_BOTH;
	else
		return reader_refuse_form(r, word, "uid, gid or both");
	if (inner.len == 0)
		return reader_refuse_form(r, inner, "a range (outer, then inner)");
	error = reader_end(r, &line);
	return error ? error : add_ranges(r, kinds, inner, outer);
}

int dialect_read_incus(struct dialect_reader *r)
{
	struct span line;
	int error = 0;

	r->overlay = true;
	while (!error && reader_line(r, &line))
		error = read_incus(r, line);
	return error;
}

/* nspawn takes OUTER alone too, but 0 and 1 for no and yes: the count must be there. */
int dialect_read_nspawn(struct dialect_reader *r)
{
	struct span value = span_word(&r->rest);
	struct span rest, outer;
	struct extent asked = {0};
	int error;

	if (value.len == 0)
		return 0;
	if (!span_take(&value, "--private-users="))
		return reader_refuse_form(r, value, "--private-users=");
	rest = value;
	outer = span_field(&rest, ':');
	if (outer.len == value.len)
		return reader_refuse_form(r, value, "OUTER:COUNT");
	error = reader_number(r, outer, &asked.outer);
	if (!error)
		error = reader_number(r, rest, &asked.count);
	if (!error)
		error = reader_end(r, &r->rest);
	return error ? error : reader_add(r, FOR_BOTH, value, asked);
}

/* "Inner uids 0-65535 are outer uids 100000-165535." */
static int read_sentence(struct dialect_reader *r, struct span line)
{
	static const char *const shapes[][5] = {
		[0] = {"Inner", "uid", "is", "outer", "uid"},
		[1] = {"Inner", "gid", "is", "outer", "gid"},
		[2] = {"Inner", "uids", "are", "outer", "uids"},
		[3] = {"Inner", "gids", "are", "outer", "gids"},
	};
	struct span words[7];
	size_t shape = 0;

	for (size_t i = 0; i < 7; i++)
		words[i] = span_word(&line);
	while (shape < 4 && !span_is(words[1], shapes[shape][1]))
		shape++;
	for (size_t i = 0; i < 5; i++) {
		struct span word = words[i < 2 ? i : i + 1]; /* 2 and 6 are the ranges */

		if (shape == 4 || !span_is(word, shapes[shape][i]))
			return reader_refuse_form(r, word, "another word");
	}
	if (words[6].len == 0 || words[6].text[words[6].len - 1] != '.')
		return reader_refuse_form(r, words[6], "a range and a full stop");
	words[6].len--;
	return add_ranges(r, shape % 2 ? FOR_GID : FOR_UID, words[2], words[6]);
}

int dialect_read_words(struct dialect_reader *r)
{
	struct span line;
	int error = 0;

	while (!error && reader_line(r, &line))
		error = read_sentence(r, line);
	return error;
}

/* SPDX-License-Identifier: BSD-2-Clause */
#include "dialect-reader.h"

#include <string.h>

/* Three words of LINE, and nothing behind them. */
static int read_words3(struct dialect_reader *r, struct span *line, uint32_t ret_three[3])
{
	for (size_t i = 0; i < 3; i++) {
		struct span word = span_word(line);
		int error;

		if (word.len == 0)
			return reader_refuse_form(r, word,
						  "a number (INNER OUTER COUNT)");
		error = reader_number(r, word, &ret_three[i]);
		if (error)
			return error;
	}
	return 0;
}

static int read_line3(struct dialect_reader *r, struct span line, unsigned int kinds)
{
	struct span where = line;
	uint32_t n[3] = {0};
	int error = read_words3(r, &line, n);

	if (!error)
		error = reader_end(r, &line);
	where = span_word(&where);
	return error ? error
		     : reader_add(r, kinds, where, (struct extent){n[0], n[1], n[2]});
}

int dialect_read_kernel(struct dialect_reader *r)
{
	struct span line;
	int error = 0;

	while (!error && reader_line(r, &line))
		error = read_line3(r, line, FOR_BOTH);
	return error;
}

static int read_helper(struct dialect_reader *r, struct span line)
{
	struct span word = span_word(&line);
	enum id_kind kind = 0;

	while (kind < ID_KINDS && !span_is(word, id_words[kind].helper))
		kind++;
	if (kind == ID_KINDS)
		return reader_refuse_form(r, word, "newuidmap or newgidmap");
	if (r->n[kind] > 0)
		return reader_refuse_form(r, word,
					  "the other kind (a map is written once)");
	word = span_word(&line);
	if (word.len == 0)
		return reader_refuse_form(r, word, "a PID");
	do {
		struct span look = line;
		struct span where = span_word(&look);
		uint32_t n[3] = {0};
		int error = read_words3(r, &line, n);

		if (!error)
			error = reader_add(r, 1U << kind, where,
					   (struct extent){n[0], n[1], n[2]});
		if (error)
			return error;
		look = line;
		word = span_word(&look);
	} while (word.len > 0);
	return 0;
}

int dialect_read_newuidmap(struct dialect_reader *r)
{
	struct span line;
	int error = 0;

	while (!error && reader_line(r, &line))
		error = read_helper(r, line);
	return error;
}

/* One option's value: three numbers in the row's order. */
static int read_value(struct dialect_reader *r, struct span value, char separator,
		      uint32_t ret_three[3])
{
	struct span rest = value;

	for (size_t i = 0; i < 3; i++) {
		struct span field = span_field(&rest, separator);
		bool last = field.text + field.len == value.text + value.len;
		int error;

		if (last != (i == 2))
			return reader_refuse_form(r, value, "a map of three numbers");
		error = reader_number(r, field, &ret_three[i]);
		if (error)
			return error;
	}
	return 0;
}

/*
 * unshare of util-linux 2.39 takes commas still, in the order of 2.38, but who writes them may
 * have changed the separator or the order and not the other.
 */
static int read_commas(struct dialect_reader *r, struct span value, unsigned int kinds)
{
	uint32_t n[3] = {0};
	int error = read_value(r, value, ',', n);

	if (error)
		return error;
	r->why->first = (struct extent){n[1], n[0], n[2]};
	r->why->second = (struct extent){n[0], n[1], n[2]};
	error = extent_make(n[0], n[1], n[2], &(struct extent){0});
	if (error || n[0] == n[1])
		return reader_add(r, kinds, value, r->why->second);
	return reader_refuse(r, value, DIALECT_E_ORDER);
}

static int read_triple(struct dialect_reader *r, struct span value, unsigned int kinds)
{
	const struct dialect_row *row = r->dialect->row;
	bool outer_first = row->outer_first;
	uint32_t n[3] = {0};
	int error;

	if (row->doubt && memchr(value.text, ',', value.len))
		return read_commas(r, value, kinds);
	error = read_value(r, value, row->separator, n);
	if (error)
		return error;
	return reader_add(r, kinds, value,
			  (struct extent){n[outer_first], n[!outer_first], n[2]});
}

/* Where VALUE says its kind itself: "u:", "g:", or "b:" for both. */
static int read_lettered(struct dialect_reader *r, struct span value)
{
	unsigned int kinds = 0;

	if (span_take(&value, "u:"))
		kinds = FOR_UID;
	else if (span_take(&value, "g:"))
		kinds = FOR_GID;
	else if (span_take(&value, "b:"))
		kinds = FOR_BOTH;
	else
		return reader_refuse_form(r, value, "u:, g: or b:");
	return read_triple(r, value, kinds);
}

/* "--uidmap=VALUE", "--uidmap VALUE", "-m VALUE" or "-mVALUE". */
static bool take_option(struct dialect_reader *r, struct span word, const char *option,
			struct span *ret_value)
{
	bool is_long = option[1] == '-';

	if (!span_take(&word, option))
		return false;
	if (word.len == 0)
		word = span_word(&r->rest);
	else if (is_long && !span_take(&word, "="))
		return false;
	*ret_value = word;
	return true;
}

static int read_option(struct dialect_reader *r, struct span word)
{
	const struct dialect_row *row = r->dialect->row;
	enum id_kind kind = 0;
	struct span value;

	while (kind < ID_KINDS && !take_option(r, word, row->option[kind], &value))
		kind++;
	if (kind == ID_KINDS)
		return reader_refuse_form(r, word, "an option of a map");
	if (value.len == 0)
		return reader_refuse_form(r, value, "a map of three numbers");
	if (row->single && r->n[kind] > 0)
		return reader_refuse_form(
			r, word, "the end (of several, 2.38 takes the last alone)");
	if (row->prefix[kind][0] != '\0')
		return read_lettered(r, value);
	return read_triple(r, value, 1U << kind);
}

int dialect_read_options(struct dialect_reader *r)
{
	int error = 0;

	while (!error) {
		struct span word = span_word(&r->rest);

		if (word.len == 0)
			break;
		error = read_option(r, word);
	}
	return error;
}

/* podman run(1): with one of the two options, its map serves both kinds. */
int dialect_read_podman(struct dialect_reader *r)
{
	int error = dialect_read_options(r);

	unsigned int missing = 0;
	enum id_kind given = ID_UID;

	for (enum id_kind kind = 0; kind < ID_KINDS; kind++)
		if (r->n[kind] == 0)
			missing |= 1U << kind;
		else
			given = kind;
	for (size_t i = 0; missing && i < r->n[given] && !error; i++)
		error = reader_add(r, missing, r->rest, r->list[given][i]);
	return error;
}

/* "lxc.idmap = u INNER OUTER COUNT"; blanks around the sign are free. */
static int read_lxc(struct dialect_reader *r, struct span line)
{
	struct span key = span_field(&line, '=');
	struct span look = key;
	struct span word = span_word(&look);

	if (!span_is(word, "lxc.idmap") || span_word(&look).len > 0)
		return reader_refuse_form(r, word, "lxc.idmap =");
	word = span_word(&line);
	if (span_is(word, "u"))
		return read_line3(r, line, FOR_UID);
	if (span_is(word, "g"))
		return read_line3(r, line, FOR_GID);
	return reader_refuse_form(r, word, "u or g");
}

int dialect_read_lxc(struct dialect_reader *r)
{
	struct span line;
	int error = 0;

	while (!error && reader_line(r, &line))
		error = read_lxc(r, line);
	return error;
}

/* SPDX-License-Identifier: BSD-2-Clause */
#include "dialect-reader.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int reader_refuse(struct dialect_reader *r, struct span value, int error)
{
	struct dialect_refusal *why = r->why;
	const char *start = r->text.text;

	why->value = value.text;
	why->value_len = value.len;
	why->line = 1;
	for (const char *p = start; p < value.text; p++)
		if (*p == '\n') {
			why->line++;
			start = p + 1;
		}
	why->column = (size_t)(value.text - start) + 1;
	return error;
}

int reader_refuse_form(struct dialect_reader *r, struct span value, const char *wanted)
{
	r->why->reason = wanted;
	return reader_refuse(r, value, DIALECT_E_FORM);
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n';
}

void span_skip(struct span *rest)
{
	while (rest->len > 0 && is_blank(*rest->text))
		rest->text++, rest->len--;
}

struct span span_word(struct span *rest)
{
	struct span word;

	span_skip(rest);
	word = (struct span){rest->text, 0};
	while (rest->len > 0 && !is_blank(*rest->text))
		rest->text++, rest->len--, word.len++;
	return word;
}

struct span span_field(struct span *rest, char separator)
{
	const char *end = rest->len ? memchr(rest->text, separator, rest->len) : NULL;
	struct span field = {rest->text, end ? (size_t)(end - rest->text) : rest->len};
	size_t used = field.len + (end != NULL);

	rest->text += used;
	rest->len -= used;
	return field;
}

bool reader_line(struct dialect_reader *r, struct span *ret_line)
{
	while (r->rest.len > 0) {
		struct span line = span_field(&r->rest, '\n');
		struct span look = line;

		if (span_word(&look).len > 0) {
			*ret_line = line;
			return true;
		}
	}
	return false;
}

bool span_is(struct span span, const char *text)
{
	return span.len == strlen(text) && memcmp(span.text, text, span.len) == 0;
}

bool span_take(struct span *span, const char *prefix)
{
	size_t len = strlen(prefix);

	if (span->len < len || memcmp(span->text, prefix, len) != 0)
		return false;
	span->text += len;
	span->len -= len;
	return true;
}

int reader_number(struct dialect_reader *r, struct span span, uint32_t *ret_number)
{
	r->why->number_error = id_parse(span.text, span.len, ret_number);
	return r->why->number_error ? reader_refuse(r, span, DIALECT_E_NUMBER) : 0;
}

static int append(struct dialect_reader *r, enum id_kind kind, struct extent extent)
{
	if (r->n[kind] == r->room[kind]) {
		size_t room = r->room[kind] ? 2 * r->room[kind] : 64;
		struct extent *list = reallocarray(r->list[kind], room, sizeof(*list));

		if (!list)
			return -ENOMEM;
		r->list[kind] = list;
		r->room[kind] = room;
	}
	r->list[kind][r->n[kind]++] = extent;
	return 0;
}

int reader_add(struct dialect_reader *r, unsigned int kinds, struct span where,
	       struct extent asked)
{
	struct extent extent;
	int error = 0;

	r->why->number_error =
		extent_make(asked.inner, asked.outer, asked.count, &extent);
	if (r->why->number_error) {
		r->why->first = asked;
		return reader_refuse(r, where, DIALECT_E_EXTENT);
	}
	for (enum id_kind kind = 0; kind < ID_KINDS && !error; kind++)
		if (kinds & 1U << kind)
			error = append(r, kind, extent);
	return error;
}

int reader_end(struct dialect_reader *r, struct span *line)
{
	struct span word = span_word(line);

	return word.len ? reader_refuse_form(r, word, "the end of the line") : 0;
}

static void reader_clear(struct dialect_reader *r)
{
	for (enum id_kind kind = 0; kind < ID_KINDS; kind++)
		free(r->list[kind]);
}

/* Judge the extents of each kind as a map. */
static int reader_finish(struct dialect_reader *r, size_t page,
			 struct dialect_maps *ret_maps)
{
	struct dialect_maps maps = {.overlay = r->overlay};
	struct dialect_refusal *why = r->why;

	if (r->n[ID_UID] == 0 && r->n[ID_GID] == 0)
		return DIALECT_E_EMPTY;
	for (enum id_kind kind = 0; kind < ID_KINDS; kind++) {
		if (r->n[kind] == 0)
			continue;
		why->number_error = idmap_make(r->list[kind], r->n[kind], page,
					       &maps.maps[kind], &why->map);
		why->kind = kind;
		why->page = page;
		if (why->number_error)
			return DIALECT_E_MAP;
	}
	*ret_maps = maps;
	return 0;
}

int dialect_read(const struct dialect *dialect, const char *text, size_t len, size_t page,
		 struct dialect_maps *ret_maps, struct dialect_refusal *ret_why)
{
	struct dialect_reader reader __attribute__((cleanup(reader_clear))) = {
		.dialect = dialect,
		.text = {text, len},
		.rest = {text, len},
		.why = ret_why,
	};
	int error;

	*ret_why = (struct dialect_refusal){0};
	if (!dialect->read)
		return DIALECT_E_GRANTS;
	error = dialect->read(&reader);
	return error ? error : reader_finish(&reader, page, ret_maps);
}

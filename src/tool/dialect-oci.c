/* SPDX-License-Identifier: BSD-2-Clause */
#include "dialect-reader.h"

#include <string.h>

/* Just so much JSON as a pair of maps needs: no escapes, no other keys, each key once. */

/* Nothing here looks further than it reads: a text without blanks is one word, and may be long. */
static bool json_take(struct dialect_reader *r, const char *mark)
{
	span_skip(&r->rest);
	return span_take(&r->rest, mark);
}

static int json_need(struct dialect_reader *r, const char *mark)
{
	struct span look = r->rest;

	return json_take(r, mark) ? 0 : reader_refuse_form(r, span_word(&look), mark);
}

/* One of the N KEYS that is not yet in SEEN, and the colon behind it. */
static int json_key(struct dialect_reader *r, const char *const *keys, size_t n,
		    unsigned int *seen, size_t *ret_key)
{
	struct span look, key;
	size_t i = 0;

	if (!json_take(r, "\"")) {
		look = r->rest;
		return reader_refuse_form(r, span_word(&look), "a key");
	}
	key = span_field(&r->rest, '"');
	while (i < n && (!span_is(key, keys[i]) || *seen & 1U << i))
		i++;
	if (i == n)
		return reader_refuse_form(r, key, "another key, each once,");
	*seen |= 1U << i;
	*ret_key = i;
	return json_need(r, ":");
}

static int json_number(struct dialect_reader *r, uint32_t *ret_number)
{
	struct span number;

	span_skip(&r->rest);
	number = (struct span){r->rest.text, 0};
	while (r->rest.len > 0 && !memchr(" \t\n,}", *r->rest.text, 5))
		r->rest.text++, r->rest.len--, number.len++;
	return reader_number(r, number, ret_number);
}

/* {"containerID":INNER,"hostID":OUTER,"size":COUNT}, its keys in any order. */
static int json_extent(struct dialect_reader *r, unsigned int kinds)
{
	static const char *const keys[] = {"containerID", "hostID", "size"};
	unsigned int seen = 0;
	uint32_t n[3] = {0};
	struct span where;
	int error;

	span_skip(&r->rest);
	where = r->rest;
	error = json_need(r, "{");
	for (size_t i = 0; i < 3 && !error; i++) {
		size_t key = 0;

		error = i > 0 ? json_need(r, ",") : 0;
		if (!error)
			error = json_key(r, keys, 3, &seen, &key);
		if (!error)
			error = json_number(r, &n[key]);
	}
	if (!error)
		error = json_need(r, "}");
	where.len -= r->rest.len;
	return error ? error
		     : reader_add(r, kinds, where, (struct extent){n[0], n[1], n[2]});
}

static int json_list(struct dialect_reader *r, unsigned int kinds)
{
	int error = json_need(r, "[");

	if (!error && json_take(r, "]"))
		return 0;
	while (!error) {
		error = json_extent(r, kinds);
		if (!error && !json_take(r, ","))
			return json_need(r, "]");
	}
	return error;
}

/* As in an OCI bundle: jq '.linux | {uidMappings, gidMappings}' config.json */
int dialect_read_oci(struct dialect_reader *r)
{
	static const char *const keys[] = {"uidMappings", "gidMappings"};
	unsigned int seen = 0;
	int error = json_need(r, "{");

	while (!error) {
		size_t key = 0;

		error = json_key(r, keys, 2, &seen, &key);
		if (!error)
			error = json_list(r, 1U << key);
		if (!error && !json_take(r, ",")) {
			error = json_need(r, "}");
			return error ? error : reader_end(r, &r->rest);
		}
	}
	return error;
}

/* SPDX-License-Identifier: BSD-2-Clause */
#include "idmap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int compare_inner(const void *a, const void *b)
{
	const struct extent *x = a, *y = b;

	return (x->inner > y->inner) - (x->inner < y->inner);
}

static int compare_outer(const void *a, const void *b)
{
	const struct extent *x = a, *y = b;

	return (x->outer > y->outer) - (x->outer < y->outer);
}

size_t extents_merge(struct extent *list, size_t n)
{
	size_t last = 0;

	if (n == 0)
		return 0;
	qsort(list, n, sizeof(*list), compare_inner);
	for (size_t i = 1; i < n; i++) {
		if (extent_continues(&list[last], &list[i]))
			list[last].count += list[i].count;
		else
			list[++last] = list[i];
	}
	return last + 1;
}

/* Sorted by one side, two extents overlap on it if and only if two neighbours do. */
static int find_overlap(const struct idmap *map, struct idmap_refusal *ret_why)
{
	struct idmap sorted = *map;
	struct extent *e = sorted.extents;

	for (int side = IDMAP_E_INNER; side <= IDMAP_E_OUTER; side++) {
		bool inner = side == IDMAP_E_INNER;

		qsort(e, sorted.n, sizeof(*e), inner ? compare_inner : compare_outer);
		for (size_t i = 1; i < sorted.n; i++) {
			uint32_t end = e[i - 1].count +
				       (inner ? e[i - 1].inner : e[i - 1].outer);

			if (end > (inner ? e[i].inner : e[i].outer)) {
				*ret_why = (struct idmap_refusal){.first = e[i - 1],
								  .second = e[i]};
				return side;
			}
		}
	}
	return 0;
}

size_t idmap_format(const struct idmap *map, char ret_text[IDMAP_TEXT])
{
	size_t len = 0;

	/* snprintf() ends with a NUL, for which the last newline, not written, leaves room. */
	for (size_t i = 0; i < map->n; i++) {
		const struct extent *e = &map->extents[i];

		len += (size_t)snprintf(ret_text + len, IDMAP_TEXT - len, "%s%u %u %u",
					i ? "\n" : "", e->inner, e->outer, e->count);
	}
	return len;
}

/* Is the text shorter than a page? If not, how long is it, and how many extents would fit? */
static bool fits_page(const struct idmap *map, size_t page, struct idmap_refusal *ret_why)
{
	char text[IDMAP_TEXT];
	size_t len = idmap_format(map, text);

	if (len < page)
		return true;
	*ret_why = (struct idmap_refusal){.bytes = len};
	for (size_t i = 0; i < page; i++)
		ret_why->fit += text[i] == '\n';
	return false;
}

/* Take LIST as it is. Returns as idmap_make() does. */
static int take(const struct extent *list, size_t n, size_t page, struct idmap *ret_map,
		struct idmap_refusal *ret_why)
{
	struct idmap map = {.n = n};
	int r;

	if (n > IDMAP_EXTENTS) {
		*ret_why = (struct idmap_refusal){.extents = n};
		return IDMAP_E_EXTENTS;
	}
	memcpy(map.extents, list, n * sizeof(*list));
	r = find_overlap(&map, ret_why);
	if (r == 0 && !fits_page(&map, page, ret_why))
		r = IDMAP_E_BYTES;
	if (r == 0)
		*ret_map = map;
	return r;
}

int idmap_make(struct extent *list, size_t n, size_t page, struct idmap *ret_map,
	       struct idmap_refusal *ret_why)
{
	int r = take(list, n, page, ret_map, ret_why);

	if (r == IDMAP_E_EXTENTS || r == IDMAP_E_BYTES)
		r = take(list, extents_merge(list, n), page, ret_map, ret_why);
	return r;
}

bool idmap_has_outer_zero(const struct idmap *map)
{
	for (size_t i = 0; i < map->n; i++)
		if (map->extents[i].outer == 0)
			return true;
	return false;
}

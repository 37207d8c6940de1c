/* SPDX-License-Identifier: BSD-2-Clause */
#include "grant.h"

int grant_collect(const char *text, size_t len, const struct subid_owner *owner,
		  struct idset *set)
{
	struct subid_reader reader = {.at = text, .end = text + len};
	struct subid_line line;
	int r = 0;

	while (r == 0 && subid_next(&reader, owner, &line))
		r = idset_add(set, line.start, line.count);
	idset_seal(set);
	return r;
}

int grant_check(const struct idset *granted, uint32_t own, const struct idmap *map,
		struct grant_answer *ret_answer)
{
	struct grant_answer answer = {0};

	/*@ loop invariant 0 <= i <= map->n && sealed(granted);
	    loop invariant \forall integer id;
		holds(granted, id) <==> holds{Pre}(granted, id);
	    loop invariant \forall integer j; 0 <= j < i ==>
		allowed{Pre}(granted, own, map, j);
	    loop invariant answer.by_grant ==>
		\exists integer j; 0 <= j < i && in_set{Pre}(granted, map, j);
	    loop invariant !answer.by_grant ==>
		\forall integer j; 0 <= j < i ==> !in_set{Pre}(granted, map, j);
	    loop assigns i, answer;
	    loop variant map->n - i; */
	for (size_t i = 0; i < map->n; i++) {
		const struct extent *extent = &map->extents[i];

		if (idset_covers(granted, extent->outer, extent->count, &answer.gap)) {
			/*@ assert in_set{Pre}(granted, map, i); */
			answer.by_grant = true;
		} else if (extent->count != 1 || extent->outer != own) {
			/*@ assert !allowed{Pre}(granted, own, map, i); */
			/*@ assert first_gap{Pre}(granted, extent->outer,
				extent->outer + extent->count, answer.gap); */
			answer.index = i;
			*ret_answer = answer;
			return GRANT_E_OUTER;
		}
	}
	*ret_answer = answer;
	return 0;
}

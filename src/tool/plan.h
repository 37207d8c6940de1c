/* SPDX-License-Identifier: BSD-2-Clause */
#pragma once

/*
 * plan: the extents that one map shall have, each with where it comes from. Values in, values
 * out; nothing here reads a file.
 *
 * A plan goes one way: layout -> MAPs left to right -> sort by inner and merge -> project on the
 * parent's map -> limits. Every step keeps the rule that what an inner ID maps to never changes
 * silently. Extents stay disjoint on both sides after every step but plan_append(), whose
 * overlaps plan_finish() reports.
 */

#include "../trusted/idmap.h"
#include "account.h"
#include "mapspec.h"

enum origin_kind {
	ORIGIN_OWN,      /* the caller's own ID */
	ORIGIN_GRANT,    /* a line of subuid or subgid */
	ORIGIN_ARGUMENT, /* a MAP of the command line */
	ORIGIN_LIVE,     /* read from /proc */
};

/* Where an extent comes from: lines FIRST..LAST of the grant file, or MAPs FIRST..LAST of the
 * command line (more than one after a merge, not all of them in between). */
struct origin {
	enum origin_kind kind;
	size_t first;
	size_t last;
};

struct planned {
	struct extent extent;
	struct origin origin;
};

struct plan {
	struct planned *list; /* owned */
	size_t n;
	size_t room;
};

enum layout {
	LAYOUT_ROOT,    /* 0 = own ID, 1.. = grants stacked in file order */
	LAYOUT_KEEP_ID, /* own ID = own ID, grants around it from inner 0 */
	LAYOUT_SUBIDS,  /* 0.. = grants stacked in file order */
	LAYOUT_SELF,    /* 0 = own ID, nothing more */
};

/* "root", "keep-id", "subids", "self"; false if NAME is none of them. */
bool layout_parse(const char *name, enum layout *ret_layout);

enum {
	PLAN_E_EMPTY = 1, /* no extent is left */
	PLAN_E_INNER,     /* two extents share inner IDs */
	PLAN_E_OUTER,     /* two extents share outer IDs */
	PLAN_E_EXTENTS,   /* over 340 */
	PLAN_E_BYTES,     /* text not shorter than a page */
	PLAN_E_PARENT,    /* outer IDs that the parent's map does not have */
	PLAN_E_GRANT,     /* outer IDs that are not granted */
	PLAN_E_SIZE,      /* --size: the layout has fewer inner IDs */
	PLAN_E_SPACE,     /* stacking passes ID_MAX */
};

struct plan_refusal {
	struct planned first; /* the extent refused; with INNER and OUTER the pair */
	struct planned second;
	struct range
		missing; /* PARENT, GRANT: first stretch of outer IDs that is missing */
	struct range
		largest; /* PARENT: the biggest part of first.outer that would work; count
				 * 0: none. GRANT: count 0 */
	size_t have;     /* EXTENTS, BYTES, SIZE: how many there are, */
	size_t want;     /* and the limit, or what was asked */
	size_t fit;      /* BYTES: how many extents would fit */
};

/*
 * Append the base that LAYOUT makes of OWN (uid or gid) and GRANTS. Own IDs that lie in a grant
 * as well are mapped once: 'root' and 'keep-id' leave them out of the stack. SIZE: exactly this many
 * inner IDs, 0: all there are. Returns 0, PLAN_E_* or -ENOMEM.
 */
int plan_layout(struct plan *plan, enum layout layout, uint32_t own,
		const struct grants *grants, uint32_t size, struct plan_refusal *ret_why);

/* Append one extent as part of the base. Returns 0 or -ENOMEM. */
int plan_append(struct plan *plan, const struct extent *extent, struct origin origin);

/*
 * '+': take EXTENT's inner IDs and EXTENT's outer IDs out of all others, then add it.
 * '-': take COUNT inner IDs from INNER out. Cutting keeps what the other IDs map to.
 * PLAN must be disjoint. Return 0 or -ENOMEM.
 */
int plan_overlay(struct plan *plan, const struct extent *extent, struct origin origin);
int plan_remove(struct plan *plan, uint32_t inner, uint32_t count);

/*
 * Apply those of SPECS that are for KIND, left to right, to PLAN (a layout's, or empty). Any base
 * MAP for KIND replaces the layout; the base is checked for overlap before the first sign acts.
 * Returns 0, PLAN_E_* or -ENOMEM.
 */
int plan_apply(struct plan *plan, enum id_kind kind, const struct mapspec *specs,
	       size_t n, struct plan_refusal *ret_why);

/*
 * Sort, check both sides, merge, split at the boundaries of PARENT's inner ranges (NULL: the
 * initial namespace, no boundaries), check the limits. PAGE in bytes. The text that will be
 * written is that of *RET_MAP; PLAN then holds the same extents in the same order, with their
 * origins. Returns 0, PLAN_E_* or -ENOMEM. On a refusal PLAN is as far as it came.
 */
int plan_finish(struct plan *plan, const struct idmap *parent, size_t page,
		struct idmap *ret_map, struct plan_refusal *ret_why);

/* Do the grants (or the own ID, count 1) cover every outer range? Returns 0 or PLAN_E_GRANT. */
int plan_granted(const struct plan *plan, uint32_t own, const struct idset *granted,
		 struct plan_refusal *ret_why);

/*
 * English for a refusal, one or more lines, no newline at the end: what is wrong, the extents or
 * the limit, and what would work (for PLAN_E_GRANT the line to add). The caller frees it; NULL
 * only without memory.
 */
char *plan_explain(enum id_kind kind, int error, const struct plan_refusal *why,
		   const struct account *account, const struct idmap *parent);

void plan_clear(struct plan *plan);

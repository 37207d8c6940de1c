/* SPDX-License-Identifier: BSD-2-Clause */
#pragma once

/*
 * plan: the extents that one map shall have, each with where it comes from. Values in, values
 * out; nothing here reads a file.
 *
 * A plan goes one way: layout -> MAPs left to right -> sort by inner and merge -> project on the
 * parent's map -> limits. Every step keeps the rule that what an inner ID maps to never changes
 * silently. Extents stay disjoint on both sides after every step but plan_append(), whose
 * overlaps plan_finish() reports. {0} is the empty plan. plan.c holds the list and its cutting,
 * layout.c the layouts, finish.c the last steps, refusal.c the English.
 */

#include "../trusted/idmap.h"
#include "account.h"
#include "mapspec.h"

enum origin_kind {
	ORIGIN_OWN,      /* the caller's own ID */
	ORIGIN_GRANT,    /* a line of subuid or subgid, or (line 0) a service */
	ORIGIN_ARGUMENT, /* a MAP of the command line */
	ORIGIN_LIVE,     /* read from /proc */
};

/* Where an extent comes from: lines FIRST..LAST of the grant file, or MAPs FIRST..LAST of the
 * command line (more than one after a merge, not all of them in between). When extents of two
 * kinds merge, the later kind of the enum stands for both. */
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
	bool apart;   /* plan_keep_apart(): outer ID OWN is in an */
	uint32_t own; /* extent by itself */
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
};

#define PLAN_GIVE_UP 5

/*
 * MISSING with count 0 (GRANT): a layout wants any grant at all. LARGEST (PARENT): the biggest
 * stretch that would work, of first's outer IDs or, if none of them would, of all that the parent's
 * map has; count 0: it has none. GIVE_UP: the first of those DROP extents with the longest lines
 * without which the others fit.
 */
struct plan_refusal {
	struct planned first;  /* the extent refused; with INNER and OUTER the pair, */
	struct planned second; /* in the order of their MAPs or lines */
	struct range
		missing; /* PARENT, GRANT: first stretch of outer IDs that is missing */
	struct range largest;
	size_t have; /* EXTENTS, BYTES, SIZE: how many there are; GRANT: how many ranges */
	size_t want; /* EXTENTS, BYTES: the limit; SIZE: what was asked */
	size_t fit;  /* EXTENTS, BYTES: how many extents fit at most, */
	size_t drop; /* and how many don't */
	struct planned give_up[PLAN_GIVE_UP];
	const char *
		source; /* set by whoever knows: where grants come from; NULL: the file */
};

/*
 * Append the base that LAYOUT makes of OWN (uid or gid) and GRANTS. Own IDs that lie in a grant
 * as well are mapped once: 'root' and 'keep-id' leave them out of the stack; so are IDs that two
 * lines grant: the first line counts. SIZE: exactly this many inner IDs, 0: all there are.
 * Every layout but 'self' (which takes GRANTS NULL too) wants at least one grant, so don't ask for
 * one that a base MAP will replace: mapspec_has_base(). Returns 0, PLAN_E_GRANT, PLAN_E_SIZE or
 * -ENOMEM.
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
 * newuidmap allows a caller his OWN ID, not granted, only as an extent by itself: let
 * plan_finish() cut it out of a longer one and merge it with nothing, unless GRANTED (sealed) has
 * it. For whoever writes through the helpers; without this call the text is the shortest that the
 * kernel takes.
 */
void plan_keep_apart(struct plan *plan, uint32_t own, const struct idset *granted);

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

/* Where an extent comes from, for a table: "/etc/subuid:3", "own uid", "MAP 2-4", "live"; SERVICE,
 * if a grant has no line. The caller frees it; NULL only without memory. */
char *plan_source(enum id_kind kind, const struct origin *origin, const char *service);

void plan_clear(struct plan *plan);

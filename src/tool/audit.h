/* SPDX-License-Identifier: BSD-2-Clause */
#pragma once

/*
 * audit: which live maps are at odds with each other, with the grants, and with the accounts.
 *
 * An ID that two siblings map is one and the same user outside: each may signal and read what the
 * other has. IDs outside any grant may be given to somebody else by the next useradd(8). An extent
 * that is the namespace owner's own ID alone is his by right, and never a finding.
 *
 * Siblings are compared at all depths; grants and accounts only concern the children of the own
 * namespace, the one whose IDs /etc speaks of: what lies deeper is within them. A directory service
 * lists no grants but those of a user: there, somebody's are those of an owner of such a child.
 */

#include "namespaces.h"
#include "overlap.h"
#include "source.h"

enum audit_rule {
	AUDIT_OVERLAP, /* FIRST and SECOND, siblings, share the range */
	AUDIT_ACCOUNT, /* FIRST maps IDs of accounts; NAME is the one with the lowest */
	AUDIT_OUTSIDE, /* FIRST maps IDs that nobody is granted */
	AUDIT_STALE, /* FIRST maps IDs that are granted, but not to its owner (any more) */
};

extern const char *const audit_rules[]; /* "overlap", ... */

struct audit_finding {
	enum audit_rule rule;
	enum id_kind kind;
	uint32_t first;      /* index of a namespace */
	uint32_t second;     /* overlap: index of the other; else NAMESPACE_NONE */
	struct idset ranges; /* that it is about, sealed */
	char *name;          /* owned; account: whose ID it is */
};

struct audit {
	struct audit_finding
		*list; /* owned; by kind, then those of the sweep, then the grants */
	size_t n;
	size_t room;
	struct source sources[ID_KINDS]; /* of the grants */
	int unread
		[ID_KINDS]; /* why they could not be read (source_explain()); 0: they were */
};

/* Returns 0 or -ENOMEM. */
int audit_run(const struct namespaces *namespaces, const bool kinds[ID_KINDS],
	      struct audit *ret_audit);

void audit_clear(struct audit *audit);

/* SPDX-License-Identifier: BSD-2-Clause */
#pragma once

/*
 * noentry: what to say to somebody to whom nothing is granted. There may be a line that grants
 * nothing, a directory service that has no IDs for him, no file, no account, or no ID in this
 * namespace that could be granted; only if none of that is so does usermod(8) help.
 */

#include "account.h"

/* What helps who is granted nothing by a directory service. */
#define NOENTRY_SERVICE                                                            \
	"have its administrator grant him a range (FreeIPA: ipa subid-generate); " \
	"lines of /etc/subuid and /etc/subgid don't count here"

/* GRANTS of the kinds that ACCOUNT LACKS (at least one) are empty. Always returns -1. */
int noentry_explain(const struct account *account, const bool lacks[ID_KINDS],
		    const struct grants grants[ID_KINDS], char **ret_message);

/* Has our own user namespace COUNT IDs from START? If not, *RET_LARGEST is its longest stretch of them. */
bool noentry_here(enum id_kind kind, uint32_t start, uint32_t count,
		  struct range *ret_largest);

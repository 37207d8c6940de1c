/* SPDX-License-Identifier: BSD-2-Clause */
#pragma once

/*
 * request: what a command line asks of a pair of maps, and the two plans that answer it.
 *
 * The verbs that plan (write, dump, exec, lookup) take the same options and MAPs; this is their
 * one reading of them and their one way to a finished plan.
 */

#include "plan.h"

struct request {
	bool kinds[ID_KINDS];  /* -u alone, -g alone; default both */
	const char *user;      /* --user NAME, NULL: the caller */
	enum layout layout;    /* --layout NAME */
	uint32_t size;         /* --size N, 0: all */
	struct mapspec *specs; /* owned */
	size_t n;
};

/* Everything that was read or made to answer a request; owned. Index by enum id_kind. */
struct answer {
	struct account account;
	struct grants grants[ID_KINDS];
	struct idmap parents[ID_KINDS]; /* map of our own namespace, or of --parent */
	struct plan plans[ID_KINDS];
	struct idmap
		maps[ID_KINDS]; /* what will be written; n = 0 for a kind not asked for */
};

/*
 * Plan REQUEST. WITH_GRANTS: also demand that the grants cover every outer range (whoever writes
 * through the helpers needs that; a privileged writer does not).
 * Returns 0, or -1 with *RET_MESSAGE, the full text of the error for a person (caller frees).
 */
int request_plan(const struct request *request, bool with_grants,
		 struct answer *ret_answer, char **ret_message);

void request_clear(struct request *request);
void answer_clear(struct answer *answer);

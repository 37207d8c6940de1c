/* SPDX-License-Identifier: BSD-2-Clause */
#pragma once

/*
 * request: what a command line asks of a pair of maps, and the two plans that answer it.
 *
 * The verbs that plan (write, dump, exec, lookup) take the same options and MAPs; this is their
 * one reading of them and their one way to a finished plan.
 */

#include "plan.h"
#include "reserve.h"

#include <getopt.h>

struct request {
	bool kinds[ID_KINDS]; /* -u alone, -g alone; default both */
	const char *user;     /* --user NAME, NULL: the caller */
	const char *parent;   /* --parent FILE|PID, NULL: our own namespace */
	enum layout layout;   /* --layout NAME */
	bool layout_given;
	uint32_t size;    /* --size N or --auto=N, 0: all */
	bool slice;       /* --auto: no layout but a slice that is free */
	const char *name; /* --name NAME of the slice, NULL: none */
	bool hold;        /* lock slices until the answer is cleared */
	bool chain;       /* lookup: one kind alone, and MAPs of other maps may follow */
	const char *size_option; /* that gave the size */
	struct mapspec *specs;   /* owned */
	size_t n;
};

/* What a verb's getopt_long() tables hold besides its own options, whose codes (of those without
 * a letter) count from REQUEST_OWN. Its short options begin with REQUEST_SHORT: the '-' in it
 * makes getopt return words in place. */
enum {
	REQUEST_WORD = 1,
	REQUEST_LAYOUT = 0x100,
	REQUEST_SIZE,
	REQUEST_IDENTITY,
	REQUEST_USER,
	REQUEST_PARENT,
	REQUEST_AUTO,
	REQUEST_NAME,
	REQUEST_OWN,
};
#define REQUEST_SHORT "-ug"
#define REQUEST_LONG                                                      \
	{"uid", no_argument, NULL, 'u'}, {"gid", no_argument, NULL, 'g'}, \
		{"layout", required_argument, NULL, REQUEST_LAYOUT},      \
		{"size", required_argument, NULL, REQUEST_SIZE},          \
		{"identity", required_argument, NULL, REQUEST_IDENTITY},  \
	{                                                                 \
		"user", required_argument, NULL, REQUEST_USER             \
	}
/* Of the verbs that know slices. */
#define REQUEST_SLICE                                         \
	{"auto", optional_argument, NULL, REQUEST_AUTO},      \
	{                                                     \
		"name", required_argument, NULL, REQUEST_NAME \
	}
#define SLICE_USUAL 65536U /* IDs */

/*
 * getopt_long(3) that takes the options and MAPs of a request on its way ("-5:1" is a MAP, not an
 * option 5). Start with a REQUEST of {0}. Returns the next of the verb's own options;
 * REQUEST_WORD for a word that is no MAP, in optarg; '?' for a usage error, with *RET_MESSAGE, or
 * NULL if getopt has printed its own; -1 at the end: argv[optind].. stood after "--".
 */
int request_next(struct request *request, int argc, char **argv, const char *shorts,
		 const struct option *longs, char **ret_message);

/*
 * Is there an option that nothing comes of? A MAP without sign takes the place of the layout, so
 * --layout, --size and --auto mean nothing beside it, if all kinds have one. Returns 0, or -1 with
 * *RET_MESSAGE. request_next() asks this at the end, but for a chain's MAPs.
 */
int request_check(const struct request *request, char **ret_message);

/* Add SPEC as the next MAP. Returns 0, or -1 without memory (*RET_MESSAGE is NULL). */
int request_add(struct request *request, struct mapspec spec, char **ret_message);

/* Everything that was read or made to answer a request; owned. Index by enum id_kind. */
struct answer {
	struct account account;
	struct grants grants[ID_KINDS];
	struct idmap parents[ID_KINDS]; /* map of our own namespace, or of --parent */
	struct reserve reserve; /* of slices, with the lock if it was to be held */
	struct plan plans[ID_KINDS];
	struct idmap
		maps[ID_KINDS]; /* what will be written; n = 0 for a kind not asked for */
};

/*
 * Plan REQUEST. WITH_GRANTS: also demand that the grants cover every outer range (whoever writes
 * through the helpers needs that; a privileged writer does not: writer_needs_grants()).
 * Returns 0, or -1 with *RET_MESSAGE, the full text of the error for a person (caller frees).
 */
int request_plan(const struct request *request, bool with_grants,
		 struct answer *ret_answer, char **ret_message);

void request_clear(struct request *request);
void answer_clear(struct answer *answer);

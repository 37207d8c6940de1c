/* SPDX-License-Identifier: BSD-2-Clause */
#pragma once

/*
 * helper-call: what the parts of fuzz-helper.c share: one call of a helper with the files it is to
 * find, the oracle (helper-oracle.c) and the server (helper-server.c).
 */

#include "fuzz.h"
#include "trusted/idmap.h"

#include <sys/types.h>

#define CALL_SIZE  65536U /* of an input */
#define CALL_WORDS 8192U
#define COUNTERS   (1U << 20)

/* Descriptors of the call: the target's directory and its pidfd; then a folder of alice's,
 * root's own directory of /proc, and those of two targets that are alice's by their group
 * alone and carol's by their user alone. */
enum { FD_FOLDER = 60, FD_PIDFD, FD_FAKE, FD_ROOTS, FD_BOBS, FD_CAROLS, FD_END };

/* An account of tests/in-private that calls, by the letter that chooses it. */
struct caller {
	char letter;
	const char *name; /* NULL: not in passwd */
	uid_t uid;
	gid_t gid, primary;
};

#define CALLERS 7U
extern const struct caller callers[CALLERS];

struct part {
	const char *text; /* NULL: not there */
	size_t len;
};

struct call {
	enum id_kind kind;
	bool setuid;
	const struct caller *caller;
	pid_t target;
	int argc;
	char *argv[CALL_WORDS + 2];
	struct part grants, nsswitch, login_defs;
	char bytes[CALL_SIZE + 1]; /* of the words */
	char number[16];           /* TARGET as a word */
};

struct verdict {
	bool granted;
	bool certain;     /* if granted: nothing else may keep it from being written */
	bool by_grant;    /* at least one extent is covered by the file */
	char service[64]; /* that is to be asked, but has no plugin here; "": none */
	size_t n;         /* the map, as it must be written */
	struct extent list[CALL_WORDS / 3 + 1];
};

/* Whether CALL is to be granted, by plain means and from the bytes alone. */
void helper_oracle(const struct call *call, struct verdict *ret_verdict);

/* What the server and its client share. */
struct shared {
	int status; /* of the last run, as waitpid(2) gives it */
	bool counted;
	uint8_t counters[COUNTERS]; /* what it covered, if COUNTED */
	struct call call;
};

/*
 * Start a process that is small, so that its forks are cheap. The client writes one letter to
 * *RET_TO and gets one byte from *RET_FROM once it is done, to with_client->call:
 *
 *	t	make a fresh target for the caller
 *	o	open the target again
 *	k	end the target
 *	r	run helper_main() as the caller, with what exec(2) of the install gives
 *	i	run the installed program
 *
 * What a run prints goes to SAID.
 */
void server_start(struct shared *with_client, int said, int *ret_to, int *ret_from);

/* The fuzzer's counters of this process; none where there is no fuzzer. */
uint8_t *counters_start(void);
size_t counters_number(void);

/* SPDX-License-Identifier: BSD-2-Clause */
#pragma once

/*
 * cmd-ls: what the parts of the verb ls share and nobody else needs.
 */

#include "audit.h"
#include "namespaces.h"
#include "table.h"

enum ls_mode {
	LS_LIST = TABLE_NOHEADINGS + 1,
	LS_TREE,
	LS_MAPS,
	LS_GRAPH,
	LS_SVG,
	LS_OVERLAPS,
};

struct ls {
	enum ls_mode mode;
	bool kinds[ID_KINDS];
	const char *svg;
	struct table_options options;
	struct namespaces namespaces;
	struct audit audit;
	struct table table;
	uid_t uid;      /* that was asked for last, */
	char user[256]; /* and its name; "": none was asked for */
};

/* cmd-ls.c: a cell with bytes that others chose; what a process calls itself must not steer the
 * terminal. */
int ls_set_safe(struct table *table, size_t column, const char *text);

/* The login name of UID, or its number. Good until the next call. */
const char *ls_user(struct ls *ls, uid_t uid);

/* Make the table NAME, fill and print it, with what could not be seen. Returns the exit status. */
int ls_print(struct ls *ls, const char *name, const struct table_column *wanted, size_t n,
	     int (*fill)(struct ls *ls));

/* Say that WHAT failed with -errno ERROR. Returns the exit status. */
int ls_failed(const char *what, int error);

/* cmd-ls-audit.c, cmd-ls-draw.c: return the exit status. */
int ls_audit(struct ls *ls);
int ls_draw(struct ls *ls);

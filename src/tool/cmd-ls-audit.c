/* SPDX-License-Identifier: BSD-2-Clause */
#include "cmd-ls-parts.h"

#include "cmd-absent.h"
#include "command.h"
#include "message.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

enum {
	FINDING,
	TYPE,
	RANGES,
	IDS,
	FIRST_NS,
	FIRST_USER,
	FIRST_PID,
	FIRST_COMMAND,
	OTHER_NS,
	OTHER_PID,
	OTHER,
};
static const struct table_column columns[] = {
	[FINDING] = {.name = "FINDING"},
	[TYPE] = {.name = "TYPE"},
	[RANGES] = {.name = "RANGES"},
	[IDS] = {.name = "IDS", .number = true, .right = true},
	[FIRST_NS] = {.name = "NS", .number = true},
	[FIRST_USER] = {.name = "USER"},
	[FIRST_PID] = {.name = "PID", .number = true, .right = true},
	[FIRST_COMMAND] = {.name = "COMMAND"},
	[OTHER_NS] = {.name = "OTHER_NS", .number = true},
	[OTHER_PID] = {.name = "OTHER_PID", .number = true, .right = true},
	[OTHER] = {.name = "OTHER"},
};

static int set_ranges(struct table *table, const struct idset *set)
{
	uint64_t ids = 0;
	char *text = NULL;
	size_t len;
	FILE *list = open_memstream(&text, &len);
	int r;

	for (size_t i = 0; list && i < set->n; i++) {
		struct range range = set->ranges[i];

		ids += range.count;
		fprintf(list, "%s%u", i > 0 ? "," : "", range.start);
		if (range.count > 1)
			fprintf(list, "-%u", range.start + range.count - 1);
	}
	r = list && fclose(list) == 0 ? table_set(table, RANGES, "%s", text) : -ENOMEM;
	free(text);
	return r == 0 ? table_set(table, IDS, "%ju", ids) : r;
}

static int set_first(struct ls *ls, const struct userns *userns)
{
	struct table *table = &ls->table;
	int r = table_set(table, FIRST_NS, "%ju", userns->ino);

	if (r == 0)
		r = ls_set_safe(table, FIRST_USER, ls_user(ls, userns->owner));
	if (r == 0 && userns->pid > 0)
		r = table_set(table, FIRST_PID, "%d", userns->pid);
	if (r == 0 && userns->pid > 0)
		r = ls_set_safe(table, FIRST_COMMAND, userns->comm);
	return r;
}

/* The sibling, or the account. */
static int set_other(struct ls *ls, const struct audit_finding *finding)
{
	const struct userns *userns;
	int r;

	if (finding->second == NAMESPACE_NONE)
		return finding->name ? ls_set_safe(&ls->table, OTHER, finding->name) : 0;
	userns = &ls->namespaces.list[finding->second];
	r = table_set(&ls->table, OTHER_NS, "%ju", userns->ino);
	if (r == 0 && userns->pid > 0)
		r = table_set(&ls->table, OTHER_PID, "%d", userns->pid);
	if (r == 0 && userns->pid > 0)
		r = ls_set_safe(&ls->table, OTHER, userns->comm);
	return r;
}

static int fill_findings(struct ls *ls)
{
	int r = audit_run(&ls->namespaces, ls->kinds, &ls->audit);

	for (size_t i = 0; i < ls->audit.n && r == 0; i++) {
		const struct audit_finding *finding = &ls->audit.list[i];

		r = table_row(&ls->table);
		if (r == 0)
			r = table_set(&ls->table, FINDING, "%s",
				      audit_rules[finding->rule]);
		if (r == 0)
			r = table_set(&ls->table, TYPE, "%s",
				      id_words[finding->kind].word);
		if (r == 0)
			r = set_ranges(&ls->table, &finding->ranges);
		if (r == 0)
			r = set_first(ls, &ls->namespaces.list[finding->first]);
		if (r == 0)
			r = set_other(ls, finding);
	}
	return r;
}

/* 1 if there is a finding, or if it can't be known whether there is one. */
static int audit_status(const struct ls *ls)
{
	int status = ls->audit.n > 0 ? COMMAND_FAILED : COMMAND_DONE;
	char *message, *why;

	for (enum id_kind kind = ID_UID; kind <= ID_GID; kind++) {
		absent_say(&ls->audit.sources[kind]);
		if (ls->audit.unread[kind] == 0)
			continue;
		why = source_explain(&ls->audit.sources[kind], ls->audit.unread[kind]);
		message_fail(&message, "%ss were not compared with the grants: %s",
			     id_words[kind].map, why ? why : "");
		free(why);
		status = command_fail(COMMAND_FAILED, message);
	}
	return status;
}

int ls_audit(struct ls *ls)
{
	int status = ls_print(ls, "findings", columns, sizeof(columns) / sizeof(*columns),
			      fill_findings);

	return status == COMMAND_DONE ? audit_status(ls) : status;
}

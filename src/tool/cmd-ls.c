/* SPDX-License-Identifier: BSD-2-Clause */
#include "cmd-ls-parts.h"

#include "cmd-missed.h"
#include "command.h"
#include "message.h"

#include <bsd/vis.h>
#include <errno.h>
#include <getopt.h>
#include <libsmartcols.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>

#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))

static const char usage[] =
	"Usage: idmap ls [OPTION]...\n"
	"\n"
	"List the user namespaces of this machine that can be seen from here. What can't\n"
	"be seen is counted on stderr.\n"
	"\n"
	"      --tree         children below their parents\n"
	"      --maps         the extents of each namespace instead\n"
	"      --graph        draw where each namespace lies among the outer IDs\n"
	"      --svg FILE     the same as a drawing for a browser (- is stdout)\n"
	"      --overlaps     audit; the exit status is 1 if there is one of\n"
	"                       overlap  siblings have outer IDs in common\n"
	"                       account  outer IDs are accounts of this machine\n"
	"                       outside  outer IDs are granted to nobody\n"
	"                       stale    outer IDs are granted, but not to the owner\n"
	"  -u, --uid          only user IDs, in --maps, --graph, --svg and --overlaps\n"
	"  -g, --gid          only group IDs, likewise\n"
	"      --json, --raw, --noheadings\n"
	"                     the table in another shape\n"
	"  -o, --output LIST  these columns, see below\n"
	"  -h, --help         show this\n"
	"\n"
	"columns: NS,PARENT,DEPTH,OWNER,USER,NPROCS,PID,COMMAND,UID_EXTENTS,UIDS,"
	"GID_EXTENTS,GIDS,SETGROUPS,MOUNT\n"
	"with --maps: NS,TYPE,INNER,OUTER,COUNT\n"
	"with --overlaps: FINDING,TYPE,RANGES,IDS,NS,USER,PID,COMMAND,OTHER_NS,OTHER_PID,"
	"OTHER\n";

static const struct option longs[] = {
	{"tree", no_argument, NULL, LS_TREE},
	{"maps", no_argument, NULL, LS_MAPS},
	{"graph", no_argument, NULL, LS_GRAPH},
	{"svg", required_argument, NULL, LS_SVG},
	{"overlaps", no_argument, NULL, LS_OVERLAPS},
	{"uid", no_argument, NULL, 'u'},
	{"gid", no_argument, NULL, 'g'},
	TABLE_LONG,
	{"help", no_argument, NULL, 'h'},
	{NULL, 0, NULL, 0},
};

static void ls_clear(struct ls *ls)
{
	table_clear(&ls->table);
	audit_clear(&ls->audit);
	namespaces_clear(&ls->namespaces);
}

/* The command line */

static int take_mode(struct ls *ls, int option, char **ret_message)
{
	enum ls_mode mode = (enum ls_mode)option;

	if (ls->mode != LS_LIST && ls->mode != mode)
		return message_fail(ret_message, "of --tree, --maps, --graph, --svg and "
						 "--overlaps only one can be shown");
	ls->mode = mode;
	if (mode == LS_SVG)
		ls->svg = optarg;
	return 0;
}

/* Returns -1 to go on, else the exit status. */
static int read_command_line(struct ls *ls, int argc, char **argv)
{
	char *message = NULL;
	int option, r = 0;

	while (r == 0 && (option = getopt_long(argc, argv, "ug" TABLE_SHORT "h", longs,
					       NULL)) != -1) {
		if (option == 'h') {
			fputs(usage, stdout);
			return COMMAND_DONE;
		}
		if (option == 'u' || option == 'g')
			ls->kinds[option == 'u' ? ID_UID : ID_GID] = true;
		else if (option > LS_LIST)
			r = take_mode(ls, option, &message);
		else if (!table_option(&ls->options, option, optarg))
			return COMMAND_USAGE;
	}
	if (r == 0 && optind < argc)
		r = message_fail(&message, "'%s': ls takes no argument", argv[optind]);
	if (r == 0)
		r = table_check(&ls->options,
				ls->mode == LS_GRAPH ? "--graph"
				: ls->mode == LS_SVG ? "--svg"
						     : NULL,
				&message);
	if (!ls->kinds[ID_UID] && !ls->kinds[ID_GID])
		ls->kinds[ID_UID] = ls->kinds[ID_GID] = true;
	return r == 0 ? -1 : command_fail(COMMAND_USAGE, message);
}

/* Tables */

/* Bytes that others chose; whatever a process calls itself must not steer the terminal. */
int ls_set_safe(struct table *table, size_t column, const char *text)
{
	char safe[4 * 256 + 1];

	strnvis(safe, text, sizeof(safe), VIS_CSTYLE);
	return table_set(table, column, "%s", safe);
}

/* Namespaces of one owner often follow each other. */
const char *ls_user(struct ls *ls, uid_t uid)
{
	const struct passwd *entry;

	if (uid == ls->uid && ls->user[0])
		return ls->user;
	entry = uid == ID_NONE ? NULL : getpwuid(uid);
	if (entry)
		snprintf(ls->user, sizeof(ls->user), "%s", entry->pw_name);
	else
		snprintf(ls->user, sizeof(ls->user), "%u", uid);
	ls->uid = uid;
	return uid == ID_NONE ? "?" : ls->user;
}

int ls_failed(const char *what, int error)
{
	char *message;

	message_fail(&message, "%s: %s", what, strerror(-error));
	return command_fail(COMMAND_FAILED, message);
}

/* The list */

enum {
	NS,
	PARENT,
	DEPTH,
	OWNER,
	USER,
	NPROCS,
	PID,
	COMMAND,
	UID_EXTENTS,
	UIDS,
	GID_EXTENTS,
	GIDS,
	SETGROUPS,
	MOUNT,
};
static const struct table_column columns[] = {
	[NS] = {.name = "NS", .number = true},
	[PARENT] = {.name = "PARENT", .number = true},
	[DEPTH] = {.name = "DEPTH", .number = true, .right = true},
	[OWNER] = {.name = "OWNER", .number = true, .right = true},
	[USER] = {.name = "USER"},
	[NPROCS] = {.name = "NPROCS", .number = true, .right = true},
	[PID] = {.name = "PID", .number = true, .right = true},
	[COMMAND] = {.name = "COMMAND"},
	[UID_EXTENTS] = {.name = "UID_EXTENTS", .number = true, .right = true},
	[UIDS] = {.name = "UIDS", .number = true, .right = true},
	[GID_EXTENTS] = {.name = "GID_EXTENTS", .number = true, .right = true},
	[GIDS] = {.name = "GIDS", .number = true, .right = true},
	[SETGROUPS] = {.name = "SETGROUPS"},
	[MOUNT] = {.name = "MOUNT"},
};
#define SHOWN      "USER,NPROCS,PID,COMMAND,UID_EXTENTS,UIDS,GID_EXTENTS,GIDS,SETGROUPS"
#define SHOWN_LIST "NS,PARENT,DEPTH," SHOWN
#define SHOWN_TREE "NS," SHOWN

static int set_processes(struct table *table, const struct userns *userns)
{
	int r = table_set(table, NPROCS, "%u", userns->n_processes);

	if (r == 0 && userns->pid > 0)
		r = table_set(table, PID, "%d", userns->pid);
	if (r == 0 && userns->pid > 0)
		r = ls_set_safe(table, COMMAND, userns->comm);
	if (r == 0 && userns->mount)
		r = ls_set_safe(table, MOUNT, userns->mount);
	return r;
}

static int set_maps(struct table *table, const struct userns *userns)
{
	const struct namespace_map *maps = userns->maps;
	int r;

	if (userns->state != NAMESPACE_READ)
		return 0;
	r = table_set(table, UID_EXTENTS, "%zu", maps[ID_UID].n);
	if (r == 0)
		r = table_set(table, UIDS, "%ju", namespace_mapped(&maps[ID_UID]));
	if (r == 0)
		r = table_set(table, GID_EXTENTS, "%zu", maps[ID_GID].n);
	if (r == 0)
		r = table_set(table, GIDS, "%ju", namespace_mapped(&maps[ID_GID]));
	if (r == 0)
		r = table_set(table, SETGROUPS, "%s",
			      userns->setgroups ? "allow" : "deny");
	return r;
}

static int set_namespace(struct ls *ls, const struct userns *userns)
{
	const struct userns *list = ls->namespaces.list;
	struct table *table = &ls->table;
	int r = table_set(table, NS, "%ju", userns->ino);

	if (r == 0 && userns->parent != NAMESPACE_NONE)
		r = table_set(table, PARENT, "%ju", list[userns->parent].ino);
	if (r == 0)
		r = table_set(table, DEPTH, "%u", userns->depth);
	if (r == 0 && userns->owner != ID_NONE)
		r = table_set(table, OWNER, "%u", userns->owner);
	if (r == 0)
		r = ls_set_safe(table, USER, ls_user(ls, userns->owner));
	if (r == 0)
		r = set_processes(table, userns);
	if (r == 0)
		r = set_maps(table, userns);
	return r;
}

/* Lines of a tree hang below the line of their parent, which comes before them. */
static int fill_list(struct ls *ls)
{
	const struct namespaces *all = &ls->namespaces;
	struct libscols_line **lines = calloc(all->n + 1, sizeof(struct libscols_line *));
	struct libscols_table *table = ls->table.table;
	int r = lines ? 0 : -ENOMEM;

	if (ls->mode == LS_TREE)
		scols_column_set_flags(scols_table_get_column(table, 0), SCOLS_FL_TREE);
	for (uint32_t i = 0; i < all->n && r == 0; i++) {
		uint32_t parent = all->list[i].parent;
		bool below = ls->mode == LS_TREE && parent != NAMESPACE_NONE;

		lines[i] = scols_table_new_line(table, below ? lines[parent] : NULL);
		ls->table.line = lines[i];
		r = lines[i] ? set_namespace(ls, &all->list[i]) : -ENOMEM;
	}
	free(lines);
	return r;
}

/* The extents */

enum { MAP_NS, TYPE, INNER, OUTER, COUNT };
static const struct table_column map_columns[] = {
	[MAP_NS] = {.name = "NS", .number = true},
	[TYPE] = {.name = "TYPE"},
	[INNER] = {.name = "INNER", .number = true, .right = true},
	[OUTER] = {.name = "OUTER", .number = true, .right = true},
	[COUNT] = {.name = "COUNT", .number = true, .right = true},
};

static int add_extent(struct ls *ls, const struct userns *userns, enum id_kind kind,
		      const struct extent *extent)
{
	struct table *table = &ls->table;
	int r = table_row(table);

	if (r == 0)
		r = table_set(table, MAP_NS, "%ju", userns->ino);
	if (r == 0)
		r = table_set(table, TYPE, "%s", id_words[kind].word);
	if (r == 0)
		r = table_set(table, INNER, "%u", extent->inner);
	if (r == 0 && extent->outer == ID_NONE && !ls->options.json)
		r = table_set(table, OUTER, "-");
	else if (r == 0)
		r = table_set(table, OUTER, "%u", extent->outer);
	if (r == 0)
		r = table_set(table, COUNT, "%u", extent->count);
	return r;
}

static int fill_maps(struct ls *ls)
{
	int r = 0;

	for (uint32_t i = 0; i < ls->namespaces.n; i++)
		for (enum id_kind kind = ID_UID; kind <= ID_GID; kind++) {
			const struct userns *userns = &ls->namespaces.list[i];
			const struct namespace_map *map = &userns->maps[kind];

			for (size_t k = 0; ls->kinds[kind] && k < map->n && r == 0; k++)
				r = add_extent(ls, userns, kind, &map->extents[k]);
		}
	return r;
}

/* What can't be seen */

static const struct table_column missed_columns[] = {
	{.name = "VANISHED", .number = true}, {.name = "DENIED", .number = true},
	{.name = "HIDDEN", .number = true},   {.name = "MOUNTS", .number = true},
	{.name = "UNREAD", .number = true},
};

static int fill_missed(const struct namespaces_missed *missed, struct table *table)
{
	const size_t values[] = {missed->vanished, missed->denied, missed->hidden,
				 missed->mounts, missed->unread};
	int r = table_row(table);

	for (size_t i = 0; i < ARRAY_SIZE(values) && r == 0; i++)
		r = table_set(table, i, "%zu", values[i]);
	return r;
}

/* One document: the table, and what is missing in it. */
static int print_json(struct ls *ls)
{
	const struct table_options all = {.json = true};
	struct table tables[2] = {ls->table, {0}};
	int r = table_new("unseen", missed_columns, ARRAY_SIZE(missed_columns), &all,
			  &tables[1]);

	if (r == 0)
		r = fill_missed(&ls->namespaces.missed, &tables[1]);
	if (r == 0)
		r = table_print(tables, 2, stdout);
	table_clear(&tables[1]);
	return r;
}

int ls_print(struct ls *ls, const char *name, const struct table_column *wanted, size_t n,
	     int (*fill)(struct ls *ls))
{
	char *message;
	int r = table_new(name, wanted, n, &ls->options, &ls->table);

	if (r == TABLE_E_COLUMN) {
		table_refuse_columns(&ls->options, wanted, n, &message);
		return command_fail(COMMAND_USAGE, message);
	}
	if (r == 0)
		r = fill(ls);
	if (r == 0)
		r = ls->options.json ? print_json(ls)
				     : table_print(&ls->table, 1, stdout);
	if (r != 0)
		return ls_failed("printing the table", r);
	if (!ls->options.json)
		missed_say(&ls->namespaces.missed);
	return COMMAND_DONE;
}

static int print_list(struct ls *ls)
{
	if (!ls->options.json && !ls->options.columns)
		ls->options.columns = ls->mode == LS_TREE ? SHOWN_TREE : SHOWN_LIST;
	return ls_print(ls, "namespaces", columns, ARRAY_SIZE(columns), fill_list);
}

int cmd_ls(int argc, char **argv)
{
	__attribute__((cleanup(ls_clear))) struct ls ls = {.mode = LS_LIST};
	int r, status = read_command_line(&ls, argc, argv);

	if (status != -1)
		return status;
	r = namespaces_walk(&ls.namespaces);
	if (r != 0)
		return ls_failed("/proc", r);
	switch (ls.mode) {
	case LS_MAPS:
		return ls_print(&ls, "extents", map_columns, ARRAY_SIZE(map_columns),
				fill_maps);
	case LS_OVERLAPS:
		return ls_audit(&ls);
	case LS_GRAPH:
	case LS_SVG:
		return ls_draw(&ls);
	default:
		return print_list(&ls);
	}
}

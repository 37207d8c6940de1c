/* SPDX-License-Identifier: BSD-2-Clause */
#include "command.h"

#include "../trusted/autoclose.h"
#include "../trusted/live.h"
#include "cmd-absent.h"
#include "dialect.h"
#include "input.h"
#include "message.h"
#include "process.h"
#include "request.h"
#include "table.h"
#include "writer.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))

/* PROC_USER_INIT_INO in the kernel's include/linux/proc_ns.h. */
#define INITIAL_NAMESPACE "user:[4026531837]"

static const char usage[] =
	"Usage: idmap dump [OPTION]... PID|fd:N\n"
	"       idmap dump [OPTION]... [PID|fd:N] [MAP]...\n"
	"\n"
	"Show the live maps of a process. Without a process, or with MAPs or a layout,\n"
	"show what would be written. Nothing is ever written.\n"
	"\n"
	"MAP is [+|-][u:|g:|b:]INNER:OUTER:COUNT, or -[u:|g:|b:]INNER:COUNT.\n"
	"\n"
	"  -u, --uid              only uid_map\n"
	"  -g, --gid              only gid_map\n"
	"      --layout NAME      root, keep-id, subids or self [root]\n"
	"      --size N           let the layout have N inner IDs (65536, 64k)\n"
	"      --auto[=N]         in place of a layout, a slice of N IDs [64k] of your\n"
	"                         grants that no live namespace uses\n"
	"      --name NAME        with --auto, the slice that NAME had last, if free\n"
	"      --identity A[-B]   short for +A:A:N, N being B - A + 1\n"
	"      --user NAME        use the grants of NAME\n"
	"      --parent FILE|PID  plan for a child of that map, not of our own\n"
	"      --from FORM FILE   take the MAPs from FILE (- is stdin), written in FORM\n"
	"      --format FORM      print in FORM instead of a table\n"
	"      --json, --raw, --noheadings\n"
	"                         the table in another shape\n"
	"  -o, --output LIST      these columns: TYPE,INNER,OUTER,COUNT,SOURCE\n"
	"  -h, --help             show this\n";

enum { DUMP_FORMAT = REQUEST_OWN, DUMP_FROM };

static const struct option longs[] = {
	REQUEST_LONG,
	REQUEST_SLICE,
	{"parent", required_argument, NULL, REQUEST_PARENT},
	{"format", required_argument, NULL, DUMP_FORMAT},
	{"from", required_argument, NULL, DUMP_FROM},
	TABLE_LONG,
	{"help", no_argument, NULL, 'h'},
	{NULL, 0, NULL, 0},
};

struct dump {
	struct request request;
	struct answer answer;
	struct table_options table;
	const char *target;           /* NULL: none */
	const struct dialect *format; /* NULL: a table */
	const struct dialect *from;   /* NULL: no FILE */
	const char *file;             /* - is stdin */
	bool planned;                 /* not live */
	bool ours;                    /* live: the target is in our own user namespace */
};

static void dump_clear(struct dump *dump)
{
	request_clear(&dump->request);
	answer_clear(&dump->answer);
}

/* The command line */

static void print_usage(void)
{
	fputs(usage, stdout);
	fputs("\nFORM is one of", stdout);
	for (const struct dialect *d = dialects; d->name; d++)
		printf("%s %s", d == dialects ? "" : ",", d->name);
	puts(".");
}

static int find_form(const char *option, const struct dialect **ret_form,
		     char **ret_message)
{
	*ret_form = dialect_find(optarg);
	if (*ret_form)
		return 0;
	return message_fail(ret_message,
			    "%s '%s': no such form; idmap dump --help lists them", option,
			    optarg);
}

/* What was read in another form goes on as MAPs, as if it had been typed. */
static int add_maps(struct request *request, const struct dialect_maps *read,
		    char **ret_message)
{
	for (enum id_kind kind = ID_UID; kind <= ID_GID; kind++) {
		struct mapspec spec = {
			.sign = read->overlay ? MAPSPEC_OVERLAY : MAPSPEC_BASE,
			.applies = {kind == ID_UID, kind == ID_GID},
		};

		for (size_t i = 0; i < read->maps[kind].n; i++) {
			spec.extent = read->maps[kind].extents[i];
			if (request_add(request, spec, ret_message) != 0)
				return -1;
		}
	}
	return 0;
}

static int read_from(struct dump *dump, char **ret_message)
{
	struct dialect_maps read = {0};
	const char *name = input_name(dump->file);
	struct dialect_refusal why;
	char *text = NULL;
	size_t len = 0;
	int r;

	if (input_read(dump->file, &text, &len, ret_message) != 0)
		return -1;
	r = dialect_read(dump->from, text, len, (size_t)sysconf(_SC_PAGESIZE), &read,
			 &why);
	if (r != 0)
		*ret_message = r < 0 ? NULL : dialect_explain(dump->from, name, r, &why);
	else
		r = add_maps(&dump->request, &read, ret_message);
	free(text);
	if (r != 0)
		return r;
	/* A kind that the text does not say is not made up from a layout. */
	for (enum id_kind kind = ID_UID; kind <= ID_GID; kind++)
		dump->request.kinds[kind] &= read.overlay || read.maps[kind].n > 0;
	if (!dump->request.kinds[ID_UID] && !dump->request.kinds[ID_GID])
		return message_fail(ret_message, "%s holds no map of the kind asked for",
				    name);
	return 0;
}

static int take_word(struct dump *dump, const char *word, char **ret_message)
{
	if (dump->from && !dump->file) {
		dump->file = word;
		return 0;
	}
	return process_take(&dump->target, word, ret_message);
}

static int take_option(struct dump *dump, int option, char **ret_message)
{
	switch (option) {
	case DUMP_FORMAT:
		return find_form("--format", &dump->format, ret_message);
	case DUMP_FROM:
		return find_form("--from", &dump->from, ret_message);
	case REQUEST_WORD:
		return take_word(dump, optarg, ret_message);
	default:
		return table_option(&dump->table, option, optarg) ? 0 : -1;
	}
}

static int finish_options(struct dump *dump, int argc, char **argv, char **ret_message)
{
	const struct request *request = &dump->request;

	if (optind < argc)
		return message_fail(ret_message,
				    "'%s' stands behind --, where nothing belongs",
				    argv[optind]);
	if (dump->from && !dump->file)
		return message_fail(ret_message, "--from %s: no FILE; - is stdin",
				    dump->from->name);
	dump->planned = !dump->target || dump->from || request->n > 0 || request->user ||
			request->parent || request->size > 0 || request->slice ||
			request->layout_given;
	return table_check(&dump->table, dump->format ? "--format" : NULL, ret_message);
}

/* Returns -1 to go on, else the exit status. */
static int read_command_line(struct dump *dump, int argc, char **argv)
{
	char *message = NULL;
	int option, r = 0;

	while (r == 0 && (option = request_next(&dump->request, argc, argv,
						REQUEST_SHORT TABLE_SHORT "h", longs,
						&message)) != -1) {
		if (option == 'h') {
			print_usage();
			return COMMAND_DONE;
		}
		r = option == '?' ? -1 : take_option(dump, option, &message);
	}
	if (r == 0)
		r = finish_options(dump, argc, argv, &message);
	if (r == 0)
		return -1;
	return message ? command_fail(COMMAND_USAGE, message) : COMMAND_USAGE;
}

/* The live maps */

static int read_live(int dir, enum id_kind kind, struct answer *answer,
		     char **ret_message)
{
	static const struct origin live = {.kind = ORIGIN_LIVE};
	struct idmap *map = &answer->maps[kind];
	int r = live_map(dir, kind, map);

	if (r != 0)
		return message_fail(ret_message, "reading %s: %s", id_words[kind].map,
				    strerror(-r));
	for (size_t i = 0; i < map->n && r == 0; i++)
		r = plan_append(&answer->plans[kind], &map->extents[i], live);
	if (r != 0)
		*ret_message = NULL;
	return r;
}

/* Returns 0, or the exit status with *RET_MESSAGE. */
static int read_target(struct dump *dump, char **ret_message)
{
	AUTOCLOSE int dir = -1;
	enum live_place place;
	int r = dump->target ? process_open(dump->target, &dir, ret_message) : 0;

	if (r != 0 || dump->planned)
		return r;
	for (enum id_kind kind = ID_UID; kind <= ID_GID && r == 0; kind++)
		if (dump->request.kinds[kind])
			r = read_live(dir, kind, &dump->answer, ret_message);
	/* A process reads the map of its own namespace with outer IDs of the parent. */
	dump->ours = live_place(dir, &place) == 0 && place == LIVE_OURS;
	return r == 0 ? 0 : COMMAND_FAILED;
}

/* Output */

/* From where the outer IDs are seen. */
static char *seen_from(const struct dump *dump)
{
	char *text, ns[64] = "user:[?]";
	ssize_t len = readlink("/proc/self/ns/user", ns, sizeof(ns) - 1);

	if (len > 0)
		ns[len] = '\0';
	if (dump->planned && dump->request.parent)
		message_fail(&text, "the namespace with the map of %s",
			     dump->request.parent);
	else if (!dump->planned && dump->ours && strcmp(ns, INITIAL_NAMESPACE) != 0)
		message_fail(&text, "the parent of %s, which is the reader's own", ns);
	else
		message_fail(&text, "%s, the reader's own", ns);
	return text;
}

enum { TYPE, INNER, OUTER, COUNT, SOURCE };
static const struct table_column extent_columns[] = {
	[TYPE] = {.name = "TYPE"},
	[INNER] = {.name = "INNER", .number = true},
	[OUTER] = {.name = "OUTER", .number = true},
	[COUNT] = {.name = "COUNT", .number = true, .right = true},
	[SOURCE] = {.name = "SOURCE"},
};

enum { LIMIT_TYPE, WRITTEN, EXTENTS, EXTENTS_MAX, BYTES, BYTES_MAX, SEEN_FROM };
static const struct table_column limit_columns[] = {
	[LIMIT_TYPE] = {.name = "TYPE"},
	[WRITTEN] = {.name = "WRITTEN", .boolean = true},
	[EXTENTS] = {.name = "EXTENTS", .number = true},
	[EXTENTS_MAX] = {.name = "EXTENTS_MAX", .number = true},
	[BYTES] = {.name = "BYTES", .number = true},
	[BYTES_MAX] = {.name = "BYTES_MAX", .number = true},
	[SEEN_FROM] = {.name = "SEEN_FROM"},
};

/* "7", "0-65535", or for JSON the first ID; "-" for outer IDs that have no number here. */
static int set_range(const struct dump *dump, struct table *table, size_t column,
		     uint32_t start, uint32_t count)
{
	if (dump->table.json || (count == 1 && start != ID_NONE))
		return table_set(table, column, "%u", start);
	if (start == ID_NONE)
		return table_set(table, column, "-");
	return table_set(table, column, "%u-%u", start, start + count - 1);
}

static int add_extent(const struct dump *dump, enum id_kind kind,
		      const struct planned *planned, struct table *table)
{
	const struct extent *extent = &planned->extent;
	char *source = plan_source(kind, &planned->origin,
				   dump->answer.grants[kind].source.name);
	int r = source ? table_row(table) : -ENOMEM;

	if (r == 0)
		r = table_set(table, TYPE, "%s", id_words[kind].word);
	if (r == 0)
		r = set_range(dump, table, INNER, extent->inner, extent->count);
	if (r == 0)
		r = set_range(dump, table, OUTER, extent->outer, extent->count);
	if (r == 0)
		r = table_set(table, COUNT, "%u", extent->count);
	if (r == 0)
		r = table_set(table, SOURCE, "%s", source);
	free(source);
	return r;
}

static int add_limits(const struct dump *dump, enum id_kind kind, const char *seen,
		      struct table *table)
{
	const struct idmap *map = &dump->answer.maps[kind];
	char text[IDMAP_TEXT];
	int r = table_row(table);

	if (r == 0)
		r = table_set(table, LIMIT_TYPE, "%s", id_words[kind].word);
	if (r == 0)
		r = table_set(table, WRITTEN, "%s",
			      !dump->planned && map->n > 0 ? "1" : "0");
	if (r == 0)
		r = table_set(table, EXTENTS, "%zu", map->n);
	if (r == 0)
		r = table_set(table, EXTENTS_MAX, "%u", IDMAP_EXTENTS);
	if (r == 0)
		r = table_set(table, BYTES, "%zu", idmap_format(map, text));
	if (r == 0)
		r = table_set(table, BYTES_MAX, "%ld", sysconf(_SC_PAGESIZE) - 1);
	if (r == 0)
		r = table_set(table, SEEN_FROM, "%s", seen);
	return r;
}

static void print_limits(const struct dump *dump, const char *seen)
{
	size_t most = (size_t)sysconf(_SC_PAGESIZE) - 1, bytes;
	char text[IDMAP_TEXT];

	for (enum id_kind kind = ID_UID; kind <= ID_GID; kind++) {
		const struct idmap *map = &dump->answer.maps[kind];

		if (!dump->request.kinds[kind])
			continue;
		bytes = idmap_format(map, text);
		if (map->n == 0)
			printf("%s: not written yet\n", id_words[kind].map);
		else
			printf("%s: %zu of %u extents, %zu left; %zu of %zu bytes, "
			       "%zu left\n",
			       id_words[kind].map, map->n, IDMAP_EXTENTS,
			       IDMAP_EXTENTS - map->n, bytes, most, most - bytes);
	}
	printf("outer IDs as seen from %s\n", seen);
}

static int fill_tables(const struct dump *dump, const char *seen, struct table *extents,
		       struct table *limits)
{
	int r = 0;

	for (enum id_kind kind = ID_UID; kind <= ID_GID && r == 0; kind++) {
		const struct plan *plan = &dump->answer.plans[kind];

		if (!dump->request.kinds[kind])
			continue;
		for (size_t i = 0; i < plan->n && r == 0; i++)
			r = add_extent(dump, kind, &plan->list[i], extents);
		if (r == 0)
			r = add_limits(dump, kind, seen, limits);
	}
	return r;
}

static int print_tables(const struct dump *dump, const char *seen)
{
	const struct table_options all = {.json = true};
	struct table tables[2] = {0};
	int r = table_new("extents", extent_columns, ARRAY_SIZE(extent_columns),
			  &dump->table, &tables[0]);

	if (r == 0)
		r = table_new("limits", limit_columns, ARRAY_SIZE(limit_columns), &all,
			      &tables[1]);
	if (r == 0)
		r = fill_tables(dump, seen, &tables[0], &tables[1]);
	if (r == 0)
		r = table_print(tables, dump->table.json ? 2 : 1, stdout);
	if (r == 0 && !dump->table.json && !dump->table.raw && !dump->table.noheadings)
		print_limits(dump, seen);
	table_clear(&tables[0]);
	table_clear(&tables[1]);
	return r;
}

static int print_table(const struct dump *dump)
{
	char *message = NULL, *seen = seen_from(dump);
	int r = seen ? print_tables(dump, seen) : -ENOMEM;

	free(seen);
	if (r == 0)
		return COMMAND_DONE;
	if (r == TABLE_E_COLUMN) {
		table_refuse_columns(&dump->table, extent_columns,
				     ARRAY_SIZE(extent_columns), &message);
		return command_fail(COMMAND_USAGE, message);
	}
	message_fail(&message, "printing the table: %s", strerror(-r));
	return command_fail(COMMAND_FAILED, message);
}

static int print_form(const struct dump *dump)
{
	const struct account *account = &dump->answer.account;
	const uint32_t own[ID_KINDS] = {account->uid, account->gid};
	const struct dialect_maps maps = {
		.maps = {dump->answer.maps[ID_UID], dump->answer.maps[ID_GID]},
		.target = dump->target,
		.owner = account->name,
		.own = account->name ? own : NULL,
	};
	struct dialect_refusal why;
	char *message = NULL;
	int r = dialect_write(stdout, dump->format, &maps, &why);

	if (r == 0)
		return COMMAND_DONE;
	if (r == DIALECT_E_EMPTY && !dump->planned)
		message_fail(&message, "%s: not written yet, so no form can show it",
			     dump->target);
	else if (r > 0)
		message = dialect_explain(dump->format, NULL, r, &why);
	return command_fail(COMMAND_FAILED, message);
}

int cmd_dump(int argc, char **argv)
{
	__attribute__((cleanup(dump_clear))) struct dump dump = {0};
	char *message = NULL;
	int r, status = read_command_line(&dump, argc, argv);

	if (status != -1)
		return status;
	status = read_target(&dump, &message);
	if (status != COMMAND_DONE)
		return command_fail(status, message);
	r = dump.from ? read_from(&dump, &message) : 0;
	if (r == 0 && dump.planned)
		r = request_plan(&dump.request, false, &dump.answer, &message);
	if (r != 0)
		return command_fail(COMMAND_FAILED, message);
	absent_say_answer(&dump.answer);
	return dump.format ? print_form(&dump) : print_table(&dump);
}

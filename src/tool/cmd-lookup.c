/* SPDX-License-Identifier: BSD-2-Clause */
#include "command.h"

#include "../trusted/autoclose.h"
#include "../trusted/live.h"
#include "algebra.h"
#include "cmd-absent.h"
#include "idstream.h"
#include "idword.h"
#include "index.h"
#include "message.h"
#include "process.h"
#include "progress.h"
#include "request.h"
#include "table.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char usage[] =
	"Usage: idmap lookup [OPTION]... [PID|fd:N|MAP...] [--through MAP...]... ID...|-\n"
	"\n"
	"Translate inner IDs to outer ones, one answer a line; \"unmapped\" makes the exit\n"
	"status 1. - takes IDs from stdin, one a line. Without a process and MAPs the map\n"
	"is the one that would be written for you. Of two or more numbers the first is a\n"
	"PID, unless a MAP, --pid, --through, --layout, --size, --identity or --user says\n"
	"which map is meant.\n"
	"\n"
	"Several maps are composed into one, from the innermost namespace to the outermost.\n"
	"\n"
	"  -u, --uid              user IDs (default)\n"
	"  -g, --gid              group IDs\n"
	"  -r, --reverse          outer IDs to inner ones\n"
	"      --pid PID|fd:N     the next map is the live one of a process, its outer IDs as\n"
	"                         seen from here\n"
	"      --through          the next map is of the MAPs that follow\n"
	"      --overflow         for an unmapped ID, what a process inside sees in its place\n"
	"      --layout NAME      root, keep-id, subids or self [root]\n"
	"      --size N           let the layout have N inner IDs (65536, 64k)\n"
	"      --identity A[-B]   short for +A:A:N, N being B - A + 1\n"
	"      --user NAME        use the grants of NAME\n"
	"      --json, --raw, --noheadings\n"
	"                         a table\n"
	"  -o, --output LIST      a table of these columns: TYPE,INNER,OUTER\n"
	"  -h, --help             show this\n";

enum { LOOKUP_PID = REQUEST_OWN, LOOKUP_THROUGH, LOOKUP_OVERFLOW };

static const struct option longs[] = {
	REQUEST_LONG,
	{"reverse", no_argument, NULL, 'r'},
	{"pid", required_argument, NULL, LOOKUP_PID},
	{"through", no_argument, NULL, LOOKUP_THROUGH},
	{"overflow", no_argument, NULL, LOOKUP_OVERFLOW},
	TABLE_LONG,
	{"help", no_argument, NULL, 'h'},
	{NULL, 0, NULL, 0},
};

/* One map of the chain: a process's, or what the specs make from number FIRST on. */
struct hop {
	const char *target;
	size_t first;
	bool added; /* by --pid or --through */
};

struct lookup {
	struct request request;
	struct table_options table;
	enum id_kind kind;
	enum index_direction direction;
	bool overflow;
	bool guessed; /* hops[0] is a process since its number is the first of several */
	struct hop
		*hops; /* owned; hops[0] is what stands before any --pid and --through */
	size_t n_hops;
	const char **words; /* owned: the IDs */
	size_t n_words;
	struct index index;
};

static void lookup_clear(struct lookup *lookup)
{
	request_clear(&lookup->request);
	free(lookup->hops);
	free(lookup->words);
}

/* The command line */

static int take_word(struct lookup *lookup, const char *word, char **ret_message)
{
	if (strncmp(word, "fd:", 3) == 0)
		return process_take(&lookup->hops[0].target, word, ret_message);
	lookup->words[lookup->n_words++] = word;
	return 0;
}

static int take_option(struct lookup *lookup, int option, char **ret_message)
{
	struct hop next = {.first = lookup->request.n, .added = true};

	switch (option) {
	case REQUEST_WORD:
		return take_word(lookup, optarg, ret_message);
	case 'r':
		lookup->direction = INDEX_TO_INNER;
		return 0;
	case LOOKUP_OVERFLOW:
		lookup->overflow = true;
		return 0;
	case LOOKUP_PID:
	case LOOKUP_THROUGH:
		next.target = option == LOOKUP_PID ? optarg : NULL;
		lookup->hops[lookup->n_hops++] = next;
		return 0;
	default:
		return table_option(&lookup->table, option, optarg) ? 0 : -1;
	}
}

static size_t hop_end(const struct lookup *lookup, size_t hop)
{
	return hop + 1 < lookup->n_hops ? lookup->hops[hop + 1].first : lookup->request.n;
}

/* An option of the layout is given, so that the plan is meant and no process. */
static bool plan_is_meant(const struct request *request)
{
	return request->user || request->size > 0 || request->layout_given;
}

/* See which number is the PID, and drop hops[0] when the chain begins with an option. */
static void settle_first_hop(struct lookup *lookup)
{
	struct hop *first = &lookup->hops[0];

	if (first->target || hop_end(lookup, 0) > 0 || plan_is_meant(&lookup->request))
		return;
	if (lookup->n_hops > 1) {
		lookup->n_hops--;
		memmove(first, first + 1, lookup->n_hops * sizeof(*first));
	} else if (lookup->n_words > 1) {
		first->target = lookup->words[0];
		lookup->guessed = true;
		lookup->n_words--;
		memmove(lookup->words, lookup->words + 1,
			lookup->n_words * sizeof(*lookup->words));
	}
}

static int check_hops(const struct lookup *lookup, char **ret_message)
{
	struct request first = lookup->request;

	first.n = hop_end(lookup, 0);
	if (request_check(&first, ret_message) != 0)
		return -1;
	if (lookup->hops[0].target && plan_is_meant(&lookup->request))
		return message_fail(ret_message,
				    "a layout and process %s: one map can't be both; "
				    "--pid adds the process",
				    lookup->hops[0].target);
	for (size_t i = 0; i < lookup->n_hops; i++) {
		const struct hop *hop = &lookup->hops[i];
		bool maps = hop_end(lookup, i) > hop->first;

		if (hop->target && maps)
			return message_fail(
				ret_message,
				"MAPs and process %s: one map can't be both; "
				"--through before the MAPs makes them the next",
				hop->target);
		if (!hop->target && !maps && hop->added)
			return message_fail(ret_message, "--through: no MAP follows");
	}
	return 0;
}

static bool wants_table(const struct lookup *lookup)
{
	const struct table_options *table = &lookup->table;

	return table->json || table->raw || table->noheadings || table->columns;
}

static bool is_stream(const struct lookup *lookup)
{
	return lookup->n_words == 1 && strcmp(lookup->words[0], "-") == 0;
}

static int finish_options(struct lookup *lookup, char **ret_message)
{
	lookup->kind = lookup->request.kinds[ID_GID] ? ID_GID : ID_UID;
	if (lookup->n_words > 1 && strcmp(lookup->words[0], "-") == 0)
		return message_fail(ret_message,
				    "'-' takes the IDs from stdin, and '%s' stands "
				    "behind it",
				    lookup->words[1]);
	settle_first_hop(lookup);
	if (lookup->n_words == 0)
		return message_fail(ret_message,
				    "no ID: give IDs, or - to take them from stdin");
	if (is_stream(lookup) && wants_table(lookup))
		return message_fail(ret_message,
				    "'-': a stream is answered one line an ID; tables "
				    "and JSON are for IDs of the command line");
	if (table_check(&lookup->table, NULL, ret_message) != 0)
		return -1;
	return check_hops(lookup, ret_message);
}

/* Returns -1 to go on, else the exit status. */
static int read_command_line(struct lookup *lookup, int argc, char **argv)
{
	char *message = NULL;
	int option, r = 0;

	while (r == 0 && (option = request_next(&lookup->request, argc, argv,
						REQUEST_SHORT TABLE_SHORT "rh", longs,
						&message)) != -1) {
		if (option == 'h') {
			fputs(usage, stdout);
			return COMMAND_DONE;
		}
		if (option == '?')
			return message ? command_fail(COMMAND_USAGE, message)
				       : COMMAND_USAGE;
		r = take_option(lookup, option, &message);
	}
	for (; r == 0 && optind < argc; optind++)
		r = take_word(lookup, argv[optind], &message);
	if (r == 0)
		r = finish_options(lookup, &message);
	return r == 0 ? -1 : command_fail(COMMAND_USAGE, message);
}

/* The map */

/* The number that was taken for a PID may have been meant as an ID. */
static void explain_guess(char **message)
{
	char *plain = *message;

	message_fail(message,
		     "%s: of several numbers the first is a process; for IDs of your own "
		     "plan say --layout root",
		     plain ? plain : "");
	free(plain);
}

/* Returns 0, or the exit status with *RET_MESSAGE. */
static int read_live(const struct lookup *lookup, const char *target,
		     struct idmap *ret_map, char **ret_message)
{
	const char *name = id_words[lookup->kind].map;
	AUTOCLOSE int dir = -1;
	char *note;
	int r = process_open(target, &dir, ret_message);

	if (r != 0 && lookup->guessed)
		explain_guess(ret_message);
	if (r != 0)
		return r;
	r = live_map(dir, lookup->kind, ret_map);
	if (r != 0) {
		message_fail(ret_message, "reading %s of %s: %s", name, target,
			     strerror(-r));
		return COMMAND_FAILED;
	}
	if (ret_map->n > 0)
		return 0;
	message_fail(&note, "%s of %s is not written yet, so that nothing is mapped",
		     name, target);
	command_fail(COMMAND_DONE, note);
	return 0;
}

/* What MAPs alone make, whatever the namespace they are looked up in. */
static int plan_maps(const struct mapspec *specs, size_t n, enum id_kind kind,
		     struct idmap *ret_map, char **ret_message)
{
	__attribute__((cleanup(plan_clear))) struct plan plan = {0};
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char nobody[] = ""; /* no refusal of MAPs alone speaks of an account */
	const struct account account = {.name = nobody};
	struct plan_refusal why;
	int r = plan_apply(&plan, kind, specs, n, &why);

	if (r == 0)
		r = plan_finish(&plan, NULL, page, ret_map, &why);
	if (r != 0)
		*ret_message = r < 0 ? NULL : plan_explain(kind, r, &why, &account, NULL);
	return r;
}

/* What would be written. */
static int plan_layout_of(const struct lookup *lookup, struct idmap *ret_map,
			  char **ret_message)
{
	struct request request = lookup->request;
	struct answer answer = {0};
	int r;

	request.n = hop_end(lookup, 0);
	r = request_plan(&request, false, &answer, ret_message);
	if (r == 0)
		*ret_map = answer.maps[lookup->kind];
	absent_say_answer(&answer);
	answer_clear(&answer);
	return r;
}

/* Returns 0, or the exit status with *RET_MESSAGE. */
static int hop_map(const struct lookup *lookup, size_t i, struct idmap *ret_map,
		   char **ret_message)
{
	const struct hop *hop = &lookup->hops[i];
	size_t n = hop_end(lookup, i) - hop->first;
	const struct mapspec *specs = n > 0 ? lookup->request.specs + hop->first : NULL;
	int r;

	if (hop->target)
		return read_live(lookup, hop->target, ret_map, ret_message);
	if (!hop->added && !mapspec_has_base(specs, n, lookup->kind))
		r = plan_layout_of(lookup, ret_map, ret_message);
	else
		r = plan_maps(specs, n, lookup->kind, ret_map, ret_message);
	return r == 0 ? 0 : COMMAND_FAILED;
}

static int compose(const struct lookup *lookup, struct idmap *ret_map, char **ret_message)
{
	struct idmap next;
	int r = hop_map(lookup, 0, ret_map, ret_message);

	for (size_t i = 1; r == 0 && i < lookup->n_hops; i++) {
		r = hop_map(lookup, i, &next, ret_message);
		if (r != 0 || idmap_compose(ret_map, &next, ret_map) == 0)
			continue;
		message_fail(ret_message,
			     "map %zu of the chain splits the maps before it into more "
			     "than %u extents, which no namespace can have",
			     i + 1, IDMAP_EXTENTS);
		r = COMMAND_FAILED;
	}
	return r;
}

/* Returns 0, or the exit status with *RET_MESSAGE. */
static int build_index(struct lookup *lookup, char **ret_message)
{
	struct idmap_refusal why;
	struct idmap map;
	int r = compose(lookup, &map, ret_message);

	if (r != 0 || index_build(&lookup->index, &map, &why) == 0)
		return r;
	message_fail(ret_message, "%u:%u:%u and %u:%u:%u overlap", why.first.inner,
		     why.first.outer, why.first.count, why.second.inner, why.second.outer,
		     why.second.count);
	return COMMAND_FAILED;
}

/* Questions and answers */

static uint32_t ask(const struct lookup *lookup, uint32_t id)
{
	return lookup->direction == INDEX_TO_OUTER ? index_outer(&lookup->index, id)
						   : index_inner(&lookup->index, id);
}

/* What stands for an unmapped ID: a word, or the overflow ID. */
static int unmapped_text(const struct lookup *lookup, char ret_text[16],
			 char **ret_message)
{
	static const char *const paths[ID_KINDS] = {
		[ID_UID] = "/proc/sys/kernel/overflowuid",
		[ID_GID] = "/proc/sys/kernel/overflowgid",
	};
	const char *path = paths[lookup->kind];
	FILE *file;
	bool read;

	snprintf(ret_text, 16, "unmapped");
	if (!lookup->overflow)
		return 0;
	file = fopen(path, "re");
	read = file && fgets(ret_text, 16, file);
	if (file)
		fclose(file);
	if (!read)
		return message_fail(ret_message, "--overflow: %s: %s", path,
				    strerror(errno));
	ret_text[strcspn(ret_text, "\n")] = '\0';
	return 0;
}

/* Returns 0, or the exit status with *RET_MESSAGE. */
static int prepare(struct lookup *lookup, char ret_unmapped[16], char **ret_message)
{
	int status = build_index(lookup, ret_message);

	if (status == 0 && unmapped_text(lookup, ret_unmapped, ret_message) != 0)
		status = COMMAND_FAILED;
	return status;
}

enum { TYPE, INNER, OUTER };
static const struct table_column columns[] = {
	[TYPE] = {.name = "TYPE"},
	[INNER] = {.name = "INNER", .number = true, .right = true},
	[OUTER] = {.name = "OUTER", .number = true, .right = true},
};

static int add_row(const struct lookup *lookup, uint32_t id, const char *unmapped,
		   struct table *table)
{
	bool outwards = lookup->direction == INDEX_TO_OUTER;
	size_t asked = outwards ? INNER : OUTER, answered = outwards ? OUTER : INNER;
	uint32_t answer = ask(lookup, id);
	int r = table_row(table);

	if (r == 0)
		r = table_set(table, TYPE, "%s", id_words[lookup->kind].word);
	if (r == 0)
		r = table_set(table, asked, "%u", id);
	if (r != 0)
		return r;
	if (answer != ID_NONE)
		return table_set(table, answered, "%u", answer);
	/* In JSON a number that is not there is null. */
	if (lookup->table.json && !lookup->overflow)
		return 0;
	return table_set(table, answered, "%s", unmapped);
}

/* Returns the exit status as far as printing goes. */
static int print_table(const struct lookup *lookup, const uint32_t *ids,
		       const char *unmapped)
{
	struct table table = {0};
	char *message = NULL;
	int r = table_new("ids", columns, sizeof(columns) / sizeof(*columns),
			  &lookup->table, &table);

	if (r == TABLE_E_COLUMN) {
		table_refuse_columns(&lookup->table, columns,
				     sizeof(columns) / sizeof(*columns), &message);
		return command_fail(COMMAND_USAGE, message);
	}
	for (size_t i = 0; i < lookup->n_words && r == 0; i++)
		r = add_row(lookup, ids[i], unmapped, &table);
	if (r == 0)
		r = table_print(&table, 1, stdout);
	table_clear(&table);
	if (r == 0)
		return COMMAND_DONE;
	message_fail(&message, "printing the table: %s", strerror(-r));
	return command_fail(COMMAND_FAILED, message);
}

static void print_lines(const struct lookup *lookup, const uint32_t *ids,
			const char *unmapped)
{
	for (size_t i = 0; i < lookup->n_words; i++) {
		uint32_t answer = ask(lookup, ids[i]);

		if (answer == ID_NONE)
			puts(unmapped);
		else
			printf("%u\n", answer);
	}
}

static int parse_words(const struct lookup *lookup, uint32_t *ret_ids, char **ret_message)
{
	int r = 0;

	for (size_t i = 0; i < lookup->n_words && r == 0; i++)
		r = idword_parse("ID", lookup->words[i], lookup->kind, &ret_ids[i],
				 ret_message);
	return r;
}

static int answer_words(struct lookup *lookup, const uint32_t *ids)
{
	char *message = NULL, unmapped[16];
	int status = prepare(lookup, unmapped, &message);

	if (status != COMMAND_DONE)
		return command_fail(status, message);
	if (wants_table(lookup))
		status = print_table(lookup, ids, unmapped);
	else
		print_lines(lookup, ids, unmapped);
	for (size_t i = 0; i < lookup->n_words && status == COMMAND_DONE; i++)
		if (ask(lookup, ids[i]) == ID_NONE)
			status = COMMAND_FAILED;
	return status;
}

static int run_words(struct lookup *lookup)
{
	uint32_t *ids = calloc(lookup->n_words, sizeof(*ids));
	char *message = NULL;
	int status;

	if (!ids)
		return command_fail(COMMAND_FAILED, NULL);
	status = parse_words(lookup, ids, &message) == 0
			 ? answer_words(lookup, ids)
			 : command_fail(COMMAND_USAGE, message);
	free(ids);
	return status;
}

/* Streams */

static struct {
	struct idstream in;
	uint32_t ids[IDSTREAM_IDS];
	char text[IDSTREAM_TEXT];
	char unmapped[16];
	struct progress progress;
	size_t done;
	size_t missing;
} stream;

static void show_progress(void)
{
	if (progress_due(&stream.progress))
		fprintf(stderr, "%zu IDs\r", stream.done);
}

static int answer_batch(const struct lookup *lookup, size_t n)
{
	size_t len;

	stream.missing += index_translate(&lookup->index, lookup->direction, stream.ids,
					  n, stream.ids);
	stream.done += n;
	len = idstream_format(stream.ids, n, stream.unmapped, stream.text);
	return idstream_write(STDOUT_FILENO, stream.text, len);
}

static int input_failed(int error)
{
	const int shown = stream.in.len < 40 ? (int)stream.in.len : 40;
	char *message = NULL;

	if (error < 0)
		message_fail(&message, "stdin: %s", strerror(-error));
	else
		message_fail(&message, "stdin:%zu: '%.*s' %s", stream.in.line, shown,
			     stream.in.bytes, idword_reason(error));
	return command_fail(COMMAND_FAILED, message);
}

static int output_failed(int error)
{
	char *message;

	message_fail(&message, "standard output: %s", strerror(-error));
	return command_fail(COMMAND_FAILED, message);
}

static int run_stream(struct lookup *lookup)
{
	char *message = NULL;
	size_t n;
	int written, r = prepare(lookup, stream.unmapped, &message);

	if (r != 0)
		return command_fail(r, message);
	stream.in.fd = STDIN_FILENO;
	/* Who types the IDs sees how far he is. */
	progress_start(&stream.progress, isatty(STDERR_FILENO) && !isatty(STDIN_FILENO));
	do {
		n = 0;
		r = idstream_read(&stream.in, stream.ids, &n);
		written = answer_batch(lookup, n);
		show_progress();
	} while (r == 0 && n > 0 && written == 0);
	if (stream.progress.shown)
		fputs("\033[K", stderr);
	if (written != 0)
		return output_failed(written);
	if (r != 0)
		return input_failed(r);
	return stream.missing ? COMMAND_FAILED : COMMAND_DONE;
}

static int run(struct lookup *lookup, int argc, char **argv)
{
	int status;

	lookup->hops = calloc((size_t)argc + 1, sizeof(*lookup->hops));
	lookup->words = calloc((size_t)argc + 1, sizeof(*lookup->words));
	if (!lookup->hops || !lookup->words)
		return command_fail(COMMAND_FAILED, NULL);
	status = read_command_line(lookup, argc, argv);
	if (status != -1)
		return status;
	return is_stream(lookup) ? run_stream(lookup) : run_words(lookup);
}

int cmd_lookup(int argc, char **argv)
{
	struct lookup lookup = {.request.chain = true, .n_hops = 1};
	int status = run(&lookup, argc, argv);

	lookup_clear(&lookup);
	return status;
}

/* SPDX-License-Identifier: BSD-2-Clause */
#include "command.h"

#include "../trusted/target.h"
#include "doctor.h"
#include "message.h"
#include "process.h"
#include "table.h"

#include <bsd/vis.h>
#include <getopt.h>
#include <libsmartcols.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))

static const char usage[] =
	"Usage: idmap doctor [OPTION]... [PID|fd:N]\n"
	"\n"
	"Show, cause by cause, what could keep a map from being written here, or to that\n"
	"process, and the command that mends it. The exit status is 0 if the default\n"
	"layout can be written.\n"
	"\n"
	"      --json, --raw, --noheadings\n"
	"                     the table in another shape; JSON has the column FIX too\n"
	"  -o, --output LIST  these columns: STATE,CAUSE,EVIDENCE,SOURCE,FIX\n"
	"  -h, --help         show this\n";

static const struct option longs[] = {
	TABLE_LONG,
	{"help", no_argument, NULL, 'h'},
	{NULL, 0, NULL, 0},
};

enum { STATE, CAUSE, EVIDENCE, SOURCE, FIX };
static const struct table_column columns[] = {
	[STATE] = {.name = "STATE"},
	[CAUSE] = {.name = "CAUSE"},
	[EVIDENCE] = {.name = "EVIDENCE", .wrap_words = true},
	[SOURCE] = {.name = "SOURCE", .wrap = true},
	[FIX] = {.name = "FIX", .wrap_words = true},
};

struct shown {
	struct table_options options;
	bool fixes_below; /* the table has no column FIX */
	bool coloured;
};

static int add_row(const struct shown *shown, const struct finding *finding,
		   struct table *table)
{
	static const char *const colours[] = {
		[DOCTOR_OK] = "green",
		[DOCTOR_WARNING] = "brown",
		[DOCTOR_PROBLEM] = "red",
	};
	int r = table_row(table);

	if (r == 0)
		r = table_set(table, STATE, "%s", doctor_words[finding->state]);
	if (r == 0)
		r = table_set(table, CAUSE, "%s", finding->cause);
	if (r == 0)
		r = table_set(table, EVIDENCE, "%s", finding->evidence);
	if (r == 0)
		r = table_set(table, SOURCE, "%s", finding->source);
	if (r == 0 && finding->fix)
		r = table_set(table, FIX, "%s", finding->fix);
	if (r == 0 && shown->coloured)
		r = scols_line_set_color(table->line, colours[finding->state]);
	return r;
}

static void print_fixes(const struct findings *findings)
{
	for (size_t i = 0; i < findings->n; i++) {
		const struct finding *finding = &findings->list[i];
		char *safe = finding->fix ? malloc(4 * strlen(finding->fix) + 1) : NULL;

		if (!safe)
			continue;
		strvis(safe, finding->fix, VIS_NOSLASH);
		printf("%s: fix: %s\n", finding->cause, safe);
		free(safe);
	}
}

static int print_findings(const struct shown *shown, const struct findings *findings)
{
	struct table_options options = shown->options;
	struct table table = {0};
	int r;

	if (shown->fixes_below)
		options.columns = "STATE,CAUSE,EVIDENCE,SOURCE";
	r = table_new("causes", columns, ARRAY_SIZE(columns), &options, &table);
	if (r == 0)
		r = scols_table_enable_colors(table.table, shown->coloured);
	for (size_t i = 0; i < findings->n && r == 0; i++)
		r = add_row(shown, &findings->list[i], &table);
	if (r == 0)
		r = table_print(&table, 1, stdout);
	if (r == 0 && shown->fixes_below)
		print_fixes(findings);
	table_clear(&table);
	return r;
}

/* NO_COLOR: https://no-color.org, set and not empty. */
static bool wants_colour(void)
{
	const char *no_colour = getenv("NO_COLOR");

	return isatty(STDOUT_FILENO) && (!no_colour || !*no_colour);
}

static int print_failed(const struct shown *shown, int error)
{
	char *message;

	if (error == TABLE_E_COLUMN) {
		table_refuse_columns(&shown->options, columns, ARRAY_SIZE(columns),
				     &message);
		return command_fail(COMMAND_USAGE, message);
	}
	message_fail(&message, "printing the table: %s", strerror(-error));
	return command_fail(COMMAND_FAILED, message);
}

static int examine(struct shown *shown, const char *target)
{
	__attribute__((cleanup(findings_clear))) struct findings findings = {0};
	const struct table_options *options = &shown->options;
	int status = COMMAND_FAILED, r = doctor_examine(target, &findings);
	char *message;

	if (r != 0 && target)
		status = process_refuse(target, r, &message);
	if (r != 0 && target)
		return command_fail(status, message);
	if (r != 0)
		return command_fail(COMMAND_FAILED, strdup(target_reason(r)));
	shown->fixes_below = !options->json && !options->raw && !options->columns;
	shown->coloured = !options->json && !options->raw && wants_colour();
	r = print_findings(shown, &findings);
	if (r != 0)
		return print_failed(shown, r);
	return findings.worst == DOCTOR_PROBLEM ? COMMAND_FAILED : COMMAND_DONE;
}

int cmd_doctor(int argc, char **argv)
{
	struct shown shown = {0};
	const char *target = NULL;
	char *message;
	int option, r = 0;

	while ((option = getopt_long(argc, argv, TABLE_SHORT "h", longs, NULL)) != -1) {
		if (option == 'h') {
			fputs(usage, stdout);
			return COMMAND_DONE;
		}
		if (!table_option(&shown.options, option, optarg))
			return COMMAND_USAGE;
	}
	for (; r == 0 && optind < argc; optind++)
		r = process_take(&target, argv[optind], &message);
	if (r == 0)
		r = table_check(&shown.options, NULL, &message);
	return r == 0 ? examine(&shown, target) : command_fail(COMMAND_USAGE, message);
}

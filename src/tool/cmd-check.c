/* SPDX-License-Identifier: BSD-2-Clause */
#include "command.h"

#include "../trusted/subid.h"
#include "lint.h"
#include "message.h"
#include "progress.h"
#include "table.h"

#include <bsd/vis.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char usage[] =
	"Usage: idmap check [OPTION]... [FILE]...\n"
	"\n"
	"Find what is wrong with /etc/subuid and /etc/subgid, or with FILEs; one whose name\n"
	"has \"gid\" in it is read as a subgid file, - is stdin. Nothing is ever written.\n"
	"\n"
	"      --rule NAME         only this rule, and others named so\n"
	"      --no-rule NAME      without this rule\n"
	"      --strict            warnings too make the exit status 1\n"
	"      --allow-shared A,B  these owners may have IDs in common\n"
	"      --fix               print FILE with what has one sure correction, and say the\n"
	"                          findings on stderr\n"
	"      --gaps              list free IDs too, and how many more users fit\n"
	"      --json              findings and gaps in JSON\n"
	"  -h, --help              show this\n"
	"\n"
	"Rules:\n";

enum { CHECK_RULE = 1, CHECK_NO_RULE, CHECK_STRICT, CHECK_SHARED, CHECK_FIX, CHECK_GAPS };

static const struct option longs[] = {
	{"rule", required_argument, NULL, CHECK_RULE},
	{"no-rule", required_argument, NULL, CHECK_NO_RULE},
	{"strict", no_argument, NULL, CHECK_STRICT},
	{"allow-shared", required_argument, NULL, CHECK_SHARED},
	{"fix", no_argument, NULL, CHECK_FIX},
	{"gaps", no_argument, NULL, CHECK_GAPS},
	{"json", no_argument, NULL, TABLE_JSON},
	{"help", no_argument, NULL, 'h'},
	{NULL, 0, NULL, 0},
};

struct check {
	struct lint lint;
	struct table_options table;
	bool strict, fix, gaps;
	bool terminal, colours; /* where the findings go */
};

static void check_clear(struct check *check)
{
	lint_clear(&check->lint);
}

/* The command line */

static void print_usage(void)
{
	fputs(usage, stdout);
	for (int rule = 0; rule < LINT_RULES; rule++)
		printf("  %-22s %-8s %s\n", lint_rules[rule].name,
		       lint_severities[lint_rules[rule].severity],
		       lint_rules[rule].reason);
}

static int take_rule(struct lint *lint, bool on, char **ret_message)
{
	enum lint_rule rule = lint_rule_find(optarg);

	if (rule == LINT_RULES)
		return message_fail(
			ret_message,
			"%s '%s': no such rule; idmap check --help lists them",
			on ? "--rule" : "--no-rule", optarg);
	/* The first one named takes the place of all. */
	if (on && !lint->each)
		memset(lint->on, 0, sizeof(lint->on));
	lint->each |= on;
	lint->on[rule] = on;
	return 0;
}

static int take_option(struct check *check, int option, char **ret_message)
{
	switch (option) {
	case CHECK_RULE:
	case CHECK_NO_RULE:
		return take_rule(&check->lint, option == CHECK_RULE, ret_message);
	case CHECK_STRICT:
		check->strict = true;
		return 0;
	case CHECK_SHARED:
		check->lint.shared = optarg;
		return 0;
	case CHECK_FIX:
		check->fix = true;
		return 0;
	case CHECK_GAPS:
		check->gaps = true;
		return 0;
	default:
		return table_option(&check->table, option, optarg) ? 0 : -1;
	}
}

static int add_files(struct check *check, int argc, char **argv, char **ret_message)
{
	int r = 0;

	if (check->fix && argc != 1)
		return message_fail(ret_message,
				    "--fix: give the one FILE to print corrected");
	if (check->fix && (check->table.json || check->gaps))
		return message_fail(ret_message,
				    "--fix prints the file alone, without --json and "
				    "--gaps");
	for (int i = 0; i < argc && r == 0; i++)
		r = lint_add_file(&check->lint, argv[i]);
	for (int kind = 0; kind < ID_KINDS && argc == 0 && r == 0; kind++)
		r = lint_add_file(&check->lint, id_words[kind].grants);
	return r == 0 ? 0 : message_fail(ret_message, "out of memory");
}

/* Returns -1 to go on, else the exit status. */
static int read_command_line(struct check *check, int argc, char **argv)
{
	char *message = NULL;
	int option, r = 0;

	for (int rule = 0; rule < LINT_RULES; rule++)
		check->lint.on[rule] = true;
	while (r == 0 && (option = getopt_long(argc, argv, "h", longs, NULL)) != -1) {
		if (option == 'h') {
			print_usage();
			return COMMAND_DONE;
		}
		if (option == '?')
			return COMMAND_USAGE;
		r = take_option(check, option, &message);
	}
	if (r == 0)
		r = add_files(check, argc - optind, argv + optind, &message);
	return r == 0 ? -1 : command_fail(COMMAND_USAGE, message);
}

/* Progress */

static struct progress progress;

static void show_progress(const char *what, size_t done)
{
	if (progress_due(&progress))
		fprintf(stderr, "\033[K%zu %s\r", done, what);
}

static int run(struct check *check)
{
	int r;

	progress_start(&progress, isatty(STDERR_FILENO));
	check->lint.tick = show_progress;
	r = lint_run(&check->lint);
	if (progress.shown)
		fputs("\033[K", stderr);
	return r;
}

/* Findings, as gcc prints its own */

static const char *colour(const struct check *check, enum lint_severity severity)
{
	static const char *const colours[] = {[LINT_NOTE] = "\033[1;36m",
					      [LINT_WARNING] = "\033[1;35m",
					      [LINT_ERROR] = "\033[1;31m"};

	return check->colours ? colours[severity] : "";
}

/* The line, and a caret below the column. A byte that vis(3) writes as more than one moves it. */
static void print_line(const struct lint_finding *finding, FILE *out)
{
	char safe[4 * SUBID_LINE];
	size_t before = finding->column - 1;

	if (!finding->text || finding->len >= SUBID_LINE)
		return;
	strvisx(safe, finding->text, finding->len, VIS_NOSLASH | VIS_TAB);
	fprintf(out, "%6zu | %s\n       | ", finding->line, safe);
	strvisx(safe, finding->text, before, VIS_NOSLASH | VIS_TAB);
	for (const char *at = safe; *at; at++)
		if (((unsigned char)*at & 0xc0) != 0x80) /* UTF-8: a character once */
			fputc(' ', out);
	fputs("^\n", out);
}

static void print_finding(const struct check *check, const struct lint_finding *finding,
			  FILE *out)
{
	const char *bold = check->colours ? "\033[1m" : "";
	const char *plain = check->colours ? "\033[m" : "";

	fprintf(out, "%s%s:", bold, check->lint.files[finding->file].path);
	if (finding->line > 0)
		fprintf(out, "%zu:%zu:", finding->line, finding->column);
	fprintf(out, "%s %s%s:%s ", plain, colour(check, finding->severity),
		lint_severities[finding->severity], plain);
	lint_say(&check->lint, finding, out);
	fprintf(out, " [%s]\n", lint_rules[finding->rule].name);
	if (check->terminal)
		print_line(finding, out);
}

static void print_findings(struct check *check)
{
	FILE *out = check->fix ? stderr : stdout;
	const char *no_colour = getenv("NO_COLOR");

	check->terminal = isatty(fileno(out));
	check->colours = check->terminal && !(no_colour && *no_colour);
	for (size_t i = 0; i < check->lint.n; i++)
		print_finding(check, &check->lint.findings[i], out);
}

/* Tables */

enum { FILE_NAME, LINE, COLUMN, SEVERITY, RULE, LINES, VERDICT, TEXT, FINDING_COLUMNS };
static const struct table_column finding_columns[FINDING_COLUMNS] = {
	[FILE_NAME] = {.name = "FILE"},
	[LINE] = {.name = "LINE", .number = true},
	[COLUMN] = {.name = "COLUMN", .number = true},
	[SEVERITY] = {.name = "SEVERITY"},
	[RULE] = {.name = "RULE"},
	[LINES] = {.name = "LINES", .number = true},
	[VERDICT] = {.name = "VERDICT"},
	[TEXT] = {.name = "TEXT"},
};

enum { GAP_FILE, START, LAST, COUNT, USERS, GAP_COLUMNS };
static const struct table_column gap_columns[GAP_COLUMNS] = {
	[GAP_FILE] = {.name = "FILE"},
	[START] = {.name = "START", .number = true, .right = true},
	[LAST] = {.name = "LAST", .number = true, .right = true},
	[COUNT] = {.name = "COUNT", .number = true, .right = true},
	[USERS] = {.name = "USERS", .number = true, .right = true},
};

static char *sentence(const struct lint *lint, const struct lint_finding *finding)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	if (!out)
		return NULL;
	lint_say(lint, finding, out);
	fclose(out);
	return text;
}

/* A line's place and whether it grants; null for what is about the whole file. */
static int set_place(const struct lint_finding *finding, struct table *table)
{
	int r = 0;

	if (finding->line > 0)
		r = table_set(table, LINE, "%zu", finding->line);
	if (r == 0 && finding->line > 0)
		r = table_set(table, COLUMN, "%zu", finding->column);
	if (r == 0 && finding->line > 0)
		r = table_set(table, VERDICT, "%s", finding->grants ? "grants" : "void");
	return r;
}

static int add_finding(const struct lint *lint, const struct lint_finding *finding,
		       struct table *table)
{
	char *text = sentence(lint, finding);
	int r = text ? table_row(table) : -1;

	if (r == 0)
		r = table_set(table, FILE_NAME, "%s", lint->files[finding->file].path);
	if (r == 0)
		r = set_place(finding, table);
	if (r == 0)
		r = table_set(table, SEVERITY, "%s", lint_severities[finding->severity]);
	if (r == 0)
		r = table_set(table, RULE, "%s", lint_rules[finding->rule].name);
	if (r == 0)
		r = table_set(table, LINES, "%zu", finding->more + 1);
	if (r == 0)
		r = table_set(table, TEXT, "%s", text);
	free(text);
	return r;
}

static int add_gap(const struct lint *lint, const struct lint_file *file,
		   const struct range *gap, struct table *table)
{
	uint32_t each = lint->useradd[file->kind].count;
	int r = table_row(table);

	if (r == 0)
		r = table_set(table, GAP_FILE, "%s", file->path);
	if (r == 0)
		r = table_set(table, START, "%u", gap->start);
	if (r == 0)
		r = table_set(table, LAST, "%u", gap->start + gap->count - 1);
	if (r == 0)
		r = table_set(table, COUNT, "%u", gap->count);
	if (r == 0)
		r = table_set(table, USERS, "%u", each ? gap->count / each : 0);
	return r;
}

static int add_gaps(const struct lint *lint, struct table *table)
{
	int r = 0;

	for (size_t i = 0; i < lint->n_given; i++) {
		struct range gap = {0};

		while (r == 0 && lint_next_gap(lint, &lint->files[i], &gap))
			r = add_gap(lint, &lint->files[i], &gap, table);
	}
	return r;
}

static void print_users(const struct lint *lint)
{
	for (size_t i = 0; i < lint->n_given; i++) {
		const struct lint_file *file = &lint->files[i];
		const struct lint_useradd *useradd = &lint->useradd[file->kind];
		struct range gap = {0};
		uint64_t users = 0;

		while (useradd->count > 0 && lint_next_gap(lint, file, &gap))
			users += gap.count / useradd->count;
		printf("%s: %llu more users of %u IDs fit into %u..%u\n", file->path,
		       (unsigned long long)users, useradd->count, useradd->min,
		       useradd->max);
	}
}

static int print_tables(struct check *check)
{
	const struct lint *lint = &check->lint;
	bool json = check->table.json;
	struct table tables[2] = {0};
	int r = table_new("findings", finding_columns, FINDING_COLUMNS, &check->table,
			  &tables[0]);

	if (r == 0)
		r = table_new("gaps", gap_columns, GAP_COLUMNS, &check->table,
			      &tables[1]);
	for (size_t i = 0; json && i < lint->n && r == 0; i++)
		r = add_finding(lint, &lint->findings[i], &tables[0]);
	if (r == 0 && check->gaps)
		r = add_gaps(lint, &tables[1]);
	if (r == 0 && json)
		r = table_print(tables, check->gaps ? 2 : 1, stdout);
	else if (r == 0)
		r = table_print(&tables[1], 1, stdout);
	table_clear(&tables[0]);
	table_clear(&tables[1]);
	return r;
}

static int status_of(const struct check *check)
{
	enum lint_severity least = check->strict ? LINT_WARNING : LINT_ERROR;

	for (size_t i = 0; i < check->lint.n; i++)
		if (check->lint.findings[i].severity >= least)
			return COMMAND_FAILED;
	return COMMAND_DONE;
}

int cmd_check(int argc, char **argv)
{
	__attribute__((cleanup(check_clear))) struct check check = {0};
	int status = read_command_line(&check, argc, argv);

	if (status != -1)
		return status;
	if (run(&check) != 0)
		return command_fail(COMMAND_FAILED, NULL);
	if (!check.table.json)
		print_findings(&check);
	if (check.fix)
		lint_fix(&check.lint, stdout);
	if ((check.table.json || check.gaps) && print_tables(&check) != 0)
		return command_fail(COMMAND_FAILED, NULL);
	if (check.gaps && !check.table.json)
		print_users(&check.lint);
	return status_of(&check);
}

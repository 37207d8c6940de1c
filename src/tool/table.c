/* SPDX-License-Identifier: BSD-2-Clause */
#include "table.h"

#include "message.h"

#include <errno.h>
#include <libsmartcols.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool table_option(struct table_options *options, int option, const char *argument)
{
	switch (option) {
	case TABLE_JSON:
		options->json = true;
		return true;
	case TABLE_RAW:
		options->raw = true;
		return true;
	case TABLE_NOHEADINGS:
		options->noheadings = true;
		return true;
	case 'o':
		options->columns = argument;
		return true;
	default:
		return false;
	}
}

int table_check(const struct table_options *options, const char *other,
		char **ret_message)
{
	const char *first = options->json         ? "--json"
			    : options->raw        ? "--raw"
			    : options->noheadings ? "--noheadings"
			    : options->columns    ? "-o"
						  : NULL;

	if (options->json && options->raw)
		return message_fail(ret_message, "--json and --raw are two shapes of one "
						 "table: give one of them");
	if (other && first)
		return message_fail(ret_message,
				    "%s is for tables, and %s prints none: give one of "
				    "them",
				    first, other);
	return 0;
}

static int find_column(const struct table *table, const char *name, size_t len)
{
	for (size_t i = 0; i < table->n; i++)
		if (strlen(table->columns[i].name) == len &&
		    strncasecmp(table->columns[i].name, name, len) == 0)
			return (int)i;
	return -1;
}

static int add_column(struct table *table, size_t column)
{
	const struct table_column *wanted = &table->columns[column];
	int flags = (wanted->right ? SCOLS_FL_RIGHT : 0) |
		    (wanted->wrap || wanted->wrap_words ? SCOLS_FL_WRAP : 0);
	struct libscols_column *new =
		scols_table_new_column(table->table, wanted->name, 0, flags);

	if (!new)
		return -ENOMEM;
	scols_column_set_json_type(new, wanted->number    ? SCOLS_JSON_NUMBER
					: wanted->boolean ? SCOLS_JSON_BOOLEAN
							  : SCOLS_JSON_STRING);
	table->shown[column] = new;
	if (!wanted->wrap_words)
		return 0;
	scols_column_set_safechars(new, "\n"); /* break_lines() has put them there */
	return scols_column_set_wrapfunc(new, scols_wrapnl_chunksize,
					 scols_wrapnl_nextchunk, NULL);
}

/* All of them, or those of a list such as "INNER,outer". */
static int add_columns(struct table *table, const char *names)
{
	int r = names && !*names ? TABLE_E_COLUMN : 0;

	for (size_t i = 0; !names && i < table->n && r == 0; i++)
		r = add_column(table, i);
	while (names && *names && r == 0) {
		size_t len = strcspn(names, ",");
		int column = find_column(table, names, len);

		r = column < 0 || table->shown[column]
			    ? TABLE_E_COLUMN
			    : add_column(table, (size_t)column);
		names += len + (names[len] == ',');
	}
	return r;
}

int table_new(const char *name, const struct table_column *columns, size_t n,
	      const struct table_options *options, struct table *ret_table)
{
	struct table table = {.columns = columns, .n = n};
	int r;

	scols_init_debug(0);
	table.table = scols_new_table();
	if (!table.table || scols_table_set_name(table.table, name) != 0) {
		table_clear(&table);
		return -ENOMEM;
	}
	scols_table_enable_json(table.table, options->json);
	scols_table_enable_raw(table.table, options->raw);
	scols_table_enable_noheadings(table.table, options->noheadings);
	if (isatty(STDOUT_FILENO) && !options->json && !options->raw)
		table.width = scols_table_get_termwidth(table.table) * 2 / 5;
	r = add_columns(&table, options->columns);
	if (r != 0)
		table_clear(&table);
	else
		*ret_table = table;
	return r;
}

int table_refuse_columns(const struct table_options *options,
			 const struct table_column *columns, size_t n, char **ret_message)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	*ret_message = NULL;
	if (!out)
		return -1;
	fprintf(out, "-o '%s': the columns are ", options->columns);
	for (size_t i = 0; i < n; i++)
		fprintf(out, "%s%s",
			i == 0       ? ""
			: i + 1 == n ? " and "
				     : ", ",
			columns[i].name);
	fputs(", each at most once, with commas between", out);
	if (fclose(out) == 0)
		*ret_message = text;
	return -1;
}

int table_row(struct table *table)
{
	table->line = scols_table_new_line(table->table, NULL);
	return table->line ? 0 : -ENOMEM;
}

/* Break TEXT at its last blank before each WIDTH bytes; a longer word stays whole. */
static void break_lines(char *text, size_t width)
{
	char *start = text, *blank = NULL;

	for (char *c = text; *c; c++) {
		if (*c == ' ')
			blank = c;
		if (blank && (size_t)(c - start) >= width) {
			*blank = '\n';
			start = blank + 1;
			blank = NULL;
		}
	}
}

int table_set(struct table *table, size_t column, const char *format, ...)
{
	va_list args;
	char *text;
	int r;

	if (!table->shown[column])
		return 0;
	va_start(args, format);
	r = vasprintf(&text, format, args);
	va_end(args);
	if (r < 0)
		return -ENOMEM;
	if (table->columns[column].wrap_words && table->width > 0)
		break_lines(text, table->width);
	r = scols_line_set_column_data(table->line, table->shown[column], text);
	free(text);
	return r;
}

static int fill_line(const struct table *table, struct libscols_line *line)
{
	int r = 0;

	for (size_t i = 0; i < table->n && r == 0; i++) {
		const char *text =
			table->shown[i]
				? scols_line_get_column_data(line, table->shown[i])
				: "-";

		if (!text || !*text)
			r = scols_line_set_column_data(line, table->shown[i], "-");
	}
	return r;
}

static int fill_empty_cells(const struct table *table)
{
	struct libscols_iter *iter = scols_new_iter(SCOLS_ITER_FORWARD);
	struct libscols_line *line;
	int r = iter ? 0 : -ENOMEM;

	while (r == 0 && scols_table_next_line(table->table, iter, &line) == 0)
		r = fill_line(table, line);
	scols_free_iter(iter);
	return r;
}

/* libsmartcols prints a table as an object of its own, {"NAME": [...]}. Without the outer braces it
 * is a member of ours. */
static int print_member(const struct table *table, FILE *out)
{
	char *text, *end;
	int r = scols_print_table_to_string(table->table, &text);

	if (r != 0)
		return r;
	end = strrchr(text, '}');
	if (end)
		*end = '\0';
	fputs(text + strspn(text, "{"), out);
	free(text);
	return 0;
}

static int print_json(const struct table *tables, size_t n, FILE *out)
{
	int r = 0;

	for (size_t i = 0; i < n && r == 0; i++) {
		fputc(i == 0 ? '{' : ',', out);
		r = print_member(&tables[i], out);
	}
	fputs("}\n", out);
	return r;
}

int table_print(const struct table *tables, size_t n, FILE *out)
{
	int r = 0;

	if (n > 0 && scols_table_is_json(tables[0].table))
		return print_json(tables, n, out);
	for (size_t i = 0; i < n && r == 0; i++) {
		scols_table_set_stream(tables[i].table, out);
		if (scols_table_is_raw(tables[i].table))
			r = fill_empty_cells(&tables[i]);
		if (r == 0)
			r = scols_print_table(tables[i].table);
	}
	return r;
}

void table_clear(struct table *table)
{
	scols_unref_table(table->table);
	*table = (struct table){0};
}

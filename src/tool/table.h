/* SPDX-License-Identifier: BSD-2-Clause */
#pragma once

/*
 * table: what a verb lists, printed by libsmartcols as a table, raw, or as JSON, so that all verbs
 * understand --json, --raw, --noheadings and -o COLUMNS alike.
 *
 * One JSON object holds all tables of an answer, each as an array under its name.
 */

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct libscols_table;
struct libscols_line;
struct libscols_column;

/* A verb puts one in static storage and offers TABLE_LONG and TABLE_SHORT to getopt_long(). */
struct table_options {
	bool json, raw, noheadings;
	const char *columns; /* -o, NULL: all */
};

enum { TABLE_JSON = 0x200, TABLE_RAW, TABLE_NOHEADINGS };
#define TABLE_SHORT "o:"
#define TABLE_LONG                                                                      \
	{"json", no_argument, NULL, TABLE_JSON}, {"raw", no_argument, NULL, TABLE_RAW}, \
		{"noheadings", no_argument, NULL, TABLE_NOHEADINGS},                    \
	{                                                                               \
		"output", required_argument, NULL, 'o'                                  \
	}

/* True if OPTION was one of these. */
bool table_option(struct table_options *options, int option, const char *argument);

/*
 * A list has one shape: refuse --json beside --raw, and any of these options beside OTHER (an option
 * that prints no table, "--format"; NULL: none is given). Returns 0, or -1 with *RET_MESSAGE.
 */
int table_check(const struct table_options *options, const char *other,
		char **ret_message);

struct table_column {
	const char *name; /* heading; in lower case the key in JSON */
	bool right;       /* aligned to the right */
	bool number;      /* in JSON */
	bool boolean;     /* in JSON: true or false */
	bool wrap;        /* on a terminal too narrow: broken anywhere, */
	bool wrap_words;  /* or at blanks */
};
#define TABLE_COLUMNS 16U

struct table {
	struct libscols_table *table;                 /* owned */
	struct libscols_line *line;                   /* the one that is filled */
	struct libscols_column *shown[TABLE_COLUMNS]; /* by column; NULL: not asked for */
	const struct table_column *columns;
	size_t n;
	size_t width; /* of a column with wrap_words; 0: no terminal */
};

enum { TABLE_E_COLUMN = 1 }; /* -o names a column that is not there, or one twice */

/*
 * An empty table called NAME (the key of its array in JSON) with N columns. Returns 0,
 * TABLE_E_COLUMN or -ENOMEM.
 */
int table_new(const char *name, const struct table_column *columns, size_t n,
	      const struct table_options *options, struct table *ret_table);

/* English for TABLE_E_COLUMN; always returns -1. */
int table_refuse_columns(const struct table_options *options,
			 const struct table_column *columns, size_t n,
			 char **ret_message);

/* Begin a new row, then set its cells by column; a cell that is not set is empty, and "-" in raw
 * output, whose readers count the words of a line. */
int table_row(struct table *table);
int table_set(struct table *table, size_t column, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Print TABLES one below the other; as JSON in one object. Returns 0 or -errno. */
int table_print(const struct table *tables, size_t n, FILE *out);

void table_clear(struct table *table);

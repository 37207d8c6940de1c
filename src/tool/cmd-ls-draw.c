/* SPDX-License-Identifier: BSD-2-Clause */
#include "cmd-ls-parts.h"

#include "cmd-missed.h"
#include "command.h"
#include "drawing.h"
#include "message.h"

#include <bsd/vis.h>
#include <errno.h>
#include <langinfo.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

struct rows {
	struct drawing_row *list; /* owned, with labels and ranges */
	uint32_t n;
};

static void rows_clear(struct rows *rows)
{
	for (uint32_t i = 0; i < rows->n; i++) {
		free((void *)(uintptr_t)rows->list[i].label);
		free((void *)(uintptr_t)rows->list[i].ranges);
	}
	free(rows->list);
}

#define INDENTED 8U /* a forest can be 33 deep, a terminal 80 wide */

/* "  4026532201 alice sleep", two blanks for each parent; those below the eighth stand under it. */
static char *make_label(struct ls *ls, const struct userns *userns)
{
	char *text, safe[4 * 256 + 1];
	unsigned depth = userns->depth < INDENTED ? userns->depth : INDENTED;

	message_fail(&text, "%*s%ju %s %s", (int)(2 * depth), "", userns->ino,
		     ls_user(ls, userns->owner),
		     userns->pid > 0 ? userns->comm : "(no process)");
	if (!text)
		return NULL;
	strnvis(safe, text, sizeof(safe), VIS_CSTYLE);
	free(text);
	return strdup(safe);
}

static int make_row(struct ls *ls, const struct userns *userns, enum id_kind kind,
		    struct drawing_row *row)
{
	const struct namespace_map *map = &userns->maps[kind];
	struct range *ranges = calloc(map->n + 1, sizeof(*ranges));

	for (size_t i = 0; ranges && i < map->n; i++)
		if (map->extents[i].outer != ID_NONE)
			ranges[row->n++] = (struct range){map->extents[i].outer,
							  map->extents[i].count};
	row->ranges = ranges;
	row->label = make_label(ls, userns);
	return row->label && ranges ? 0 : -ENOMEM;
}

static int make_rows(struct ls *ls, enum id_kind kind, struct rows *rows)
{
	int r = 0;

	rows->list = calloc(ls->namespaces.n + 1, sizeof(*rows->list));
	if (!rows->list)
		return -ENOMEM;
	for (; rows->n < ls->namespaces.n && r == 0; rows->n++)
		r = make_row(ls, &ls->namespaces.list[rows->n], kind,
			     &rows->list[rows->n]);
	return r;
}

static unsigned terminal_columns(void)
{
	const char *text = getenv("COLUMNS");
	struct winsize size = {0};
	uint32_t n;

	if (text && id_parse(text, strlen(text), &n) == 0 && n > 0 && n < 10000)
		return n;
	return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0
		       ? size.ws_col
		       : 80;
}

static int print_graph(struct drawing *drawings, size_t n)
{
	bool utf8 = strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
	int r = 0;

	for (size_t i = 0; i < n && r == 0; i++)
		r = drawing_text(&drawings[i], terminal_columns(), utf8, stdout);
	return r;
}

static int write_svg(const struct ls *ls, struct drawing *drawings, size_t n)
{
	FILE *file = strcmp(ls->svg, "-") == 0 ? stdout : fopen(ls->svg, "we");
	int r;

	if (!file)
		return -errno;
	r = drawing_svg(drawings, n, file);
	if (file != stdout && (ferror(file) | fclose(file)) != 0 && r == 0)
		r = -errno;
	return r;
}

int ls_draw(struct ls *ls)
{
	struct rows rows[ID_KINDS] = {{0}};
	struct drawing drawings[ID_KINDS];
	size_t n = 0;
	int r = 0;

	for (enum id_kind kind = ID_UID; kind <= ID_GID && r == 0; kind++) {
		if (!ls->kinds[kind])
			continue;
		r = make_rows(ls, kind, &rows[kind]);
		drawings[n++] =
			(struct drawing){kind == ID_UID ? "outer user IDs, not to scale"
							: "outer group IDs, not to scale",
					 rows[kind].list, rows[kind].n};
	}
	if (r == 0)
		r = ls->svg ? write_svg(ls, drawings, n) : print_graph(drawings, n);
	rows_clear(&rows[ID_UID]);
	rows_clear(&rows[ID_GID]);
	if (r != 0)
		return ls_failed(ls->svg ? ls->svg : "drawing", r);
	missed_say(&ls->namespaces.missed);
	return COMMAND_DONE;
}

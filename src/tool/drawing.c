/* SPDX-License-Identifier: BSD-2-Clause */
#include "drawing.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The axis */

/* An ID at which something begins or ends; AT is where it lies, from 0 to the axis's length. */
struct cut {
	uint32_t id;
	int32_t change; /* so many more ranges hold the IDs from here on */
	bool begins;    /* a range does, whatever ends */
	double at;
	size_t column; /* where its number begins, in characters, */
	unsigned line; /* and on which line of numbers; NO_LINE: there is no room */
};

#define NUMBER_LINES 3U
#define NO_LINE      NUMBER_LINES

struct axis {
	struct cut *cuts; /* owned, by ID, each ID once; NULL: nothing is cut */
	size_t n;
	unsigned lines; /* of numbers, at least one */
	double length;  /* a whole number, as are the places on it */
};

#define WIDTH_GAP 1.0

static bool is_all(struct range range)
{
	return range.count == ID_NONE;
}

static int compare_cuts(const void *a, const void *b)
{
	const struct cut *x = a, *y = b;

	return (x->id > y->id) - (x->id < y->id);
}

static size_t collect(const struct drawing *drawing, struct cut *cuts)
{
	size_t n = 0;

	for (size_t i = 0; i < drawing->n; i++)
		for (size_t k = 0; k < drawing->rows[i].n; k++) {
			struct range range = drawing->rows[i].ranges[k];

			if (is_all(range))
				continue;
			cuts[n++] = (struct cut){
				.id = range.start, .change = 1, .begins = true};
			cuts[n++] = (struct cut){.id = range.start + range.count,
						 .change = -1};
		}
	return n;
}

static size_t merge(struct cut *cuts, size_t n)
{
	size_t last = 0;

	for (size_t i = 1; i < n; i++)
		if (cuts[i].id == cuts[last].id) {
			cuts[last].change += cuts[i].change;
			cuts[last].begins |= cuts[i].begins;
		} else {
			cuts[++last] = cuts[i];
		}
	return n > 0 ? last + 1 : 0;
}

/* A stretch that is held: 1 ID 2.0, 65536 IDs 18.0. */
static double width_of(uint32_t count)
{
	double width = 2.0;

	for (; count > 1; count /= 2)
		width += 1.0;
	return width;
}

static void place(struct axis *axis)
{
	double at = 0.0;
	int32_t held = 0;

	for (size_t i = 0; i + 1 < axis->n; i++) {
		axis->cuts[i].at = at;
		held += axis->cuts[i].change;
		at += held > 0 ? width_of(axis->cuts[i + 1].id - axis->cuts[i].id)
			       : WIDTH_GAP;
	}
	if (axis->n > 0)
		axis->cuts[axis->n - 1].at = at;
	axis->length = at;
}

static int axis_make(const struct drawing *drawing, struct axis *ret_axis)
{
	struct axis axis = {0};
	size_t n = 0;

	for (size_t i = 0; i < drawing->n; i++)
		n += drawing->rows[i].n;
	axis.cuts = calloc(2 * n + 1, sizeof(*axis.cuts));
	if (!axis.cuts)
		return -ENOMEM;
	axis.n = collect(drawing, axis.cuts);
	qsort(axis.cuts, axis.n, sizeof(*axis.cuts), compare_cuts);
	axis.n = merge(axis.cuts, axis.n);
	place(&axis);
	*ret_axis = axis;
	return 0;
}

/* Where CUT lies when the axis is WIDTH wide. Divided last: so a whole number comes out as one in any
 * arithmetic, also in one that is finer than double (x87). */
static double cut_at(const struct axis *axis, const struct cut *cut, double width)
{
	return cut->at * width / axis->length;
}

static double axis_at(const struct axis *axis, uint32_t id, double width)
{
	const struct cut key = {.id = id};
	const struct cut *cut =
		bsearch(&key, axis->cuts, axis->n, sizeof(key), compare_cuts);

	return cut ? cut_at(axis, cut, width) : 0.0;
}

/* From where to where RANGE lies when the axis is WIDTH wide. */
static void axis_range(const struct axis *axis, struct range range, double width,
		       double *ret_from, double *ret_to)
{
	*ret_from = is_all(range) ? 0.0 : axis_at(axis, range.start, width);
	*ret_to = is_all(range) ? width : axis_at(axis, range.start + range.count, width);
}

/*
 * Give a number to each ID at which something begins, WIDTH characters wide being the axis. What has
 * no room on a line goes to the next; what would stick out of ROOM characters is moved to the left:
 *
 *	1001    200000     4000000000
 *	 100000
 */
static void place_numbers(struct axis *axis, size_t width, size_t room)
{
	size_t free_from[NUMBER_LINES] = {0};

	axis->lines = 1;
	for (size_t i = 0; i < axis->n; i++) {
		struct cut *cut = &axis->cuts[i];
		size_t len = (size_t)snprintf(NULL, 0, "%u", cut->id);
		double at = cut_at(axis, cut, (double)width);

		cut->column = (size_t)at;
		if (cut->column + len > room)
			cut->column = room - len;
		cut->line = cut->begins ? 0 : NO_LINE;
		while (cut->line < NO_LINE && cut->column < free_from[cut->line])
			cut->line++;
		if (cut->line == NO_LINE)
			continue;
		free_from[cut->line] = cut->column + len + 1;
		if (cut->line >= axis->lines)
			axis->lines = cut->line + 1;
	}
}

static size_t label_width(const struct drawing *drawing)
{
	size_t width = strlen(drawing->title);

	for (size_t i = 0; i < drawing->n; i++)
		if (strlen(drawing->rows[i].label) > width)
			width = strlen(drawing->rows[i].label);
	return width;
}

/* On a terminal */

#define COLUMNS_MIN 24U /* half of it holds a number */

/* Add to each of N cells how much of it lies between START and END. */
static void fill_cells(double *cells, size_t n, double start, double end)
{
	for (size_t i = (size_t)start; i < n && (double)i < end; i++) {
		double left = start > (double)i ? start : (double)i;
		double right = end < (double)(i + 1) ? end : (double)(i + 1);

		cells[i] += right - left;
	}
}

static void print_cells(const double *cells, size_t n, bool utf8, FILE *out)
{
	const char *full = utf8 ? "\u2588" : "#", *part = utf8 ? "\u2592" : "+";
	size_t end = n;

	while (end > 0 && !(cells[end - 1] > 0.0))
		end--;
	for (size_t i = 0; i < end; i++)
		fputs(cells[i] > 0.999 ? full : cells[i] > 0.0 ? part : " ", out);
	fputc('\n', out);
}

static void print_numbers(const struct axis *axis, unsigned line, FILE *out)
{
	size_t column = 0;

	for (size_t i = 0; i < axis->n; i++) {
		const struct cut *cut = &axis->cuts[i];

		if (cut->line == line)
			column += (size_t)fprintf(
				out, "%*s%u", (int)(cut->column - column), "", cut->id);
	}
	if (axis->n == 0)
		fputc('0', out);
	fputc('\n', out);
}

static void print_row(const struct axis *axis, const struct drawing_row *row,
		      double *cells, size_t width, bool utf8, FILE *out)
{
	memset(cells, 0, width * sizeof(*cells));
	for (size_t i = 0; i < row->n; i++) {
		double from, to;

		axis_range(axis, row->ranges[i], (double)width, &from, &to);
		fill_cells(cells, width, from, to);
	}
	print_cells(cells, width, utf8, out);
}

/* Labels have half of the columns at most. */
int drawing_text(const struct drawing *drawing, unsigned columns, bool utf8, FILE *out)
{
	size_t room = columns > COLUMNS_MIN ? columns : COLUMNS_MIN;
	size_t longest = label_width(drawing);
	int label = (int)(longest < room / 2 ? longest : room / 2);
	size_t width = room - (size_t)label - 1;
	double *cells = calloc(width, sizeof(*cells));
	struct axis axis = {0};
	int r = cells ? axis_make(drawing, &axis) : -ENOMEM;

	if (r == 0)
		place_numbers(&axis, width, width);
	for (unsigned line = 0; line < axis.lines; line++) {
		fprintf(out, "%-*.*s ", label, label, line == 0 ? drawing->title : "");
		print_numbers(&axis, line, out);
	}
	for (size_t i = 0; i < drawing->n && r == 0; i++) {
		fprintf(out, "%-*.*s ", label, label, drawing->rows[i].label);
		print_row(&axis, &drawing->rows[i], cells, width, utf8, out);
	}
	free(axis.cuts);
	free(cells);
	return r;
}

/* SVG */

#define SVG_ROW   16.0
#define SVG_DIGIT 6.7  /* width of a character, at most */
#define SVG_CHARS 128U /* as wide are the bars; */
#define SVG_ROOM  141U /* a number may stand to the right of them */
#define SVG_BAR   (SVG_DIGIT * SVG_CHARS)

static void print_xml(const char *text, FILE *out)
{
	for (; *text; text++)
		switch (*text) {
		case '&':
			fputs("&amp;", out);
			break;
		case '<':
			fputs("&lt;", out);
			break;
		case '>':
			fputs("&gt;", out);
			break;
		default:
			fputc(*text, out);
		}
}

static void svg_text(double x, double y, const char *text, FILE *out)
{
	fprintf(out, "<text x=\"%.1f\" y=\"%.1f\">", x, y);
	print_xml(text, out);
	fputs("</text>\n", out);
}

/* LEFT is where the bars begin. A line leads from each number down to BOTTOM; from the right on, so
 * that a number lies over the lines of those that come behind it. */
static void svg_numbers(const struct axis *axis, double left, double top, double bottom,
			FILE *out)
{
	for (size_t i = axis->n; i-- > 0;) {
		const struct cut *cut = &axis->cuts[i];
		double x = left + cut_at(axis, cut, SVG_BAR),
		       y = top + (cut->line + 1) * SVG_ROW;
		char text[16];

		if (cut->line == NO_LINE)
			continue;
		fprintf(out, "<path d=\"M%.1f %.1fV%.1f\"/>\n", x, y - SVG_ROW + 2,
			bottom);
		snprintf(text, sizeof(text), "%u", cut->id);
		svg_text(x + 2, y - 5, text, out);
	}
}

/* The thinnest bar can still be seen. */
static void svg_row(const struct axis *axis, const struct drawing_row *row, double left,
		    double y, FILE *out)
{
	fprintf(out,
		"<rect class=\"row\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" "
		"height=\"%.1f\"/>\n",
		left, y, SVG_BAR, SVG_ROW - 2);
	svg_text(4, y + SVG_ROW - 5, row->label, out);
	for (size_t i = 0; i < row->n; i++) {
		struct range range = row->ranges[i];
		double from, to, width;

		axis_range(axis, range, SVG_BAR, &from, &to);
		width = to - from;
		fprintf(out,
			"<rect x=\"%.2f\" y=\"%.1f\" width=\"%.2f\" height=\"%.1f\">"
			"<title>%u-%u (%u)</title></rect>\n",
			left + from, y, width > 1.0 ? width : 1.0, SVG_ROW - 2,
			range.start, range.start + range.count - 1, range.count);
	}
}

static int svg_drawing(const struct drawing *drawing, double left, double *y, FILE *out)
{
	struct axis axis;
	double top = *y + SVG_ROW;
	int r = axis_make(drawing, &axis);

	if (r != 0)
		return r;
	place_numbers(&axis, SVG_CHARS, SVG_ROOM);
	*y = top + axis.lines * SVG_ROW;
	svg_text(4, top + SVG_ROW - 5, drawing->title, out);
	svg_numbers(&axis, left, top, *y + SVG_ROW * (double)drawing->n, out);
	for (size_t i = 0; i < drawing->n; i++, *y += SVG_ROW)
		svg_row(&axis, &drawing->rows[i], left, *y, out);
	free(axis.cuts);
	return 0;
}

int drawing_svg(const struct drawing *drawings, size_t n, FILE *out)
{
	double height = SVG_ROW, y = 0, left;
	size_t longest = 0;
	int r = 0;

	for (size_t i = 0; i < n; i++) {
		size_t width = label_width(&drawings[i]);

		longest = width > longest ? width : longest;
		height += SVG_ROW * (double)(drawings[i].n + 1 + NUMBER_LINES);
	}
	left = 8 + SVG_DIGIT * (double)longest;
	fprintf(out,
		"<svg xmlns=\"http://www.w3.org/2000/svg\" xml:space=\"preserve\" "
		"width=\"%.0f\" height=\"%.0f\">\n"
		"<style>text { font: 11px monospace; white-space: pre; "
		"paint-order: stroke; stroke: #fff; stroke-width: 3px } "
		"rect { fill: #36c } .row { fill-opacity: .08 } "
		"path { stroke: #bbb }</style>\n"
		"<rect width=\"100%%\" height=\"100%%\" style=\"fill: #fff\"/>\n",
		left + SVG_DIGIT * SVG_ROOM, height);
	for (size_t i = 0; i < n && r == 0; i++)
		r = svg_drawing(&drawings[i], left, &y, out);
	fputs("</svg>\n", out);
	return r;
}

/* SPDX-License-Identifier: BSD-2-Clause */
#include "drawing.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The axis */

/* An ID at which something begins or ends; AT is where it lies, from 0 to 1. */
struct cut {
	uint32_t id;
	int32_t change; /* so many more ranges hold the IDs from here on */
	double at;
};

struct axis {
	struct cut *cuts; /* owned, by ID, each ID once; NULL: nothing is cut */
	size_t n;
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
			cuts[n++] = (struct cut){.id = range.start, .change = 1};
			cuts[n++] = (struct cut){.id = range.start + range.count,
						 .change = -1};
		}
	return n;
}

static size_t merge(struct cut *cuts, size_t n)
{
	size_t last = 0;

	for (size_t i = 1; i < n; i++)
		if (cuts[i].id == cuts[last].id)
			cuts[last].change += cuts[i].change;
		else
			cuts[++last] = cuts[i];
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
	for (size_t i = 0; i < axis->n; i++)
		axis->cuts[i].at /= at;
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

/* Where the cut at ID lies. */
static double axis_at(const struct axis *axis, uint32_t id)
{
	const struct cut key = {.id = id};
	const struct cut *cut =
		bsearch(&key, axis->cuts, axis->n, sizeof(key), compare_cuts);

	return cut ? cut->at : 0.0;
}

/* From where to where RANGE lies. */
static void axis_range(const struct axis *axis, struct range range, double *ret_from,
		       double *ret_to)
{
	*ret_from = is_all(range) ? 0.0 : axis_at(axis, range.start);
	*ret_to = is_all(range) ? 1.0 : axis_at(axis, range.start + range.count);
}

/* On a terminal */

#define LABEL_MAX 44U
#define BAR_MIN   20U

/* Add to each cell how much of it lies between FROM and TO. */
static void fill_cells(double *cells, size_t n, double from, double to)
{
	double start = from * (double)n, end = to * (double)n;

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

/* The IDs at which something begins, each where it lies, as far as there is room. */
static void print_scale(const struct axis *axis, int indent, size_t width, FILE *out)
{
	size_t column = 0;

	fprintf(out, "%*s", indent, "");
	for (size_t i = 0; i < axis->n; i++) {
		size_t at = (size_t)(axis->cuts[i].at * (double)width);
		int len = snprintf(NULL, 0, "%u", axis->cuts[i].id);

		if (axis->cuts[i].change < 0 || (column > 0 && at <= column) ||
		    at + (size_t)len > width)
			continue;
		fprintf(out, "%*s%u", (int)(at - column), "", axis->cuts[i].id);
		column = at + (size_t)len;
	}
	if (axis->n == 0)
		fputc('0', out);
	fputc('\n', out);
}

static size_t label_width(const struct drawing *drawing)
{
	size_t width = strlen(drawing->title);

	for (size_t i = 0; i < drawing->n; i++)
		if (strlen(drawing->rows[i].label) > width)
			width = strlen(drawing->rows[i].label);
	return width < LABEL_MAX ? width : LABEL_MAX;
}

int drawing_text(const struct drawing *drawing, unsigned columns, bool utf8, FILE *out)
{
	size_t label = label_width(drawing);
	size_t width = columns > label + 1 + BAR_MIN ? columns - label - 1 : BAR_MIN;
	double *cells = calloc(width, sizeof(*cells));
	struct axis axis = {0};
	int r = cells ? axis_make(drawing, &axis) : -ENOMEM;

	if (r == 0) {
		fprintf(out, "%-*.*s ", (int)label, (int)label, drawing->title);
		print_scale(&axis, 0, width, out);
	}
	for (size_t i = 0; i < drawing->n && r == 0; i++) {
		const struct drawing_row *row = &drawing->rows[i];

		memset(cells, 0, width * sizeof(*cells));
		for (size_t k = 0; k < row->n; k++) {
			double from, to;

			axis_range(&axis, row->ranges[k], &from, &to);
			fill_cells(cells, width, from, to);
		}
		fprintf(out, "%-*.*s ", (int)label, (int)label, row->label);
		print_cells(cells, width, utf8, out);
	}
	free(axis.cuts);
	free(cells);
	return r;
}

/* SVG */

#define SVG_LABEL 330.0
#define SVG_BAR   860.0
#define SVG_ROW   16.0
#define SVG_DIGIT 6.7 /* width of a character */

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

static void svg_scale(const struct axis *axis, double y, FILE *out)
{
	double free_from = 0.0;

	for (size_t i = 0; i < axis->n; i++) {
		double x = SVG_LABEL + axis->cuts[i].at * SVG_BAR;
		char text[16];
		int len = snprintf(text, sizeof(text), "%u", axis->cuts[i].id);

		if (axis->cuts[i].change < 0 || x < free_from)
			continue;
		svg_text(x, y, text, out);
		free_from = x + SVG_DIGIT * (len + 1);
	}
}

static void svg_row(const struct axis *axis, const struct drawing_row *row, double y,
		    FILE *out)
{
	fprintf(out,
		"<rect class=\"row\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" "
		"height=\"%.1f\"/>\n",
		SVG_LABEL, y, SVG_BAR, SVG_ROW - 2);
	svg_text(4, y + SVG_ROW - 5, row->label, out);
	for (size_t i = 0; i < row->n; i++) {
		struct range range = row->ranges[i];
		double from, to;

		axis_range(axis, range, &from, &to);
		fprintf(out,
			"<rect x=\"%.2f\" y=\"%.1f\" width=\"%.2f\" height=\"%.1f\">"
			"<title>%u-%u (%u)</title></rect>\n",
			SVG_LABEL + from * SVG_BAR, y, (to - from) * SVG_BAR, SVG_ROW - 2,
			range.start, range.start + range.count - 1, range.count);
	}
}

static int svg_drawing(const struct drawing *drawing, double *y, FILE *out)
{
	struct axis axis;
	int r = axis_make(drawing, &axis);

	if (r != 0)
		return r;
	*y += 2 * SVG_ROW;
	svg_text(4, *y - 5, drawing->title, out);
	svg_scale(&axis, *y - 5, out);
	for (size_t i = 0; i < drawing->n; i++, *y += SVG_ROW)
		svg_row(&axis, &drawing->rows[i], *y, out);
	free(axis.cuts);
	return 0;
}

int drawing_svg(const struct drawing *drawings, size_t n, FILE *out)
{
	double height = SVG_ROW, y = 0;
	int r = 0;

	for (size_t i = 0; i < n; i++)
		height += SVG_ROW * (double)(drawings[i].n + 2);
	fprintf(out,
		"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" "
		"height=\"%.0f\">\n"
		"<style>text { font: 11px monospace } rect { fill: #36c } "
		".row { fill: #eee }</style>\n"
		"<rect class=\"page\" width=\"100%%\" height=\"100%%\" "
		"style=\"fill: #fff\"/>\n",
		SVG_LABEL + SVG_BAR + 90, height);
	for (size_t i = 0; i < n && r == 0; i++)
		r = svg_drawing(&drawings[i], &y, out);
	fputs("</svg>\n", out);
	return r;
}

/* SPDX-License-Identifier: BSD-2-Clause */
#pragma once

/*
 * drawing: where sets of IDs lie among all IDs, a row each, for a terminal or as SVG.
 *
 * The IDs are 4 thousand million and what matters may be one of them, so the axis is not even: it
 * is cut where any range begins or ends, a stretch that a range holds is as wide as its count has
 * digits, and one that none holds is narrow. A range that holds all IDs cuts nothing.
 */

#include "../trusted/idset.h"

#include <stdio.h>

struct drawing_row {
	const char *label; /* bytes that are safe to print */
	const struct range *ranges;
	size_t n;
};

struct drawing {
	const char *title;
	const struct drawing_row *rows;
	size_t n;
};

/* On a terminal of COLUMNS columns; UTF8: with blocks, else with #. Returns 0 or -ENOMEM. */
int drawing_text(const struct drawing *drawing, unsigned columns, bool utf8, FILE *out);

/* DRAWINGS one below the other in one document. Returns 0 or -ENOMEM. */
int drawing_svg(const struct drawing *drawings, size_t n, FILE *out);

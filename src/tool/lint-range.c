/* SPDX-License-Identifier: BSD-2-Clause */
#include "lint-parts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Order */

static int compare_entries(const void *a, const void *b, void *entries)
{
	const struct lint_entry *x =
		(const struct lint_entry *)entries + *(const uint32_t *)a;
	const struct lint_entry *y =
		(const struct lint_entry *)entries + *(const uint32_t *)b;

	if (x->range.count != y->range.count)
		return x->range.count < y->range.count ? -1 : 1;
	if (x->owner != y->owner)
		return x->owner < y->owner ? -1 : 1;
	return (x->line > y->line) - (x->line < y->line);
}

/* One pass of a radix sort: FROM to TO by the DIGIT_BITS from SHIFT on, else in the order of FROM.
 * A key is a start and behind it, in the low half, the entry's index. */
#define DIGIT_BITS 11
static void sort_digit(const uint64_t *from, uint64_t *to, size_t n, unsigned int shift)
{
	size_t places[1 << DIGIT_BITS] = {0}, sum = 0;
	const uint64_t mask = (1 << DIGIT_BITS) - 1;

	for (size_t i = 0; i < n; i++)
		places[from[i] >> shift & mask]++;
	for (size_t i = 0; i <= mask; i++) {
		size_t count = places[i];

		places[i] = sum;
		sum += count;
	}
	for (size_t i = 0; i < n; i++)
		to[places[from[i] >> shift & mask]++] = from[i];
}

/* Order what has the same start by count, owner and line. */
static void sort_ties(struct lint_file *file, const uint64_t *keys)
{
	for (size_t i = 0, next; i < file->n; i = next) {
		for (next = i + 1; next < file->n; next++)
			if (keys[next] >> 32 != keys[i] >> 32)
				break;
		if (next - i > 1)
			qsort_r(file->order + i, next - i, sizeof(*file->order),
				compare_entries, file->entries);
	}
}

static int sort_entries(struct lint_file *file)
{
	uint64_t *keys = calloc(file->n, 2 * sizeof(*keys)), *spare;

	if (!keys)
		return -ENOMEM;
	spare = keys + file->n;
	for (size_t i = 0; i < file->n; i++)
		keys[i] = (uint64_t)file->entries[i].range.start << 32 | i;
	sort_digit(keys, spare, file->n, 32);
	sort_digit(spare, keys, file->n, 32 + DIGIT_BITS);
	sort_digit(keys, spare, file->n, 32 + 2 * DIGIT_BITS);
	for (size_t i = 0; i < file->n; i++)
		file->order[i] = (uint32_t)spare[i];
	sort_ties(file, spare);
	free(keys);
	return 0;
}

/* The entry at place I in the order. What comes soon is fetched: in a file that is not in order each
 * would be waited for alone. */
static const struct lint_entry *entry_at(const struct lint_file *file, size_t i)
{
	if (i + LINT_AHEAD < file->n)
		__builtin_prefetch(&file->entries[file->order[i + LINT_AHEAD]]);
	return &file->entries[file->order[i]];
}

/* The set of all ranges: from an ordered list it can be made sealed, without a second sort. */
static int make_set(struct lint_file *file)
{
	struct idset *set = &file->granted;
	int r = 0;

	for (size_t i = 0; i < file->n && r == 0; i++) {
		struct range range = entry_at(file, i)->range;
		struct range *last = set->n > 0 ? &set->ranges[set->n - 1] : NULL;

		if (!last || range.start > last->start + last->count)
			r = idset_add(set, range.start, range.count);
		else if (range.start + range.count > last->start + last->count)
			last->count = range.start + range.count - last->start;
	}
	return r;
}

static void find_next(const struct lint *lint, struct lint_file *file)
{
	uint32_t wanted = lint->useradd[file->kind].count;
	struct range gap = {0};

	while (lint_next_gap(lint, file, &gap))
		if (gap.count >= wanted) {
			file->next = (struct range){gap.start, wanted};
			return;
		}
}

int lint_sort_ranges(const struct lint *lint, struct lint_file *file)
{
	int r = 0;

	if (file->n > 0) {
		file->order = calloc(file->n, sizeof(*file->order));
		r = file->order ? sort_entries(file) : -ENOMEM;
	}
	if (r == 0)
		r = make_set(file);
	if (r == 0)
		find_next(lint, file);
	return r;
}

/* The first range of a sealed set that ends at AT or behind it. */
static size_t first_from(const struct idset *set, uint64_t at)
{
	size_t low = 0, high = set->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct range *range = &set->ranges[middle];

		if ((uint64_t)range->start + range->count < at)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

bool lint_next_gap(const struct lint *lint, const struct lint_file *file,
		   struct range *gap)
{
	const struct lint_useradd *useradd = &lint->useradd[file->kind];
	const struct idset *set = &file->granted;
	uint64_t at = gap->count ? (uint64_t)gap->start + gap->count : useradd->min;
	uint64_t end = (uint64_t)useradd->max + 1;
	size_t i = first_from(set, at);

	/* What begins at or before AT ends behind it or at it: go on from its end. */
	for (; i < set->n && set->ranges[i].start <= at; i++)
		if ((uint64_t)set->ranges[i].start + set->ranges[i].count > at)
			at = (uint64_t)set->ranges[i].start + set->ranges[i].count;
	if (i < set->n && set->ranges[i].start < end)
		end = set->ranges[i].start;
	if (at >= end)
		return false;
	*gap = (struct range){(uint32_t)at, (uint32_t)(end - at)};
	return true;
}

/* Overlap: one sweep over the ranges in order */

/* How far the ranges of one class reach. Owners that may share are one class, every other account
 * is a class of its own. */
struct reach {
	uint64_t end; /* first ID behind it; 0: nothing yet */
	uint32_t class;
	const struct lint_entry *entry;
};

/* The furthest reach, and the furthest of any class but that one's. So whatever class the next
 * range is of, one of the two tells whether another class overlaps it. */
struct front {
	struct reach first, second;
};

#define SHARED UINT32_MAX

static uint32_t account_of(const struct lint *lint, const struct lint_entry *entry)
{
	return lint->owners->list[entry->owner].same;
}

static uint32_t class_of(const struct lint *lint, const struct lint_entry *entry)
{
	return lint->owners->list[entry->owner].shared ? SHARED : account_of(lint, entry);
}

static void advance(struct front *front, struct reach reach)
{
	if (reach.end > front->first.end) {
		if (front->first.class != reach.class)
			front->second = front->first;
		front->first = reach;
	} else if (reach.class != front->first.class && reach.end > front->second.end) {
		front->second = reach;
	}
}

static int note_overlap(struct lint *lint, size_t file, enum lint_severity severity,
			const struct lint_entry *a, const struct lint_entry *b)
{
	const struct lint_entry *late = a->line > b->line ? a : b;
	const struct lint_entry *early = late == a ? b : a;
	struct lint_finding finding = lint_at(lint, file, late, 1, LINT_OVERLAP);
	uint32_t start =
		a->range.start > b->range.start ? a->range.start : b->range.start;
	uint32_t last = lint_last(a->range) < lint_last(b->range) ? lint_last(a->range)
								  : lint_last(b->range);

	finding.range = (struct range){start, last - start + 1};
	finding.other_line = early->line;
	finding.other_text = early->text;
	return lint_note_as(lint, severity, finding);
}

/* Judge ENTRY against the ranges that begin before it. */
static int check_front(struct lint *lint, size_t file, const struct front *front,
		       const struct lint_entry *entry, uint32_t class)
{
	const struct reach *rival =
		front->first.class == class ? &front->second : &front->first;
	const struct reach *friend = &front->first;

	if (rival->end > entry->range.start)
		return note_overlap(lint, file, LINT_ERROR, rival->entry, entry);
	if (friend->class != class || friend->end <= entry->range.start)
		return 0;
	return note_overlap(lint, file,
			    account_of(lint, friend->entry) == account_of(lint, entry)
				    ? LINT_WARNING
				    : LINT_NOTE,
			    friend->entry, entry);
}

static bool is_same(const struct lint_entry *a, const struct lint_entry *b)
{
	return a->owner == b->owner && a->range.start == b->range.start &&
	       a->range.count == b->range.count;
}

static int check_overlaps(struct lint *lint, size_t index)
{
	const struct lint_file *file = &lint->files[index];
	const struct lint_entry *last = NULL;
	struct front front = {0};
	int r = 0;

	for (size_t i = 0; i < file->n && r == 0; i++) {
		const struct lint_entry *entry = entry_at(file, i);
		uint64_t end = (uint64_t)entry->range.start + entry->range.count;
		uint32_t class = class_of(lint, entry);

		if (last && is_same(last, entry)) {
			struct lint_finding finding =
				lint_at(lint, index, entry, 0, LINT_DUPLICATE);

			finding.other_line = last->line;
			r = lint_note(lint, finding);
		} else {
			r = check_front(lint, index, &front, entry, class);
			advance(&front, (struct reach){end, class, entry});
		}
		last = entry;
	}
	return r;
}

/* Rules on one range */

/* The first account from ID on. */
static size_t first_account(const struct lint_file *file, uint32_t id)
{
	size_t low = 0, high = file->n_accounts;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (file->accounts[middle].id < id)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* The owner's own ID, and the first ID of another account. */
static int check_accounts(struct lint *lint, size_t index, const struct lint_entry *entry)
{
	const struct lint_file *file = &lint->files[index];
	const struct lint_owner *owner = &lint->owners->list[entry->owner];
	bool known = owner->uid != ID_NONE;
	uint32_t own = file->kind == ID_UID ? owner->uid : owner->gid;
	size_t i = first_account(file, entry->range.start);
	struct lint_finding finding;
	int r = 0;

	if (known && own - entry->range.start < entry->range.count) {
		finding = lint_at(lint, index, entry, 1, LINT_OWN_ID);
		finding.value = own;
		r = lint_note(lint, finding);
	}
	while (known && i < file->n_accounts && file->accounts[i].id == own)
		i++;
	if (r != 0 || i == file->n_accounts ||
	    file->accounts[i].id > lint_last(entry->range))
		return r;
	finding = lint_at(lint, index, entry, 1, LINT_COLLIDES);
	finding.value = file->accounts[i].id;
	finding.name = file->accounts[i].name;
	/* root is every account already. */
	return lint_note_as(lint, known && owner->uid == 0 ? LINT_NOTE : LINT_ERROR,
			    finding);
}

static bool touches(struct range range, uint32_t start, uint32_t last)
{
	return range.start <= last && lint_last(range) >= start;
}

static int check_numbers(struct lint *lint, size_t file, const struct lint_entry *entry)
{
	static const struct {
		enum lint_rule rule;
		uint32_t start, last;
	} stretches[] = {
		{LINT_SYSTEMD_DYNAMIC, 61184, 65519},
		{LINT_SYSTEMD_NSPAWN, 524288, 1879048191},
		{LINT_ABOVE_2_31, 2147483648, ID_MAX},
	};
	int r = 0;

	for (size_t i = 0; i < sizeof(stretches) / sizeof(*stretches) && r == 0; i++)
		if (touches(entry->range, stretches[i].start, stretches[i].last) &&
		    !lint_is_said(lint, file, stretches[i].rule, entry->line))
			r = lint_note(lint,
				      lint_at(lint, file, entry, 1, stretches[i].rule));
	return r;
}

/* What useradd(8) will do next: it keeps clear of the lines, but of nothing else. */
static int check_useradd(struct lint *lint, size_t index)
{
	const struct lint_file *file = &lint->files[index];
	struct lint_finding finding = {
		.rule = LINT_USERADD_RANGE, .file = index, .range = file->next};
	size_t i = first_account(file, file->next.start);

	if (strcmp(file->path, id_words[file->kind].grants) != 0 ||
	    lint->useradd[file->kind].count == 0)
		return 0;
	if (i < file->n_accounts && file->next.count > 0 &&
	    file->accounts[i].id <= lint_last(file->next)) {
		finding.value = file->accounts[i].id;
		finding.name = file->accounts[i].name;
	} else if (file->next.count > 0 &&
		   !touches(file->next, lint->useradd[file->kind].own_min,
			    lint->useradd[file->kind].own_max)) {
		return 0;
	}
	return lint_note(lint, finding);
}

int lint_check_ranges(struct lint *lint, size_t index)
{
	const struct lint_file *file = &lint->files[index];
	int r = check_useradd(lint, index);

	if (r == 0)
		r = check_overlaps(lint, index);
	for (size_t i = 0; i < file->n && r == 0; i++) {
		r = check_accounts(lint, index, &file->entries[i]);
		if (r == 0)
			r = check_numbers(lint, index, &file->entries[i]);
	}
	return r;
}

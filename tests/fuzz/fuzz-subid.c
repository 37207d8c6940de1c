/* SPDX-License-Identifier: BSD-2-Clause */

/*
 * The lines of subuid: "NAME UID\n" and then the file. Exactly the lines of subid.h's contract
 * grant, the set holds exactly their IDs, and the decision is right at each of their edges.
 */

#include "fuzz.h"
#include "tool/account.h"
#include "tool/lint-parts.h"
#include "trusted/grant.h"

#define LINES 256

struct granting {
	size_t line;
	uint32_t start, count;
};

static struct granting grantings[LINES];
static size_t n_grantings;

/* "blanks, a number" whole? */
static bool oracle_field(const char *text, size_t len, uint32_t *ret_number)
{
	while (len > 0 && *text && strchr(" \t\n\v\f\r", *text))
		text++, len--;
	return oracle_number(text, len, ret_number) == 0;
}

/* Does the line grant, whoever its owner is? Its fields are *COLON and what stands behind. */
static bool oracle_line(const char *line, size_t len, size_t colon[2],
			struct granting *ret_granting)
{
	size_t colons = 0;

	for (size_t i = 0; i < len; i++)
		if (line[i] == ':' && colons++ < 2)
			colon[colons - 1] = i;
	if (len >= 1024 || colons != 2 || colon[0] == 0)
		return false;
	if (line[0] == '#' || line[0] == '+' || line[0] == '-')
		return false;
	return oracle_field(line + colon[0] + 1, colon[1] - colon[0] - 1,
			    &ret_granting->start) &&
	       oracle_field(line + colon[1] + 1, len - colon[1] - 1,
			    &ret_granting->count) &&
	       oracle_range(ret_granting->start, ret_granting->count);
}

static bool is_owner(const char *line, size_t len, const struct subid_owner *owner)
{
	char number[12];

	snprintf(number, sizeof(number), "%u", owner->uid);
	return (strlen(owner->name) == len && memcmp(line, owner->name, len) == 0) ||
	       (strlen(number) == len && memcmp(line, number, len) == 0);
}

/* Nothing but blanks, or a comment behind them. */
static bool is_idle(const char *text, size_t len)
{
	for (; len > 0 && (*text == ' ' || *text == '\t'); len--)
		text++;
	return len == 0 || *text == '#';
}

/* A line by itself: the parser, and what "idmap check" says of it. */
static void check_line(const char *text, size_t len)
{
	struct granting granting = {0};
	char fixed[LINT_FIXED], *line = fuzz_copy((const uint8_t *)text, len);
	struct subid_line parsed;
	size_t colon[2], column = 0, fixed_len;
	bool right = oracle_line(line, len, colon, &granting);
	int r = subid_parse(line, len, &parsed);
	enum lint_rule fault = lint_line_fault(line, len, r, &parsed, &column);

	HOLDS((r == 0) == right);
	HOLDS(parsed.column <= len + 1 && column <= len + 1);
	if (right)
		HOLDS(parsed.start == granting.start && parsed.count == granting.count &&
		      parsed.owner == line && parsed.owner_len == colon[0]);
	if (r != 0 && r != SUBID_E_COMMENT && !is_idle(line, len))
		HOLDS(fault < LINT_RULES);
	fixed_len = lint_line_fix(line, len, fixed);
	HOLDS(fixed_len <= sizeof(fixed));
	if (fixed_len > 0) {
		const char *comment_end = memchr(fixed, '\n', fixed_len);
		const char *start = comment_end ? comment_end + 1 : fixed;

		HOLDS(!comment_end || fixed[0] == '#');
		HOLDS(subid_parse(start, (size_t)(fixed + fixed_len - start), &parsed) ==
		      0);
	}
	free(line);
}

static void oracle_file(const char *text, size_t len, const struct subid_owner *owner)
{
	size_t start = 0, line = 1, colon[2];
	bool nul = false, nul_before = false;

	n_grantings = 0;
	for (size_t i = 0; i <= len && n_grantings < LINES; i++) {
		struct granting granting = {.line = line};

		nul |= i < len && text[i] == '\0';
		if (i < len && text[i] != '\n')
			continue;
		if (i > start || i < len)
			check_line(text + start, i - start);
		if (!nul_before &&
		    oracle_line(text + start, i - start, colon, &granting) &&
		    is_owner(text + start, colon[0], owner))
			grantings[n_grantings++] = granting;
		nul_before = nul;
		nul = false;
		start = i + 1;
		line++;
	}
}

static bool oracle_granted(uint64_t id)
{
	for (size_t i = 0; i < n_grantings; i++)
		if (id >= grantings[i].start &&
		    id < (uint64_t)grantings[i].start + grantings[i].count)
			return true;
	return false;
}

/* The set at an ID, and the decision on a map of it alone. */
static void check_id(const struct idset *set, uint64_t id, uint32_t own)
{
	struct idmap map = {.n = 1, .extents = {{0, (uint32_t)id, 1}}};
	struct grant_answer answer;
	bool granted;
	int r;

	if (id > ID_MAX)
		return;
	granted = oracle_granted(id);
	HOLDS(idset_covers(set, (uint32_t)id, 1, NULL) == granted);
	r = grant_check(set, own, &map, &answer);
	HOLDS((r == 0) == (granted || id == own));
	HOLDS(r != 0 || answer.by_grant == granted);
	HOLDS(r == 0 || (answer.gap.start == id && answer.gap.count == 1));
}

/* A range from the start of one line to the end of another: where is the first ID that is missing? */
static void check_stretch(const struct idset *set, const struct granting *from,
			  const struct granting *to)
{
	uint64_t end = (uint64_t)to->start + to->count, at = from->start;
	struct range gap = {0};
	bool moved = true;

	if (end <= at)
		return;
	while (moved && at < end) {
		moved = false;
		for (size_t i = 0; i < n_grantings; i++) {
			uint64_t behind =
				(uint64_t)grantings[i].start + grantings[i].count;

			if (grantings[i].start <= at && at < behind) {
				at = behind;
				moved = true;
			}
		}
	}
	HOLDS(idset_covers(set, from->start, (uint32_t)(end - from->start), &gap) ==
	      (at >= end));
	if (at < end)
		HOLDS(gap.start == at && gap.count >= 1 && gap.start + gap.count <= end);
}

static void check_set(const char *text, size_t len, const struct subid_owner *owner)
{
	struct idset set = {0};

	HOLDS(grant_collect(text, len, owner, &set) == 0);
	HOLDS((set.n == 0) == (n_grantings == 0));
	check_id(&set, 0, 1);
	check_id(&set, ID_MAX, 0);
	for (size_t i = 0; i < n_grantings && i < 16; i++) {
		const struct granting *g = &grantings[i];
		uint64_t end = (uint64_t)g->start + g->count;

		check_id(&set, (uint64_t)g->start - (g->start > 0), 1000);
		check_id(&set, g->start, g->start);
		check_id(&set, end - 1, 1000);
		check_id(&set, end, (uint32_t)end);
		for (size_t j = 0; j < n_grantings && j < 16; j++)
			check_stretch(&set, g, &grantings[j]);
	}
	idset_clear(&set);
}

static void check_reader(const char *text, size_t len, const struct subid_owner *owner)
{
	struct subid_reader reader = {.at = text, .end = text + len};
	struct subid_line line;
	size_t n = 0;

	for (; n < LINES && subid_next(&reader, owner, &line); n++)
		HOLDS(n < n_grantings && reader.line == grantings[n].line &&
		      line.start == grantings[n].start &&
		      line.count == grantings[n].count);
	HOLDS(n == n_grantings);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *newline = size ? memchr(data, '\n', size) : NULL;
	size_t head = newline ? (size_t)(newline - data) : size;
	char *name = fuzz_string(data, head), *blank = strrchr(name, ' ');
	struct subid_owner owner = {name, 1000};
	size_t len = newline ? size - head - 1 : 0;
	char *text = fuzz_copy(data + size - len, len);

	if (blank) {
		oracle_number(blank + 1, strlen(blank + 1), &owner.uid);
		*blank = '\0';
	}
	if (!strchr(name, ':')) {
		oracle_file(text, len, &owner);
		if (n_grantings < LINES) {
			check_reader(text, len, &owner);
			check_set(text, len, &owner);
		}
		grants_find_void(text, len, &owner);
	}
	free(name);
	free(text);
	return 0;
}

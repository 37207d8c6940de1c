/* SPDX-License-Identifier: BSD-2-Clause */

/*
 * check-differential: does newuidmap grant what check says, line by line?
 *
 * For each of many random files both helpers, ours and the system's, are asked for one map: first
 * every range that check calls granted to alice, at last one that it calls void. The answer must
 * be that the last one is not allowed, by its numbers: the helpers go through a map in order, so
 * all before it are. The target stays unwritten and serves again.
 *
 *	check-differential [FILES]	10000 unless said; IDMAP_SEED repeats a run. Root only, in
 *					tests/in-private.
 */

#include "differential.h"
#include "tool/lint-parts.h"

#include <bsd/string.h>

#define MAX_LINE (2 * SUBID_LINE)
#define LINES    12U
#define BLOCK    1000000U /* IDs between two lines' ranges */

static unsigned long files = 10000, granted, voids, spared;
static int grants;
static pid_t target;

/* A random file */

/* What line I grants if it is well-formed: the blocks don't touch. */
static struct range meant(uint32_t i)
{
	return (struct range){(i + 1) * BLOCK, 5 + i};
}

static void put(char *line, const char *bytes)
{
	strlcat(line, bytes, MAX_LINE);
}

static void write_number(char *line, uint32_t number)
{
	char text[16];

	put(line, PICK("", " ", "\t", "  ", "\v", "\r"));
	switch (tap_below(tap_below(4) ? 1 : 7)) {
	case 1:
		snprintf(text, sizeof(text), "%#x", number);
		break;
	case 2:
		snprintf(text, sizeof(text), "%#o", number);
		break;
	case 3:
		snprintf(text, sizeof(text), "+%u", number);
		break;
	default:
		snprintf(text, sizeof(text), "%u", number);
	}
	put(line, text);
	put(line, PICK("", " ", "\t", "x", "\v", "k"));
}

static void write_line(char *line, uint32_t i)
{
	struct range range = meant(i);

	*line = '\0';
	put(line, PICK("", "#", "+", "-", " ", "# "));
	put(line, PICK("alice", "1001", "bob", "alice ", "Alice", "alic", "01001", ""));
	put(line, PICK(":", "", "::", ";"));
	write_number(line, range.start);
	put(line, PICK(":", "", "::", "-"));
	write_number(line, tap_below(20) ? range.count : tap_below(20) ? 0 : ID_MAX);
	put(line, PICK("", " ", "\r", ":", ":x", " # note", "\t"));
	/* As long as may be, and one more. */
	if (tap_below(40) == 0) {
		size_t len = strlen(line), more = SUBID_LINE - 1 + tap_below(2) - len;

		memset(line + len, ' ', more);
		line[len + more] = '\0';
	}
}

static void write_file(void)
{
	char text[LINES * MAX_LINE] = "", line[MAX_LINE];

	for (uint32_t i = 0; i < LINES; i++) {
		write_line(line, i);
		strlcat(text, line, sizeof(text));
		strlcat(text, "\n", sizeof(text));
	}
	if (tap_below(8) == 0)
		text[strlen(text) - 1] = '\0';
	overwrite(grants, text, strlen(text));
}

/* What check says */

struct verdict {
	struct range asks[LINES + 1]; /* granted, and at last one that is not */
	size_t n;
	bool spare_theirs; /* shadow is known to read the last one */
	bool past_the_end;
};

static bool owned_by_alice(const struct lint_entry *entry)
{
	return strncmp(entry->text, "alice:", 6) == 0 ||
	       strncmp(entry->text, "1001:", 5) == 0;
}

static bool overlaps_asked(const struct verdict *verdict, struct range range)
{
	for (size_t i = 0; i < verdict->n; i++)
		if (verdict->asks[i].start <= lint_last(range) &&
		    range.start <= lint_last(verdict->asks[i]))
			return true;
	return false;
}

/* The lines that shadow grants and we don't: a number begins with a sign or a zero, as strtoul(3)
 * takes it, or a fourth field follows, which old releases never look at. */
static bool shadow_reads(const struct lint_finding *finding)
{
	size_t colons = 0;

	for (size_t i = 0; i < finding->len; i++)
		colons += finding->text[i] == ':';
	if (colons > 2)
		return true;
	for (size_t i = 1; i < finding->len; i++)
		if (strchr("+0", finding->text[i]) &&
		    strchr(": \t\v\r", finding->text[i - 1]))
			return true;
	return false;
}

/* shadow grants a range past the last ID, and so all blocks behind its start. */
static bool passes_the_end(const struct lint_finding *finding)
{
	static const char *const spellings[] = {"4294967294", "0xfffffffe",
						"037777777776"};

	for (size_t i = 0; i < 3; i++)
		if (finding->text && memmem(finding->text, finding->len, spellings[i],
					    strlen(spellings[i])))
			return true;
	return false;
}

static void choose_void(const struct lint *lint, struct verdict *verdict)
{
	struct range range = meant(LINES); /* never granted, if no line is void */

	for (size_t i = 0; i < lint->n; i++) {
		const struct lint_finding *finding = &lint->findings[i];

		verdict->past_the_end |= passes_the_end(finding);
		if (finding->grants || finding->line == 0 ||
		    overlaps_asked(verdict, meant((uint32_t)finding->line - 1)))
			continue;
		if (range.start == meant(LINES).start || tap_below(2) == 0) {
			range = meant((uint32_t)finding->line - 1);
			verdict->spare_theirs = shadow_reads(finding);
		}
	}
	voids += range.start != meant(LINES).start;
	verdict->asks[verdict->n++] = range;
}

static void ask_check(struct verdict *verdict)
{
	struct lint lint = {0};

	*verdict = (struct verdict){0};
	memset(lint.on, true, sizeof(lint.on));
	if (lint_add_file(&lint, "/etc/subuid") != 0 || lint_run(&lint) != 0)
		die("check");
	for (size_t i = 0; i < lint.files[0].n; i++) {
		const struct lint_entry *entry = &lint.files[0].entries[i];

		if (owned_by_alice(entry) && !overlaps_asked(verdict, entry->range))
			verdict->asks[verdict->n++] = entry->range;
	}
	granted += verdict->n;
	choose_void(&lint, verdict);
	lint_clear(&lint);
}

/* What a helper says */

static void ask_helper(const char *helper, const struct verdict *verdict,
		       char answer[SAID])
{
	char numbers[3 * (LINES + 1) + 1][16], *argv[3 * (LINES + 1) + 3];
	int argc = 0;

	argv[argc++] = (char *)(uintptr_t) "newuidmap";
	sprintf(numbers[0], "%d", target);
	argv[argc++] = numbers[0];
	for (size_t i = 0; i < verdict->n; i++) {
		sprintf(numbers[3 * i + 1], "%zu", i * 100);
		sprintf(numbers[3 * i + 2], "%u", verdict->asks[i].start);
		sprintf(numbers[3 * i + 3], "%u",
			verdict->asks[i].count < 100 ? verdict->asks[i].count : 100);
		for (size_t j = 1; j <= 3; j++)
			argv[argc++] = numbers[3 * i + j];
	}
	argv[argc] = NULL;
	run_helper(helper, argv, answer);
}

static bool agrees(const char *helper, const struct verdict *verdict)
{
	const struct range *last = &verdict->asks[verdict->n - 1];
	size_t inner = (verdict->n - 1) * 100;
	char answer[SAID], expected[SAID];

	ask_helper(helper, verdict, answer);
	snprintf(expected, sizeof(expected),
		 "newuidmap: uid range [%zu-%zu) -> [%u-%u) not allowed", inner,
		 inner + last->count, last->start, last->start + last->count);
	if (strcmp(answer, expected) == 0)
		return true;
	printf("# %s: %s\n# check: %s\n", helper, answer, expected);
	return false;
}

/* Show the file of a disagreement. */
static void show_file(void)
{
	static char text[LINES * MAX_LINE];
	FILE *file = fopen("/etc/subuid", "r");
	size_t len = file ? fread(text, 1, sizeof(text), file) : 0;

	if (!file)
		die("/etc/subuid");
	fclose(file);
	show_bytes(text, len);
}

static void helpers_grant_what_check_says(void)
{
	char ours[256];

	snprintf(ours, sizeof(ours), "%s/newuidmap", getenv("HELPERS_SETUID"));
	for (unsigned long i = 0; i < files && tap_failures < 5; i++) {
		struct verdict verdict;
		bool same;

		write_file();
		ask_check(&verdict);
		same = agrees(ours, &verdict);
		if (verdict.spare_theirs || verdict.past_the_end)
			spared++;
		else
			same &= agrees(SYSTEM_HELPERS "/newuidmap", &verdict);
		CHECK(same);
		if (!same)
			show_file();
	}
	printf("# %lu files: %lu ranges granted, %lu void; of these %lu that shadow "
	       "reads\n",
	       files, granted, voids, spared);
	CHECK(granted > files && voids > files / 2);
}

int main(int argc, char **argv)
{
	static const struct caller alice = {"alice", 1001, 1001};
	int status;

	if (argc > 1)
		files = strtoul(argv[1], NULL, 10);
	grants = open_grants(ID_UID);
	become(&alice);
	target = spawn_sleeper();
	status = TAP_RUN(TEST(helpers_grant_what_check_says));
	end_sleeper(target);
	return status;
}

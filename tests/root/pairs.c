/* SPDX-License-Identifier: BSD-2-Clause */

/*
 * pairs: do our helpers write what the system's write, and nothing else?
 *
 * Each pair is a random file of grants and a random request, both close to where the rules change.
 * One of our installs and the system's helper answer it on targets of their own, half of the time
 * inside user namespaces with maps of their own. Exit status, map and setgroups must be equal.
 *
 * Where they are not, ours must be the stricter, and for a reason that has a name in enum cause:
 * the pair is spelled anew as the system's helper is known to read it (010 as 8, say), only as
 * far as the named causes go, and then ours must answer exactly as the system's did. The fewest
 * causes that do are counted. The other way round there are two cases: a request over the kernel's
 * limits that ours merges, where the system's must write the same map when it gets the merged
 * request; and a file that the system's can't read for the sake of its last line, where it must
 * write the same without that.
 *
 *	pairs [PAIRS]	2000 unless said, in batches of 50; IDMAP_SEED repeats a run. Root only,
 *			in tests/in-private.
 */

#include "differential.h"
#include "tool/algebra.h"
#include "trusted/idset.h"
#include "trusted/subid.h"

#include <bsd/string.h>
#include <stdarg.h>

#define BATCH     50U /* pairs of one process */
#define LINES     8U  /* of a file */
#define FILE_ROOM 32768U
#define LINE_ROOM 4096U   /* a line, or some that a NUL joins */
#define TRIPLES   345U    /* of a request, a few past the limit */
#define ARG       24U     /* bytes of an argument */
#define MANY      300000U /* where the grants of many extents begin */

enum cause {
	FILE_SIGN,
	FILE_HEX,
	FILE_ZERO,
	FILE_EMPTY,
	FILE_END,
	FILE_FIELDS,
	FILE_OWNER,
	FILE_NUL,
	FILE_LAST,
	ARG_BLANK,
	ARG_SIGN,
	ARG_HEX,
	ARG_ZERO,
	OUTER_ZERO,
	MERGED,
	CAUSES
};

static const char *const cause_names[CAUSES] = {
	[FILE_SIGN] = "differ: a sign before a number of the file",
	[FILE_HEX] = "differ: a hexadecimal number in the file",
	[FILE_ZERO] = "differ: a leading zero in the file",
	[FILE_EMPTY] = "differ: a count of 0 in the file (all IDs to the system's)",
	[FILE_END] = "differ: a range of the file past the last ID",
	[FILE_FIELDS] = "differ: a fourth field in the file",
	[FILE_OWNER] = "differ: another login name of the same user ID",
	[FILE_NUL] = "differ: a NUL byte in the file (joins two lines)",
	[FILE_LAST] = "differ: a NUL byte in the last line (no file to the system's)",
	[ARG_BLANK] = "differ: a blank before an argument",
	[ARG_SIGN] = "differ: a sign before an argument",
	[ARG_HEX] = "differ: a hexadecimal argument",
	[ARG_ZERO] = "differ: a leading zero in an argument",
	[OUTER_ZERO] = "differ: outer ID 0 by file capabilities",
	[MERGED] = "differ: over a limit (written merged by ours)",
};

/* Shared by all processes of a run. */
struct counts {
	unsigned long kinds[ID_KINDS], nested, written, written_nested, refused,
		by_kernel;
	unsigned long causes[CAUSES], differ, unexplained;
};

static const struct caller callers[] = {{"alice", 1001, 1001},
					{"carol", 1003, 2003},
					{"4242", 1005, 1005},
					{"dora", 4242, 4242}};
#define CALLERS (sizeof(callers) / sizeof(*callers))

/* Login names of the same user IDs, by which the system's helpers grant too. */
static const char twins[] =
	"alicia:x:1001:1001::/:/bin/sh\nthora:x:4242:4242::/:/bin/sh\n";

static struct counts *counts;
static unsigned long pairs = 2000;
static int grants[ID_KINDS];

/* A text that grows. */

struct text {
	size_t len;
	char bytes[FILE_ROOM];
};

static void put_bytes(struct text *text, const char *bytes, size_t len)
{
	if (text->len + len >= FILE_ROOM)
		die("a file too long");
	memcpy(text->bytes + text->len, bytes, len);
	text->len += len;
	text->bytes[text->len] = '\0';
}

static __attribute__((format(printf, 2, 3))) void put(struct text *text,
						      const char *format, ...)
{
	char bytes[64];
	va_list args;

	va_start(args, format);
	vsnprintf(bytes, sizeof(bytes), format, args);
	va_end(args);
	put_bytes(text, bytes, strlen(bytes));
}

/* A random pair */

struct pair {
	enum id_kind kind;
	const struct caller *caller;
	const char *ours; /* the folder of one of our installs */
	struct text file;
	struct range
		meant[LINES]; /* what the lines of the file would grant, well spelled */
	size_t lines;
	size_t turn; /* which of them is asked for first */
	size_t args;
	char arg[3 * TRIPLES + 2][ARG];
};

static uint32_t own_id(const struct pair *pair)
{
	return pair->kind == ID_UID ? pair->caller->uid : pair->caller->gid;
}

/* A few stretches of IDs, so that ranges meet: both ends of the ID space, the own ID, grants. */
static uint32_t some_id(const struct pair *pair)
{
	switch (tap_below(8)) {
	case 0:
		return tap_below(12);
	case 1:
		return own_id(pair) - 2 + tap_below(5);
	case 2:
		return ID_NONE - tap_below(14);
	default:
		return 100000 + tap_below(24);
	}
}

/* A range of grants, often right behind the last one. */
static struct range some_range(const struct pair *pair)
{
	const struct range *last = pair->lines ? &pair->meant[pair->lines - 1] : NULL;
	struct range range = {some_id(pair), 1 + tap_below(10)};

	if (last && tap_below(3) == 0)
		range.start = last->start + last->count;
	return range;
}

static const char *const huge[] = {"4294967294",
				   "4294967295",
				   "4294967296",
				   "4295067296",
				   "8589934592",
				   "9223372036854775808",
				   "18446744073709551615",
				   "18446744073709551616",
				   "-1",
				   "-0",
				   "-4294867296",
				   "99999999999999999999"};

/* How a number may be spelled that is not meant to be read. */
static void put_odd_number(struct text *text, uint32_t number)
{
	put(text, "%s", PICK("", " ", "\t", "  ", "\v", "\r"));
	switch (tap_below(10)) {
	case 0:
		put(text, "%#x", number);
		break;
	case 1:
		put(text, "0X%X", number);
		break;
	case 2:
		put(text, "0%o", number);
		break;
	case 3:
		put(text, "0%u", number);
		break;
	case 4:
		put(text, "+%u", number);
		break;
	case 5:
		put(text, "-%u", number);
		break;
	case 6:
		put(text, "%s", huge[tap_below(sizeof(huge) / sizeof(*huge))]);
		break;
	case 7:
		put(text, "%s", PICK("0", "00", "0x", "", "+", "1e5", "100000."));
		break;
	default:
		put(text, "%u", number);
	}
	put(text, "%s", PICK("", " ", "\t", "x", "\v", "k", "\r"));
}

static void put_number(struct text *text, uint32_t number, bool odd)
{
	if (odd && tap_below(5) == 0)
		put_odd_number(text, number);
	else
		put(text, "%u", number);
}

static void put_owner(struct text *text, const struct pair *pair, bool odd)
{
	static const char *const others[] = {
		"alice",  "alicia", "carol", "dora",  "thora", "1001",  "1003",
		"4242",   "1005",   "bob",   "Alice", "alic",  "01001", "+1001",
		"alice ", " alice", "root",  "0",     "",      "*"};

	if (odd)
		put(text, "%s", PICK("", "", "", "#", "+", "-", " "));
	if (tap_below(odd ? 3 : 12) == 0)
		put(text, "%s", others[tap_below(sizeof(others) / sizeof(*others))]);
	else if (tap_below(4) == 0)
		put(text, "%u", pair->caller->uid);
	else
		put(text, "%s", pair->caller->name);
}

/* As long as a line may be, and a little less and more, by what else keeps the line as it is. */
static void put_padding(struct text *text, size_t begin, char byte)
{
	size_t len = text->len - begin, end = SUBID_LINE - 24 + tap_below(24);

	while (len++ < end)
		put_bytes(text, &byte, 1);
}

static void put_line(struct pair *pair, bool odd)
{
	struct range range = some_range(pair);
	struct text *text = &pair->file;
	size_t begin = text->len;

	pair->meant[pair->lines++] = range;
	put_owner(text, pair, odd);
	put(text, "%s", odd ? PICK(":", ":", ":", "", "::", ";") : ":");
	if (odd && tap_below(12) == 0)
		put_padding(text, begin, tap_below(2) ? ' ' : '0');
	put_number(text, range.start, odd);
	put(text, "%s", odd ? PICK(":", ":", ":", "", "::", "-") : ":");
	if (odd && tap_below(12) == 0)
		put(text, "0");
	else
		put_number(text, range.count, odd);
	if (odd)
		put(text, "%s",
		    PICK("", "", "", " ", "\r", ":", ":x", ":1:2", " # note"));
	if (odd && tap_below(40) == 0)
		put_bytes(text, "\0", 1);
}

static void random_file(struct pair *pair)
{
	uint32_t lines = tap_below(LINES);
	bool odd = tap_below(2), crlf = odd && tap_below(20) == 0;

	for (uint32_t i = 0; i < lines; i++) {
		if (odd && tap_below(10) == 0)
			put(&pair->file, "%s\n",
			    PICK("", "# note", "x", ":", "::", "+", " "));
		put_line(pair, odd);
		put(&pair->file, crlf ? "\r\n" : "\n");
	}
	if (lines > 0 && tap_below(8) == 0)
		pair->file.len--;
}

static void put_arg(struct pair *pair, uint32_t number)
{
	static struct text text;

	text.len = 0;
	put_number(&text, number, tap_below(6) == 0);
	strlcpy(pair->arg[pair->args++], text.bytes, ARG);
}

/* What a line grants, or two lines do, or an ID less or more at either end. */
static struct range near_grant(const struct pair *pair)
{
	/* Rather another line than last time, so that outer IDs are not asked for twice. */
	size_t i = (tap_below(8) ? pair->turn + pair->args / 3 : tap_below(LINES)) %
		   pair->lines;
	size_t j = i + (tap_below(4) == 0);
	const struct range *first = &pair->meant[i];
	const struct range *last = &pair->meant[j < pair->lines ? j : i];
	uint32_t start = first->start + (tap_below(6) ? 0 : tap_below(4) - 1);
	uint32_t end = last->start + last->count + (tap_below(6) ? 0 : tap_below(4) - 2);

	/* Where the two lie apart, a stretch without end would come out. */
	return (struct range){start, end - start <= 40 ? end - start : first->count};
}

static void random_triple(struct pair *pair, uint32_t *inner)
{
	struct range range = {some_id(pair), 1 + tap_below(10)};

	if (tap_below(6) == 0)
		range = (struct range){own_id(pair), 1 + (tap_below(8) == 0)};
	else if (pair->lines > 0 && tap_below(8) > 0)
		range = near_grant(pair);
	put_arg(pair, tap_below(16) ? *inner : some_id(pair));
	put_arg(pair, range.start);
	put_arg(pair, range.count);
	*inner += range.count + tap_below(2);
}

/* Close to 340 extents, or to a page of text: the lines are then 20 bytes long. */
static void many_triples(struct pair *pair)
{
	bool lengthy = tap_below(2), mergeable = tap_below(2);
	uint32_t n = lengthy ? 203 + tap_below(4) : 338 + tap_below(6);

	put(&pair->file, "%s%s:%u:1000\n",
	    pair->file.len && pair->file.bytes[pair->file.len - 1] != '\n' ? "\n" : "",
	    pair->caller->name, MANY);
	for (uint32_t i = 0; i < n; i++) {
		snprintf(pair->arg[pair->args++], ARG, "%u",
			 (lengthy ? 4000000000U : 0) + i);
		snprintf(pair->arg[pair->args++], ARG, "%u",
			 MANY + (mergeable ? i : 2 * i));
		snprintf(pair->arg[pair->args++], ARG, "1");
	}
}

static void random_request(struct pair *pair)
{
	uint32_t inner = tap_below(4) ? 0 : some_id(pair);
	uint32_t triples = tap_below(50) ? 1 + tap_below(1 + tap_below(4)) : 0;

	if (tap_below(150) == 0) {
		many_triples(pair);
		return;
	}
	for (uint32_t i = 0; i < triples; i++)
		random_triple(pair, &inner);
	if (tap_below(100) == 0)
		put_arg(pair, 1);
}

static void random_pair(struct pair *pair, const struct caller *caller)
{
	*pair = (struct pair){
		.kind = tap_below(2) ? ID_UID : ID_GID,
		.caller = caller,
		.ours = getenv(tap_below(2) ? "HELPERS_SETUID" : "HELPERS_FILECAPS")};
	random_file(pair);
	random_request(pair);
}

/* What a helper does */

struct outcome {
	int status;
	struct idmap map;
	bool denied; /* setgroups, if there is a map */
	char said[SAID];
};

static bool setgroups_denied(int dir)
{
	char text[8] = "";
	int fd = openat(dir, "setgroups", O_RDONLY | O_CLOEXEC);

	if (fd < 0 || read(fd, text, sizeof(text) - 1) < 0)
		die("setgroups");
	close(fd);
	return text[0] == 'd';
}

/* One target serves until something is written. */
static pid_t target;

static void look_at_target(enum id_kind kind, struct outcome *outcome)
{
	int dir = open_proc(target);
	bool denied = setgroups_denied(dir);

	if (live_map(dir, kind, &outcome->map) != 0)
		die("reading a map");
	close(dir);
	outcome->denied = denied && outcome->map.n > 0;
	if (denied || outcome->map.n > 0) {
		end_sleeper(target);
		target = 0;
	}
}

/* Give PAIR to the helper in FOLDER. */
static void ask(const struct pair *pair, const char *folder, struct outcome *ret_outcome)
{
	char path[256], pid[16], *argv[3 * TRIPLES + 4];
	const char *helper = id_words[pair->kind].helper;
	size_t n = 0;

	*ret_outcome = (struct outcome){0};
	if (target == 0)
		target = spawn_sleeper();
	snprintf(path, sizeof(path), "%s/%s", folder, helper);
	snprintf(pid, sizeof(pid), "%d", target);
	argv[n++] = path;
	argv[n++] = pid;
	for (size_t i = 0; i < pair->args; i++)
		argv[n++] = (char *)(uintptr_t)pair->arg[i];
	argv[n] = NULL;
	overwrite(grants[pair->kind], pair->file.bytes, pair->file.len);
	ret_outcome->status = run_helper(path, argv, ret_outcome->said);
	look_at_target(pair->kind, ret_outcome);
}

static bool same(const struct outcome *a, const struct outcome *b)
{
	return a->status == b->status && a->denied == b->denied &&
	       idmap_equal(&a->map, &b->map);
}

/* A pair spelled anew, by some of the causes */

/* Read TEXT whole as strtoul(3) does with base 0, with the causes that it takes to be ours. */
static bool read_number(const char *text, const enum cause spelled[4],
			unsigned long *ret_number, unsigned int *causes)
{
	const char *at = text;
	char *end;

	while (isspace((unsigned char)*at))
		at++;
	errno = 0;
	*ret_number = strtoul(text, &end, 0);
	if (*text == '\0' || *end != '\0' || errno != 0)
		return false;
	if (at > text && spelled[0] < CAUSES)
		*causes |= 1U << spelled[0];
	if (*at == '+' || *at == '-')
		*causes |= 1U << spelled[1];
	at += *at == '+' || *at == '-';
	if (at[0] == '0' && (at[1] == 'x' || at[1] == 'X'))
		*causes |= 1U << spelled[2];
	else if (at[0] == '0' && at[1] != '\0')
		*causes |= 1U << spelled[3];
	return true;
}

/* Cut LINE, which is changed, at its colons. A fourth field is left out. */
static bool read_fields(char *line, char *ret_fields[3], unsigned int *causes)
{
	for (int i = 0; i < 3; i++) {
		ret_fields[i] = line;
		line = strchr(line, ':');
		if (line)
			*line++ = '\0';
		else if (i < 2)
			return false;
	}
	if (line)
		*causes |= 1U << FILE_FIELDS;
	return *ret_fields[0] != '\0';
}

static bool is_owner(const char *owner, const struct caller *caller, unsigned int *causes)
{
	const char *twin = caller == &callers[0]   ? "alicia"
			   : caller == &callers[3] ? "thora"
						   : "";
	char number[16];

	snprintf(number, sizeof(number), "%u", caller->uid);
	if (*twin && strcmp(owner, twin) == 0)
		*causes |= 1U << FILE_OWNER;
	else if (strcmp(owner, caller->name) != 0 && strcmp(owner, number) != 0)
		return false;
	return true;
}

/* What LINE gives CALLER by the system's helper, and the causes why it gives nothing by ours. */
static bool read_line(const char *line, const struct caller *caller,
		      struct range *ret_range, unsigned int *ret_causes)
{
	/* A blank before a number of the file is fine with both. */
	static const enum cause spelled[4] = {CAUSES, FILE_SIGN, FILE_HEX, FILE_ZERO};
	unsigned long start, count, last;
	char copy[SUBID_LINE], *fields[3];

	*ret_causes = 0;
	if (strlen(line) >= SUBID_LINE || *line == '+' || *line == '-')
		return false;
	snprintf(copy, sizeof(copy), "%s", line);
	if (!read_fields(copy, fields, ret_causes) ||
	    !is_owner(fields[0], caller, ret_causes) ||
	    !read_number(fields[1], spelled, &start, ret_causes) ||
	    !read_number(fields[2], spelled, &count, ret_causes))
		return false;
	last = start + count - 1;
	if (last < start || start > ID_MAX)
		return false;
	if (count == 0)
		*ret_causes |= 1U << FILE_EMPTY;
	else if (last > ID_MAX)
		*ret_causes |= 1U << FILE_END;
	*ret_range = (struct range){
		(uint32_t)start, (uint32_t)((last < ID_MAX ? last : ID_MAX) - start + 1)};
	return true;
}

/* Cut the next line off the text between *AT and END. Returns its length without the newline. */
static size_t next_line(const char **at, const char *end, char ret_line[LINE_ROOM])
{
	const char *newline = memchr(*at, '\n', (size_t)(end - *at));
	size_t len = (size_t)((newline ? newline : end) - *at);

	memcpy(ret_line, *at, len);
	ret_line[len] = '\0';
	*at += len + (newline != NULL);
	return len;
}

/* Spell PAIR's file as the system's helper reads it, as far as ALLOWED goes. Returns the causes. */
static unsigned int respell_file(const struct pair *pair, unsigned int allowed,
				 struct text *ret_file)
{
	const char *at = pair->file.bytes, *end = at + pair->file.len;
	unsigned int used = 0;

	ret_file->len = 0;
	while (at < end) {
		char line[2 * LINE_ROOM];
		unsigned int causes;
		struct range range;
		size_t len = next_line(&at, end, line);

		while (memchr(line, '\0', len) && allowed & 1U << FILE_NUL) {
			used |= 1U << FILE_NUL;
			len = strlen(line);
			if (at < end)
				len += next_line(&at, end, line + len);
		}
		if (!memchr(line, '\0', len) &&
		    read_line(line, pair->caller, &range, &causes) && causes != 0 &&
		    (causes & ~allowed) == 0) {
			used |= causes;
			len = (size_t)snprintf(line, sizeof(line), "%s:%u:%u",
					       pair->caller->name, range.start,
					       range.count);
		}
		put_bytes(ret_file, line, len);
		put_bytes(ret_file, "\n", 1);
	}
	return used;
}

static unsigned int respell_args(struct pair *pair, unsigned int allowed)
{
	static const enum cause spelled[4] = {ARG_BLANK, ARG_SIGN, ARG_HEX, ARG_ZERO};
	unsigned int used = 0;

	for (size_t i = 0; i < pair->args; i++) {
		unsigned int causes = 0;
		unsigned long number;

		if (!read_number(pair->arg[i], spelled, &number, &causes) ||
		    causes == 0 || (causes & ~allowed) != 0)
			continue;
		used |= causes;
		snprintf(pair->arg[i], ARG, "%lu", number);
	}
	return used;
}

/* Returns the causes of those allowed that there are. */
static unsigned int respell(const struct pair *pair, unsigned int allowed,
			    struct pair *ret_pair)
{
	unsigned int used;

	*ret_pair = *pair;
	used = respell_file(pair, allowed, &ret_pair->file);
	used |= respell_args(ret_pair, allowed);
	if (allowed & 1U << OUTER_ZERO && pair->ours == getenv("HELPERS_FILECAPS")) {
		ret_pair->ours = getenv("HELPERS_SETUID");
		used |= 1U << OUTER_ZERO;
	}
	return used;
}

/* Spelled anew, does ours answer as the system's did? */
static bool explains(const struct pair *pair, unsigned int causes,
		     const struct outcome *theirs)
{
	static struct pair anew;
	struct outcome outcome;

	respell(pair, causes, &anew);
	ask(&anew, anew.ours, &outcome);
	return same(&outcome, theirs);
}

/* Does the system's helper write OURS too, when it is asked for it as it stands? */
static bool merged_the_same(const struct pair *pair, const struct outcome *ours)
{
	static struct pair anew;
	struct outcome outcome;

	anew = *pair;
	anew.args = 0;
	for (size_t i = 0; i < ours->map.n; i++) {
		const struct extent *e = &ours->map.extents[i];

		snprintf(anew.arg[anew.args++], ARG, "%u", e->inner);
		snprintf(anew.arg[anew.args++], ARG, "%u", e->outer);
		snprintf(anew.arg[anew.args++], ARG, "%u", e->count);
	}
	ask(&anew, SYSTEM_HELPERS, &outcome);
	return anew.args < pair->args && same(&outcome, ours);
}

static unsigned int find_causes(const struct pair *pair, const struct outcome *ours,
				const struct outcome *theirs);

/*
 * A NUL byte before the last newline makes the system's helper look for more of that line, and give
 * up on the whole file when there is none. Without that line, which is void to ours, the two must
 * agree.
 */
static unsigned int without_last_line(const struct pair *pair, const struct outcome *ours)
{
	struct pair *anew = malloc(sizeof(*anew));
	struct outcome theirs;
	unsigned int causes = 0;
	const char *newline;

	if (!anew)
		die("malloc");
	*anew = *pair;
	newline = memrchr(anew->file.bytes, '\n', anew->file.len - 1);
	anew->file.len = newline ? (size_t)(newline - anew->file.bytes) + 1 : 0;
	if (memchr(pair->file.bytes + anew->file.len, '\0',
		   pair->file.len - anew->file.len)) {
		ask(anew, SYSTEM_HELPERS, &theirs);
		if (!same(ours, &theirs))
			causes = find_causes(anew, ours, &theirs);
		if (same(ours, &theirs) || causes != 0)
			causes |= 1U << FILE_LAST;
	}
	free(anew);
	return causes;
}

/* The fewest causes for which ours answers as the system's did when the pair is spelled anew. */
static unsigned int why_stricter(const struct pair *pair, const struct outcome *theirs)
{
	static struct pair anew;
	unsigned int causes = respell(pair, UINT32_MAX, &anew);

	if (!explains(pair, causes, theirs))
		return 0;
	for (unsigned int i = 0; i < CAUSES; i++)
		if (causes & 1U << i && causes != 1U << i &&
		    explains(pair, causes & ~(1U << i), theirs))
			causes &= ~(1U << i);
	return causes;
}

/* Why OURS is not THEIRS, as bits 1 << enum cause; none: a failure. */
static unsigned int find_causes(const struct pair *pair, const struct outcome *ours,
				const struct outcome *theirs)
{
	unsigned int causes;

	if (ours->map.n > 0 && theirs->map.n > 0 && theirs->denied && !ours->denied)
		return 0;
	if (ours->map.n == 0 || theirs->map.n > 0)
		return why_stricter(pair, theirs);
	causes = without_last_line(pair, ours);
	if (causes == 0 && merged_the_same(pair, ours))
		causes = 1U << MERGED;
	return causes;
}

static void show_outcome(const char *who, const struct outcome *outcome)
{
	printf("# %s: exit %d, %s%s, said: %s\n", who, outcome->status,
	       outcome->map.n ? "a map" : "no map",
	       outcome->denied ? ", setgroups denied" : "", outcome->said);
}

static void show_pair(const struct pair *pair, const struct outcome *ours,
		      const struct outcome *theirs)
{
	struct idmap own = {0};

	printf("# %s (user %u, group %u), %s/%s\n", pair->caller->name, pair->caller->uid,
	       pair->caller->gid, pair->ours, id_words[pair->kind].helper);
	printf("# %s:\n", id_words[pair->kind].grants);
	show_bytes(pair->file.bytes, pair->file.len);
	puts("# arguments behind the PID:");
	for (size_t i = 0; i < pair->args && i < 36; i++)
		show_bytes(pair->arg[i], strlen(pair->arg[i]));
	read_own_map(pair->kind, &own);
	puts("# in a namespace with the map:");
	for (size_t i = 0; i < own.n; i++)
		printf("#\t%u %u %u\n", own.extents[i].inner, own.extents[i].outer,
		       own.extents[i].count);
	show_outcome("ours", ours);
	show_outcome("the system's", theirs);
}

static void count_same(const struct outcome *outcome, bool nested)
{
	if (outcome->map.n > 0) {
		counts->written++;
		counts->written_nested += nested;
		return;
	}
	counts->refused++;
	counts->by_kernel += strstr(outcome->said, ": Operation not permitted") != NULL;
}

static void try_pair(const struct caller *caller, bool nested)
{
	static struct pair pair;
	struct outcome ours, theirs;
	unsigned int causes;

	random_pair(&pair, caller);
	counts->kinds[pair.kind]++;
	counts->nested += nested;
	ask(&pair, pair.ours, &ours);
	ask(&pair, SYSTEM_HELPERS, &theirs);
	if (same(&ours, &theirs)) {
		count_same(&ours, nested);
		return;
	}
	causes = find_causes(&pair, &ours, &theirs);
	for (unsigned int i = 0; i < CAUSES; i++)
		counts->causes[i] += causes >> i & 1;
	counts->differ += causes != 0;
	counts->unexplained += causes == 0;
	CHECK(causes != 0);
	if (causes == 0 && counts->unexplained < 10)
		show_pair(&pair, &ours, &theirs);
}

static void try_batch(void)
{
	const struct caller *caller = &callers[tap_below(2) ? 0 : tap_below(CALLERS)];
	struct idmap own = {0};

	read_own_map(ID_UID, &own);
	become(caller);
	target = 0;
	for (unsigned int i = 0; i < BATCH; i++)
		try_pair(caller, own.n > 1);
	if (target != 0)
		end_sleeper(target);
}

/* The IDs that pairs ask for; the accounts' own ones, which a process must have, come first. */
static void draw_windows(struct idmap *ret_map)
{
	uint32_t shift = 1000000 * (1 + tap_below(40));

	*ret_map = (struct idmap){4,
				  {{0, 0, 5000},
				   {100000, 100000 + shift, 64},
				   {MANY, MANY + shift, 1000},
				   {ID_MAX - 63, ID_MAX - 63, 64}}};
}

/* The IDs of PARENT cut into pieces, some left out. */
static void draw_parent(enum id_kind kind, const struct idmap *parent,
			struct idmap *ret_map)
{
	struct idmap whole = {0};

	(void)kind;
	draw_windows(&whole);
	if (parent->n > 1)
		whole = *parent;
	for (size_t i = 0; i < whole.n; i++) {
		struct extent left = whole.extents[i];

		if (parent->n > 1)
			left.outer = left.inner;
		while (left.inner >= 5000 && left.count > 1 &&
		       tap_below(left.inner == MANY ? 6 : 2) == 0) {
			uint32_t count = 1 + tap_below(left.count - 1);

			if (tap_below(10) > 0)
				ret_map->extents[ret_map->n++] =
					(struct extent){left.inner, left.outer, count};
			left = (struct extent){left.inner + count, left.outer + count,
					       left.count - count};
		}
		ret_map->extents[ret_map->n++] = left;
	}
}

static void print_counts(void)
{
	printf("# %6lu pairs\n# %6lu for newuidmap\n# %6lu for newgidmap\n"
	       "# %6lu below a nested map\n",
	       pairs, counts->kinds[ID_UID], counts->kinds[ID_GID], counts->nested);
	printf("# %6lu written by both\n# %6lu of these below a nested map\n"
	       "# %6lu refused by both\n# %6lu of these by the kernel\n",
	       counts->written, counts->written_nested, counts->refused,
	       counts->by_kernel);
	printf("# %6lu differ by named causes\n# %6lu disagreements\n", counts->differ,
	       counts->unexplained);
	for (int i = 0; i < CAUSES; i++) {
		printf("# %6lu %s\n", counts->causes[i], cause_names[i]);
		CHECK(counts->causes[i] > 0 || pairs < 20000);
	}
}

static void ours_writes_what_the_systems_writes_but_for_named_causes(void)
{
	static const struct nesting nesting = {draw_parent, try_batch};

	for (unsigned long i = 0; i < pairs && counts->unexplained < 10; i += BATCH)
		run_nested(&nesting, tap_below(2) * (1 + tap_below(3)));
	print_counts();
	CHECK(counts->written > pairs / 10 || pairs < 2000);
	CHECK(counts->written_nested > pairs / 50 || pairs < 2000);
	CHECK(counts->by_kernel > 0 || pairs < 2000);
}

static void add_twins(void)
{
	FILE *passwd = fopen("/etc/passwd", "a");

	if (!passwd || fputs(twins, passwd) == EOF || fclose(passwd) != 0)
		die("/etc/passwd");
}

int main(int argc, char **argv)
{
	if (argc > 1)
		pairs = strtoul(argv[1], NULL, 10);
	pairs = (pairs + BATCH - 1) / BATCH * BATCH;
	counts = share(sizeof(*counts));
	add_twins();
	for (enum id_kind kind = ID_UID; kind <= ID_GID; kind++)
		grants[kind] = open_grants(kind);
	return TAP_RUN(TEST(ours_writes_what_the_systems_writes_but_for_named_causes));
}

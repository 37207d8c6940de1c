/* SPDX-License-Identifier: BSD-2-Clause */

/* When a map is granted: newuidmap(1) and subuid(5) once more, slowly, from the bytes. */

#include "helper-call.h"

#include <ctype.h>
#include <strings.h>
#include <unistd.h>

static size_t page;

/* The first word behind the first "subid:" that has one; the empty one means the files. */
static void oracle_service(struct part part, char ret_service[64])
{
	const char *at = part.text ? part.text : "", *end = at + part.len;

	ret_service[0] = '\0';
	while (at < end && ret_service[0] == '\0') {
		const char *newline = memchr(at, '\n', (size_t)(end - at));
		const char *stop = newline ? newline : end, *word = at + 6;
		size_t n = 0;

		if (stop - at >= 6 && strncasecmp(at, "subid:", 6) == 0) {
			while (word < stop && (*word == ' ' || *word == '\t'))
				word++;
			while (n < 63 && word + n < stop && word[n] &&
			       !strchr(" \t", word[n]))
				n++;
			memcpy(ret_service, word, n);
			ret_service[n] = '\0';
		}
		at = stop + 1;
	}
	if (ret_service[0] == '#' || strcmp(ret_service, "files") == 0)
		ret_service[0] = '\0';
}

/* A name for which no plugin is there, so that the files count; and what the loader makes of some bytes
 * is not ours to say. */
static bool is_plain_service(const char *service)
{
	while (isalnum((unsigned char)*service))
		service++;
	return *service == '\0';
}

/* The value that the last line of the name has. fuzz-login-defs.c is about this one alone. */
static bool oracle_other_group(struct part part)
{
	static const char name[] = "GRANT_AUX_GROUP_SUBIDS";
	const char *at = part.text ? part.text : "", *end = at + part.len;
	bool yes = false;

	while (at < end) {
		const char *newline = memchr(at, '\n', (size_t)(end - at));
		const char *stop = newline ? newline : end, *next = stop + 1;
		char line[256] = "", *p = line;

		while (stop > at && isspace((unsigned char)stop[-1]))
			stop--;
		if (stop - at < 256)
			memcpy(line, at, (size_t)(stop - at));
		p += strspn(p, " \t\v\f\r");
		if (strncmp(p, name, sizeof(name) - 1) == 0 &&
		    (p[sizeof(name) - 1] == '\0' || strchr(" \t", p[sizeof(name) - 1]))) {
			p += sizeof(name) - 1;
			p += strspn(p, " \t\"");
			yes = strncasecmp(p, "yes", 3) == 0 && (!p[3] || p[3] == '"');
		}
		at = next;
	}
	return yes;
}

/* Does NAME name the caller's target? */
static bool oracle_target(const struct call *call, const char *name)
{
	uint32_t number;

	if (strcmp(name, "fd:60") == 0 || strcmp(name, "fd:61") == 0)
		return true;
	return oracle_number(name, strlen(name), &number) == 0 &&
	       number == (uint32_t)call->target;
}

/* A line's range, if the line grants something to CALLER. */
static bool oracle_line(const char *line, size_t len, const struct caller *caller,
			uint64_t *ret_start, uint64_t *ret_end)
{
	char copy[1024] = "", number[12], *start, *count;
	uint32_t n[2];

	if (len > 1023 || memchr(line, '\0', len))
		return false;
	memcpy(copy, line, len);
	start = strchr(copy, ':');
	count = start ? strchr(start + 1, ':') : NULL;
	if (!count || strchr(count + 1, ':'))
		return false;
	*start++ = *count++ = '\0';
	snprintf(number, sizeof(number), "%u", caller->uid);
	if (strcmp(copy, caller->name) != 0 && strcmp(copy, number) != 0)
		return false;
	start += strspn(start, " \t\v\f\r");
	count += strspn(count, " \t\v\f\r");
	if (oracle_number(start, strlen(start), &n[0]) != 0 ||
	    oracle_number(count, strlen(count), &n[1]) != 0 || !oracle_range(n[0], n[1]))
		return false;
	*ret_start = n[0];
	*ret_end = (uint64_t)n[0] + n[1];
	return true;
}

/* The first ID from AT on that no line grants: one pass over the file after another, until no line
 * leads further. */
static uint64_t oracle_reach(struct part part, const struct caller *caller, uint64_t at)
{
	const char *text = part.text ? part.text : "", *line, *end = text + part.len;
	bool moved = true;

	while (moved) {
		bool nul_before = false;

		moved = false;
		for (line = text; line < end;) {
			const char *newline = memchr(line, '\n', (size_t)(end - line));
			const char *stop = newline ? newline : end;
			uint64_t from, to;

			if (!nul_before &&
			    oracle_line(line, (size_t)(stop - line), caller, &from,
					&to) &&
			    from <= at && at < to) {
				at = to;
				moved = true;
			}
			nul_before = memchr(line, '\0', (size_t)(stop - line));
			line = stop + 1;
		}
	}
	return at;
}

static size_t text_len(const struct extent *list, size_t n)
{
	size_t len = 0;

	for (size_t i = 0; i < n; i++)
		len += (size_t)snprintf(NULL, 0, "%u %u %u\n", list[i].inner,
					list[i].outer, list[i].count);
	return len - 1;
}

static bool is_disjoint(const struct extent *list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		for (size_t j = 0; j < i; j++) {
			const struct extent *a = &list[i], *b = &list[j];

			if (a->inner < (uint64_t)b->inner + b->count &&
			    b->inner < (uint64_t)a->inner + a->count)
				return false;
			if (a->outer < (uint64_t)b->outer + b->count &&
			    b->outer < (uint64_t)a->outer + a->count)
				return false;
		}
	return true;
}

static int compare_inner(const void *a, const void *b)
{
	const struct extent *x = a, *y = b;

	return x->inner < y->inner ? -1 : x->inner > y->inner;
}

static size_t join(struct extent *list, size_t n)
{
	size_t joined = 1;

	qsort(list, n, sizeof(*list), compare_inner);
	for (size_t i = 1; i < n; i++) {
		struct extent *last = &list[joined - 1];

		if (list[i].inner - last->inner == last->count &&
		    list[i].outer - last->outer == last->count)
			last->count += list[i].count;
		else
			list[joined++] = list[i];
	}
	return joined;
}

/* The map of the words, in their order unless only its merged form fits. */
static bool oracle_map(char *const *words, size_t n, struct verdict *verdict)
{
	struct extent *list = verdict->list;

	for (size_t i = 0; i < n; i++) {
		uint32_t number[3];

		for (size_t k = 0; k < 3; k++)
			if (oracle_number(words[3 * i + k], strlen(words[3 * i + k]),
					  &number[k]) != 0)
				return false;
		if (!oracle_range(number[0], number[2]) ||
		    !oracle_range(number[1], number[2]))
			return false;
		list[i] = (struct extent){number[0], number[1], number[2]};
	}
	if (!is_disjoint(list, n))
		return false;
	if (n > IDMAP_EXTENTS || text_len(list, n) >= page)
		n = join(list, n);
	verdict->n = n;
	return n <= IDMAP_EXTENTS && text_len(list, n) < page;
}

static bool oracle_granted(const struct call *call, struct verdict *verdict)
{
	const struct caller *caller = call->caller;
	uint32_t own = call->kind == ID_UID ? caller->uid : caller->gid;

	for (size_t i = 0; i < verdict->n; i++) {
		const struct extent *e = &verdict->list[i];
		uint64_t end = (uint64_t)e->outer + e->count;

		if (oracle_reach(call->grants, caller, e->outer) >= end)
			verdict->by_grant = true;
		else if (e->count != 1 || e->outer != own)
			return false;
		/* CAP_SETFCAP, which an install with one file capability lacks. */
		if (e->outer == 0 && call->kind == ID_UID && !call->setuid)
			return false;
	}
	return true;
}

/* glibc reads nsswitch.conf too, for passwd; what it makes of a line is not ours to say. */
static bool is_plain_nsswitch(struct part part)
{
	for (size_t i = 0; i < part.len; i++)
		if (strncasecmp(part.text + i, "passwd",
				part.len - i < 6 ? part.len - i : 6) == 0 ||
		    part.text[i] == '\0')
			return false;
	return true;
}

void helper_oracle(const struct call *call, struct verdict *ret_verdict)
{
	const struct caller *caller = call->caller;
	struct verdict *verdict = ret_verdict;
	size_t n = (size_t)(call->argc - 2) / 3;

	page = (size_t)sysconf(_SC_PAGESIZE);
	verdict->n = 0;
	verdict->by_grant = false;
	oracle_service(call->nsswitch, verdict->service);
	verdict->certain =
		is_plain_nsswitch(call->nsswitch) && is_plain_service(verdict->service);
	verdict->granted =
		call->argc >= 5 && (call->argc - 2) % 3 == 0 && call->grants.text &&
		!strchr(verdict->service, '/') && caller->name &&
		(caller->gid == caller->primary ||
		 oracle_other_group(call->login_defs)) &&
		oracle_target(call, call->argv[1]) &&
		oracle_map(call->argv + 2, n, verdict) && oracle_granted(call, verdict);
}

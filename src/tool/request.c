/* SPDX-License-Identifier: BSD-2-Clause */
#include "request.h"

#include "../trusted/autoclose.h"
#include "../trusted/live.h"
#include "../trusted/nss.h"
#include "command.h"
#include "input.h"
#include "message.h"
#include "noentry.h"
#include "process.h"
#include "writer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The command line */

int request_add(struct request *request, struct mapspec spec, char **ret_message)
{
	struct mapspec *specs =
		reallocarray(request->specs, request->n + 1, sizeof(*specs));

	if (!specs) {
		*ret_message = NULL;
		return -1;
	}
	request->specs = specs;
	spec.position = request->n + 1;
	specs[request->n++] = spec;
	return 0;
}

static int add_map(struct request *request, const char *text, char **ret_message)
{
	struct mapspec spec;
	struct mapspec_refusal why;
	int r = mapspec_parse(text, &spec, &why);

	if (r == 0)
		return request_add(request, spec, ret_message);
	*ret_message = mapspec_explain(text, r, &why);
	return -1;
}

/* --identity 5 and --identity 5-9 are short for the MAPs +5:5:1 and +5:5:5. */
static int add_identity(struct request *request, const char *text, char **ret_message)
{
	struct mapspec spec = {.sign = MAPSPEC_OVERLAY, .applies = {true, true}};
	const char *dash = strchr(text, '-');
	size_t len = dash ? (size_t)(dash - text) : strlen(text);
	uint32_t first, last;

	if (id_parse(text, len, &first) != 0)
		goto fail;
	last = first;
	if (dash && id_parse(dash + 1, strlen(dash + 1), &last) != 0)
		goto fail;
	if (last < first ||
	    extent_make(first, first, last - first + 1, &spec.extent) != 0)
		goto fail;
	return request_add(request, spec, ret_message);
fail:
	return message_fail(ret_message,
			    "--identity '%s': not ID or FIRST-LAST with IDs of 0 to %u",
			    text, ID_MAX);
}

static int set_layout(struct request *request, const char *name, char **ret_message)
{
	request->layout_given = true;
	if (layout_parse(name, &request->layout))
		return 0;
	return message_fail(ret_message,
			    "--layout '%s': not one of root, keep-id, subids, self",
			    name);
}

/* Sizes may be written as people do, 64k for 65536; IDs never. */
static int set_size(struct request *request, const char *option, const char *text,
		    char **ret_message)
{
	static const char units[] = "kmgKMG";
	size_t digits = strspn(text, "0123456789");
	const char *unit = text[digits] ? strchr(units, text[digits]) : NULL;
	uint64_t size = 0;
	uint32_t number;

	if (request->size_option && strcmp(request->size_option, option) != 0)
		return message_fail(ret_message,
				    "--auto=N and --size N both say the size: give one "
				    "of them");
	request->size_option = option;

	if (id_parse(text, digits, &number) == 0)
		size = number;
	if (unit)
		size <<= 10 * ((unit - units) % 3 + 1);
	if (size > 0 && size <= ID_NONE && text[digits + (unit != NULL)] == '\0') {
		request->size = (uint32_t)size;
		return 0;
	}
	return message_fail(ret_message,
			    "%s '%s': not a number of IDs from 1 to %u, which may end "
			    "in k, m or g (65536, 64k)",
			    option, text, ID_NONE);
}

/* NEXT is the word behind --auto. */
static int set_auto(struct request *request, const char *size, const char *next,
		    char **ret_message)
{
	request->slice = true;
	if (!size && next && next[0] >= '0' && next[0] <= '9' &&
	    !mapspec_looks_like(next))
		return message_fail(ret_message,
				    "--auto %s: a size is joined on with =: --auto=%s",
				    next, next);
	return size ? set_size(request, "--auto", size, ret_message) : 0;
}

static int set_name(struct request *request, const char *name, char **ret_message)
{
	request->name = name;
	if (reserve_name_valid(name))
		return 0;
	return message_fail(ret_message,
			    "--name '%s': a name is up to 64 letters, digits, '_', '.' "
			    "and '-', the first a letter or digit",
			    name);
}

/* "-5:1", "-u:5:1": no option is a digit or has a colon behind its letter. */
static bool is_removal(const char *word)
{
	return word && word[0] == '-' && mapspec_looks_like(word) &&
	       ((word[1] >= '0' && word[1] <= '9') || (word[1] && word[2] == ':'));
}

/* Take OPTION if it is one of a request's. Returns 1 if not, 0, or -1 with *RET_MESSAGE. */
static int take_option(struct request *request, int option, char **argv,
		       char **ret_message)
{
	switch (option) {
	case 'u':
		request->kinds[ID_UID] = true;
		return 0;
	case 'g':
		request->kinds[ID_GID] = true;
		return 0;
	case REQUEST_LAYOUT:
		return set_layout(request, optarg, ret_message);
	case REQUEST_SIZE:
		return set_size(request, "--size", optarg, ret_message);
	case REQUEST_AUTO:
		return set_auto(request, optarg, argv[optind], ret_message);
	case REQUEST_NAME:
		return set_name(request, optarg, ret_message);
	case REQUEST_IDENTITY:
		return add_identity(request, optarg, ret_message);
	case REQUEST_USER:
		request->user = optarg;
		return 0;
	case REQUEST_PARENT:
		request->parent = optarg;
		return 0;
	case REQUEST_WORD:
		if (strcmp(optarg, "-") == 0 || strncmp(optarg, "fd:", 3) == 0 ||
		    !mapspec_looks_like(optarg))
			return 1;
		return add_map(request, optarg, ret_message);
	default:
		return 1;
	}
}

/* Do MAPs take the place of the layout, for ALL kinds asked for or for any of them? */
static bool has_base(const struct request *request, bool all)
{
	size_t asked = 0, replaced = 0;

	for (enum id_kind kind = ID_UID; kind <= ID_GID; kind++) {
		asked += request->kinds[kind];
		replaced += request->kinds[kind] &&
			    mapspec_has_base(request->specs, request->n, kind);
	}
	return replaced > 0 && (!all || replaced == asked);
}

int request_check(const struct request *request, char **ret_message)
{
	if (request->slice && has_base(request, false))
		return message_fail(ret_message,
				    "--auto chooses the base itself: a MAP beside it has "
				    "the sign + or -");
	if ((request->layout_given || request->size > 0) && has_base(request, true))
		return message_fail(ret_message,
				    "%s and MAPs without a sign: they stand in the place "
				    "of the layout; +INNER:OUTER:COUNT is laid over it",
				    request->layout_given ? "--layout" : "--size");
	return 0;
}

/* "4711" and "fd:3" are processes; a file of such a name is "./4711". */
static bool names_process(const char *word)
{
	const char *digits = word + (strncmp(word, "fd:", 3) == 0 ? 3 : 0);

	return *digits && digits[strspn(digits, "0123456789")] == '\0';
}

/* A --parent that can be neither process nor file. */
static int check_parent(const struct request *request, char **ret_message)
{
	AUTOCLOSE int dir = -1;
	int r = request->parent && names_process(request->parent)
			? process_open(request->parent, &dir, ret_message)
			: 0;

	if (r == COMMAND_USAGE)
		return -1;
	if (r != 0)
		free(*ret_message); /* said when the map is wanted */
	*ret_message = NULL;
	return 0;
}

static int check_user(const struct request *request, char **ret_message)
{
	struct account account = {0};
	int r = request->user ? account_find(request->user, &account) : 0;

	account_clear(&account);
	if (r != -ENOENT)
		return 0;
	return message_fail(ret_message, "--user '%s': no such login name or UID",
			    request->user);
}

/* What goes together, when all of it has been read. */
static int finish_request(struct request *request, char **ret_message)
{
	if (request->chain && request->kinds[ID_UID] && request->kinds[ID_GID])
		return message_fail(ret_message,
				    "-u and -g: an ID is looked up in one map: give one "
				    "of them");
	if (!request->kinds[ID_UID] && !request->kinds[ID_GID]) {
		request->kinds[ID_UID] = true;
		request->kinds[ID_GID] = !request->chain;
	}
	if (request->name && !request->slice)
		return message_fail(ret_message,
				    "--name '%s' names a slice: it wants --auto",
				    request->name);
	if (request->slice && request->layout_given)
		return message_fail(ret_message,
				    "--auto and --layout: a slice is the whole layout, "
				    "from inner 0 on; a MAP can add the own ID, "
				    "+u:0:%u:1",
				    getuid());
	if (request->slice && request->parent)
		return message_fail(ret_message,
				    "--auto and --parent: which slices are free is seen "
				    "from our own namespace alone; a slice for a child "
				    "of another is chosen there");
	if (check_user(request, ret_message) != 0 ||
	    check_parent(request, ret_message) != 0)
		return -1;
	return request->chain ? 0 : request_check(request, ret_message);
}

int request_next(struct request *request, int argc, char **argv, const char *shorts,
		 const struct option *longs, char **ret_message)
{
	int option = 0, r = 0;

	*ret_message = NULL;
	while (r == 0) {
		if (is_removal(argv[optind])) {
			r = add_map(request, argv[optind++], ret_message);
			continue;
		}
		option = getopt_long(argc, argv, shorts, longs, NULL);
		if (option == -1)
			break;
		r = take_option(request, option, argv, ret_message);
	}
	if (option == -1)
		r = finish_request(request, ret_message);
	return r < 0 ? '?' : option;
}

void request_clear(struct request *request)
{
	free(request->specs);
	*request = (struct request){0};
}

/* The plan */

static int find_account(const struct request *request, struct account *ret_account,
			char **ret_message)
{
	int r = request->user ? account_find(request->user, ret_account)
			      : account_self(ret_account);

	if (r == 0)
		return 0;
	if (r == -ENOENT)
		return message_fail(ret_message, "--user '%s': no such login name or UID",
				    request->user);
	return message_fail(ret_message, "looking up %s: %s",
			    request->user ? request->user : "your own account",
			    strerror(-r));
}

/* --parent FILE, one map for both kinds, in the form of /proc/PID/uid_map. */
static int read_parent_file(const char *path, struct idmap *ret_map, char **ret_message)
{
	char *text = NULL, *why = NULL;
	size_t len;
	int r = input_read(path, &text, &len, &why);

	if (r != 0)
		message_fail(ret_message, "--parent %s", why ? why : path);
	free(why);
	if (r == 0 && live_parse(text, len, ret_map) != 0)
		r = message_fail(ret_message,
				 "--parent %s: not in the form of /proc/PID/uid_map, "
				 "a line INNER OUTER COUNT for each of up to %u extents",
				 input_name(path), IDMAP_EXTENTS);
	free(text);
	return r;
}

static int read_parent_process(const char *name, enum id_kind kind, struct idmap *ret_map,
			       char **ret_message)
{
	AUTOCLOSE int dir = -1;
	int r;

	if (process_open(name, &dir, ret_message) != 0)
		return -1;
	r = live_map(dir, kind, ret_map);
	if (r == 0)
		return 0;
	return message_fail(ret_message, "%s of %s: %s", id_words[kind].map, name,
			    strerror(-r));
}

static int read_own(enum id_kind kind, struct idmap *ret_map, char **ret_message)
{
	AUTOCLOSE int dir = open("/proc/self", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int r = dir < 0 ? -errno : live_map(dir, kind, ret_map);

	if (r == 0)
		return 0;
	return message_fail(ret_message, "/proc/self/%s: %s", id_words[kind].map,
			    strerror(-r));
}

/* A pipe can be read only once, so a FILE that was read for the other kind is not read again. */
static int read_parent(const struct request *request, enum id_kind kind,
		       struct idmap maps[ID_KINDS], char **ret_message)
{
	struct idmap *map = &maps[kind], *other = &maps[kind == ID_UID];
	const char *name = request->parent;
	int r = 0;

	if (!name)
		r = read_own(kind, map, ret_message);
	else if (names_process(name))
		r = read_parent_process(name, kind, map, ret_message);
	else if (other->n == 0)
		r = read_parent_file(name, map, ret_message);
	else
		*map = *other;
	if (r != 0 || map->n > 0)
		return r;
	return message_fail(ret_message,
			    "%s of %s is not written yet: a child of that user namespace "
			    "can have no map before",
			    id_words[kind].map, name ? name : "/proc/self");
}

/* Load the grants of KIND unless they have been; no file is an empty one. */
static int need_grants(struct answer *answer, enum id_kind kind, char **ret_message)
{
	struct grants *grants = &answer->grants[kind];
	int r;

	if (grants->source.part != SOURCE_NONE)
		return 0;
	r = grants_load(&answer->account, kind, grants);
	if (r == 0 || r == -ENOENT)
		return 0;
	*ret_message = source_explain(&grants->source, r);
	return -1;
}

static uint32_t own_id(const struct account *account, enum id_kind kind)
{
	return kind == ID_UID ? account->uid : account->gid;
}

/* True if KIND's map begins with a layout that is made of grants. */
static bool is_from_grants(const struct request *request, enum id_kind kind)
{
	return request->layout != LAYOUT_SELF &&
	       !mapspec_has_base(request->specs, request->n, kind);
}

/* The layouts are made of grants: load them, and see that there are some. */
static int load_layouts(const struct request *request, struct answer *answer,
			char **ret_message)
{
	bool lacks[ID_KINDS] = {false, false};

	for (enum id_kind kind = ID_UID; kind <= ID_GID; kind++) {
		if (!request->kinds[kind] || !is_from_grants(request, kind))
			continue;
		if (need_grants(answer, kind, ret_message) != 0)
			return -1;
		lacks[kind] = answer->grants[kind].n == 0;
	}
	if (lacks[ID_UID] || lacks[ID_GID])
		return noentry_explain(&answer->account, lacks, answer->grants,
				       ret_message);
	return 0;
}

/* The pipeline of plan.h, for one kind. Returns as those functions do. */
static int run_plan(const struct request *request, enum id_kind kind, bool by_helper,
		    struct answer *answer, struct plan_refusal *ret_why)
{
	struct plan *plan = &answer->plans[kind];
	const struct grants *grants = &answer->grants[kind];
	uint32_t own = own_id(&answer->account, kind);
	int r = 0;

	if (!request->slice && !mapspec_has_base(request->specs, request->n, kind))
		r = plan_layout(plan, request->layout, own, grants, request->size,
				ret_why);
	if (r == 0)
		r = plan_apply(plan, kind, request->specs, request->n, ret_why);
	if (r != 0)
		return r;
	if (by_helper)
		plan_keep_apart(plan, own, &grants->set);
	return plan_finish(plan, &answer->parents[kind], (size_t)sysconf(_SC_PAGESIZE),
			   &answer->maps[kind], ret_why);
}

/* The lines of GRANTS that have a part of SLICE. */
static struct origin find_origin(const struct grants *grants, const struct extent *slice)
{
	struct origin origin = {.kind = ORIGIN_GRANT};

	for (size_t i = 0; i < grants->n; i++) {
		const struct range *range = &grants->lines[i].range;

		if (range->start >= slice->outer + slice->count ||
		    range->start + range->count <= slice->outer)
			continue;
		origin.last = grants->lines[i].line;
		if (origin.first == 0) /* of a service all are 0 */
			origin.first = origin.last;
	}
	return origin;
}

/* In place of a layout. */
static int plan_slice(const struct request *request, enum id_kind kind,
		      struct answer *answer, char **ret_message)
{
	const struct grants *grants = &answer->grants[kind];
	struct extent slice = {.count = request->size ? request->size : SLICE_USUAL};

	if (reserve_choose(&answer->reserve, kind, grants, &answer->parents[kind],
			   own_id(&answer->account, kind), slice.count, ret_message) != 0)
		return -1;
	slice.outer = answer->reserve.starts[kind];
	*ret_message = NULL;
	return plan_append(&answer->plans[kind], &slice, find_origin(grants, &slice));
}

static int plan_kind(const struct request *request, enum id_kind kind, bool with_grants,
		     struct answer *answer, char **ret_message)
{
	const bool kinds[ID_KINDS] = {kind == ID_UID, kind == ID_GID};
	bool by_helper = with_grants ||
			 (is_from_grants(request, kind) && writer_needs_grants(kinds));
	struct plan_refusal why;
	int r;

	if (read_parent(request, kind, answer->parents, ret_message) != 0)
		return -1;
	if (request->slice && plan_slice(request, kind, answer, ret_message) != 0)
		return -1;
	if (with_grants && request->n > 0 && need_grants(answer, kind, ret_message) != 0)
		return -1;
	r = run_plan(request, kind, by_helper, answer, &why);
	if (r == 0 && with_grants)
		r = plan_granted(&answer->plans[kind], own_id(&answer->account, kind),
				 &answer->grants[kind].set, &why);
	if (r == 0)
		return 0;
	if (r < 0) {
		*ret_message = NULL;
		return -1;
	}
	if (answer->grants[kind].source.part != SOURCE_NONE)
		why.source = answer->grants[kind].source.name;
	*ret_message =
		plan_explain(kind, r, &why, &answer->account, &answer->parents[kind]);
	return -1;
}

static int remember(const struct request *request, const struct answer *answer,
		    char **ret_message)
{
	if (!request->hold || !request->name)
		return 0;
	return reserve_remember(&answer->reserve, request->name, ret_message);
}

static int plan_all(const struct request *request, bool with_grants,
		    struct answer *answer, char **ret_message)
{
	if (request_check(request, ret_message) != 0 ||
	    find_account(request, &answer->account, ret_message) != 0 ||
	    load_layouts(request, answer, ret_message) != 0 ||
	    (request->slice && reserve_open(request->name, request->hold,
					    &answer->reserve, ret_message) != 0))
		return -1;
	for (enum id_kind kind = ID_UID; kind <= ID_GID; kind++)
		if (request->kinds[kind] &&
		    plan_kind(request, kind, with_grants, answer, ret_message) != 0)
			return -1;
	return remember(request, answer, ret_message);
}

/* A refusal for want of grants must say that they may be elsewhere. */
static void add_absent(const struct answer *answer, char **message)
{
	for (size_t i = ID_KINDS; i > 0 && *message; i--) {
		const struct source *source = &answer->grants[i - 1].source;
		char *refusal = *message, *absent;

		if (!source_is_absent(source))
			continue;
		absent = source_explain(source, NSS_E_ABSENT);
		message_fail(message, "%s\n%s", absent ? absent : "", refusal);
		free(absent);
		free(refusal);
	}
}

int request_plan(const struct request *request, bool with_grants,
		 struct answer *ret_answer, char **ret_message)
{
	__attribute__((cleanup(answer_clear))) struct answer answer = {0};

	if (plan_all(request, with_grants, &answer, ret_message) != 0) {
		add_absent(&answer, ret_message);
		return -1;
	}
	*ret_answer = answer;
	answer = (struct answer){0};
	return 0;
}

void answer_clear(struct answer *answer)
{
	account_clear(&answer->account);
	reserve_clear(&answer->reserve);
	for (enum id_kind kind = ID_UID; kind <= ID_GID; kind++) {
		grants_clear(&answer->grants[kind]);
		plan_clear(&answer->plans[kind]);
	}
}

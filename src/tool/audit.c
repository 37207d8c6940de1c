/* SPDX-License-Identifier: BSD-2-Clause */
#include "audit.h"

#include "../trusted/nss.h"
#include "../trusted/subid.h"

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const audit_rules[] = {
	[AUDIT_OVERLAP] = "overlap",
	[AUDIT_ACCOUNT] = "account",
	[AUDIT_OUTSIDE] = "outside",
	[AUDIT_STALE] = "stale",
};

/* Who owns a namespace. */
struct owner {
	uid_t uid;
	gid_t gid;  /* primary group, ID_NONE: no account */
	char *name; /* owned; NULL: no account */
	bool asks;  /* has a namespace that is compared with the grants */
	struct idset granted;
};

/* An account, by its own ID. */
struct holder {
	uint32_t id;
	char *name; /* owned */
};

/* What one run works with. */
struct work {
	const struct namespaces *namespaces;
	enum id_kind kind;
	struct owner *owners; /* owned, by UID */
	size_t n_owners;
	struct owner **by_name; /* owned: those with an account, by name */
	size_t n_names;
	struct holder *accounts; /* owned, by ID */
	size_t n_accounts;
	struct overlap_span *spans; /* owned */
	size_t n_spans;
	struct idset granted; /* to anybody */
};

/* Owners */

static int compare_uids(const void *a, const void *b)
{
	const struct owner *x = a, *y = b;

	return (x->uid > y->uid) - (x->uid < y->uid);
}

static int compare_names(const void *a, const void *b)
{
	const struct owner *const *x = a, *const *y = b;

	return strcmp((*x)->name, (*y)->name);
}

static struct owner *find_uid(const struct work *work, uid_t uid)
{
	const struct owner key = {.uid = uid};

	return bsearch(&key, work->owners, work->n_owners, sizeof(key), compare_uids);
}

static void set_asks(const struct work *work, uid_t uid)
{
	struct owner *owner = find_uid(work, uid);

	if (owner)
		owner->asks = true;
}

static struct owner *find_name(const struct work *work, char *name)
{
	struct owner key = {.name = name}, *at = &key, **found;

	found = bsearch(&at, work->by_name, work->n_names, sizeof(struct owner *),
			compare_names);
	return found ? *found : NULL;
}

/* Is it one that the grants are about? */
static bool is_child(const struct namespaces *namespaces, uint32_t index)
{
	return namespaces->own != NAMESPACE_NONE &&
	       namespaces->list[index].parent == namespaces->own;
}

/* Ask who OWNER is; an account that is unknown has no name. */
static int look_up(struct owner *owner)
{
	const struct passwd *entry = owner->uid == ID_NONE ? NULL : getpwuid(owner->uid);

	owner->gid = entry ? entry->pw_gid : ID_NONE;
	owner->name = entry ? strdup(entry->pw_name) : NULL;
	return entry && !owner->name ? -ENOMEM : 0;
}

static int find_owners(struct work *work)
{
	uint32_t n = work->namespaces->n;
	int r = 0;

	work->owners = calloc(n + 1, sizeof(*work->owners));
	work->by_name = calloc(n + 1, sizeof(struct owner *));
	if (!work->owners || !work->by_name)
		return -ENOMEM;
	for (uint32_t i = 0; i < n; i++)
		work->owners[i].uid = work->namespaces->list[i].owner;
	qsort(work->owners, n, sizeof(*work->owners), compare_uids);
	for (uint32_t i = 0; i < n && r == 0; i++) {
		struct owner *owner = &work->owners[work->n_owners];

		if (i > 0 && owner[-1].uid == work->owners[i].uid)
			continue;
		*owner = work->owners[i];
		work->n_owners++;
		r = look_up(owner);
		if (owner->name)
			work->by_name[work->n_names++] = owner;
	}
	qsort(work->by_name, work->n_names, sizeof(struct owner *), compare_names);
	for (uint32_t i = 0; i < n && r == 0; i++)
		if (is_child(work->namespaces, i))
			set_asks(work, work->namespaces->list[i].owner);
	return r;
}

/* Grants */

/* An owner's line is known by its login name or its UID; both may be on one machine. */
static int take_line(struct work *work, const struct subid_line *line)
{
	struct owner *named, *numbered = NULL;
	char name[SUBID_LINE];
	uint32_t uid;
	int r = idset_add(&work->granted, line->start, line->count);

	memcpy(name, line->owner, line->owner_len);
	name[line->owner_len] = '\0';
	named = find_name(work, name);
	if (id_parse(name, line->owner_len, &uid) == 0)
		numbered = find_uid(work, uid);
	if (r == 0 && named)
		r = idset_add(&named->granted, line->start, line->count);
	if (r == 0 && numbered && numbered != named)
		r = idset_add(&numbered->granted, line->start, line->count);
	return r;
}

static int read_lines(struct work *work, const struct textfile *file)
{
	int r = 0;

	for (const char *at = file->text, *end = at + file->len; at < end && r == 0;) {
		const char *newline = memchr(at, '\n', (size_t)(end - at));
		const char *stop = newline ? newline : end;
		struct subid_line line;

		if (subid_parse(at, (size_t)(stop - at), &line) == 0)
			r = take_line(work, &line);
		at = stop + (newline != NULL);
	}
	return r;
}

/* What the source has for OWNER. Neither a file that is not there nor a service that knows no such
 * user grants anything. */
static int read_owner(struct work *work, struct audit *audit, const struct owner *owner)
{
	char number[sizeof("4294967295")];
	struct textfile file = {"", 0};
	int r;

	snprintf(number, sizeof(number), "%u", owner->uid);
	r = source_open(work->kind, owner->name ? owner->name : number,
			&audit->sources[work->kind], &file);
	if (r == -ENOENT || r == NSS_E_USER)
		return 0;
	audit->unread[work->kind] = r;
	r = r == 0 ? read_lines(work, &file) : 0;
	textfile_unmap(&file);
	return r;
}

/* A file is read once, a service asked once for each owner that matters. */
static int read_grants(struct work *work, struct audit *audit)
{
	enum id_kind kind = work->kind;
	int r = 0;

	idset_clear(&work->granted);
	for (size_t i = 0; i < work->n_owners; i++)
		idset_clear(&work->owners[i].granted);
	for (size_t i = 0; i < work->n_owners && r == 0; i++)
		if (work->owners[i].asks && audit->unread[kind] == 0 &&
		    audit->sources[kind].part != SOURCE_FILE)
			r = read_owner(work, audit, &work->owners[i]);
	idset_seal(&work->granted);
	for (size_t i = 0; i < work->n_owners; i++)
		idset_seal(&work->owners[i].granted);
	return r;
}

/* Accounts */

static int compare_accounts(const void *a, const void *b)
{
	const struct holder *x = a, *y = b;

	return (x->id > y->id) - (x->id < y->id);
}

static void clear_accounts(struct work *work)
{
	for (size_t i = 0; i < work->n_accounts; i++)
		free(work->accounts[i].name);
	free(work->accounts);
	work->accounts = NULL;
	work->n_accounts = 0;
}

static int add_account(struct work *work, size_t *room, uint32_t id, const char *name)
{
	if (work->n_accounts == *room) {
		size_t more = *room ? *room * 2 : 64;
		struct holder *list = reallocarray(work->accounts, more, sizeof(*list));

		if (!list)
			return -ENOMEM;
		work->accounts = list;
		*room = more;
	}
	work->accounts[work->n_accounts] = (struct holder){id, strdup(name)};
	return work->accounts[work->n_accounts++].name ? 0 : -ENOMEM;
}

static int read_accounts(struct work *work)
{
	const struct passwd *user;
	const struct group *group;
	size_t room = 0;
	int r = 0;

	clear_accounts(work);
	if (work->kind == ID_UID) {
		setpwent();
		while (r == 0 && (user = getpwent()))
			r = add_account(work, &room, user->pw_uid, user->pw_name);
		endpwent();
	} else {
		setgrent();
		while (r == 0 && (group = getgrent()))
			r = add_account(work, &room, group->gr_gid, group->gr_name);
		endgrent();
	}
	if (work->n_accounts > 0)
		qsort(work->accounts, work->n_accounts, sizeof(*work->accounts),
		      compare_accounts);
	return r;
}

/* Findings */

static struct audit_finding *add_finding(struct audit *audit, enum audit_rule rule,
					 enum id_kind kind, uint32_t first,
					 uint32_t second)
{
	if (audit->n == audit->room) {
		size_t room = audit->room ? audit->room * 2 : 64;
		struct audit_finding *list =
			reallocarray(audit->list, room, sizeof(*list));

		if (!list)
			return NULL;
		audit->list = list;
		audit->room = room;
	}
	audit->list[audit->n] = (struct audit_finding){
		.rule = rule, .kind = kind, .first = first, .second = second};
	return &audit->list[audit->n++];
}

/*
 * True if ID alone is what the owner may map by right. Which groups an owner without an account has
 * can't be asked.
 */
static bool is_own(const struct work *work, const struct userns *userns, uint32_t id)
{
	const struct owner *owner = find_uid(work, userns->owner);

	if (work->kind == ID_UID)
		return id == userns->owner;
	return owner && (id == owner->gid || owner->gid == ID_NONE);
}

/* True if EXTENT is one to be judged. */
static bool counts(const struct work *work, const struct userns *userns,
		   const struct extent *extent)
{
	return extent->outer != ID_NONE &&
	       (extent->count > 1 || !is_own(work, userns, extent->outer));
}

/* The sweep: namespaces by their index, and all accounts as one member behind them, a sibling of
 * the own namespace's children. */

static uint32_t group_of(uint32_t parent)
{
	return parent + 1; /* NAMESPACE_NONE: 0 */
}

static void add_spans(struct work *work, uint32_t index)
{
	const struct userns *userns = &work->namespaces->list[index];
	const struct namespace_map *map = &userns->maps[work->kind];

	for (size_t i = 0; i < map->n; i++)
		if (counts(work, userns, &map->extents[i]))
			work->spans[work->n_spans++] = (struct overlap_span){
				{map->extents[i].outer, map->extents[i].count},
				group_of(userns->parent),
				index};
}

static int make_spans(struct work *work)
{
	const struct namespaces *namespaces = work->namespaces;
	size_t n = work->n_accounts;

	for (uint32_t i = 0; i < namespaces->n; i++)
		n += namespaces->list[i].maps[work->kind].n;
	free(work->spans);
	work->n_spans = 0;
	work->spans = calloc(n + 1, sizeof(*work->spans));
	if (!work->spans)
		return -ENOMEM;
	for (uint32_t i = 0; i < namespaces->n; i++)
		add_spans(work, i);
	for (size_t i = 0; i < work->n_accounts; i++)
		work->spans[work->n_spans++] =
			(struct overlap_span){{work->accounts[i].id, 1},
					      group_of(namespaces->own),
					      namespaces->n};
	return 0;
}

static int name_account(const struct work *work, struct audit_finding *finding)
{
	const struct holder key = {.id = finding->ranges.ranges[0].start}, *found = NULL;

	if (work->n_accounts > 0)
		found = bsearch(&key, work->accounts, work->n_accounts, sizeof(key),
				compare_accounts);
	finding->name = found ? strdup(found->name) : NULL;
	return finding->name ? 0 : -ENOMEM;
}

/* One finding of the shared ranges of two members. */
static int take_overlaps(struct audit *audit, const struct work *work,
			 const struct overlap *overlaps, size_t n)
{
	bool account = overlaps->second == work->namespaces->n;
	struct audit_finding *finding =
		add_finding(audit, account ? AUDIT_ACCOUNT : AUDIT_OVERLAP, work->kind,
			    overlaps->first, account ? NAMESPACE_NONE : overlaps->second);
	int r = finding ? 0 : -ENOMEM;

	for (size_t i = 0; i < n && r == 0; i++)
		r = idset_add(&finding->ranges, overlaps[i].shared.start,
			      overlaps[i].shared.count);
	if (r != 0)
		return r;
	idset_seal(&finding->ranges);
	return account ? name_account(work, finding) : 0;
}

static int run_sweep(struct audit *audit, struct work *work)
{
	struct overlaps overlaps = {0};
	int r = make_spans(work);

	if (r == 0)
		r = overlap_find(work->spans, work->n_spans, &overlaps);
	for (size_t i = 0, end; i < overlaps.n && r == 0; i = end) {
		for (end = i + 1; end < overlaps.n; end++)
			if (overlaps.list[end].first != overlaps.list[i].first ||
			    overlaps.list[end].second != overlaps.list[i].second)
				break;
		r = take_overlaps(audit, work, &overlaps.list[i], end - i);
	}
	overlaps_clear(&overlaps);
	return r;
}

/* The grants, for each child of the own namespace */

/* Set *RET_REST to what IDS has and SET has not, both sealed. */
static int subtract(const struct idset *ids, const struct idset *set,
		    struct idset *ret_rest)
{
	struct range gap;
	int r = 0;

	for (size_t i = 0; i < ids->n && r == 0; i++) {
		uint32_t start = ids->ranges[i].start;
		uint32_t end = start + ids->ranges[i].count;

		while (r == 0 && start < end &&
		       !idset_covers(set, start, end - start, &gap)) {
			r = idset_add(ret_rest, gap.start, gap.count);
			start = gap.start + gap.count;
		}
	}
	idset_seal(ret_rest);
	return r;
}

/* Take RANGES over, if there are any. */
static int add_ranges(struct audit *audit, enum audit_rule rule, enum id_kind kind,
		      uint32_t index, struct idset *ranges)
{
	struct audit_finding *finding;

	if (ranges->n == 0)
		return 0;
	finding = add_finding(audit, rule, kind, index, NAMESPACE_NONE);
	if (!finding)
		return -ENOMEM;
	finding->ranges = *ranges;
	*ranges = (struct idset){0};
	return 0;
}

/* root needs no grant: only IDs that nobody is granted count against it. */
static int compare_grants(struct audit *audit, const struct work *work, uint32_t index,
			  const struct idset *outer)
{
	const struct userns *userns = &work->namespaces->list[index];
	const struct owner *owner = find_uid(work, userns->owner);
	__attribute__((cleanup(idset_clear))) struct idset outside = {0}, inside = {0},
							   stale = {0};
	int r = subtract(outer, &work->granted, &outside);

	if (r == 0)
		r = subtract(outer, &outside, &inside);
	if (r == 0 && owner && owner->uid != 0)
		r = subtract(&inside, &owner->granted, &stale);
	if (r == 0)
		r = add_ranges(audit, AUDIT_OUTSIDE, work->kind, index, &outside);
	if (r == 0)
		r = add_ranges(audit, AUDIT_STALE, work->kind, index, &stale);
	return r;
}

static int check_child(struct audit *audit, const struct work *work, uint32_t index)
{
	const struct userns *userns = &work->namespaces->list[index];
	const struct namespace_map *map = &userns->maps[work->kind];
	__attribute__((cleanup(idset_clear))) struct idset outer = {0};
	int r = 0;

	for (size_t i = 0; i < map->n && r == 0; i++)
		if (counts(work, userns, &map->extents[i]))
			r = idset_add(&outer, map->extents[i].outer,
				      map->extents[i].count);
	idset_seal(&outer);
	return r == 0 ? compare_grants(audit, work, index, &outer) : r;
}

static int check_grants(struct audit *audit, struct work *work)
{
	const struct namespaces *namespaces = work->namespaces;
	int r = read_grants(work, audit);

	for (uint32_t i = 0; i < namespaces->n && r == 0; i++)
		if (is_child(namespaces, i) && audit->unread[work->kind] == 0)
			r = check_child(audit, work, i);
	return r;
}

static void work_clear(struct work *work)
{
	clear_accounts(work);
	for (size_t i = 0; i < work->n_owners; i++) {
		free(work->owners[i].name);
		idset_clear(&work->owners[i].granted);
	}
	free(work->owners);
	free(work->by_name);
	free(work->spans);
	idset_clear(&work->granted);
}

int audit_run(const struct namespaces *namespaces, const bool kinds[ID_KINDS],
	      struct audit *ret_audit)
{
	struct work work = {.namespaces = namespaces};
	struct audit audit = {0};
	int r = find_owners(&work);

	for (enum id_kind kind = ID_UID; kind <= ID_GID && r == 0; kind++) {
		if (!kinds[kind])
			continue;
		work.kind = kind;
		r = read_accounts(&work);
		if (r == 0)
			r = run_sweep(&audit, &work);
		if (r == 0)
			r = check_grants(&audit, &work);
	}
	work_clear(&work);
	if (r == 0)
		*ret_audit = audit;
	else
		audit_clear(&audit);
	return r;
}

void audit_clear(struct audit *audit)
{
	for (size_t i = 0; i < audit->n; i++) {
		idset_clear(&audit->list[i].ranges);
		free(audit->list[i].name);
	}
	free(audit->list);
	*audit = (struct audit){0};
}

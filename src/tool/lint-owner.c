/* SPDX-License-Identifier: BSD-2-Clause */
#include "lint-parts.h"

#include <errno.h>
#include <grp.h>
#include <nss.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The table of owners: open addressing, never more than half full. */

/* FNV-1a, with its high half brought down. */
uint32_t lint_owner_hash(const char *name, size_t len)
{
	uint64_t value = 14695981039346656037U;

	for (size_t i = 0; i < len; i++)
		value = (value ^ (unsigned char)name[i]) * 1099511628211U;
	return (uint32_t)(value ^ value >> 32);
}

/* The slot of NAME, or the empty one where it would be. */
static struct lint_slot *find_slot(const struct lint_owners *owners, const char *name,
				   size_t len, uint32_t hashed)
{
	for (uint32_t i = hashed;; i++) {
		struct lint_slot *slot = &owners->slots[i & (owners->n_slots - 1)];
		const struct lint_owner *owner;

		if (slot->owner == 0)
			return slot;
		if (slot->hash != hashed)
			continue;
		owner = &owners->list[slot->owner - 1];
		if (owner->len == len && memcmp(owner->name, name, len) == 0)
			return slot;
	}
}

static struct lint_owner *find_owner(const struct lint_owners *owners, const char *name)
{
	size_t len = strlen(name);
	uint32_t owner =
		owners->n
			? find_slot(owners, name, len, lint_owner_hash(name, len))->owner
			: 0;

	return owner > 0 ? &owners->list[owner - 1] : NULL;
}

/* Make room for N owners more. */
static int reserve(struct lint_owners *owners, size_t n)
{
	uint32_t n_slots = 64, room = owners->n + (uint32_t)n;
	struct lint_owner *list = reallocarray(owners->list, room, sizeof(*list));
	struct lint_slot *slots;

	if (!list)
		return -ENOMEM;
	owners->list = list;
	while (n_slots < 2 * room)
		n_slots *= 2;
	slots = calloc(n_slots, sizeof(*slots));
	if (!slots)
		return -ENOMEM;
	for (uint32_t i = 0; i < owners->n_slots; i++) {
		uint32_t to = owners->slots[i].hash;

		if (owners->slots[i].owner == 0)
			continue;
		while (slots[to & (n_slots - 1)].owner > 0)
			to++;
		slots[to & (n_slots - 1)] = owners->slots[i];
	}
	free(owners->slots);
	owners->slots = slots;
	owners->n_slots = n_slots;
	return 0;
}

/* The index of an owner, new or not; there is room for him. */
static uint32_t add_owner(struct lint_owners *owners, const char *name, size_t len,
			  uint32_t hash)
{
	struct lint_owner owner = {.name = name, .len = (uint32_t)len, .uid = ID_NONE};
	struct lint_slot *slot = find_slot(owners, name, len, hash);

	if (slot->owner > 0)
		return slot->owner - 1;
	if (id_parse(name, len, &owner.number) != 0)
		owner.number = ID_NONE;
	owners->n_numbers += owner.number != ID_NONE;
	owner.same = owners->n;
	owners->list[owners->n++] = owner;
	*slot = (struct lint_slot){hash, owners->n};
	return owner.same;
}

/* How many entries before its turn a slot is fetched: a table of a million owners is in no cache,
 * and waiting for each slot alone would take longer than all else. */
#define AHEAD 16

int lint_number_owners(struct lint_owners *owners, struct lint_file *file)
{
	if (file->n == 0)
		return 0;
	if (reserve(owners, file->n) != 0)
		return -ENOMEM;
	for (size_t i = 0; i < file->n; i++) {
		struct lint_entry *entry = &file->entries[i];
		const char *colon = strchr(entry->text, ':');

		if (i + AHEAD < file->n)
			__builtin_prefetch(&owners->slots[entry[AHEAD].owner &
							  (owners->n_slots - 1)]);
		entry->owner = add_owner(owners, entry->text,
					 (size_t)(colon - entry->text), entry->owner);
	}
	return 0;
}

void lint_owners_clear(struct lint_owners *owners)
{
	for (uint32_t i = 0; i < owners->n; i++)
		free(owners->list[i].namesake);
	free(owners->list);
	free(owners->slots);
	*owners = (struct lint_owners){0};
}

/* Accounts */

static int take_login(struct lint_owner *owner, const struct passwd *entry)
{
	owner->is_login = true;
	owner->uid = entry->pw_uid;
	owner->gid = entry->pw_gid;
	return 0;
}

static int take_uid(struct lint_owner *owner, const struct passwd *entry)
{
	if (!owner->is_uid) {
		owner->namesake = strdup(entry->pw_name);
		if (!owner->namesake)
			return -ENOMEM;
	}
	owner->is_uid = true;
	if (!owner->is_login) {
		owner->uid = entry->pw_uid;
		owner->gid = entry->pw_gid;
	}
	return 0;
}

static int take_user(struct lint_owners *owners, const struct passwd *entry)
{
	struct lint_owner *owner = find_owner(owners, entry->pw_name);
	char number[sizeof("4294967295")];
	int r = owner ? take_login(owner, entry) : 0;

	if (r != 0 || owners->n_numbers == 0)
		return r;
	snprintf(number, sizeof(number), "%u", entry->pw_uid);
	owner = find_owner(owners, number);
	return owner ? take_uid(owner, entry) : 0;
}

/* Keep an account whose ID is granted, or would be by the next useradd. */
static int keep_account(struct lint *lint, enum id_kind kind, const char *name,
			uint32_t id)
{
	for (size_t i = 0; i < lint->n_files; i++) {
		struct lint_file *file = &lint->files[i];
		struct lint_account *accounts;

		if (file->kind != kind || id == ID_NONE ||
		    (id - file->next.start >= file->next.count &&
		     !idset_covers(&file->granted, id, 1, NULL)))
			continue;
		accounts = reallocarray(file->accounts, file->n_accounts + 1,
					sizeof(*accounts));
		if (!accounts)
			return -ENOMEM;
		file->accounts = accounts;
		accounts[file->n_accounts] = (struct lint_account){id, strdup(name)};
		if (!accounts[file->n_accounts].name)
			return -ENOMEM;
		file->n_accounts++;
	}
	return 0;
}

static void tick(const struct lint *lint, const char *what, size_t done)
{
	if (lint->tick && done % LINT_TICK == 0)
		lint->tick(what, done);
}

/* One pass over all accounts that the system lists. */
static int read_users(struct lint *lint)
{
	const struct passwd *entry;
	size_t done = 0;
	int r = 0;

	setpwent();
	while (r == 0 && (entry = getpwent())) {
		r = take_user(lint->owners, entry);
		if (r == 0)
			r = keep_account(lint, ID_UID, entry->pw_name, entry->pw_uid);
		tick(lint, "accounts", ++done);
	}
	endpwent();
	return r;
}

static int read_groups(struct lint *lint)
{
	const struct group *entry;
	size_t done = 0;
	int r = 0;

	setgrent();
	while (r == 0 && (entry = getgrent())) {
		struct lint_owner *owner = find_owner(lint->owners, entry->gr_name);

		if (owner)
			owner->is_group = true;
		r = keep_account(lint, ID_GID, entry->gr_name, entry->gr_gid);
		tick(lint, "groups", ++done);
	}
	endgrent();
	return r;
}

/*
 * The services of nsswitch.conf's line passwd but those that list all they have. Copy its words
 * into REST: "files systemd [NOTFOUND=return] sss" leaves "systemd sss". False: none is left.
 */
static bool other_services(char rest[256])
{
	FILE *file = fopen("/etc/nsswitch.conf", "re");
	char line[256];
	size_t n = 0;

	while (file && fgets(line, sizeof(line), file)) {
		char *save, *word;

		if (strncmp(line, "passwd:", 7) != 0)
			continue;
		line[strcspn(line, "#")] = '\0';
		for (word = strtok_r(line + 7, " \t\n", &save); word;
		     word = strtok_r(NULL, " \t\n", &save))
			if (word[0] != '[' && strcmp(word, "files") != 0 &&
			    strcmp(word, "db") != 0)
				n += (size_t)snprintf(rest + n, 256 - n, "%s%s",
						      n ? " " : "", word);
	}
	if (file)
		fclose(file);
	return n > 0;
}

static int look_up(struct lint_owner *owner)
{
	char name[SUBID_LINE];
	const struct passwd *entry;

	memcpy(name, owner->name, owner->len);
	name[owner->len] = '\0';
	entry = getpwnam(name);
	if (entry)
		return take_login(owner, entry);
	entry = owner->number != ID_NONE ? getpwuid(owner->number) : NULL;
	return entry ? take_uid(owner, entry) : 0;
}

/*
 * A directory service answers for a user that it doesn't list. It is asked for each owner that
 * nobody listed, once, and without the files, which would be read through for every question.
 */
static int look_up_rest(struct lint *lint)
{
	char services[256];
	size_t done = 0;
	int r = 0;

	if (!other_services(services) || __nss_configure_lookup("passwd", services) != 0)
		return 0;
	for (uint32_t i = 0; i < lint->owners->n && r == 0; i++) {
		struct lint_owner *owner = &lint->owners->list[i];

		if (owner->is_login || owner->is_uid)
			continue;
		r = look_up(owner);
		if (lint->tick && ++done % 64 == 0)
			lint->tick("owners asked of the directory", done);
	}
	return r;
}

static int compare_accounts(const void *a, const void *b)
{
	const struct lint_account *x = a, *y = b;

	return (x->id > y->id) - (x->id < y->id);
}

static int compare_owners(const void *a, const void *b)
{
	const struct lint_owner *const *x = a, *const *y = b;

	if ((*x)->uid != (*y)->uid)
		return (*x)->uid < (*y)->uid ? -1 : 1;
	return (*x)->same < (*y)->same ? -1 : 1;
}

/* Let the owners that are one account be the same. Numbers are few: only with them two can be. */
static int unite(struct lint_owners *owners)
{
	struct lint_owner **by_uid;
	uint32_t n = 0;

	if (owners->n_numbers == 0)
		return 0;
	by_uid = calloc(owners->n, sizeof(struct lint_owner *));
	if (!by_uid)
		return -ENOMEM;
	for (uint32_t i = 0; i < owners->n; i++)
		if (owners->list[i].uid != ID_NONE)
			by_uid[n++] = &owners->list[i];
	qsort(by_uid, n, sizeof(struct lint_owner *), compare_owners);
	for (uint32_t i = 1; i < n; i++)
		if (by_uid[i]->uid == by_uid[i - 1]->uid)
			by_uid[i]->same = by_uid[i - 1]->same;
	free(by_uid);
	return 0;
}

/* True if NAMES, with commas between, has the owner. */
static bool is_listed(const char *names, const struct lint_owner *owner)
{
	while (names && *names) {
		size_t len = strcspn(names, ",");

		if (len == owner->len && memcmp(names, owner->name, len) == 0)
			return true;
		names += len + (names[len] == ',');
	}
	return false;
}

int lint_accounts(struct lint *lint)
{
	int r = read_users(lint);

	if (r == 0)
		r = read_groups(lint);
	if (r == 0)
		r = look_up_rest(lint);
	if (r == 0)
		r = unite(lint->owners);
	for (uint32_t i = 0; i < lint->owners->n && lint->shared; i++)
		lint->owners->list[i].shared =
			is_listed(lint->shared, &lint->owners->list[i]);
	for (size_t i = 0; i < lint->n_files; i++)
		if (lint->files[i].n_accounts > 0)
			qsort(lint->files[i].accounts, lint->files[i].n_accounts,
			      sizeof(struct lint_account), compare_accounts);
	return r;
}

/* Rules */

static void add_up(struct lint *lint, size_t index)
{
	const struct lint_file *file = &lint->files[index];

	for (uint32_t i = 0; i < file->n; i++) {
		const struct lint_entry *entry = &file->entries[i];
		struct lint_owner *owner = &lint->owners->list[entry->owner];

		owner = &lint->owners->list[owner->same];
		if (owner->seen[file->kind] != index + 1) {
			owner->seen[file->kind] = (uint32_t)index + 1;
			owner->first[file->kind] = i;
			owner->total[file->kind] = 0;
		}
		owner->total[file->kind] += entry->range.count;
	}
}

/* Of the owner as it is written. */
static int check_name(struct lint *lint, size_t file, const struct lint_entry *entry)
{
	const struct lint_owner *owner = &lint->owners->list[entry->owner];
	struct lint_finding finding;

	if (owner->is_login && owner->is_uid && owner->uid != owner->number) {
		finding = lint_at(lint, file, entry, 0, LINT_NUMERIC_LOGIN);
		finding.name = owner->namesake;
		return lint_note(lint, finding);
	}
	if (owner->is_login || owner->is_uid)
		return 0;
	finding = lint_at(lint, file, entry, 0,
			  owner->is_group && lint->files[file].kind == ID_GID
				  ? LINT_KEYED_BY_GROUP
				  : LINT_ORPHAN);
	return lint_note(lint, finding);
}

/* Of the account, whatever it is called on its lines. */
static int check_total(struct lint *lint, size_t file, const struct lint_owner *owner,
		       bool pair)
{
	enum id_kind kind = lint->files[file].kind, other = kind == ID_UID;
	const struct lint_entry *first = &lint->files[file].entries[owner->first[kind]];
	struct lint_finding finding;
	int r = 0;

	if (owner->total[kind] < 65536) {
		finding = lint_at(lint, file, first, 2, LINT_SMALL);
		finding.value = owner->total[kind];
		r = lint_note(lint, finding);
	}
	/* Of two totals the lesser is pointed at. */
	if (r != 0 || !pair ||
	    (owner->total[other] > 0 && owner->total[kind] >= owner->total[other]))
		return r;
	if (owner->total[other] == 0)
		return lint_note(lint, lint_at(lint, file, first, 0, LINT_ONE_FILE_ONLY));
	finding = lint_at(lint, file, first, 2, LINT_COUNTS_DIFFER);
	finding.value = owner->total[kind];
	finding.other_value = owner->total[other];
	return lint_note(lint, finding);
}

static int check_file_owners(struct lint *lint, size_t index, bool pair)
{
	const struct lint_file *file = &lint->files[index];
	struct lint_owner *owners = lint->owners->list;
	int r = 0;

	for (uint32_t i = 0; i < file->n && r == 0; i++) {
		const struct lint_entry *entry = &file->entries[i];
		struct lint_owner *owner = &owners[entry->owner];

		if (owner->named != index + 1)
			r = check_name(lint, index, entry);
		owner->named = (uint32_t)index + 1;
		owner = &owners[owner->same];
		if (r == 0 && owner->first[file->kind] == i)
			r = check_total(lint, index, owner, pair);
	}
	return r;
}

int lint_check_owners(struct lint *lint)
{
	/* One file of each kind belong together. */
	bool pair = lint->n_files == 2 && lint->files[0].kind != lint->files[1].kind;
	int r = 0;

	for (size_t i = 0; i < lint->n_files && pair; i++)
		add_up(lint, i);
	for (size_t i = 0; i < lint->n_files && r == 0; i++) {
		if (!pair)
			add_up(lint, i);
		r = check_file_owners(lint, i, pair);
	}
	return r;
}

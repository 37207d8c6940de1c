/* SPDX-License-Identifier: BSD-2-Clause */
#include "lint-parts.h"

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#if __has_include(<nss.h>)
#include <nss.h>
#endif

static void take_login(struct lint_owner *owner, uid_t uid, gid_t gid)
{
	owner->is_login = true;
	owner->uid = uid;
	owner->gid = gid;
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

static int take_number(struct lint_owners *owners, const struct passwd *entry)
{
	char number[sizeof("4294967295")];
	struct lint_owner *owner;

	snprintf(number, sizeof(number), "%u", entry->pw_uid);
	owner = lint_find_owner(owners, number);
	return owner ? take_uid(owner, entry) : 0;
}

/*
 * Logins wait in a batch, so that what each of them touches of a table of a million owners, which
 * is in no cache, is fetched for all at once: first the slots, then the owners, then their names.
 */
#define BATCH      64U
#define BATCH_NAME 40U
struct batch {
	size_t n;
	struct login {
		char name[BATCH_NAME];
		size_t len;
		uint32_t hash, uid, gid;
	} logins[BATCH];
};

/* The first owner whose name has this hash, most probably the one; or NULL. */
static const struct lint_owner *guess(const struct lint_owners *owners, uint32_t hash)
{
	for (uint32_t i = hash;; i++) {
		const struct lint_slot *slot = &owners->slots[i & (owners->n_slots - 1)];

		if (slot->owner == 0 || slot->hash == hash)
			return slot->owner > 0 ? &owners->list[slot->owner - 1] : NULL;
	}
}

static void take_batch(struct lint_owners *owners, struct batch *batch)
{
	const struct lint_owner *guesses[BATCH];

	for (size_t i = 0; i < batch->n; i++)
		__builtin_prefetch(
			&owners->slots[batch->logins[i].hash & (owners->n_slots - 1)]);
	for (size_t i = 0; i < batch->n; i++) {
		guesses[i] = guess(owners, batch->logins[i].hash);
		__builtin_prefetch(guesses[i], 1);
	}
	for (size_t i = 0; i < batch->n; i++)
		if (guesses[i])
			__builtin_prefetch(guesses[i]->name);
	for (size_t i = 0; i < batch->n; i++) {
		const struct login *login = &batch->logins[i];
		uint32_t owner =
			lint_find_slot(owners, login->name, login->len, login->hash)
				->owner;

		if (owner > 0)
			take_login(&owners->list[owner - 1], login->uid, login->gid);
	}
	batch->n = 0;
}

static int take_user(struct lint_owners *owners, struct batch *batch,
		     const struct passwd *entry)
{
	size_t len = strlen(entry->pw_name);

	if (owners->n > 0 && len < BATCH_NAME) {
		struct login *login = &batch->logins[batch->n++];

		memcpy(login->name, entry->pw_name, len);
		login->len = len;
		login->hash = lint_owner_hash(entry->pw_name, len);
		login->uid = entry->pw_uid;
		login->gid = entry->pw_gid;
		if (batch->n == BATCH)
			take_batch(owners, batch);
	} else {
		struct lint_owner *owner = lint_find_owner(owners, entry->pw_name);

		if (owner)
			take_login(owner, entry->pw_uid, entry->pw_gid);
	}
	return owners->n_numbers > 0 ? take_number(owners, entry) : 0;
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
	struct batch batch = {.n = 0};
	const struct passwd *entry;
	size_t done = 0;
	int r = 0;

	setpwent();
	while (r == 0 && (entry = getpwent())) {
		r = take_user(lint->owners, &batch, entry);
		if (r == 0)
			r = keep_account(lint, ID_UID, entry->pw_name, entry->pw_uid);
		tick(lint, "accounts", ++done);
	}
	endpwent();
	take_batch(lint->owners, &batch);
	return r;
}

static int read_groups(struct lint *lint)
{
	const struct group *entry;
	size_t done = 0;
	int r = 0;

	setgrent();
	while (r == 0 && (entry = getgrent())) {
		struct lint_owner *owner = lint_find_owner(lint->owners, entry->gr_name);

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
	if (entry) {
		take_login(owner, entry->pw_uid, entry->pw_gid);
		return 0;
	}
	entry = owner->number != ID_NONE ? getpwuid(owner->number) : NULL;
	return entry ? take_uid(owner, entry) : 0;
}

/* Ask none but SERVICES for an account from here on. musl knows the files alone. */
static bool choose_services(const char *services)
{
#ifdef _NSS_H
	return __nss_configure_lookup("passwd", services) == 0;
#else
	(void)services;
	return false;
#endif
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

	if (!other_services(services) || !choose_services(services))
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

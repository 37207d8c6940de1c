/* SPDX-License-Identifier: BSD-2-Clause */
#include "lint-parts.h"

#include <errno.h>
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

struct lint_slot *lint_find_slot(const struct lint_owners *owners, const char *name,
				 size_t len, uint32_t hash)
{
	for (uint32_t i = hash;; i++) {
		struct lint_slot *slot = &owners->slots[i & (owners->n_slots - 1)];
		const struct lint_owner *owner;

		if (slot->owner == 0)
			return slot;
		if (slot->hash != hash)
			continue;
		owner = &owners->list[slot->owner - 1];
		if (owner->len == len && memcmp(owner->name, name, len) == 0)
			return slot;
	}
}

struct lint_owner *lint_find_owner(const struct lint_owners *owners, const char *name)
{
	size_t len = strlen(name);
	uint32_t owner =
		owners->n ? lint_find_slot(owners, name, len, lint_owner_hash(name, len))
				    ->owner
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
	struct lint_slot *slot = lint_find_slot(owners, name, len, hash);

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

int lint_number_owners(struct lint_owners *owners, struct lint_file *file)
{
	if (file->n == 0)
		return 0;
	if (reserve(owners, file->n) != 0)
		return -ENOMEM;
	for (size_t i = 0; i < file->n; i++) {
		struct lint_entry *entry = &file->entries[i];

		if (i + LINT_AHEAD < file->n)
			__builtin_prefetch(&owners->slots[entry[LINT_AHEAD].owner &
							  (owners->n_slots - 1)]);
		entry->owner =
			add_owner(owners, entry->text, entry->owner_len, entry->owner);
	}
	return 0;
}

void lint_owners_clear(struct lint_owners *owners)
{
	/* Only a number has a namesake. */
	for (uint32_t i = 0; i < owners->n && owners->n_numbers > 0; i++)
		free(owners->list[i].namesake);
	free(owners->list);
	free(owners->slots);
	*owners = (struct lint_owners){0};
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
		       size_t partner)
{
	enum id_kind kind = lint->files[file].kind, other = kind == ID_UID;
	uint64_t total = owner->seen[other] == partner + 1 ? owner->total[other] : 0;
	const struct lint_entry *first = &lint->files[file].entries[owner->first[kind]];
	struct lint_finding finding;
	int r = 0;

	if (owner->total[kind] < 65536 &&
	    !lint_is_said(lint, file, LINT_SMALL, first->line)) {
		finding = lint_at(lint, file, first, 2, LINT_SMALL);
		finding.value = owner->total[kind];
		r = lint_note(lint, finding);
	}
	/* Of two totals the lesser is pointed at. */
	if (r != 0 || partner == file || (total > 0 && owner->total[kind] >= total))
		return r;
	finding = total == 0 ? lint_at(lint, file, first, 0, LINT_ONE_FILE_ONLY)
			     : lint_at(lint, file, first, 2, LINT_COUNTS_DIFFER);
	finding.other_file = partner;
	finding.value = owner->total[kind];
	finding.other_value = total;
	return lint_note(lint, finding);
}

static int check_file_owners(struct lint *lint, size_t index, size_t partner)
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
			r = check_total(lint, index, owner, partner);
	}
	return r;
}

/* One file of each kind belong together, and so do a service's answers. They are files FROM to
 * END - 1. */
static int check_group(struct lint *lint, size_t from, size_t end)
{
	bool pair =
		end - from == 2 && lint->files[from].kind != lint->files[from + 1].kind;
	int r = 0;

	for (size_t i = from; i < end && pair; i++)
		add_up(lint, i);
	for (size_t i = from; i < end && r == 0; i++) {
		if (!pair)
			add_up(lint, i);
		r = check_file_owners(lint, i, pair ? from + end - 1 - i : i);
	}
	return r;
}

int lint_check_owners(struct lint *lint)
{
	int r = check_group(lint, 0, lint->n_given);

	return r == 0 ? check_group(lint, lint->n_given, lint->n_files) : r;
}

/* SPDX-License-Identifier: BSD-2-Clause */
#include "command.h"

#include "../trusted/nss.h"
#include "../trusted/subid.h"
#include "cmd-absent.h"
#include "cmd-missed.h"
#include "idstream.h"
#include "idword.h"
#include "message.h"
#include "namespaces.h"
#include "plan.h"
#include "table.h"

#include <errno.h>
#include <getopt.h>
#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))

static const char usage[] =
	"Usage: idmap who [OPTION]... ID...|-\n"
	"\n"
	"Show who may use an outer ID: the owners of a line of /etc/subuid or /etc/subgid\n"
	"that grants it, which inner ID it is in the default layout of each, and the\n"
	"account whose own ID it is; then the live namespaces that map it, and its\n"
	"inner ID there. The exit status is 1 if an ID is nobody's.\n"
	"\n"
	"  -u, --uid          only user IDs\n"
	"  -g, --gid          only group IDs\n"
	"      --json, --raw, --noheadings\n"
	"                     the table in another shape\n"
	"  -o, --output LIST  these columns: TYPE,ID,WHO,INNER,SOURCE\n"
	"  -h, --help         show this\n";

static const struct option longs[] = {
	{"uid", no_argument, NULL, 'u'},
	{"gid", no_argument, NULL, 'g'},
	TABLE_LONG,
	{"help", no_argument, NULL, 'h'},
	{NULL, 0, NULL, 0},
};

enum { TYPE, ID, WHO, INNER, SOURCE };
static const struct table_column columns[] = {
	[TYPE] = {.name = "TYPE"},     [ID] = {.name = "ID", .number = true},
	[WHO] = {.name = "WHO"},       [INNER] = {.name = "INNER", .number = true},
	[SOURCE] = {.name = "SOURCE"},
};

struct who {
	bool kinds[ID_KINDS];
	struct table_options options;
	struct table table;
	struct question {
		uint32_t id;
		bool answered; /* somebody may use it */
	} * questions;         /* owned */
	size_t n, room;
	bool from_stdin;
	struct namespaces namespaces;
	struct asked {
		struct source source; /* of TEXT: a file is read once */
		struct textfile text;
		bool silent; /* it is a service that can't say whose an ID is */
	} asked[ID_KINDS];
};

static void who_clear(struct who *who)
{
	table_clear(&who->table);
	namespaces_clear(&who->namespaces);
	for (enum id_kind kind = ID_UID; kind <= ID_GID; kind++)
		textfile_unmap(&who->asked[kind].text);
	free(who->questions);
}

/* One answer. INNER ID_NONE: has no place in a layout. LINE 0: SOURCE is no file with lines. */
static int add_row(struct who *who, enum id_kind kind, size_t i, const char *name,
		   uint32_t inner, const char *source, size_t line)
{
	int r = table_row(&who->table);

	who->questions[i].answered = true;
	if (r == 0)
		r = table_set(&who->table, TYPE, "%s", id_words[kind].word);
	if (r == 0)
		r = table_set(&who->table, ID, "%u", who->questions[i].id);
	if (r == 0)
		r = table_set(&who->table, WHO, "%s", name);
	if (r == 0 && inner != ID_NONE)
		r = table_set(&who->table, INNER, "%u", inner);
	if (r == 0)
		r = line > 0 ? table_set(&who->table, SOURCE, "%s:%zu", source, line)
			     : table_set(&who->table, SOURCE, "%s", source);
	return r;
}

/* The inner ID of OUTER in the default layout of ACCOUNT, ID_NONE: it has none. */
static uint32_t find_inner(const struct account *account, enum id_kind kind,
			   uint32_t outer)
{
	uint32_t own = kind == ID_UID ? account->uid : account->gid, inner = ID_NONE;
	struct grants grants = {0};
	struct plan plan = {0};
	struct plan_refusal why;

	if (grants_load(account, kind, &grants) == 0 &&
	    plan_layout(&plan, LAYOUT_ROOT, own, &grants, 0, &why) == 0)
		for (size_t i = 0; i < plan.n && inner == ID_NONE; i++) {
			const struct extent *extent = &plan.list[i].extent;

			if (outer - extent->outer < extent->count)
				inner = extent->inner + (outer - extent->outer);
		}
	plan_clear(&plan);
	grants_clear(&grants);
	return inner;
}

/* The account whose UID is OWNER. Returns whether there is one. */
static bool find_uid(const char *owner, struct account *ret_account)
{
	const struct passwd *entry;
	uint32_t uid;

	if (id_parse(owner, strlen(owner), &uid) != 0)
		return false;
	entry = getpwuid(uid);
	if (!entry)
		return false;
	*ret_account =
		(struct account){strdup(entry->pw_name), entry->pw_uid, entry->pw_gid};
	return ret_account->name;
}

/* The accounts that OWNER means in a file. A number is a login name of digits, a UID, or each for
 * another account, and both may use the line then. Returns how many. */
static size_t find_accounts(const char *owner, struct account ret_accounts[2])
{
	uint32_t uid;

	if (account_find(owner, &ret_accounts[0]) != 0)
		return 0;
	if (id_parse(owner, strlen(owner), &uid) != 0 || ret_accounts[0].uid == uid)
		return 1;
	return find_uid(owner, &ret_accounts[1]) ? 2 : 1;
}

static int add_owner(struct who *who, enum id_kind kind, size_t i, const char *owner,
		     size_t line)
{
	const struct source *source = &who->asked[kind].source;
	struct account accounts[2] = {0};
	size_t n = source->part == SOURCE_SERVICE ? find_uid(owner, accounts)
						  : find_accounts(owner, accounts);
	const char *name = source->name;
	int r = n == 0 ? add_row(who, kind, i, owner, ID_NONE, name, line) : 0;

	for (size_t k = 0; k < n; k++) {
		uint32_t inner = find_inner(&accounts[k], kind, who->questions[i].id);

		if (r == 0)
			r = add_row(who, kind, i, accounts[k].name, inner, name, line);
		account_clear(&accounts[k]);
	}
	return r;
}

/* A service that knows ranges by user alone (SSSD does not go the other way round). */
static void say_silent(struct asked *asked, int error)
{
	char *why = source_explain(&asked->source, error), *message;

	message_fail(&message, "%s does not say whose an ID is: %s", asked->source.name,
		     why ? why : "");
	free(why);
	command_fail(COMMAND_FAILED, message);
	asked->silent = true;
}

/* Have the text about ID. A file that is not there grants nothing. */
static int read_grants(struct asked *asked, enum id_kind kind, uint32_t id,
		       char **ret_message)
{
	int r;

	if (asked->source.part == SOURCE_FILE || asked->silent)
		return 0;
	textfile_unmap(&asked->text);
	r = source_open_id(kind, id, &asked->source, &asked->text);
	absent_say(&asked->source);
	if (r == 0 || r == -ENOENT || r == NSS_E_USER)
		return 0;
	if (asked->source.part == SOURCE_SERVICE) {
		say_silent(asked, r);
		return 0;
	}
	*ret_message = source_explain(&asked->source, r);
	return -1;
}

/* All lines that grant ID number I. */
static int ask_grants(struct who *who, enum id_kind kind, size_t i, char **ret_message)
{
	struct asked *asked = &who->asked[kind];
	int r = read_grants(asked, kind, who->questions[i].id, ret_message);
	const char *end = asked->text.text + asked->text.len;
	bool has_lines = asked->source.part == SOURCE_FILE;
	char owner[SUBID_LINE];
	size_t number = 1;

	for (const char *at = asked->text.text; at < end && r == 0; number++) {
		const char *newline = memchr(at, '\n', (size_t)(end - at));
		const char *stop = newline ? newline : end;
		struct subid_line line;

		if (subid_parse(at, (size_t)(stop - at), &line) == 0 &&
		    who->questions[i].id - line.start < line.count) {
			snprintf(owner, sizeof(owner), "%.*s", (int)line.owner_len,
				 line.owner);
			r = add_owner(who, kind, i, owner, has_lines ? number : 0);
		}
		at = newline ? newline + 1 : end;
	}
	return r;
}

/* Whose own ID is it? A user has it as inner 0 in his layout; a group has no layout. */
static int ask_accounts(struct who *who, enum id_kind kind, size_t i)
{
	const struct passwd *user =
		kind == ID_UID ? getpwuid(who->questions[i].id) : NULL;
	const struct group *group =
		kind == ID_GID ? getgrgid(who->questions[i].id) : NULL;

	if (user)
		return add_row(who, kind, i, user->pw_name, 0, "passwd", 0);
	if (group)
		return add_row(who, kind, i, group->gr_name, ID_NONE, "group", 0);
	return 0;
}

/* Who uses it now, be it his or not. */
static int add_live(struct who *who, enum id_kind kind, uint32_t id,
		    const struct userns *userns)
{
	uint32_t inner = namespace_inner(&userns->maps[kind], id);
	int r = inner == ID_NONE ? 0 : table_row(&who->table);

	if (r != 0 || inner == ID_NONE)
		return r;
	r = table_set(&who->table, TYPE, "%s", id_words[kind].word);
	if (r == 0)
		r = table_set(&who->table, ID, "%u", id);
	if (r == 0)
		r = table_set(&who->table, WHO, "user:[%ju]", userns->ino);
	if (r == 0)
		r = table_set(&who->table, INNER, "%u", inner);
	if (r == 0 && userns->pid > 0)
		r = table_set(&who->table, SOURCE, "/proc/%d/%s", userns->pid,
			      id_words[kind].map);
	return r;
}

/* Our own namespace, and what is around it, has every ID. */
static int ask_live(struct who *who, enum id_kind kind, size_t i)
{
	const struct namespaces *namespaces = &who->namespaces;
	int r = 0;

	for (uint32_t k = 0; k < namespaces->n && r == 0; k++)
		if (namespaces->list[k].parent != NAMESPACE_NONE)
			r = add_live(who, kind, who->questions[i].id,
				     &namespaces->list[k]);
	return r;
}

static int ask(struct who *who, char **ret_message)
{
	int r = namespaces_walk(&who->namespaces);

	if (r != 0)
		return message_fail(ret_message, "/proc: %s", strerror(-r));
	for (size_t i = 0; i < who->n && r == 0; i++)
		for (enum id_kind kind = ID_UID; kind <= ID_GID && r == 0; kind++) {
			if (!who->kinds[kind])
				continue;
			r = ask_grants(who, kind, i, ret_message);
			if (r == 0)
				r = ask_accounts(who, kind, i);
			if (r == 0)
				r = ask_live(who, kind, i);
		}
	return r;
}

/* Say on stderr which IDs have no row. */
static int check_found(const struct who *who)
{
	const char *what = who->kinds[ID_UID] && who->kinds[ID_GID] ? "user or group"
			   : who->kinds[ID_UID]                     ? "user"
								    : "group";
	bool silent = who->asked[ID_UID].silent || who->asked[ID_GID].silent;
	int status = silent ? COMMAND_FAILED : COMMAND_DONE;
	char *message;

	for (size_t i = 0; i < who->n; i++) {
		if (who->questions[i].answered)
			continue;
		message_fail(&message, "%s may use %u as a %s ID",
			     silent ? "nobody that is known" : "nobody",
			     who->questions[i].id, what);
		status = command_fail(COMMAND_FAILED, message);
	}
	return status;
}

static int add_question(struct who *who, uint32_t id)
{
	struct question *list = who->questions;

	if (who->n == who->room) {
		size_t room = who->room ? 2 * who->room : 64;

		list = reallocarray(list, room, sizeof(*list));
		if (!list)
			return -ENOMEM;
		who->questions = list;
		who->room = room;
	}
	list[who->n++] = (struct question){.id = id};
	return 0;
}

/* The words of the command line. */
static int take_ids(struct who *who, char **words, size_t n, char **ret_message)
{
	uint32_t id;

	if (n == 0)
		return message_fail(ret_message, "no ID: whose shall be found?");
	who->from_stdin = n == 1 && strcmp(words[0], "-") == 0;
	for (size_t i = 0; i < n && !who->from_stdin; i++) {
		if (idword_parse("ID", words[i], who->kinds[ID_UID] ? ID_UID : ID_GID,
				 &id, ret_message) != 0)
			return -1;
		*ret_message = NULL;
		if (add_question(who, id) != 0)
			return -1;
	}
	return 0;
}

/* All IDs of stdin, one a line. */
static int read_stdin(struct who *who, char **ret_message)
{
	static struct idstream in = {.fd = STDIN_FILENO};
	static uint32_t ids[IDSTREAM_IDS];
	size_t n;
	int r, failed = 0;

	do {
		n = 0;
		r = idstream_read(&in, ids, &n);
		for (size_t i = 0; i < n && failed == 0; i++)
			failed = add_question(who, ids[i]);
	} while (r == 0 && n > 0 && failed == 0);
	if (failed != 0 || r < 0)
		return message_fail(ret_message, "stdin: %s",
				    strerror(failed != 0 ? -failed : -r));
	if (r > 0)
		return message_fail(ret_message, "stdin:%zu: '%.*s' %s", in.line,
				    in.len < 40 ? (int)in.len : 40, in.bytes,
				    idword_reason(r));
	return 0;
}

/* Returns -1 to go on, else the exit status. */
static int read_command_line(struct who *who, int argc, char **argv)
{
	char *message;
	int option;

	while ((option = getopt_long(argc, argv, "ug" TABLE_SHORT "h", longs, NULL)) !=
	       -1) {
		if (option == 'h') {
			fputs(usage, stdout);
			return COMMAND_DONE;
		}
		if (option == 'u' || option == 'g')
			who->kinds[option == 'u' ? ID_UID : ID_GID] = true;
		else if (!table_option(&who->options, option, optarg))
			return COMMAND_USAGE;
	}
	if (!who->kinds[ID_UID] && !who->kinds[ID_GID])
		who->kinds[ID_UID] = who->kinds[ID_GID] = true;
	if (take_ids(who, argv + optind, (size_t)(argc - optind), &message) != 0)
		return command_fail(COMMAND_USAGE, message);
	if (table_check(&who->options, NULL, &message) != 0)
		return command_fail(COMMAND_USAGE, message);
	return -1;
}

static int answer(struct who *who)
{
	char *message = NULL;
	int r = table_new("who", columns, ARRAY_SIZE(columns), &who->options,
			  &who->table);

	if (r == TABLE_E_COLUMN) {
		table_refuse_columns(&who->options, columns, ARRAY_SIZE(columns),
				     &message);
		return command_fail(COMMAND_USAGE, message);
	}
	if (r == 0 && who->from_stdin)
		r = read_stdin(who, &message);
	if (r == 0)
		r = ask(who, &message);
	if (r == 0)
		r = table_print(&who->table, 1, stdout);
	if (r != 0)
		return command_fail(COMMAND_FAILED, message);
	r = check_found(who);
	missed_say(&who->namespaces.missed);
	return r;
}

int cmd_who(int argc, char **argv)
{
	struct who who = {0};
	int status = read_command_line(&who, argc, argv);

	if (status == -1)
		status = answer(&who);
	who_clear(&who);
	return status;
}

/* SPDX-License-Identifier: BSD-2-Clause */
#include "command.h"

#include "../trusted/target.h"
#include "mapspec.h"
#include "message.h"

#include <bsd/vis.h>
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct verb {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *help;
} verbs[] = {
	{"write", cmd_write, "write uid_map and gid_map of a process, and verify them"},
	{"dump", cmd_dump, "show the maps of a process, or those that would be written"},
	{"exec", cmd_exec, "run a command in a new user namespace with both maps"},
	{"check", cmd_check, "find what is wrong with /etc/subuid and /etc/subgid"},
	{"lookup", cmd_lookup, "translate IDs through a map"},
	{"verify", cmd_verify, "compare the live maps of a process with MAPs"},
	{"ls", cmd_ls, "list the user namespaces of this machine, and their overlaps"},
	{"who", cmd_who, "say who may use an outer ID"},
	{"doctor", cmd_doctor, "say what keeps a map from being written, with the fix"},
};

#define VERBS (sizeof(verbs) / sizeof(verbs[0]))

static void print_usage(FILE *out)
{
	fputs("Usage: idmap [VERB] [OPTION]... [ARGUMENT]...\n"
	      "\n"
	      "Turn the grants in /etc/subuid and /etc/subgid into verified ID maps of a "
	      "user\n"
	      "namespace.\n"
	      "\n",
	      out);
	for (size_t i = 0; i < VERBS; i++)
		fprintf(out, "  %-8s %s\n", verbs[i].name, verbs[i].help);
	fputs("\n"
	      "idmap PID ... is idmap write PID ..., and idmap --dump ... is idmap dump "
	      "...\n"
	      "\n"
	      "  -h, --help, help [VERB]  show this, or a verb's options (VERB --help)\n"
	      "  -V, --version, version   show the version\n",
	      out);
}

int command_fail(int status, char *message)
{
	char *safe = message ? malloc(4 * strlen(message) + 1) : NULL;

	/* A name in it may come from a file or a directory service: no byte of it may steer the
	 * terminal. */
	if (safe)
		strvis(safe, message, VIS_NOSLASH);
	warnx("%s", safe ? safe : "out of memory");
	free(safe);
	free(message);
	return status;
}

static const struct verb *find_verb(const char *name)
{
	for (size_t i = 0; i < VERBS; i++)
		if (strcmp(verbs[i].name, name) == 0)
			return &verbs[i];
	return NULL;
}

/* True if WORD may begin the arguments of write, the verb that needs no name. */
static bool begins_write(const char *word)
{
	return (word[0] >= '0' && word[0] <= '9') || strncmp(word, "fd:", 3) == 0 ||
	       mapspec_looks_like(word);
}

/* Take --dump out of ARGV, wherever it stands before "--". */
static bool take_dump(int *argc, char **argv)
{
	for (int i = 1; i < *argc && strcmp(argv[i], "--") != 0; i++) {
		if (strcmp(argv[i], "--dump") != 0)
			continue;
		memmove(&argv[i], &argv[i + 1], (size_t)(*argc - i) * sizeof(*argv));
		(*argc)--;
		return true;
	}
	return false;
}

static int unknown_verb(const char *word)
{
	char *message, *list = NULL;
	size_t len;
	FILE *text = open_memstream(&list, &len);

	if (!text)
		return command_fail(COMMAND_USAGE, NULL);
	fprintf(text, "'%s' is neither a PID, fd:N nor a verb; the verbs are", word);
	for (size_t i = 0; i < VERBS; i++)
		fprintf(text, "%s %s", i ? "," : "", verbs[i].name);
	message = fclose(text) == 0 ? list : NULL;
	command_fail(COMMAND_USAGE, message);
	fputs("Try 'idmap --help'.\n", stderr);
	return COMMAND_USAGE;
}

static int run_verb(const struct verb *verb, int argc, char **argv)
{
	int status = verb->run(argc, argv);

	if (status == COMMAND_USAGE)
		fprintf(stderr, "Try 'idmap %s --help'.\n", verb->name);
	return status;
}

/* "help", and "help VERB", which is "VERB --help". */
static int help(char **argv)
{
	char option[] = "--help", *help_argv[] = {argv[0], option, NULL};
	const struct verb *verb = argv[2] ? find_verb(argv[2]) : NULL;

	if (verb)
		return run_verb(verb, 2, help_argv);
	if (argv[2])
		return unknown_verb(argv[2]);
	print_usage(stdout);
	return COMMAND_DONE;
}

static int too_many(const char *word)
{
	char *message;

	message_fail(&message, "'%s': nothing belongs there", word);
	command_fail(COMMAND_USAGE, message);
	fputs("Try 'idmap --help'.\n", stderr);
	return COMMAND_USAGE;
}

static bool is_any(const char *word, const char *a, const char *b, const char *c)
{
	return strcmp(word, a) == 0 || strcmp(word, b) == 0 || strcmp(word, c) == 0;
}

/* What begins with no verb is write, or dump with --dump. */
static int run_nameless(int argc, char **argv)
{
	if (take_dump(&argc, argv))
		return run_verb(find_verb("dump"), argc, argv);
	if (argc > 1 && begins_write(argv[1]))
		return run_verb(find_verb("write"), argc, argv);
	if (argc > 1)
		return unknown_verb(argv[1]);
	print_usage(stderr);
	return COMMAND_USAGE;
}

static int run(int argc, char **argv)
{
	const struct verb *verb = argc > 1 ? find_verb(argv[1]) : NULL;

	if (verb) {
		argv[1] = argv[0];
		return run_verb(verb, argc - 1, argv + 1);
	}
	if (argc > 1 && is_any(argv[1], "-h", "--help", "help"))
		return argc > 3 ? too_many(argv[3]) : help(argv);
	if (argc > 1 && is_any(argv[1], "-V", "--version", "version")) {
		if (argc > 2)
			return too_many(argv[2]);
		puts("idmap " PACKAGE_VERSION);
		return COMMAND_DONE;
	}
	return run_nameless(argc, argv);
}

/* Output that did not arrive is a failure: "idmap --dump >/dev/full" must not end in 0. */
static int close_stdout(int status)
{
	bool failed = ferror(stdout) != 0;

	errno = 0;
	if (fclose(stdout) == 0 && !failed)
		return status;
	warn("standard output");
	return COMMAND_FAILED;
}

int main(int argc, char **argv)
{
	static char name[] = "idmap";
	int fd;

	/* No map or pipe may be taken for a standard descriptor that the caller has closed; one that
	 * can only be read makes output to it the failure that it is. */
	do
		fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	while (fd >= 0 && fd <= STDERR_FILENO);
	close(fd);
	setlocale(LC_CTYPE, "");
	if (argc == 0)
		return COMMAND_USAGE;
	argv[0] = name;
	program_invocation_short_name = name;
	return close_stdout(run(argc, argv));
}

/* SPDX-License-Identifier: BSD-2-Clause */
#include "command.h"

#include "../trusted/autoclose.h"
#include "cmd-absent.h"
#include "message.h"
#include "process.h"
#include "request.h"
#include "writer.h"

#include <err.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char usage[] =
	"Usage: idmap [write] [OPTION]... PID|fd:N [MAP]...\n"
	"\n"
	"Write uid_map and gid_map of the user namespace that the process has unshared,\n"
	"read them back and verify them. fd:N is a descriptor of /proc/PID, or a pidfd.\n"
	"\n"
	"MAP is [+|-][u:|g:|b:]INNER:OUTER:COUNT, or -[u:|g:|b:]INNER:COUNT.\n"
	"\n"
	"  -u, --uid              only uid_map\n"
	"  -g, --gid              only gid_map\n"
	"      --layout NAME      root, keep-id, subids or self [root]\n"
	"      --size N           let the layout have N inner IDs (65536, 64k)\n"
	"      --identity A[-B]   short for +A:A:N, N being B - A + 1\n"
	"      --user NAME        use the grants of NAME\n"
	"      --verbose          say what was done\n"
	"  -h, --help             show this\n";

enum { WRITE_VERBOSE = REQUEST_OWN };

static const struct option longs[] = {
	REQUEST_LONG,
	{"verbose", no_argument, NULL, WRITE_VERBOSE},
	{"help", no_argument, NULL, 'h'},
	{NULL, 0, NULL, 0},
};

struct write {
	struct request request;
	struct answer answer;
	const char *target;
	bool verbose;
};

static void write_clear(struct write *write)
{
	request_clear(&write->request);
	answer_clear(&write->answer);
}

static void trace(const char *line)
{
	warnx("%s", line);
}

/* Returns -1 to go on, else the exit status. */
static int read_command_line(struct write *write, int argc, char **argv)
{
	char *message = NULL;
	int option, r = 0;

	while (r == 0 &&
	       (option = request_next(&write->request, argc, argv, REQUEST_SHORT "h",
				      longs, &message)) != -1) {
		if (option == 'h') {
			fputs(usage, stdout);
			return COMMAND_DONE;
		}
		if (option == WRITE_VERBOSE)
			write->verbose = true;
		else if (option == REQUEST_WORD)
			r = process_take(&write->target, optarg, &message);
		else
			return message ? command_fail(COMMAND_USAGE, message)
				       : COMMAND_USAGE;
	}
	if (r == 0 && optind < argc)
		r = message_fail(&message, "'%s' stands behind --, where nothing belongs",
				 argv[optind]);
	if (r == 0 && !write->target)
		r = message_fail(&message,
				 "no PID or fd:N: whose maps shall be written?");
	return r == 0 ? -1 : command_fail(COMMAND_USAGE, message);
}

int cmd_write(int argc, char **argv)
{
	__attribute__((cleanup(write_clear))) struct write write = {0};
	struct request *request = &write.request;
	struct answer *answer = &write.answer;
	char *message = NULL;
	AUTOCLOSE int dir = -1;
	int r, status = read_command_line(&write, argc, argv);

	if (status != -1)
		return status;
	status = process_open(write.target, &dir, &message);
	if (status != COMMAND_DONE)
		return command_fail(status, message);
	r = request_plan(request, writer_needs_grants(request->kinds), answer, &message);
	if (r == 0)
		absent_say_answer(answer);
	if (r == 0)
		r = writer_write(dir, answer->maps, writer_choose(dir, answer->maps),
				 write.verbose ? trace : NULL, &message);
	return r == 0 ? COMMAND_DONE : command_fail(COMMAND_FAILED, message);
}

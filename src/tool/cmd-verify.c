/* SPDX-License-Identifier: BSD-2-Clause */
#include "command.h"

#include "../trusted/autoclose.h"
#include "../trusted/live.h"
#include "cmd-absent.h"
#include "message.h"
#include "process.h"
#include "request.h"
#include "verify.h"

#include <stdio.h>
#include <string.h>

static const char usage[] =
	"Usage: idmap verify [OPTION]... PID|fd:N [MAP]...\n"
	"\n"
	"Compare the live maps of a process with those that would be written: nothing is\n"
	"said if each ID has the same answer in both, else the lowest one that differs is\n"
	"shown, and the exit status is 1.\n"
	"\n"
	"MAP is [+|-][u:|g:|b:]INNER:OUTER:COUNT, or -[u:|g:|b:]INNER:COUNT.\n"
	"\n"
	"  -u, --uid              only uid_map\n"
	"  -g, --gid              only gid_map\n"
	"      --layout NAME      root, keep-id, subids or self [root]\n"
	"      --size N           let the layout have N inner IDs (65536, 64k)\n"
	"      --identity A[-B]   short for +A:A:N, N being B - A + 1\n"
	"      --user NAME        use the grants of NAME\n"
	"  -h, --help             show this\n";

static const struct option longs[] = {
	REQUEST_LONG,
	{"help", no_argument, NULL, 'h'},
	{NULL, 0, NULL, 0},
};

struct verify {
	struct request request;
	struct answer answer;
	const char *target;
};

static void verify_clear(struct verify *verify)
{
	request_clear(&verify->request);
	answer_clear(&verify->answer);
}

/* Returns -1 to go on, else the exit status. */
static int read_command_line(struct verify *verify, int argc, char **argv)
{
	char *message = NULL;
	int option, r = 0;

	while (r == 0 &&
	       (option = request_next(&verify->request, argc, argv, REQUEST_SHORT "h",
				      longs, &message)) != -1) {
		if (option == 'h') {
			fputs(usage, stdout);
			return COMMAND_DONE;
		}
		if (option != REQUEST_WORD)
			return message ? command_fail(COMMAND_USAGE, message)
				       : COMMAND_USAGE;
		r = process_take(&verify->target, optarg, &message);
	}
	if (r == 0 && optind < argc)
		r = message_fail(&message, "'%s' stands behind --, where nothing belongs",
				 argv[optind]);
	if (r == 0 && !verify->target)
		r = message_fail(&message,
				 "no PID or fd:N: whose maps shall be compared?");
	return r == 0 ? -1 : command_fail(COMMAND_USAGE, message);
}

static int verify_kind(const struct verify *verify, int dir, enum id_kind kind)
{
	struct verify_difference difference;
	struct idmap live;
	char *message, text[VERIFY_TEXT];
	int r = live_map(dir, kind, &live);

	if (r != 0) {
		message_fail(&message, "reading %s of %s: %s", id_words[kind].map,
			     verify->target, strerror(-r));
		return command_fail(COMMAND_FAILED, message);
	}
	if (live.n == 0) {
		message_fail(&message, "%s of %s is not written yet", id_words[kind].map,
			     verify->target);
		return command_fail(COMMAND_FAILED, message);
	}
	if (verify_maps(&verify->answer.maps[kind], &live, &difference))
		return COMMAND_DONE;
	verify_describe(&difference, text);
	message_fail(&message, "%s of %s differs from the plan: %s", id_words[kind].map,
		     verify->target, text);
	return command_fail(COMMAND_FAILED, message);
}

int cmd_verify(int argc, char **argv)
{
	__attribute__((cleanup(verify_clear))) struct verify verify = {0};
	char *message = NULL;
	AUTOCLOSE int dir = -1;
	int status = read_command_line(&verify, argc, argv);

	if (status != -1)
		return status;
	status = process_open(verify.target, &dir, &message);
	if (status != COMMAND_DONE)
		return command_fail(status, message);
	if (request_plan(&verify.request, false, &verify.answer, &message) != 0)
		return command_fail(COMMAND_FAILED, message);
	absent_say_answer(&verify.answer);
	for (enum id_kind kind = ID_UID; kind <= ID_GID; kind++)
		if (verify.request.kinds[kind] &&
		    verify_kind(&verify, dir, kind) != COMMAND_DONE)
			status = COMMAND_FAILED;
	return status;
}

/* SPDX-License-Identifier: BSD-2-Clause */
#include "cmd-missed.h"

#include "command.h"
#include "message.h"

#include <string.h>
#include <unistd.h>

static void say(const char *what, size_t n, const char *who)
{
	char *message;

	if (n == 0)
		return;
	message_fail(&message, "not seen: %s: %zu%s", what, n, who);
	command_fail(COMMAND_DONE, message);
}

void missed_say(const struct namespaces_missed *missed)
{
	const char *root = geteuid() == 0 ? "" : " (root may)";

	say("processes that ended meanwhile", missed->vanished, "");
	say("processes that may not be asked for their namespace", missed->denied, root);
	say("bind mounts of namespaces that can't be opened", missed->mounts, root);
	say("maps of namespaces that can't be entered, and where no process is",
	    missed->unread, root);
	if (missed->hidden)
		command_fail(COMMAND_DONE,
			     strdup("not seen: all processes of others, since /proc is "
				    "mounted with hidepid"));
}

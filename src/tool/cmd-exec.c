/* SPDX-License-Identifier: BSD-2-Clause */
#include "command.h"

#include "../trusted/live.h"
#include "../trusted/procmap.h"
#include "cmd-absent.h"
#include "idword.h"
#include "message.h"
#include "request.h"
#include "spawn.h"
#include "writer.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <stdnoreturn.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static const char usage[] =
	"Usage: idmap exec [OPTION]... [MAP]... -- COMMAND [ARG]...\n"
	"\n"
	"Run COMMAND in a new user namespace, with both maps written and verified.\n"
	"\n"
	"MAP is [+|-][u:|g:|b:]INNER:OUTER:COUNT, or -[u:|g:|b:]INNER:COUNT.\n"
	"\n"
	"      --layout NAME      root, keep-id, subids or self [root]\n"
	"      --size N           let the layout have N inner IDs\n"
	"      --auto[=N]         in place of a layout, map a slice of N IDs [64k] of\n"
	"                         your grants that no live namespace uses\n"
	"      --name NAME        with --auto, the slice that NAME had last, if free\n"
	"      --identity A[-B]   short for +A:A:N, N being B - A + 1\n"
	"      --setuid ID        run COMMAND as this inner uid [0; keep-id: the own]\n"
	"      --setgid ID        run COMMAND as this inner gid [0; keep-id: the own]\n"
	"      --setgroups WORD   deny: no setgroups(2) inside; allow: fail if denied\n"
	"      --mount            a new mount namespace too; no mount gets in or out\n"
	"      --pid              a new PID namespace, whose first process reaps; with\n"
	"                         --mount a fresh /proc\n"
	"      --net, --uts, --ipc, --cgroup\n"
	"                         new namespaces of these types\n"
	"  -h, --help             show this\n"
	"\n"
	"The exit status is COMMAND's; 126: COMMAND can't be run, 127: not found.\n"
	"1: refused or failed before COMMAND, 2: usage.\n";

enum {
	EXEC_SETUID = REQUEST_OWN,
	EXEC_SETGID,
	EXEC_SETGROUPS,
};

/* A namespace's option has its CLONE_NEW* as code; all of these are above REQUEST_OWN. */
static const struct option longs[] = {
	REQUEST_LONG,
	REQUEST_SLICE,
	{"setuid", required_argument, NULL, EXEC_SETUID},
	{"setgid", required_argument, NULL, EXEC_SETGID},
	{"setgroups", required_argument, NULL, EXEC_SETGROUPS},
	{"mount", no_argument, NULL, CLONE_NEWNS},
	{"pid", no_argument, NULL, CLONE_NEWPID},
	{"net", no_argument, NULL, CLONE_NEWNET},
	{"uts", no_argument, NULL, CLONE_NEWUTS},
	{"ipc", no_argument, NULL, CLONE_NEWIPC},
	{"cgroup", no_argument, NULL, CLONE_NEWCGROUP},
	{"help", no_argument, NULL, 'h'},
	{NULL, 0, NULL, 0},
};

enum setgroups { SETGROUPS_LEAVE, SETGROUPS_ALLOW, SETGROUPS_DENY };

struct exec {
	struct request request;
	struct answer answer;
	bool chosen[ID_KINDS]; /* --setuid, --setgid */
	uint32_t ids[ID_KINDS];
	enum setgroups setgroups;
	int namespaces; /* CLONE_NEW*, the user namespace understood */
	char **command;
};

static const char *const id_options[ID_KINDS] = {"--setuid", "--setgid"};

static int read_id(struct exec *exec, enum id_kind kind, char **ret_message)
{
	exec->chosen[kind] = true;
	return idword_parse(id_options[kind], optarg, kind, &exec->ids[kind],
			    ret_message);
}

static int read_setgroups(struct exec *exec, char **ret_message)
{
	if (strcmp(optarg, "allow") == 0)
		exec->setgroups = SETGROUPS_ALLOW;
	else if (strcmp(optarg, "deny") == 0)
		exec->setgroups = SETGROUPS_DENY;
	else
		return message_fail(ret_message,
				    "--setgroups '%s' is neither allow nor deny", optarg);
	return 0;
}

static int read_option(struct exec *exec, int option, char **ret_message)
{
	switch (option) {
	case EXEC_SETUID:
		return read_id(exec, ID_UID, ret_message);
	case EXEC_SETGID:
		return read_id(exec, ID_GID, ret_message);
	case EXEC_SETGROUPS:
		return read_setgroups(exec, ret_message);
	case REQUEST_WORD:
		return message_fail(ret_message,
				    "'%s' is no MAP; COMMAND stands after --", optarg);
	case '?':
		return -1;
	default:
		exec->namespaces |= option;
		return 0;
	}
}

/* What the other verbs may ask for and this one can't do. */
static int check_request(const struct request *request, char **ret_message)
{
	if (request->kinds[ID_UID] != request->kinds[ID_GID])
		return message_fail(ret_message, "exec writes both maps; -u: and -g: "
						 "before a MAP say where it goes");
	if (request->user)
		return message_fail(ret_message,
				    "exec has no --user: COMMAND runs on the caller's "
				    "own grants; become %s first",
				    request->user);
	return 0;
}

/* Returns -1 to go on, else the exit status. */
static int read_command_line(struct exec *exec, int argc, char **argv)
{
	char *message = NULL;
	int option, r = 0;

	while (r == 0 &&
	       (option = request_next(&exec->request, argc, argv, REQUEST_SHORT "h",
				      longs, &message)) != -1) {
		if (option == 'h') {
			fputs(usage, stdout);
			return COMMAND_DONE;
		}
		r = read_option(exec, option, &message);
	}
	if (r == 0)
		r = check_request(&exec->request, &message);
	if (r == 0 && optind == argc)
		r = message_fail(&message, "no COMMAND; it stands after --");
	if (r == 0) {
		exec->command = argv + optind;
		return -1;
	}
	return message ? command_fail(COMMAND_USAGE, message) : COMMAND_USAGE;
}

static const struct extent *find_inner(const struct idmap *map, uint32_t inner)
{
	for (size_t i = 0; i < map->n; i++) {
		const struct extent *extent = &map->extents[i];

		if (inner >= extent->inner && inner - extent->inner < extent->count)
			return extent;
	}
	return NULL;
}

/* An inner ID that would do in place of one that isn't mapped: where the own one is, or the first. */
static uint32_t instead(const struct exec *exec, enum id_kind kind)
{
	const struct account *account = &exec->answer.account;
	const struct idmap *map = &exec->answer.maps[kind];
	uint32_t own = kind == ID_UID ? account->uid : account->gid;

	for (size_t i = 0; i < map->n; i++)
		if (own - map->extents[i].outer < map->extents[i].count)
			return map->extents[i].inner + (own - map->extents[i].outer);
	return map->extents[0].inner;
}

/* Not all IDs that COMMAND would run as are mapped. */
static int refuse_ids(const struct exec *exec, const bool mapped[ID_KINDS],
		      char **ret_message)
{
	bool both = !mapped[ID_UID] && !mapped[ID_GID];
	char what[ID_KINDS][24] = {"", ""}, fix[ID_KINDS][32] = {"", ""};

	for (enum id_kind kind = ID_UID; kind <= ID_GID; kind++) {
		if (mapped[kind])
			continue;
		snprintf(what[kind], sizeof(what[kind]), "%s %u", id_words[kind].word,
			 exec->ids[kind]);
		snprintf(fix[kind], sizeof(fix[kind]), "%s %u", id_options[kind],
			 instead(exec, kind));
	}
	return message_fail(ret_message,
			    "inner %s%s%s, which COMMAND would run as, %s mapped; %s%s%s "
			    "would work",
			    what[ID_UID], both ? " and " : "", what[ID_GID],
			    both ? "aren't" : "isn't", fix[ID_UID], both ? " " : "",
			    fix[ID_GID]);
}

/* Fill in the default IDs; refuse those that the plan does not map. */
static int choose_ids(struct exec *exec, char **ret_message)
{
	const struct account *account = &exec->answer.account;
	const uint32_t own[ID_KINDS] = {account->uid, account->gid};
	bool mapped[ID_KINDS];

	for (enum id_kind kind = ID_UID; kind <= ID_GID; kind++) {
		if (!exec->chosen[kind] && exec->request.layout == LAYOUT_KEEP_ID)
			exec->ids[kind] = own[kind];
		mapped[kind] = find_inner(&exec->answer.maps[kind], exec->ids[kind]);
	}
	return mapped[ID_UID] && mapped[ID_GID] ? 0
						: refuse_ids(exec, mapped, ret_message);
}

/* The writer is the child of its target: it ends when the target is killed. */
static enum writer_way choose_way(int dir, const struct idmap maps[ID_KINDS])
{
	enum writer_way way = writer_choose(dir, maps);

	return way == WRITER_HELPERS ? WRITER_HELPERS_AWAITED : way;
}

/* Runs outside, on behalf of the process that waits to become COMMAND. */
static int write_maps(int dir, void *context)
{
	const struct exec *exec = context;
	const struct idmap *maps = exec->answer.maps;
	char *message = NULL;
	bool allowed = true;
	int r = 0;

	if (exec->setgroups == SETGROUPS_DENY)
		r = procmap_deny_setgroups(dir);
	if (r != 0)
		message_fail(&message, "can't deny setgroups: %s", strerror(-r));
	else
		r = writer_write(dir, maps, choose_way(dir, maps), NULL, &message);
	if (r == 0 && exec->setgroups == SETGROUPS_ALLOW)
		r = live_setgroups(dir, &allowed);
	if (r == 0 && !allowed)
		r = message_fail(&message, "--setgroups=allow can't be: setgroups is "
					   "denied for a map of nothing but the own gid, "
					   "and below a namespace that denies it");
	return r == 0 ? 0 : command_fail(COMMAND_FAILED, message);
}

static int fail_unshare(int error)
{
	const char *why = strerror(error);
	char *message;

	if (error == ENOSPC)
		why = "a limit is reached (user.max_*_namespaces, or 33 user namespaces "
		      "one in the other)";
	else if (error == EPERM)
		why = "not permitted here: this is a chroot, or a security module "
		      "forbids it (kernel.apparmor_restrict_unprivileged_userns)";
	message_fail(&message, "can't make the namespaces: %s", why);
	return command_fail(COMMAND_FAILED, message);
}

/*
 * COMMAND's end becomes ours, a signal too, so that the caller sees what it would have seen
 * of COMMAND itself; the core, if any, was COMMAND's. No exit(3): nothing is left to flush,
 * and /proc may be one that doesn't show this process.
 */
static noreturn void end_like(int status)
{
	int sig = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
	sigset_t set;

	if (sig == 0)
		_exit(WEXITSTATUS(status));
	prctl(PR_SET_DUMPABLE, 0);
	signal(sig, SIG_DFL);
	sigemptyset(&set);
	sigaddset(&set, sig);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	raise(sig);
	_exit(128 + sig);
}

static const char *exec_reason(const char *command, int error)
{
	if (error == -ENOENT && !strchr(command, '/'))
		return "not found in PATH";
	if (error == -ENOEXEC)
		return "neither a program nor a script with a #! line (no shell is "
		       "started)";
	return strerror(-error);
}

/* The last steps, in the process that becomes COMMAND. Returns only what failed. */
static int become_command(const struct exec *exec)
{
	const char *step = "";
	char *message;
	int r = spawn_settle(exec->namespaces, exec->ids, &step);

	if (r < 0) {
		message_fail(&message, "can't %s: %s", step, strerror(-r));
		return command_fail(COMMAND_FAILED, message);
	}
	r = spawn_exec(exec->command);
	message_fail(&message, exec->command[0][0] ? "%s: %s" : "'%s': %s",
		     exec->command[0], exec_reason(exec->command[0], r));
	return command_fail(r == -ENOENT ? 127 : 126, message);
}

static int run(struct exec *exec)
{
	char *message;
	int status = 0;
	int r = spawn_unshare(exec->namespaces, write_maps, exec);

	if (r < 0)
		return fail_unshare(-r);
	if (r == SPAWN_E_WRITER)
		return COMMAND_FAILED;
	if (exec->namespaces & CLONE_NEWPID)
		r = spawn_below_init(exec->ids, &status);
	if (r == SPAWN_E_ENDED)
		end_like(status);
	if (r < 0) {
		message_fail(&message, "can't start the first process: %s", strerror(-r));
		return command_fail(COMMAND_FAILED, message);
	}
	return become_command(exec);
}

static int plan(struct exec *exec)
{
	const bool with_grants = writer_needs_grants(exec->request.kinds);
	char *message = NULL;
	int r = request_plan(&exec->request, with_grants, &exec->answer, &message);

	if (r == 0)
		absent_say_answer(&exec->answer);
	if (r == 0)
		r = choose_ids(exec, &message);
	return r == 0 ? COMMAND_DONE : command_fail(COMMAND_FAILED, message);
}

int cmd_exec(int argc, char **argv)
{
	struct exec exec = {.request.hold = true};
	int status = read_command_line(&exec, argc, argv);

	if (status < 0)
		status = plan(&exec);
	if (status == COMMAND_DONE && exec.command)
		status = run(&exec);
	answer_clear(&exec.answer);
	request_clear(&exec.request);
	return status;
}

/* SPDX-License-Identifier: BSD-2-Clause */

/* The processes: targets in fresh user namespaces, and the calls of the helper. */

#include "helper-call.h"
#include "helper/helper.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <sched.h>
#include <signal.h>
#include <sys/capability.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static struct shared *shared;
static int said_fd;

extern uint8_t __start___sancov_cntrs[] __attribute__((weak));
extern uint8_t __stop___sancov_cntrs[] __attribute__((weak));

uint8_t *counters_start(void)
{
	return __start___sancov_cntrs;
}

size_t counters_number(void)
{
	size_t n = (uintptr_t)__stop___sancov_cntrs - (uintptr_t)__start___sancov_cntrs;

	return n < COUNTERS ? n : COUNTERS;
}

static _Noreturn void give_up(const char *what)
{
	fprintf(stderr, "fuzz-helper: %s: %s\n", what, strerror(errno));
	_exit(99);
}

static void must(bool holds, const char *what)
{
	if (!holds)
		give_up(what);
}

/* All IDs are CALLER's, and no privilege is left but what exec(2) of the install gives. */
static void become(const struct caller *caller, uid_t effective)
{
	must(setgroups(0, NULL) == 0, "setgroups");
	must(setresgid(caller->gid, caller->gid, caller->gid) == 0, "setresgid");
	must(setresuid(caller->uid, effective, effective) == 0, "setresuid");
}

static void hold_file_capability(enum id_kind kind)
{
	cap_t caps = cap_from_text(kind == ID_UID ? "cap_setuid=ep" : "cap_setgid=ep");

	must(caps && cap_set_proc(caps) == 0, "cap_set_proc");
	cap_free(caps);
}

/* What is covered goes home, and no other handler, such as the fuzzer's own, runs. */
static void leave(int status, void *unused)
{
	(void)unused;
	fflush(NULL);
	if (counters_number() > 0)
		memcpy(shared->counters, __start___sancov_cntrs, counters_number());
	shared->counted = true;
	_exit(status);
}

static _Noreturn void run_inside(const struct call *call)
{
	const struct caller *caller = call->caller;

	if (call->setuid) {
		become(caller, 0);
	} else {
		prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0);
		become(caller, caller->uid);
		hold_file_capability(call->kind);
		prctl(PR_SET_KEEPCAPS, 0, 0, 0, 0);
	}
	on_exit(leave, NULL);
	if (counters_number() > 0)
		memset(__start___sancov_cntrs, 0, counters_number());
	exit(helper_main(call->kind, call->argc, (char **)(uintptr_t)call->argv));
}

static _Noreturn void run_installed(const struct call *call)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/%s",
		 getenv(call->setuid ? "HELPERS_SETUID" : "HELPERS_FILECAPS"),
		 id_words[call->kind].helper);
	become(call->caller, call->caller->uid);
	execv(path, (char **)(uintptr_t)call->argv);
	give_up(path);
}

static void run(const struct call *call, bool installed)
{
	pid_t pid = fork();

	must(pid >= 0, "fork");
	if (pid == 0) {
		for (int number = 1; number < NSIG; number++)
			signal(number, SIG_DFL);
		alarm(30);
		dup2(said_fd, STDOUT_FILENO);
		dup2(said_fd, STDERR_FILENO);
		close_range(3, FD_FOLDER - 1, 0);
		close_range(FD_END, ~0U, 0);
		if (installed)
			run_installed(call);
		run_inside(call);
	}
	must(waitpid(pid, &shared->status, 0) == pid, "waitpid");
}

static _Noreturn void sleep_in_namespace(const struct caller *caller, int ready)
{
	become(caller, caller->uid);
	/* Namespaces are freed some time after their last process: wait for room. */
	for (int tries = 0; unshare(CLONE_NEWUSER) < 0; tries++) {
		must(errno == ENOSPC && tries < 5000, "unshare");
		usleep(1000);
	}
	/* Other IDs have taken both away. */
	prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	must(write(ready, "", 1) == 1, "write");
	for (;;)
		pause();
}

static void open_at(int fd, int number)
{
	must(fd >= 0 && dup2(fd, number) == number, "dup2");
	close(fd);
}

static pid_t spawn(const struct caller *caller)
{
	int ready[2];
	pid_t pid;
	char byte;

	must(pipe2(ready, O_CLOEXEC) == 0, "pipe2");
	pid = fork();
	must(pid >= 0, "fork");
	if (pid == 0)
		sleep_in_namespace(caller, ready[1]);
	close(ready[1]);
	must(read(ready[0], &byte, 1) == 1, "a target has ended");
	close(ready[0]);
	return pid;
}

static void open_target(pid_t pid)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/%d", pid);
	open_at(open(path, O_RDONLY | O_DIRECTORY), FD_FOLDER);
	open_at((int)syscall(SYS_pidfd_open, pid, 0), FD_PIDFD);
}

static void open_trap(const struct caller *caller, int number)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/%d", spawn(caller));
	open_at(open(path, O_RDONLY | O_DIRECTORY), number);
}

static void set_traps(void)
{
	open_at(open("/run/fuzz", O_RDONLY | O_DIRECTORY), FD_FAKE);
	open_at(open("/proc/self", O_RDONLY | O_DIRECTORY), FD_ROOTS);
	open_trap(&(struct caller){.uid = 1002, .gid = 1001}, FD_BOBS);
	open_trap(&(struct caller){.uid = 1003, .gid = 2005}, FD_CAROLS);
}

static _Noreturn void serve(int in, int out)
{
	char order;

	set_traps();
	while (read(in, &order, 1) == 1) {
		if (order == 't')
			shared->call.target = spawn(shared->call.caller);
		if (order == 't' || order == 'o')
			open_target(shared->call.target);
		if (order == 'r' || order == 'i')
			run(&shared->call, order == 'i');
		if (order == 'k') {
			kill(shared->call.target, SIGKILL);
			waitpid(shared->call.target, NULL, 0);
		}
		must(write(out, "", 1) == 1, "write");
	}
	_exit(0);
}

void server_start(struct shared *with_client, int said, int *ret_to, int *ret_from)
{
	int in[2], out[2];
	pid_t pid;

	shared = with_client;
	said_fd = said;
	must(pipe2(in, O_CLOEXEC) == 0 && pipe2(out, O_CLOEXEC) == 0, "pipe2");
	pid = fork();
	must(pid >= 0, "fork");
	if (pid == 0) {
		close(in[1]);
		close(out[0]);
		serve(in[0], out[1]);
	}
	close(in[0]);
	close(out[1]);
	*ret_to = in[1];
	*ret_from = out[0];
}

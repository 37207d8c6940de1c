/* SPDX-License-Identifier: BSD-2-Clause */

/*
 * attack-points: stop a helper at each of its system calls, and do there what an attacker would.
 *
 * A seccomp filter hands every call of the helper to this program, which looks at its user IDs and
 * capabilities and then lets the call be made, lets it fail, sends the helper a signal, or plays
 * with its target. That is each moment of a run, one after the other, where a race would hit a few. Points
 * count from the first call of the helper's own, the open of /dev/null.
 *
 *	attack-points WHAT FOLDER	root only; alice is granted uid 100000 and gid 300000
 *	attack-points WHAT FOLDER service	the files grant the same, but a directory service
 *					is to be asked, which grants uid 500000 and gid 700000
 *
 * The process that asks the service is handed over too: its calls are points as the helper's are.
 * Says on stdout what should not have been, and exits 1. What the helpers say is on stderr.
 */

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/capability.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#define ALICE       1001U
#define OTHER_GROUP 1002U
#define POINTS      2000U /* a helper that makes more calls hangs */

#define SETUID_CAPS (1ULL << CAP_SETUID | 1ULL << CAP_SETFCAP)
#define SETGID_CAPS (1ULL << CAP_SETGID)

enum what { LOOK, PRY, MEMORY, DESCRIPTORS, BREAK, KILL, REUSE, PIDFD, UNSHARE, WHATS };

static const char *const what_names[WHATS] = {"look",        "pry",   "memory",
					      "descriptors", "break", "kill",
					      "reuse",       "pidfd", "unshare"};

/* One request, and what may come of it. */
struct scenario {
	bool gid;
	const char *outer; /* NULL: no triple at all */
	const char *count;
	bool legal;
	bool denies; /* the map may only stand when setgroups is denied */
};

static const struct scenario scenarios[] = {
	{false, "100000", "10", true, false},  {false, "1001", "1", true, false},
	{false, "200000", "10", false, false}, {true, "300000", "10", true, false},
	{true, "1001", "1", true, true},       {true, "200000", "1", false, false},
	{false, NULL, NULL, false, false},     {true, NULL, NULL, false, false},
};

static const struct scenario service_scenarios[] = {
	{false, "500000", "10", true, false}, {false, "100000", "10", false, false},
	{true, "700000", "10", true, false},  {true, "300000", "10", false, false},
	{true, "1001", "1", true, true},
};

struct status {
	unsigned int uid[4];
	unsigned long long permitted, effective;
};

/* A run of a helper under supervision. */
struct run {
	const struct scenario *scenario;
	enum what what;
	size_t at; /* the point that is attacked; 0: none */
	size_t point;
	pid_t pid, caller, target; /* whose call it is: the helper's, or a child's */
	int order;                 /* a pipe to the target: a byte makes it unshare */
	bool narrowed;
	bool ended[2]; /* calls of its own are over, of the child's that asks a service */
	int signal;    /* what is sent at the point that is attacked, for KILL */
};

static int faults;

/* Say that R went wrong; what goes wrong at many points is said once. */
static void complain(const struct run *r, const char *text)
{
	static const struct scenario *scenario;
	static const char *said;

	faults++;
	if (scenario == r->scenario && said == text)
		return;
	scenario = r->scenario;
	said = text;
	printf("%s, %s outer %s, attacked at %zu, at %zu: %s\n", what_names[r->what],
	       r->scenario->gid ? "newgidmap" : "newuidmap",
	       r->scenario->outer ? r->scenario->outer : "none", r->at, r->point, text);
}

static _Noreturn void die(const char *text)
{
	printf("%s: %s\n", text, strerror(errno));
	exit(2);
}

static void become(gid_t gid)
{
	if (setgroups(0, NULL) < 0 || setresgid(gid, gid, gid) < 0 ||
	    setresuid(ALICE, ALICE, ALICE) < 0 || prctl(PR_SET_DUMPABLE, 1) < 0)
		_exit(3);
}

static _Noreturn void be_target(gid_t gid, bool unshared, int order, int ready)
{
	char byte = 0;

	become(gid);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (unshared && unshare(CLONE_NEWUSER) < 0)
		byte = 1;
	if (write(ready, &byte, 1) < 0 || read(order, &byte, 1) < 0 ||
	    unshare(CLONE_NEWUSER) < 0 || write(ready, &byte, 1) < 0)
		_exit(3);
	for (;;)
		pause();
}

static int ready[2];

static void wait_ready(void)
{
	char byte = 1;

	if (read(ready[0], &byte, 1) != 1 || byte != 0)
		die("target");
}

/* Start a target, as process PID unless that is 0. */
static pid_t start_target(pid_t wanted, gid_t gid, bool unshared, int *ret_order)
{
	struct clone_args args = {.exit_signal = SIGCHLD,
				  .set_tid = wanted ? (uintptr_t)&wanted : 0,
				  .set_tid_size = wanted != 0};
	int order[2];
	pid_t pid;

	if (pipe2(order, O_CLOEXEC) < 0)
		die("pipe");
	/* Namespaces are freed some time after their last process: wait for room. */
	for (int tries = 0; tries < 1000; tries++) {
		pid = (pid_t)syscall(SYS_clone3, &args, sizeof(args));
		if (pid >= 0 || errno != EEXIST)
			break;
		usleep(1000);
	}
	if (pid == 0)
		be_target(gid, unshared, order[0], ready[1]);
	if (pid < 0)
		die("clone3");
	wait_ready();
	close(order[0]);
	*ret_order = order[1];
	return pid;
}

static void end_target(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

/* Hand all calls of this process and of what it runs to the listener. */
static void install_filter(void)
{
	struct sock_filter all = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF);
	struct sock_fprog program = {1, &all};

	if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
		    SECCOMP_FILTER_FLAG_NEW_LISTENER, &program) < 0)
		_exit(3);
}

/* Run ARGV as alice. The listener is the lowest free descriptor, and until ARGV is run both
 * processes have one table of them. */
static pid_t start_helper(char **argv, int *ret_listener)
{
	static char *environment[] = {NULL};
	const struct rlimit core = {RLIM_INFINITY, RLIM_INFINITY};
	int listener = fcntl(0, F_DUPFD_CLOEXEC, 3);
	long pid;

	close(listener);
	pid = syscall(SYS_clone, CLONE_FILES | SIGCHLD, NULL, NULL, NULL, NULL);
	if (pid == 0) {
		setrlimit(RLIMIT_CORE, &core);
		install_filter();
		become(ALICE);
		execve(argv[0], argv, environment);
		_exit(3);
	}
	if (pid < 0)
		die("clone");
	while (fcntl(listener, F_GETFD) < 0)
		usleep(50);
	*ret_listener = listener;
	return (pid_t)pid;
}

static bool read_status(pid_t pid, struct status *ret_status)
{
	char path[32], line[256];
	struct status s = {0};
	int found = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	file = fopen(path, "re");
	if (!file)
		return false;
	while (fgets(line, sizeof(line), file)) {
		found += sscanf(line, "Uid: %u %u %u %u", &s.uid[0], &s.uid[1], &s.uid[2],
				&s.uid[3]) == 4;
		found += sscanf(line, "CapPrm: %llx", &s.permitted) == 1;
		found += sscanf(line, "CapEff: %llx", &s.effective) == 1;
	}
	fclose(file);
	*ret_status = s;
	return found == 3;
}

static bool is_one_of(int number, const int *list)
{
	while (*list >= 0 && *list != number)
		list++;
	return *list >= 0;
}

static bool is_limit(enum what what)
{
	return what == MEMORY || what == DESCRIPTORS;
}

static bool is_reuse(enum what what)
{
	return what == REUSE || what == PIDFD;
}

static const int opens[] = {SYS_openat, SYS_socket, SYS_fcntl, -1};
static const int allocates[] = {SYS_mmap, SYS_brk, SYS_mremap, -1};
/* These can't fail; a close that says so has closed all the same. */
static const int ends[] = {SYS_exit_group, SYS_exit, SYS_rt_sigreturn, SYS_close, -1};

/* What may be done while a capability is in effect. */
static const int effective_calls[] = {
	SYS_openat, SYS_openat2, SYS_read,   SYS_write,   SYS_close,
	SYS_capget, SYS_capset,  SYS_getuid, SYS_geteuid, SYS_setresuid,
	SYS_brk,    SYS_mmap,    SYS_gettid, -1};

/* Does this call tell somebody something? */
static bool says(const struct seccomp_data *call)
{
	return ((call->nr == SYS_write || call->nr == SYS_writev) &&
		call->args[0] <= 2) ||
	       call->nr == SYS_sendto || call->nr == SYS_sendmsg;
}

static void look(struct run *r, const struct seccomp_data *call)
{
	const unsigned long long most = r->scenario->gid ? SETGID_CAPS : SETUID_CAPS;
	struct status s;
	bool own;

	if (!read_status(r->caller, &s))
		return;
	own = s.uid[0] == ALICE && s.uid[1] == ALICE && s.uid[2] == ALICE &&
	      s.uid[3] == ALICE;
	if (says(call) && (!own || s.permitted || s.effective))
		complain(r, !own          ? "says something as another user"
			    : s.effective ? "says something with a capability in effect"
					  : "says something with a capability permitted");
	if (r->narrowed && (!own || (s.permitted & ~most)))
		complain(r, "has gained privilege");
	if (r->narrowed && s.effective && !is_one_of(call->nr, effective_calls))
		complain(r, "has a capability in effect where it needs none");
	r->narrowed |= own && !s.effective && !(s.permitted & ~most);
}

/* Try as alice to trace PID, to read and write it, and to take a descriptor of its. */
static bool can_pry(pid_t pid)
{
	static const char *const names[] = {"mem",  "maps", "environ",
					    "fd/1", "fd/3", "exe"};
	int pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	char path[48], byte;
	struct iovec local = {&byte, 1}, remote = {&byte, 1};
	bool can =
		ptrace(PTRACE_SEIZE, pid, NULL, NULL) == 0 ||
		process_vm_readv(pid, &local, 1, &remote, 1, 0) >= 0 || errno != EPERM ||
		process_vm_writev(pid, &local, 1, &remote, 1, 0) >= 0 || errno != EPERM;

	for (int fd = 0; fd < 8; fd++)
		can |= syscall(SYS_pidfd_getfd, pidfd, fd, 0) >= 0 || errno != EPERM;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		snprintf(path, sizeof(path), "/proc/%d/%s", pid, names[i]);
		can |= open(path, O_RDONLY | O_CLOEXEC) >= 0 ||
		       open(path, O_WRONLY | O_CLOEXEC) >= 0;
	}
	return can;
}

static void pry(const struct run *r)
{
	int status = 0;
	pid_t pid = fork();

	if (pid == 0) {
		become(ALICE);
		_exit(can_pry(r->caller));
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		die("fork");
	if (status != 0)
		complain(r, "lets its caller trace it, look into it or take from it");
}

/* Put another process, of another group, in the place of the target. */
static void reuse(struct run *r)
{
	end_target(r->target);
	close(r->order);
	r->target = start_target(r->target, OTHER_GROUP, true, &r->order);
}

/* Those up to 31, that by which glibc cancels threads, the first and the last that it leaves. */
static const int signals[] = {1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12,
			      13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24,
			      25, 26, 27, 28, 29, 30, 31, 32, 34, 64};
static const int stops[] = {SIGSTOP, SIGTSTP, SIGTTIN, SIGTTOU, -1};
static const int ignored[] = {SIGCHLD, SIGCONT, SIGURG, SIGWINCH, -1};

/* The one for point AT: from one request to the next four further on, so that a call, which comes at
 * about the same point of each, sees many. */
static int signal_at(size_t request, size_t at)
{
	return signals[(at + 4 * request) % (sizeof(signals) / sizeof(*signals))];
}

static bool is_stopped(pid_t pid)
{
	char path[32], state = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	file = fopen(path, "re");
	if (!file)
		return false;
	if (fscanf(file, "%*d (%*[^)]) %c", &state) != 1)
		state = 0;
	fclose(file);
	return state == 'T';
}

/* What stops the caller takes effect some time after it was sent: before that, it could not go on. */
static void let_go_on(const struct run *r)
{
	for (int tries = 0; !is_stopped(r->caller) && tries < 20000; tries++)
		usleep(50);
	if (!is_stopped(r->caller))
		complain(r, "is not stopped");
	kill(r->caller, SIGCONT);
}

/* Attack at this point. Returns the error that the call is to fail with, or 0. */
static int attack(struct run *r, const struct seccomp_data *call)
{
	switch (r->what) {
	case MEMORY:
		return is_one_of(call->nr, allocates) ? ENOMEM : 0;
	case DESCRIPTORS:
		return is_one_of(call->nr, opens) ? EMFILE : 0;
	case BREAK:
		return is_one_of(call->nr, ends) ? 0 : EPERM;
	case KILL:
		kill(r->caller, r->signal);
		if (is_one_of(r->signal, stops))
			let_go_on(r);
		return 0;
	case REUSE:
	case PIDFD:
		reuse(r);
		return 0;
	case UNSHARE:
		if (write(r->order, "", 1) != 1)
			die("order");
		wait_ready();
		return 0;
	default:
		return 0;
	}
}

/* Is this call the open of a path that begins with START? */
static bool opens_path(pid_t pid, const struct seccomp_data *call, const char *start)
{
	char path[16] = "";
	struct iovec to = {path, strlen(start)};
	struct iovec from = {(void *)(uintptr_t)call->args[1], strlen(start)};

	return call->nr == SYS_openat && process_vm_readv(pid, &to, 1, &from, 1, 0) > 0 &&
	       strcmp(path, start) == 0;
}

/* Does the helper itself make this call? From the first of its own on, up to where gcov writes its
 * counters in a build for coverage: an attack there would only spoil these. */
static bool is_own(struct run *r, const struct seccomp_notif *request)
{
	pid_t pid = (pid_t)request->pid;
	bool *ended = &r->ended[pid != r->pid];

	if (r->point == 0)
		return opens_path(pid, &request->data, "/dev/null");
	*ended |= opens_path(pid, &request->data, "/mnt/#");
	return !*ended;
}

/* One call of the helper. */
static void answer(struct run *r, int listener)
{
	struct seccomp_notif request = {0};
	struct seccomp_notif_resp response = {0};

	if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &request) < 0)
		return;
	response.id = request.id;
	if (is_own(r, &request)) {
		r->point++;
		if (r->point == POINTS) {
			complain(r, "makes calls without end");
			kill(r->pid, SIGKILL);
		}
		r->caller = (pid_t)request.pid;
		if (r->what == LOOK || is_limit(r->what))
			look(r, &request.data);
		if (r->what == PRY)
			pry(r);
		/* A limit stays once it is reached. */
		if (r->point == r->at ||
		    (r->at > 0 && r->point > r->at && is_limit(r->what)))
			response.error = -attack(r, &request.data);
	}
	if (response.error == 0)
		response.flags = (uint32_t)SECCOMP_USER_NOTIF_FLAG_CONTINUE;
	(void)ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &response);
}

/* Returns the wait status. */
static int supervise(struct run *r, char **argv)
{
	struct pollfd listener = {.events = POLLIN};
	int status;

	r->pid = start_helper(argv, &listener.fd);
	while (poll(&listener, 1, 20000) > 0 && listener.revents & POLLIN)
		answer(r, listener.fd);
	if (!(listener.revents & POLLHUP)) {
		complain(r, "hangs");
		kill(r->pid, SIGKILL);
	}
	close(listener.fd);
	waitpid(r->pid, &status, 0);
	return status;
}

/* The first line of a file of the target, blanks squeezed. */
static void read_target(const struct run *r, const char *name, char ret_text[64])
{
	unsigned int n[3];
	char path[48];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/%s", r->target, name);
	file = fopen(path, "re");
	ret_text[0] = '\0';
	if (!file)
		return;
	if (fscanf(file, "%u %u %u", &n[0], &n[1], &n[2]) == 3)
		snprintf(ret_text, 64, "%u %u %u", n[0], n[1], n[2]);
	else if (fscanf(file, "%63s", ret_text) != 1)
		ret_text[0] = '\0';
	fclose(file);
}

/* Was it only sent what ends no process? */
static bool is_harmless(const struct run *r)
{
	return r->what == KILL &&
	       (is_one_of(r->signal, stops) || is_one_of(r->signal, ignored));
}

/* What must hold of the target in the end, whatever was done. */
static void check_target(const struct run *r, int status)
{
	const struct scenario *s = r->scenario;
	char maps[2][64], setgroups[64], wanted[64] = "none";

	read_target(r, "uid_map", maps[0]);
	read_target(r, "gid_map", maps[1]);
	read_target(r, "setgroups", setgroups);
	if (s->outer)
		snprintf(wanted, sizeof(wanted), "0 %s %s", s->outer, s->count);
	if (maps[!s->gid][0] != '\0')
		complain(r, "the other map is written");
	if (maps[s->gid][0] != '\0' && (!s->legal || strcmp(maps[s->gid], wanted) != 0 ||
					(is_reuse(r->what) && r->at > 0)))
		complain(r, "a map is written that must not be");
	if (s->denies && maps[s->gid][0] != '\0' && strcmp(setgroups, "deny") != 0)
		complain(r, "the own group is mapped and setgroups allowed");
	if (!s->denies && strcmp(setgroups, "allow") != 0)
		complain(r, "setgroups is touched");
	if (WIFSIGNALED(status) && WCOREDUMP(status))
		complain(r, "leaves a core");
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0 && maps[s->gid][0] == '\0' &&
	    !is_reuse(r->what))
		complain(r, "succeeds, and no map is written");
	if ((r->at == 0 || is_harmless(r)) &&
	    (!WIFEXITED(status) || WEXITSTATUS(status) != !s->legal))
		complain(r, "wrong exit status");
}

/* One run with an attack at point AT, of SIGNAL if it is that. Returns how many points there were. */
static size_t run_once(const char *folder, const struct scenario *s, enum what what,
		       size_t at, int signal)
{
	struct run r = {.scenario = s, .what = what, .at = at, .signal = signal};
	char path[256], target[16];
	char zero[] = "0";
	char *argv[] = {path,
			target,
			s->outer ? zero : NULL,
			(char *)(uintptr_t)s->outer,
			(char *)(uintptr_t)s->count,
			NULL};
	int pidfd, status;

	snprintf(path, sizeof(path), "%s/new%cidmap", folder, s->gid ? 'g' : 'u');
	r.target = start_target(0, ALICE, what != UNSHARE || at == 0, &r.order);
	pidfd = (int)syscall(SYS_pidfd_open, r.target, 0);
	if (pidfd < 0 || fcntl(pidfd, F_SETFD, 0) < 0)
		die("pidfd_open");
	snprintf(target, sizeof(target), "%s%d", what == PIDFD ? "fd:" : "",
		 what == PIDFD ? pidfd : r.target);
	status = supervise(&r, argv);
	if (what != UNSHARE || r.point >= at)
		check_target(&r, status);
	end_target(r.target);
	close(pidfd);
	close(r.order);
	return r.point;
}

int main(int argc, char **argv)
{
	bool service = argc == 4 && strcmp(argv[3], "service") == 0;
	const struct scenario *s = service ? service_scenarios : scenarios;
	size_t runs = 0, n = service ? sizeof(service_scenarios) / sizeof(*s)
				     : sizeof(scenarios) / sizeof(*s);
	enum what what = LOOK;

	while (argc >= 3 && what < WHATS && strcmp(argv[1], what_names[what]) != 0)
		what++;
	if (argc != 3 + service || what == WHATS || pipe2(ready, O_CLOEXEC) < 0)
		return 2;
#ifdef __SANITIZE_ADDRESS__
	/* Most calls are then the sanitizer's, which tries for ever what we let fail. */
	puts("# built with a sanitizer: no points of the helper's own");
	return 0;
#endif
	setvbuf(stdout, NULL, _IOLBF, 0);
	for (size_t i = 0; i < n; i++) {
		size_t points = run_once(argv[2], &s[i], what, 0, 0);

		runs++;
		for (size_t at = 1; what != LOOK && what != PRY && at <= points;
		     at++, runs++)
			run_once(argv[2], &s[i], what, at, signal_at(i, at));
	}
	printf("# %s: %zu runs, %d faults\n", argv[1], runs, faults);
	return faults > 0;
}

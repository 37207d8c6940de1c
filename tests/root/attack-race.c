/* SPDX-License-Identifier: BSD-2-Clause */

/*
 * attack-race: run a helper thousands of times while something happens at a moment that chance
 * chooses. Where attack-points stops it at each of its calls, here nothing waits for anything.
 *
 *	attack-race WHAT FOLDER TRIES	root only; alice is granted uid 100000 and gid 300000
 *
 *	reuse	the target dies and its PID is used anew by alice's process of another group
 *	pidfd	the same, named by a pidfd
 *	stop	the helper is stopped, the PID used anew, and the helper goes on
 *	exec	the target becomes a program that is setuid root and setgid
 *	signal	the helper gets a signal, each in turn
 *	limits	limits of the child that asks a directory service, which grants nothing of this, come
 *		and go
 *
 * Says on stdout what should not have been, and a line of figures; exits 1 if there is a fault. What
 * the helpers say is on stderr. IDMAP_SEED=N sets the seed, which is printed.
 */

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/capability.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define ALICE       1001U
#define OTHER_GROUP 1002U
#define HANG        20 /* seconds after which a helper hangs */

enum what { REUSE, PIDFD, STOP, EXEC, SIGNAL, LIMITS, WHATS };

static const char *const what_names[WHATS] = {"reuse", "pidfd",  "stop",
					      "exec",  "signal", "limits"};

struct request {
	const char *program, *outer, *count, *map;
	bool denies; /* the map may only stand when setgroups is denied */
};

static const struct request requests[] = {
	{"newuidmap", "100000", "10", "uid_map", false},
	{"newgidmap", "300000", "10", "gid_map", false},
	{"newgidmap", "1001", "1", "gid_map", true},
};

/* One helper against one target. */
struct
try {
	enum what what;
	const struct request *request;
	const char *folder;
	pid_t helper, target;
	int old_map; /* of the first target: open also when that is gone */
	int signal;
};

static struct {
	unsigned long written, refused, killed;
} figures;
static int faults;
static unsigned int seed;

static _Noreturn void die(const char *text)
{
	printf("%s: %s\n", text, strerror(errno));
	exit(2);
}

static void complain(const struct try *t, const char *text)
{
	if (faults++ < 10)
		printf("%s, %s %s: %s\n", what_names[t->what], t->request->program,
		       t->request->outer, text);
}

static int64_t nanoseconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* Not by sleep, which takes longer than a helper. */
static void spin(int64_t ns)
{
	for (int64_t end = nanoseconds() + ns; nanoseconds() < end;)
		;
}

static void become(gid_t gid)
{
	if (setgroups(0, NULL) < 0 || setresgid(gid, gid, gid) < 0 ||
	    setresuid(ALICE, ALICE, ALICE) < 0 || prctl(PR_SET_DUMPABLE, 1) < 0)
		_exit(3);
}

/* The program that a target becomes: setuid root, setgid. */
static char privileged[256];

static _Noreturn void be_target(gid_t gid, bool may_exec, int ready)
{
	sigset_t order;
	int signo;

	sigemptyset(&order);
	sigaddset(&order, SIGUSR1);
	sigprocmask(SIG_BLOCK, &order, NULL);
	become(gid);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if ((!may_exec && unshare(CLONE_NEWUSER) < 0) || write(ready, "", 1) != 1)
		_exit(3);
	while (sigwait(&order, &signo) != 0)
		;
	execl(privileged, privileged, "1000", NULL);
	_exit(3);
}

/* Start a target, as process WANTED unless that is 0. */
static pid_t start_target(pid_t wanted, gid_t gid, bool may_exec)
{
	struct clone_args args = {.exit_signal = SIGCHLD,
				  .set_tid = wanted ? (uintptr_t)&wanted : 0,
				  .set_tid_size = wanted != 0};
	int ready[2];
	char byte;
	pid_t pid = -1;

	if (pipe2(ready, O_CLOEXEC) < 0)
		die("pipe");
	/* Namespaces are freed some time after their last process: wait for room. */
	for (int tries = 0; pid < 0 && tries < 10000; tries++) {
		pid = (pid_t)syscall(SYS_clone3, &args, sizeof(args));
		if (pid < 0 && errno != EEXIST)
			break;
	}
	if (pid == 0)
		be_target(gid, may_exec, ready[1]);
	close(ready[1]);
	if (pid < 0 || read(ready[0], &byte, 1) != 1)
		die("target");
	close(ready[0]);
	return pid;
}

static void end_target(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static pid_t start_helper(const struct try *t, int pidfd)
{
	static char *environment[] = {NULL};
	const struct rlimit core = {RLIM_INFINITY, RLIM_INFINITY};
	char path[256], target[16];
	pid_t pid;

	snprintf(path, sizeof(path), "%s/%s", t->folder, t->request->program);
	snprintf(target, sizeof(target), "%s%d",
		 pidfd < 0 ? "" : "fd:", pidfd < 0 ? t->target : pidfd);
	pid = fork();
	if (pid == 0) {
		char *argv[] = {path,
				target,
				(char *)(uintptr_t) "0",
				(char *)(uintptr_t)t->request->outer,
				(char *)(uintptr_t)t->request->count,
				NULL};

		setrlimit(RLIMIT_CORE, &core);
		become(ALICE);
		prctl(PR_SET_DUMPABLE, 0); /* until it is the helper: no core of ours */
		execve(path, argv, environment);
		_exit(3);
	}
	if (pid < 0)
		die("fork");
	return pid;
}

static int open_file(pid_t pid, const char *name)
{
	char path[48];

	snprintf(path, sizeof(path), "/proc/%d/%s", pid, name);
	return open(path, O_RDONLY | O_CLOEXEC);
}

/* The first bytes of a file of /proc; none if it can't be read. */
static void read_file(int fd, char ret_text[64])
{
	ssize_t len = fd < 0 ? 0 : pread(fd, ret_text, 63, 0);

	ret_text[len > 0 ? len : 0] = '\0';
}

static void use_pid_anew(struct try *t)
{
	end_target(t->target);
	t->target = start_target(t->target, OTHER_GROUP, false);
}

/* The first child of PID, or 0. */
static pid_t child_of(pid_t pid)
{
	char path[64], text[16] = "";
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", pid, pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || read(fd, text, sizeof(text) - 1) < 0)
		text[0] = '\0';
	close(fd);
	return (pid_t)strtol(text, NULL, 10);
}

/* Take descriptors or memory away from the child for a moment, again and again. Its user may. */
static void change_limits(const struct try *t)
{
	const struct rlimit none = {0, RLIM_INFINITY}, all = {1024, RLIM_INFINITY};
	const struct rlimit any = {RLIM_INFINITY, RLIM_INFINITY};
	bool memory = random() % 2;
	pid_t child = 0;

	for (int i = 0; child == 0 && i < 1000; i++)
		child = child_of(t->helper);
	for (int i = 0; child > 0 && i < 20; i++) {
		spin(random() % 30000);
		kill(child, SIGSTOP);
		prlimit(child, memory ? RLIMIT_AS : RLIMIT_NOFILE, &none, NULL);
		kill(child, SIGCONT);
		spin(random() % 30000);
		prlimit(child, memory ? RLIMIT_AS : RLIMIT_NOFILE, memory ? &any : &all,
			NULL);
	}
}

static void happen(struct try *t)
{
	switch (t->what) {
	case STOP:
		kill(t->helper, SIGSTOP);
		use_pid_anew(t);
		kill(t->helper, SIGCONT);
		return;
	case EXEC:
		kill(t->target, SIGUSR1);
		return;
	case SIGNAL:
		kill(t->helper, t->signal);
		kill(t->helper, SIGCONT);
		return;
	case LIMITS:
		change_limits(t);
		return;
	default:
		use_pid_anew(t);
	}
}

/* Wait for the helper, which must not hang. */
static int wait_helper(const struct try *t)
{
	int64_t end = nanoseconds() + HANG * INT64_C(1000000000);
	int status;

	while (waitpid(t->helper, &status, WNOHANG) == 0) {
		if (nanoseconds() > end) {
			complain(t, "hangs");
			kill(t->helper, SIGKILL);
			waitpid(t->helper, &status, 0);
			break;
		}
		sched_yield();
	}
	return status;
}

/* What must hold of a namespace of alice's, whose map is open as FD, in the end. */
static bool check_map(const struct try *t, int fd)
{
	char text[64], wanted[64];
	unsigned int n[3] = {0};

	read_file(fd, text);
	if (text[0] == '\0')
		return false;
	snprintf(wanted, sizeof(wanted), "0 %s %s", t->request->outer, t->request->count);
	sscanf(text, "%u %u %u", &n[0], &n[1], &n[2]);
	snprintf(text, sizeof(text), "%u %u %u", n[0], n[1], n[2]);
	if (strcmp(text, wanted) != 0)
		complain(t, "half a map, or another");
	return true;
}

/* What must hold in the end, whatever happened. */
static void check(const struct try *t, int status)
{
	char text[64];
	bool written = t->what != EXEC && check_map(t, t->old_map);
	int fd = open_file(t->target, t->request->map);

	figures.written += written;
	figures.refused += WIFEXITED(status) && WEXITSTATUS(status) == 1;
	figures.killed += WIFSIGNALED(status);
	read_file(fd, text);
	close(fd);
	if (t->what == LIMITS && written)
		complain(t, "what the service does not grant is mapped");
	else if (t->what != SIGNAL && t->what != EXEC && text[0] != '\0')
		complain(t, "another process is mapped");
	else if (WIFEXITED(status) && (WEXITSTATUS(status) == 0) != written)
		complain(t, written ? "fails, and a map is written"
				    : "succeeds, and no map is written");
	if (t->what == EXEC && (!WIFEXITED(status) || WEXITSTATUS(status) != 1))
		complain(t, "a target in no user namespace of its own is not refused");
	if (WIFSIGNALED(status) && (WCOREDUMP(status) || t->what != SIGNAL))
		complain(t, WCOREDUMP(status) ? "leaves a core" : "crashes");
	fd = open_file(t->target, "setgroups");
	read_file(fd, text);
	close(fd);
	if (t->what == SIGNAL && written &&
	    (strncmp(text, "deny", 4) == 0) != t->request->denies)
		complain(t, "setgroups is not as it must be");
}

static int nth_signal(unsigned long n)
{
	return 1 + (int)(n % (NSIG - 1));
}

static void run_once(struct try *t, int64_t delay)
{
	int pidfd = -1, status;

	t->target = start_target(0, ALICE, t->what == EXEC);
	t->old_map = open_file(t->target, t->request->map);
	if (t->what == PIDFD) {
		pidfd = (int)syscall(SYS_pidfd_open, t->target, 0);
		if (pidfd < 0 || fcntl(pidfd, F_SETFD, 0) < 0)
			die("pidfd_open");
	}
	t->helper = start_helper(t, pidfd);
	spin(delay);
	happen(t);
	status = wait_helper(t);
	check(t, status);
	end_target(t->target);
	close(t->old_map);
	if (pidfd >= 0)
		close(pidfd);
}

/* How long a helper takes to the end, from its start on. */
static int64_t helper_time(struct try *t)
{
	int64_t start, best = INT64_MAX;

	for (int i = 0; i < 20; i++) {
		t->target = start_target(0, ALICE, false);
		start = nanoseconds();
		t->helper = start_helper(t, -1);
		wait_helper(t);
		if (nanoseconds() - start < best)
			best = nanoseconds() - start;
		end_target(t->target);
	}
	return best;
}

static void make_privileged(void)
{
	const char *folder = getenv("TMPDIR");
	char command[512];

	snprintf(privileged, sizeof(privileged), "%s/privileged.%d",
		 folder ? folder : "/tmp", getpid());
	snprintf(command, sizeof(command), "install -m 6755 -g 2004 /bin/sleep '%s'",
		 privileged);
	if (system(command) != 0)
		die(command);
}

int main(int argc, char **argv)
{
	const char *given = getenv("IDMAP_SEED");
	struct try t = {.folder = argc == 4 ? argv[2] : NULL};
	unsigned long tries = argc == 4 ? strtoul(argv[3], NULL, 10) : 0;
	int64_t time;

	while (argc == 4 && t.what < WHATS && strcmp(argv[1], what_names[t.what]) != 0)
		t.what++;
	if (argc != 4 || t.what == WHATS)
		return 2;
#ifdef __SANITIZE_ADDRESS__
	/* Slow, and with handlers of its own for signals. */
	printf("%s: 0 tries, for it is built with a sanitizer, 0 faults\n", argv[1]);
	return 0;
#endif
	seed = given ? (unsigned int)strtoul(given, NULL, 10)
		     : (unsigned int)nanoseconds();
	srandom(seed);
	setvbuf(stdout, NULL, _IOLBF, 0);
	make_privileged();
	t.request = &requests[0];
	time = helper_time(&t);
	for (unsigned long i = 0; i < tries; i++) {
		t.request = &requests[i % (t.what == LIMITS ? 2 : 3)];
		t.signal = nth_signal(i / 3);
		run_once(&t, t.what == LIMITS ? 0 : time * (random() % 1200) / 1000);
	}
	unlink(privileged);
	printf("%s: %lu tries within %lld us, seed %u: %lu maps written before, %lu refused, "
	       "%lu killed, %d faults\n",
	       argv[1], tries, (long long)time / 1000, seed, figures.written,
	       figures.refused, figures.killed, faults);
	return faults > 0;
}

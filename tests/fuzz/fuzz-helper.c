/* SPDX-License-Identifier: BSD-2-Clause */

/*
 * The whole of newuidmap and newgidmap, on real files and real user namespaces, against an oracle that
 * knows when a map is granted. Needs tests/in-private.
 *
 * An input is up to four parts with a line "--" between: the call, then the files subuid (subgid),
 * nsswitch.conf and login.defs as they are; a part that is missing is a file that is missing. The
 * call is a line "KIND INSTALL CALLER", of which the first letters count, and a line for each argument;
 * "@" is the PID of the target, "fd:60" its directory, "fd:61" its pidfd, fd:62 to fd:65 are traps.
 *
 *	u setuid alice
 *	@
 *	0
 *	100000
 *	65536
 *	--
 *	alice:100000:65536
 *
 * Each input is one fork: a small process that was forked before the fuzzer grew forks a child, which
 * takes the IDs and capabilities that exec gives it, and calls helper_main(). What it covered comes
 * back in shared memory. Some inputs (all, where there is no fuzzer) are given to the installed
 * program too, whose answer must be the same.
 */

#include "helper-call.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

const struct caller callers[CALLERS] = {
	{'a', "alice", 1001, 1001, 1001},         {'c', "carol", 1003, 2003, 2003},
	{'x', "carol", 1003, 2004, 2003}, /* calls with her other group */
	{'4', "4242", 1005, 1005, 1005},          {'d', "dora", 4242, 4242, 4242},
	{'D', "DOMAIN\\alice", 1006, 1006, 1006}, {'n', NULL, 3333, 3333, 3333},
};

static struct shared *shared;
static int to_server = -1, from_server = -1, said = -1, victim = -1;
static pid_t targets[CALLERS]; /* that are unwritten; 0: none */
static unsigned long calls, installed_calls, written;

/* The input */

/* Cut at a line "--". */
static struct part next_part(struct part *rest)
{
	struct part part = *rest;

	for (const char *p = rest->text; p && p + 3 <= rest->text + rest->len; p++)
		if (memcmp(p, "--\n", 3) == 0 && (p == rest->text || p[-1] == '\n')) {
			part.len = (size_t)(p - part.text);
			rest->len -= part.len + 3;
			rest->text = p + 3;
			return part;
		}
	*rest = (struct part){NULL, 0};
	return part;
}

/* "u setuid alice": the first letter of each word. */
static void read_head(struct call *call, const char *line)
{
	char letters[3] = "";

	for (size_t i = 0, n = 0; line[i] && n < 3; i++)
		if (line[i] != ' ' && (i == 0 || line[i - 1] == ' '))
			letters[n++] = line[i];
	call->kind = letters[0] == 'g' ? ID_GID : ID_UID;
	call->setuid = letters[1] != 'f';
	for (call->caller = &callers[CALLERS - 1]; call->caller > callers; call->caller--)
		if (call->caller->letter == letters[2])
			break;
}

static void read_input(struct call *call, const uint8_t *data, size_t size)
{
	struct part rest = {(const char *)data, size}, words = next_part(&rest);
	char *at = call->bytes, *newline;

	call->argc = 1;
	call->grants = next_part(&rest);
	call->nsswitch = next_part(&rest);
	call->login_defs = rest;
	memcpy(at, words.text, words.len);
	at[words.len] = '\0';
	if (words.len > 0 && at[words.len - 1] == '\n')
		at[words.len - 1] = '\0';
	newline = strchr(at, '\n');
	if (newline)
		*newline = '\0';
	read_head(call, at);
	while (newline && (size_t)call->argc <= CALL_WORDS) {
		call->argv[call->argc++] = at = newline + 1;
		newline = strchr(at, '\n');
		if (newline)
			*newline = '\0';
	}
	call->argv[call->argc] = NULL;
}

static void ask(char order)
{
	ssize_t n;
	char byte;

	HOLDS(write(to_server, &order, 1) == 1);
	/* libFuzzer's clock interrupts. */
	do
		n = read(from_server, &byte, 1);
	while (n < 0 && errno == EINTR);
	HOLDS(n == 1);
}

/* Files, of which those that stay as they were are not written again. */

static void put(const char *path, struct part part, char **last, size_t *last_len)
{
	int fd;

	if (*last && part.text && *last_len == part.len &&
	    memcmp(*last, part.text, part.len) == 0)
		return;
	free(*last);
	*last = NULL;
	if (!part.text) {
		HOLDS(unlink(path) == 0 || errno == ENOENT);
		return;
	}
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	HOLDS(fd >= 0 && write(fd, part.text, part.len) == (ssize_t)part.len);
	close(fd);
	*last = fuzz_copy((const uint8_t *)part.text, part.len);
	*last_len = part.len;
}

static void put_files(const struct call *call)
{
	static char *last[4];
	static size_t len[4];

	put(id_words[call->kind].grants, call->grants, &last[call->kind],
	    &len[call->kind]);
	put("/etc/nsswitch.conf", call->nsswitch, &last[2], &len[2]);
	put("/etc/login.defs", call->login_defs, &last[3], &len[3]);
}

/* After a call */

static size_t read_file(const char *path, char *ret_text, size_t room)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	size_t len = 0;
	ssize_t n;

	HOLDS(fd >= 0);
	while ((n = read(fd, ret_text + len, room - 1 - len)) > 0)
		len += (size_t)n;
	close(fd);
	ret_text[len] = '\0';
	return len;
}

static int compare_inner(const void *a, const void *b)
{
	const struct extent *x = a, *y = b;

	return x->inner < y->inner ? -1 : x->inner > y->inner;
}

/* Is the live map of KIND the N extents of LIST? */
static void check_live(const struct call *call, enum id_kind kind,
		       const struct extent *list, size_t n)
{
	static char text[32768];
	char path[40], *at = text;
	unsigned int e[3];
	int used = 0;

	snprintf(path, sizeof(path), "/proc/%d/%s", call->target, id_words[kind].map);
	read_file(path, text, sizeof(text));
	for (size_t i = 0; i < n; i++) {
		HOLDS(sscanf(at, " %u %u %u%n", &e[0], &e[1], &e[2], &used) == 3);
		HOLDS(e[0] == list[i].inner && e[1] == list[i].outer &&
		      e[2] == list[i].count);
		at += used;
	}
	HOLDS(at[strspn(at, "\n")] == '\0');
}

static void check_kernel(const struct call *call, struct verdict *verdict, bool done)
{
	bool denied = done && call->kind == ID_GID && !verdict->by_grant;
	char path[40], text[16];
	struct stat st;

	/* The kernel searches more than five extents, and sorts them for it. */
	if (done && verdict->n > 5)
		qsort(verdict->list, verdict->n, sizeof(*verdict->list), compare_inner);
	check_live(call, call->kind, verdict->list, done ? verdict->n : 0);
	check_live(call, call->kind == ID_UID ? ID_GID : ID_UID, NULL, 0);
	snprintf(path, sizeof(path), "/proc/%d/setgroups", call->target);
	read_file(path, text, sizeof(text));
	HOLDS(strcmp(text, denied ? "deny\n" : "allow\n") == 0);
	HOLDS(fstat(victim, &st) == 0 && st.st_size == 0);
}

static const char *what_it_said(void)
{
	static char text[8192];
	ssize_t n = pread(said, text, sizeof(text) - 1, 0);

	HOLDS(n >= 0);
	text[n] = '\0';
	return text;
}

/* Nothing when all is well, but for a service that isn't there; else it begins with its name, and ends
 * its line. */
static void check_words(const struct call *call, const struct verdict *verdict, bool done)
{
	const char *name = id_words[call->kind].helper, *text = what_it_said();
	char absent[256] = "";
	size_t len = strlen(text);

	if (verdict->service[0])
		snprintf(absent, sizeof(absent),
			 "%s: libsubid_%s.so is not found: %s counts\n", name,
			 verdict->service, id_words[call->kind].grants);
	if (done) {
		HOLDS(strcmp(text, absent) == 0);
		return;
	}
	HOLDS(strncmp(text, name, strlen(name)) == 0);
	HOLDS(strncmp(text + strlen(name), ": ", 2) == 0 && text[len - 1] == '\n');
}

static void take_target(struct call *call)
{
	pid_t *kept = &targets[call->caller - callers];

	if (*kept == 0) {
		ask('t');
		*kept = call->target;
	} else if (call->target != *kept) {
		call->target = *kept;
		ask('o');
	}
	snprintf(call->number, sizeof(call->number), "%d", call->target);
	call->argv[0] = call->number; /* nobody asks for it */
}

/* Returns the exit status of one call, all of whose effects are as they should be. */
static int check_call(struct call *call, char order)
{
	static struct verdict verdict;
	bool by_pid = call->argc > 1 && strcmp(call->argv[1], "@") == 0, done;
	char *name = call->argv[1];

	take_target(call);
	if (by_pid)
		call->argv[1] = call->number;
	helper_oracle(call, &verdict);
	HOLDS(ftruncate(said, 0) == 0 && lseek(said, 0, SEEK_SET) == 0);
	shared->counted = false;
	ask(order);
	call->argv[1] = name;
	done = WIFEXITED(shared->status) && WEXITSTATUS(shared->status) == 0;
	if (done != verdict.granted && (done || verdict.certain))
		fprintf(stderr, "'%c': status %#x: %s\n", order, (unsigned)shared->status,
			what_it_said());
	HOLDS(WIFEXITED(shared->status) && WEXITSTATUS(shared->status) <= 1);
	HOLDS(!done || verdict.granted);
	HOLDS(done || !verdict.granted || !verdict.certain);
	check_words(call, &verdict, done);
	check_kernel(call, &verdict, done);
	if (done) {
		ask('k');
		targets[call->caller - callers] = 0;
		written++;
	}
	return WEXITSTATUS(shared->status);
}

/* The installed program does as helper_main() did, to a target like the first. */
static void check_installed(struct call *call, int status)
{
	char *first = strdup(what_it_said());

	HOLDS(first && check_call(call, 'i') == status);
	/* With setcap goes where it lies, and that is another place. */
	HOLDS(strstr(first, "setcap") || strcmp(first, what_it_said()) == 0);
	installed_calls++;
	free(first);
}

static void print_figures(void)
{
	printf("%lu calls of helper_main(), %lu of them again of the installed programs, "
	       "%lu maps written\n",
	       calls, installed_calls, written);
}

static void make_link(const char *path)
{
	HOLDS(symlink("uid_map", path) == 0 || errno == EEXIST);
}

/* A folder of alice's whose uid_map is a file, and the others lead to it. It may be there: merging, a
 * fuzzer starts itself. */
static void make_trap(void)
{
	HOLDS(mkdir("/run/fuzz", 0755) == 0 || errno == EEXIST);
	HOLDS(chown("/run/fuzz", 1001, 1001) == 0);
	victim = open("/run/fuzz/uid_map", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	HOLDS(victim >= 0 && fchown(victim, 1001, 1001) == 0);
	make_link("/run/fuzz/gid_map");
	make_link("/run/fuzz/setgroups");
}

/* libFuzzer calls it before anything else. */
int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc, (void)argv;
	if (geteuid() != 0 || !getenv("HELPERS_FILECAPS")) {
		fputs("fuzz-helper: run it as root by tests/in-private\n", stderr);
		exit(1);
	}
	umask(022);
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	HOLDS(shared != MAP_FAILED);
	said = memfd_create("said", MFD_CLOEXEC);
	HOLDS(said >= 0);
	make_trap();
	server_start(shared, said, &to_server, &from_server);
	atexit(print_figures);
	return 0;
}

static void add_counters(void)
{
	uint8_t *counters = counters_start();

	for (size_t i = 0; shared->counted && i < counters_number(); i++)
		if (counters[i] < shared->counters[i])
			counters[i] = shared->counters[i];
}

/* Without a fuzzer every input, else one in eight. */
static bool is_for_installed(const uint8_t *data, size_t size)
{
	uint32_t sum = 0;

	for (size_t i = 0; i < size; i++)
		sum = sum * 31 + data[i];
	return counters_number() == 0 || sum % 8 == 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int status;

	if (!shared)
		LLVMFuzzerInitialize(NULL, NULL);
	if (size > CALL_SIZE)
		return 0;
	read_input(&shared->call, data, size);
	put_files(&shared->call);
	status = check_call(&shared->call, 'r');
	calls++;
	add_counters();
	if (is_for_installed(data, size))
		check_installed(&shared->call, status);
	return 0;
}

/* SPDX-License-Identifier: BSD-2-Clause */
#include "plugin.h"

#include "autoclose.h"
#include "privs.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#define ANSWER 3 /* the descriptor that is left, beside 0 to 2 on /dev/null */

/* The interface of shadow's libsubid. Of the status only what differs is named. */
enum { TYPE_UID = 1, TYPE_GID = 2 };
enum { STATUS_SUCCESS, STATUS_UNKNOWN_USER, STATUS_ERROR_CONN };
struct plugin_range {
	unsigned long start, count;
};
typedef int list_owner_ranges(const char *owner, int type, struct plugin_range **ranges,
			      int *n);
typedef int find_subid_owners(unsigned long id, int type, uid_t **uids, int *n);

/* Leave no descriptor of the parent but the pipe's end. (close_range(2): Linux 5.9.) */
static bool keep_only(int fd)
{
	int null = open("/dev/null", O_RDWR);

	for (int i = 0; i < ANSWER; i++)
		if (dup2(null, i) < 0)
			return false;
	return dup3(fd, ANSWER, O_CLOEXEC) == ANSWER &&
	       syscall(SYS_close_range, ANSWER + 1, ~0U, 0) == 0;
}

/* No file is opened for writing, made, cut or removed, and no process outside traced. (landlock(7):
 * Linux 5.13; a kernel that has none, or has it turned off, goes without.) */
static bool forbid_changes(void)
{
	struct landlock_ruleset_attr rules = {
		.handled_access_fs =
			LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_REMOVE_DIR |
			LANDLOCK_ACCESS_FS_REMOVE_FILE | LANDLOCK_ACCESS_FS_MAKE_CHAR |
			LANDLOCK_ACCESS_FS_MAKE_DIR | LANDLOCK_ACCESS_FS_MAKE_REG |
			LANDLOCK_ACCESS_FS_MAKE_SOCK | LANDLOCK_ACCESS_FS_MAKE_FIFO |
			LANDLOCK_ACCESS_FS_MAKE_BLOCK | LANDLOCK_ACCESS_FS_MAKE_SYM,
	};
	long version = syscall(SYS_landlock_create_ruleset, NULL, 0,
			       LANDLOCK_CREATE_RULESET_VERSION);
	AUTOCLOSE int fd = -1;

	if (version < 0)
		return errno == ENOSYS || errno == EOPNOTSUPP;
	if (version >= 3)
		rules.handled_access_fs |= 1U << 14; /* LANDLOCK_ACCESS_FS_TRUNCATE */
	fd = (int)syscall(SYS_landlock_create_ruleset, &rules, sizeof(rules), 0);
	return fd >= 0 && syscall(SYS_landlock_restrict_self, fd, 0) == 0;
}

/* No program is started: after execve(2) the caller could trace this process again, and answer in
 * its place. */
static bool forbid_programs(void)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_execve, 1, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_execveat, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EACCES),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog program = {.len = sizeof(filter) / sizeof(filter[0]),
					   .filter = filter};

	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) == 0;
}

/* Be the caller and nothing more, whom he himself can't trace, and who ends with the helper. */
static bool enter_jail(int fd)
{
	return prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) == 0 && privs_drop() == 0 &&
	       prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
	       prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) == 0 && chdir("/") == 0 &&
	       keep_only(fd) && forbid_changes() && forbid_programs();
}

/* Only a library that is not found counts as absent: its load fails also where the caller has limited
 * descriptors or memory, and he must not choose where his grants come from. */
static int load_error(const char *name)
{
	struct rlimit memory = {0}, files = {0};
	const char *error = dlerror() ?: "", *named = strstr(error, name);

	getrlimit(RLIMIT_AS, &memory);
	getrlimit(RLIMIT_NOFILE, &files);
	if (memory.rlim_cur != RLIM_INFINITY || files.rlim_cur < 64)
		return NSS_E_LOAD;
	if (!named || named[strlen(name)] != ':') /* a library that it needs */
		return NSS_E_LOAD;
	return strstr(error, strerror(ENOENT)) ? NSS_E_ABSENT : NSS_E_LOAD;
}

static int load(const char *service, const char *function, void **ret_function)
{
	char name[sizeof("libsubid_.so") + 64];
	void *library;

	snprintf(name, sizeof(name), "libsubid_%.63s.so", service);
	library = strchr(name, '/') ? NULL : dlopen(name, RTLD_LAZY);
	if (!library)
		return load_error(name);
	*ret_function = dlsym(library, function);
	return *ret_function ? 0 : NSS_E_FUNCTION;
}

static int status_error(int status)
{
	switch (status) {
	case STATUS_SUCCESS:
		return 0;
	case STATUS_UNKNOWN_USER:
		return NSS_E_USER;
	case STATUS_ERROR_CONN:
		return NSS_E_CONNECTION;
	default:
		return NSS_E_ANSWER;
	}
}

static int write_ranges(FILE *out, const char *service, const char *owner, int type)
{
	struct plugin_range *ranges = NULL;
	list_owner_ranges *list;
	void *function;
	int n = 0, r = load(service, "shadow_subid_list_owner_ranges", &function);

	if (r != 0)
		return r;
	list = function;
	r = status_error(list(owner, type, &ranges, &n));
	if (r == 0 && n < 0)
		return NSS_E_ANSWER;
	for (int i = 0; r == 0 && i < n; i++)
		fprintf(out, "%s:%lu:%lu\n", owner, ranges[i].start, ranges[i].count);
	return r;
}

static int write_owners(FILE *out, const char *service, uint32_t id, int type)
{
	find_subid_owners *find;
	uid_t *uids = NULL;
	void *function;
	int n = 0, r = load(service, "shadow_subid_find_subid_owners", &function);

	if (r != 0)
		return r;
	find = function;
	r = status_error(find(id, type, &uids, &n));
	if (r == 0 && n < 0)
		return NSS_E_ANSWER;
	for (int i = 0; r == 0 && i < n; i++)
		fprintf(out, "%u:%u:1\n", uids[i], id);
	return r;
}

void plugin_run(const char *service, const struct nss_question *question, int fd)
{
	int type = question->kind == ID_UID ? TYPE_UID : TYPE_GID, r;
	FILE *out = enter_jail(fd) ? fdopen(ANSWER, "w") : NULL;

	if (!out)
		_exit(NSS_E_JAIL);
	r = question->owner ? write_ranges(out, service, question->owner, type)
			    : write_owners(out, service, question->id, type);
	/* Not closed: that the pipe ends says that this process has. */
	_exit(fflush(out) != 0 ? NSS_E_DIED : r ?: NSS_ANSWERED);
}

const char *plugin_reason(int error)
{
	static const char *const reason[] = {
		[NSS_E_ABSENT] = "is not found",
		[NSS_E_LOAD] =
			"can't be loaded: see ldd of it, and your limits (ulimit -n, -v)",
		[NSS_E_FUNCTION] = "lacks the function that is asked for",
		[NSS_E_USER] = "knows no such user, or has no ranges for him",
		[NSS_E_CONNECTION] = "can't reach its service: see that it runs",
		[NSS_E_ANSWER] = "gave no answer but an error",
		[NSS_E_JAIL] = "was not loaded: a privilege could not be dropped",
		[NSS_E_DIED] = "crashed or was killed",
		[NSS_E_SECONDS] = "gave no answer within 10 seconds",
		[NSS_E_TEXT] = "answered with more than a megabyte",
	};

	return error > 0 ? reason[error] : strerror(-error);
}

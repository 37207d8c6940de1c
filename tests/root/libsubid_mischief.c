/* SPDX-License-Identifier: BSD-2-Clause */

/*
 * libsubid_mischief.so: a directory service's plugin that tries to misuse its place. When it is
 * loaded, and again when it is asked, it tries all that follows for real, and sends a line of each
 * to the abstract socket @idmap-mischief: "NAME: refused ERROR", or "NAME: DONE" where it was let.
 * Then it answers with 100000 65536.
 */

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/capability.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

static int report_fd = -1;
static pid_t parent;    /* the helper */
static char target[32]; /* its first argument */

static void report_line(const char *line)
{
	static const char name[] = "\0idmap-mischief";
	struct sockaddr_un to = {.sun_family = AF_UNIX};

	if (report_fd < 0)
		report_fd = socket(AF_UNIX, SOCK_DGRAM, 0);
	memcpy(to.sun_path, name, sizeof(name) - 1);
	if (sendto(report_fd, line, strlen(line), 0, (struct sockaddr *)&to,
		   (socklen_t)(offsetof(struct sockaddr_un, sun_path) + sizeof(name) -
			       1)) < 0)
		_exit(98);
}

/* R < 0 is a refusal, errno its reason. */
static void report(const char *name, long r)
{
	char line[128];

	snprintf(line, sizeof(line), r < 0 ? "%s: refused %s" : "%s: DONE", name,
		 strerror(errno));
	report_line(line);
}

static void find_target(void)
{
	char path[64], arguments[4096] = "";
	int fd;
	ssize_t n;

	parent = getppid();
	snprintf(path, sizeof(path), "/proc/%d/cmdline", parent);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = read(fd, arguments, sizeof(arguments) - 1);
	close(fd);
	if (n > 0)
		snprintf(target, sizeof(target), "%s", arguments + strlen(arguments) + 1);
}

/* Identity */

static int raise_capabilities(void)
{
	cap_t all = cap_from_text("all=eip");
	int r = cap_set_proc(all), error = errno;

	cap_free(all);
	errno = error;
	return r;
}

static int raise_one(const char *text)
{
	cap_t one = cap_from_text(text);
	int r = cap_set_proc(one), error = errno;

	cap_free(one);
	errno = error;
	return r;
}

static void try_identity(void)
{
	static const gid_t root_group;

	report("setuid", setuid(0));
	report("seteuid", seteuid(0));
	report("setreuid", setreuid(0, 0));
	report("setresuid", setresuid(0, 0, 0));
	report("setresuid effective", setresuid((uid_t)-1, 0, (uid_t)-1));
	report("setgid", setgid(0));
	report("setresgid", setresgid(0, 0, 0));
	report("setgroups", setgroups(1, &root_group));
	report("capset all", raise_capabilities());
	report("capset setuid", raise_one("cap_setuid=ep"));
	report("capset setgid", raise_one("cap_setgid=ep"));
	report("capset setfcap", raise_one("cap_setfcap=ep"));
	report("capset inheritable", raise_one("cap_setuid=i"));
	report("ambient", prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, CAP_SETUID, 0, 0));
	report("new privileges", prctl(PR_SET_NO_NEW_PRIVS, 0, 0, 0, 0));
	report("chroot", chroot("/"));
}

/* Files */

static int open_to_write(const char *path, int flags)
{
	int fd = open(path, flags | O_CLOEXEC, 0644), error = errno;

	if (fd >= 0)
		close(fd);
	errno = error;
	return fd;
}

static void try_files(void)
{
	report("write own file", open_to_write("/run/tmp/mischief", O_WRONLY));
	report("append", open_to_write("/run/tmp/mischief", O_WRONLY | O_APPEND));
	report("read and write", open_to_write("/run/tmp/mischief", O_RDWR));
	report("new file", open_to_write("/run/tmp/new", O_WRONLY | O_CREAT));
	report("unnamed file", open_to_write("/run/tmp", O_WRONLY | O_TMPFILE));
	report("write subuid", open_to_write("/etc/subuid", O_WRONLY | O_APPEND));
	report("write FIFO", open_to_write("/run/tmp/fifo", O_RDWR));
	report("write null", open_to_write("/dev/null", O_WRONLY));
	report("cut", truncate("/run/tmp/mischief", 0));
	report("remove", unlink("/run/tmp/mischief"));
	report("rename", rename("/run/tmp/mischief", "/run/tmp/moved"));
	report("link", link("/run/tmp/mischief", "/run/tmp/linked"));
	report("symlink", symlink("/etc/shadow", "/run/tmp/symlink"));
	report("new folder", mkdir("/run/tmp/folder", 0755));
	report("remove folder", rmdir("/run/tmp/empty"));
	report("new FIFO", mkfifo("/run/tmp/new-fifo", 0644));
	report("read shadow", open_to_write("/etc/shadow", O_RDONLY));
}

static int write_proc(const char *whom, const char *file, const char *text)
{
	char path[96];
	int fd, r, error;

	snprintf(path, sizeof(path), "/proc/%s/%s", whom, file);
	fd = open(path, O_RDWR | O_CLOEXEC);
	r = fd < 0 ? -1 : (int)write(fd, text, strlen(text));
	error = errno;
	if (fd >= 0)
		close(fd);
	errno = error;
	return r;
}

static void try_maps(void)
{
	report("uid_map", write_proc(target, "uid_map", "0 100000 65536"));
	report("uid_map own ID", write_proc(target, "uid_map", "0 1001 1"));
	report("gid_map", write_proc(target, "gid_map", "0 300000 65536"));
	report("setgroups file", write_proc(target, "setgroups", "deny"));
	report("own oom_score_adj", write_proc("self", "oom_score_adj", "0"));
}

/* The helper */

static int steal_descriptor(void)
{
	int pidfd = (int)syscall(SYS_pidfd_open, parent, 0), r = -1, error;

	for (int fd = 0; pidfd >= 0 && fd < 64 && r < 0; fd++)
		r = (int)syscall(SYS_pidfd_getfd, pidfd, fd, 0);
	error = errno;
	close(pidfd);
	errno = error;
	return r;
}

static int write_memory(void)
{
	char byte = 0;
	struct iovec here = {&byte, 1}, there = {environ, 1};

	return (int)process_vm_writev(parent, &here, 1, &there, 1, 0);
}

static int read_memory(void)
{
	char byte = 0;
	struct iovec here = {&byte, 1}, there = {environ, 1};

	return (int)process_vm_readv(parent, &here, 1, &there, 1, 0);
}

static int list(const char *folder)
{
	char path[64];
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/%s", parent, folder);
	dir = opendir(path);
	if (!dir)
		return -1;
	closedir(dir);
	return 0;
}

static int open_of_parent(const char *file, int flags)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/%s", parent, file);
	return open_to_write(path, flags);
}

static void try_helper(void)
{
	report("attach", ptrace(PTRACE_ATTACH, parent, NULL, NULL));
	report("seize", ptrace(PTRACE_SEIZE, parent, NULL, NULL));
	report("vm_writev", write_memory());
	report("vm_readv", read_memory());
	report("mem to write", open_of_parent("mem", O_RDWR));
	report("mem to read", open_of_parent("mem", O_RDONLY));
	report("environ", open_of_parent("environ", O_RDONLY));
	report("list descriptors", list("fd"));
	report("list map_files", list("map_files"));
	report("open descriptor 3", open_of_parent("fd/3", O_RDONLY));
	report("open descriptor 4", open_of_parent("fd/4", O_RDONLY));
	report("pidfd_getfd", steal_descriptor());
}

/* Exec any program, one that is setuid root, and one with file capabilities. */
static int run(const char *program, const char *argument)
{
	int status = -1;
	pid_t child = fork();

	if (child == 0) {
		execl(program, program, argument, NULL);
		_exit(127);
	}
	waitpid(child, &status, 0);
	errno = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
	return status == 0 ? 0 : -1;
}

static void try_programs(void)
{
	report("program", run("/bin/true", NULL));
	report("setuid program", run("/run/lib/cat-setuid", "/etc/shadow"));
	report("capable program", run("/run/lib/cat-capable", "/etc/shadow"));
}

/* What is found */

static void describe(void)
{
	char line[2048] = "descriptors:", word[32];
	char *start = line + strlen(line);
	int death = 0;

	for (int fd = 0; fd < 1024; fd++)
		if (fd != report_fd && fcntl(fd, F_GETFD) >= 0)
			start += sprintf(start, " %d", fd);
	report_line(line);
	prctl(PR_GET_PDEATHSIG, &death);
	snprintf(line, sizeof(line), "state: uid %u dumpable %d no_new_privs %d death %d",
		 getuid(), prctl(PR_GET_DUMPABLE), prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0),
		 death);
	report_line(line);
	FILE *status = fopen("/proc/self/status", "re");
	while (status && fgets(line, sizeof(line), status))
		if (sscanf(line, "%31[^:]", word) == 1 &&
		    (strncmp(word, "Cap", 3) == 0 || strcmp(word, "Uid") == 0)) {
			line[strcspn(line, "\n")] = '\0';
			report_line(line);
		}
	if (status)
		fclose(status);
	snprintf(line, sizeof(line), "variables: %s",
		 environ && *environ ? *environ : "none");
	report_line(line);
}

static void try_all(void)
{
	find_target();
	describe();
	try_identity();
	try_files();
	try_maps();
	try_helper();
	try_programs();
	report_line("end");
}

__attribute__((constructor)) static void loaded(void)
{
	report_line("loaded");
	try_all();
}

struct range {
	unsigned long start, count;
};

int shadow_subid_list_owner_ranges(const char *owner, int type, struct range **ranges,
				   int *n);

int shadow_subid_list_owner_ranges(const char *owner, int type, struct range **ranges,
				   int *n)
{
	(void)owner;
	report_line("asked");
	try_all();
	*ranges = calloc(1, sizeof(struct range));
	if (!*ranges)
		return 3;
	**ranges = (struct range){type == 1 ? 100000 : 300000, 65536};
	*n = 1;
	return 0;
}

/* SPDX-License-Identifier: BSD-2-Clause */
#include "target.h"

#include "autoclose.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

static int open_pid(uint32_t pid, int *ret_dir)
{
	char path[32];
	int dir;

	snprintf(path, sizeof(path), "/proc/%u", pid);
	dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	if (dir < 0 && (errno == ENOENT || errno == EPERM))
		return kill((pid_t)pid, 0) < 0 && errno == ESRCH ? TARGET_E_GONE
								 : TARGET_E_HIDDEN;
	if (dir < 0)
		return -errno;
	*ret_dir = dir;
	return 0;
}

/* The PID behind a pidfd: the line "Pid:" of its fdinfo, which no other descriptor has; 0 if there
 * is none, negative if the process has been reaped. */
static int pidfd_pid(int fd)
{
	char path[48], line[128];
	int pid = 0;
	FILE *info;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	info = fopen(path, "re");
	if (!info)
		return 0;
	while (pid == 0 && fgets(line, sizeof(line), info))
		if (sscanf(line, "Pid: %d", &pid) != 1)
			pid = 0;
	fclose(info);
	return pid;
}

static int open_pidfd(int fd, int *ret_dir)
{
	int pid = pidfd_pid(fd);
	int r = pid > 0   ? open_pid((uint32_t)pid, ret_dir)
		: pid < 0 ? TARGET_E_GONE
			  : TARGET_E_KIND;

	/* Alive after the open: the PID had not been used anew before it. */
	if (r == 0 && syscall(SYS_pidfd_send_signal, fd, 0, NULL, 0) < 0 &&
	    errno == ESRCH) {
		close(*ret_dir);
		return TARGET_E_GONE;
	}
	return r;
}

static int open_fd(int fd, int *ret_dir)
{
	struct statfs fs;
	struct stat st;
	int dir;

	if (fstat(fd, &st) < 0 || fstatfs(fd, &fs) < 0)
		return errno == EBADF    ? TARGET_E_CLOSED
		       : errno == ENOENT ? TARGET_E_HIDDEN
					 : -errno;
	if (!S_ISDIR(st.st_mode))
		return open_pidfd(fd, ret_dir);
	if (fs.f_type != PROC_SUPER_MAGIC)
		return TARGET_E_KIND;
	dir = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	if (dir < 0)
		return -errno;
	*ret_dir = dir;
	return 0;
}

int target_open(const char *name, int *ret_dir)
{
	bool is_fd = strncmp(name, "fd:", 3) == 0;
	const char *digits = name + (is_fd ? 3 : 0);
	uint32_t number;

	if (id_parse(digits, strlen(digits), &number) != 0 || number > INT_MAX)
		return TARGET_E_NAME;
	if (is_fd)
		return open_fd((int)number, ret_dir);
	return number > 0 ? open_pid(number, ret_dir) : TARGET_E_NAME;
}

int target_owner(int dir, uid_t *ret_uid, gid_t *ret_gid)
{
	struct stat st;

	if (fstat(dir, &st) < 0)
		return -errno;
	*ret_uid = st.st_uid;
	*ret_gid = st.st_gid;
	return 0;
}

const char *target_reason(int error)
{
	static const char *const reason[] = {
		[TARGET_E_NAME] = "is neither a process ID nor fd:N",
		[TARGET_E_CLOSED] = "is not an open descriptor",
		[TARGET_E_KIND] = "is neither a directory of /proc nor a pidfd",
		[TARGET_E_GONE] = "is no running process",
		[TARGET_E_HIDDEN] =
			"is hidden: as root: mount -o remount,hidepid=0 /proc",
	};

	return error > 0 ? reason[error] : strerror(-error);
}

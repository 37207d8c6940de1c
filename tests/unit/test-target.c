/* SPDX-License-Identifier: BSD-2-Clause */
#include "../../src/trusted/live.h"
#include "../../src/trusted/target.h"
#include "tap.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

static int open_as_fd(int fd, int *ret_dir)
{
	char name[16];

	snprintf(name, sizeof(name), "fd:%d", fd);
	return target_open(name, ret_dir);
}

static void this_process_is_found_by_number_directory_and_pidfd(void)
{
	int proc = open("/proc/self", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int pidfd = (int)syscall(SYS_pidfd_open, getpid(), 0);
	enum live_place place;
	char number[16];
	int dirs[3];
	uid_t uid;
	gid_t gid;

	snprintf(number, sizeof(number), "%d", getpid());
	CHECK(target_open(number, &dirs[0]) == 0);
	CHECK(open_as_fd(proc, &dirs[1]) == 0 && open_as_fd(pidfd, &dirs[2]) == 0);
	for (size_t i = 0; i < 3; i++) {
		CHECK(target_owner(dirs[i], &uid, &gid) == 0);
		CHECK(uid == geteuid() && gid == getegid());
		CHECK(live_place(dirs[i], &place) == 0 && place == LIVE_OURS);
		close(dirs[i]);
	}
	close(proc);
	close(pidfd);
}

static void what_is_no_process_is_refused_by_its_kind(void)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	int root = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int dir;

	CHECK(open_as_fd(null, &dir) == TARGET_E_KIND);
	CHECK(open_as_fd(root, &dir) == TARGET_E_KIND);
	CHECK(close(null) == 0 && open_as_fd(null, &dir) == TARGET_E_CLOSED);
	CHECK(target_open("0", &dir) == TARGET_E_NAME);
	CHECK(target_open("-1", &dir) == TARGET_E_NAME);
	CHECK(target_open("2147483647", &dir) == TARGET_E_GONE);
	close(root);
}

static void without_a_descriptor_to_spare_nothing_is_found(void)
{
	int proc = open("/proc/self", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int pidfd = (int)syscall(SYS_pidfd_open, getpid(), 0);
	struct rlimit before, none = {0, 0};
	int dir;

	CHECK(getrlimit(RLIMIT_NOFILE, &before) == 0);
	none.rlim_max = before.rlim_max;
	CHECK(setrlimit(RLIMIT_NOFILE, &none) == 0);
	CHECK(target_open("1", &dir) == -EMFILE);
	CHECK(open_as_fd(proc, &dir) < 0);
	CHECK(open_as_fd(pidfd, &dir) == TARGET_E_KIND);
	CHECK(setrlimit(RLIMIT_NOFILE, &before) == 0);
	close(proc);
	close(pidfd);
}

static void every_error_has_a_reason(void)
{
	for (int error = TARGET_E_NAME; error <= TARGET_E_HIDDEN; error++)
		CHECK(strlen(target_reason(error)) > 0);
	CHECK(strcmp(target_reason(-EMFILE), strerror(EMFILE)) == 0);
}

int main(void)
{
	return TAP_RUN(TEST(this_process_is_found_by_number_directory_and_pidfd),
		       TEST(what_is_no_process_is_refused_by_its_kind),
		       TEST(without_a_descriptor_to_spare_nothing_is_found),
		       TEST(every_error_has_a_reason));
}

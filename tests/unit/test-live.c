/* SPDX-License-Identifier: BSD-2-Clause */
#include "../../src/trusted/live.h"
#include "tap.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A folder of plain files, in the place of a directory of /proc. */
static char folder[] = "/tmp/test-live.XXXXXX";
static int dir;

static void set_up(void)
{
	dir = mkdtemp(folder) ? open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
	CHECK(dir >= 0);
}

static void tear_down(void)
{
	unlinkat(dir, "uid_map", 0);
	unlinkat(dir, "gid_map", AT_REMOVEDIR);
	unlinkat(dir, "setgroups", 0);
	close(dir);
	rmdir(folder);
}

static void put(const char *name, const char *text, size_t len)
{
	int fd = openat(dir, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	CHECK(fd >= 0 && write(fd, text, len) == (ssize_t)len);
	close(fd);
}

static void a_target_without_such_files_is_an_error(void)
{
	struct idmap map;
	bool allowed;

	CHECK(live_map(dir, ID_UID, &map) == -ENOENT);
	CHECK(live_setgroups(dir, &allowed) == -ENOENT);
}

static void a_file_that_can_not_be_read_is_an_error(void)
{
	struct idmap map;

	CHECK(mkdirat(dir, "gid_map", 0700) == 0);
	CHECK(live_map(dir, ID_GID, &map) == -EISDIR);
}

static void a_text_longer_than_any_map_is_no_map(void)
{
	static char text[400 * 33];
	struct idmap map;

	for (size_t i = 0; i < 400; i++)
		memcpy(text + 33 * i, "         0          0          1\n", 33);
	put("uid_map", text, 2 * 33);
	CHECK(live_map(dir, ID_UID, &map) == 0 && map.n == 2);
	put("uid_map", text, sizeof(text));
	CHECK(live_map(dir, ID_UID, &map) == -EBADMSG);
}

static void only_allow_allows_setgroups(void)
{
	static const char *const texts[] = {"allow\n", "deny\n", "", "all", "allo\n"};

	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		bool allowed = i > 0;

		put("setgroups", texts[i], strlen(texts[i]));
		CHECK(live_setgroups(dir, &allowed) == 0);
		CHECK(allowed == (i == 0));
	}
}

int main(void)
{
	int failed;

	set_up();
	failed = TAP_RUN(TEST(a_target_without_such_files_is_an_error),
			 TEST(a_file_that_can_not_be_read_is_an_error),
			 TEST(a_text_longer_than_any_map_is_no_map),
			 TEST(only_allow_allows_setgroups));
	tear_down();
	return failed;
}

/* SPDX-License-Identifier: BSD-2-Clause */
#include "textfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static int map_open(int fd, struct textfile *ret_file)
{
	struct stat st;
	void *text;

	if (fstat(fd, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode))
		return TEXTFILE_E_TYPE;
	if (st.st_mode & S_IWOTH)
		return TEXTFILE_E_WRITABLE;
	if (st.st_size == 0) {
		*ret_file = (struct textfile){"", 0};
		return 0;
	}
	text = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE | MAP_POPULATE, fd,
		    0);
	if (text == MAP_FAILED)
		return -errno;
	*ret_file = (struct textfile){text, (size_t)st.st_size};
	return 0;
}

int textfile_map(const char *path, int flags, struct textfile *ret_file)
{
	int fd = open(path, flags | O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
	int r;

	if (fd < 0)
		return -errno;
	r = map_open(fd, ret_file);
	close(fd);
	return r;
}

void textfile_unmap(struct textfile *file)
{
	if (file->len > 0)
		munmap((void *)(uintptr_t)file->text, file->len);
	*file = (struct textfile){"", 0};
}

const char *textfile_reason(int error)
{
	switch (error) {
	case TEXTFILE_E_TYPE:
		return "not a regular file";
	case TEXTFILE_E_WRITABLE:
		return "writable by everybody (chmod o-w it)";
	case -ELOOP:
		return "a symbolic link";
	default:
		return strerror(-error);
	}
}

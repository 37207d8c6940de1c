/* SPDX-License-Identifier: BSD-2-Clause */
#include "textfile.h"

#include "autoclose.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

int textfile_map(const char *path, int flags, struct textfile *ret_file)
{
	AUTOCLOSE int fd =
		open(path, flags | O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
	struct stat st;
	const void *text = "";

	if (fd < 0 || fstat(fd, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode))
		return TEXTFILE_E_TYPE;
	if (st.st_mode & S_IWOTH)
		return TEXTFILE_E_WRITABLE;
	if (st.st_size > 0) {
		text = mmap(NULL, (size_t)st.st_size, PROT_READ,
			    MAP_PRIVATE | MAP_POPULATE, fd, 0);
		if (text == MAP_FAILED)
			return -errno;
	}
	*ret_file = (struct textfile){text, (size_t)st.st_size};
	return 0;
}

void textfile_unmap(struct textfile *file)
{
	if (file->len > 0)
		munmap((void *)(uintptr_t)file->text, file->len);
	*file = (struct textfile){"", 0};
}

const char *textfile_reason(int error)
{
	static const char *const reason[] = {
		[TEXTFILE_E_TYPE] = "not a regular file",
		[TEXTFILE_E_WRITABLE] = "writable by everybody: chmod o-w it",
	};

	if (error == -ELOOP)
		return "a symbolic link";
	return error > 0 ? reason[error] : strerror(-error);
}

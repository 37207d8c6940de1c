/* SPDX-License-Identifier: BSD-2-Clause */
#pragma once

/*
 * musl: included before each source when it is built with musl (-include).
 */

/* What the headers of libbsd take from glibc's <sys/cdefs.h>. */
#define __BEGIN_DECLS
#define __END_DECLS
#define __THROW

/* statx(2), which musl has since 1.2.4: what we use of it. */
#include <stdint.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef STATX_MNT_ID
#define STATX_MNT_ID 0x1000U

struct statx {
	uint64_t before[18];
	uint64_t stx_mnt_id;
	uint64_t behind[13];
};

static inline int statx(int dir, const char *path, int flags, unsigned int mask,
			struct statx *ret_stx)
{
	return (int)syscall(SYS_statx, dir, path, flags, mask, ret_stx);
}
#endif

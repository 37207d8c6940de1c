/* SPDX-License-Identifier: BSD-2-Clause */
#pragma once

/*
 * autoclose: a descriptor that is closed when its variable goes out of scope; initialise it where
 * it is declared, negative means none.
 */

#include <unistd.h>

static inline void autoclose(const int *fd)
{
	if (*fd >= 0)
		close(*fd);
}

#define AUTOCLOSE __attribute__((cleanup(autoclose)))

/* SPDX-License-Identifier: BSD-2-Clause */
#pragma once

/*
 * plugin: the child of nss.h, in which libsubid_NAME.so is loaded, asked and left.
 *
 * The interface is that of shadow's libsubid: enum subid_status and the three functions named in
 * plugin.c. Before the library is loaded the child is the caller and nothing more, for good.
 */

#include "nss.h"

/* The child's exit status where FD has the whole answer. 0 would be that of a library which ends the
 * process on its own. */
#define NSS_ANSWERED 200

/* Write the answer to FD and exit with NSS_ANSWERED, or an NSS_E_* up to NSS_E_JAIL. */
_Noreturn void plugin_run(const char *service, const struct nss_question *question,
			  int fd);

/* The reason for any error of nss_ask(), as the end of a sentence. */
const char *plugin_reason(int error);

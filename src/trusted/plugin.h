/* SPDX-License-Identifier: BSD-2-Clause */
#pragma once

/*
 * plugin: the child of nss.h, in which libsubid_NAME.so is loaded, asked and left.
 *
 * The interface is that of shadow's libsubid: enum subid_status and the three functions named in
 * plugin.c. Before the library is loaded the child is the caller and nothing more, for good.
 */

#include "nss.h"

/* Write the answer to FD and exit with 0 or NSS_E_*. */
_Noreturn void plugin_run(const char *service, const struct nss_question *question,
			  int fd);

/* The reason for any error of nss_ask(), as the end of a sentence. */
const char *plugin_reason(int error);

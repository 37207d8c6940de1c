/* SPDX-License-Identifier: BSD-2-Clause */
#pragma once

/*
 * nss: the directory service that nsswitch.conf names in the place of /etc/subuid and /etc/subgid.
 *
 * Its plugin, libsubid_NAME.so, is code that nobody here has read. It runs in a child that has
 * dropped every privilege, can neither be traced nor change a file nor start a program, and is
 * killed when its time is up (plugin.h). What it answers comes back over a pipe as the text of such a file,
 * OWNER:START:COUNT a line, so that subid.h alone decides what a range is and one that is out of
 * bounds grants nothing.
 */

#include "id.h"

#define NSS_SECONDS 10U        /* that a plugin may take */
#define NSS_TEXT    (1U << 20) /* bytes that its answer is shorter than */

struct nss_question {
	enum id_kind kind;
	const char *owner; /* his ranges; NULL: */
	uint32_t id;       /* which UIDs may use this ID, "UID:ID:1" a line */
};

/* The first seven are the child's exit status (plugin.h). */
enum {
	NSS_E_ABSENT = 201, /* no such plugin: as in shadow the files count then */
	NSS_E_LOAD,         /* it is there, but can't be loaded now */
	NSS_E_FUNCTION,     /* it offers no such function */
	NSS_E_USER,         /* SUBID_STATUS_UNKNOWN_USER */
	NSS_E_CONNECTION,   /* SUBID_STATUS_ERROR_CONN */
	NSS_E_ANSWER,       /* SUBID_STATUS_ERROR, or no known status */
	NSS_E_JAIL,         /* a privilege could not be dropped: it was not loaded */
	NSS_E_DIED,         /* it crashed, exited or was killed */
	NSS_E_SECONDS,      /* its time was up */
	NSS_E_TEXT,         /* its answer is too long */
};

/*
 * Ask the plugin of SERVICE, whose answer is RET_TEXT[0..*RET_LEN). The child has ended when this
 * returns. Sets SIGCHLD to its default. Returns 0, NSS_E_* (each but NSS_E_ABSENT is a refusal) or
 * -errno; then the text means nothing.
 */
int nss_ask(const char *service, const struct nss_question *question,
	    char ret_text[NSS_TEXT], size_t *ret_len);

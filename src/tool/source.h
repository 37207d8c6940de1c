/* SPDX-License-Identifier: BSD-2-Clause */
#pragma once

/*
 * source: where the grants of one kind come from: /etc/subuid or /etc/subgid, or the directory
 * service that nsswitch.conf names in their place (its line subid:).
 *
 * Either is the text of such a file, so that whoever reads grants reads one form (subid.h). The
 * rule is the helpers': where a service is named it is asked and the file means nothing, but for a
 * service whose plugin is not there. Nothing is kept from one question to the next.
 */

#include "../trusted/id.h"
#include "../trusted/textfile.h"

#include <stdbool.h>

enum source_part {
	SOURCE_NONE, /* nothing was read yet */
	SOURCE_SWITCH, /* /etc/nsswitch.conf: it can't be read, so that nobody knows what counts */
	SOURCE_FILE,    /* the file counts */
	SOURCE_SERVICE, /* the service counts */
};

struct source {
	enum id_kind kind;
	enum source_part part; /* that was read last: of a failure, the one that failed */
	char service[64];      /* that nsswitch.conf names; "": none */
	char name[80];         /* of PART, for messages: "/etc/subuid", "service sss" */
};

/*
 * Have the text that grants OWNER his IDs of KIND; lines of others may be in it. It is freed by
 * textfile_unmap(). *RET_SOURCE is filled as far as it came. Returns 0, a TEXTFILE_E_*, an NSS_E_*
 * or -errno (-ENOENT: there is no file), for source_explain().
 */
int source_open(enum id_kind kind, const char *owner, struct source *ret_source,
		struct textfile *ret_text);

/* The same, of who may use ID: of a service the lines "UID:ID:1", of the file all its lines. */
int source_open_id(enum id_kind kind, uint32_t id, struct source *ret_source,
		   struct textfile *ret_text);

/* Does the file count only since the plugin of the service is not there? Whoever reads it must say
 * so: source_explain(NSS_E_ABSENT). */
bool source_is_absent(const struct source *source);

/* The error as a message: what failed, why, and what would work. The caller frees it; NULL only
 * without memory. */
char *source_explain(const struct source *source, int error);

/* SPDX-License-Identifier: BSD-2-Clause */
#pragma once

/*
 * dialect-parts: the writers and readers that the table of dialects is made of. A writer is
 * handed maps of which at least one is there, and writes nothing when it refuses. Used by the
 * dialect*.c alone.
 */

#include "dialect.h"

/* How a dialect of options says an extent: OPTION JOINT PREFIX number SEPARATOR ... END. */
struct dialect_row {
	const char *option[ID_KINDS]; /* "--uidmap" */
	const char *joint;            /* "=" */
	const char *prefix[ID_KINDS]; /* "u:" */
	char separator;
	bool outer_first; /* outer, inner, count */
	bool doubt;       /* commas: the reader can't know the order */
	bool single;      /* one extent a kind; of more, the tool takes the last */
	char end;
};

int dialect_write_kernel(FILE *out, const struct dialect *dialect,
			 const struct dialect_maps *maps, struct dialect_refusal *why);
int dialect_write_newuidmap(FILE *out, const struct dialect *dialect,
			    const struct dialect_maps *maps, struct dialect_refusal *why);
int dialect_write_row(FILE *out, const struct dialect *dialect,
		      const struct dialect_maps *maps, struct dialect_refusal *why);
int dialect_write_podman(FILE *out, const struct dialect *dialect,
			 const struct dialect_maps *maps, struct dialect_refusal *why);
int dialect_write_oci(FILE *out, const struct dialect *dialect,
		      const struct dialect_maps *maps, struct dialect_refusal *why);
int dialect_write_incus(FILE *out, const struct dialect *dialect,
			const struct dialect_maps *maps, struct dialect_refusal *why);
int dialect_write_nspawn(FILE *out, const struct dialect *dialect,
			 const struct dialect_maps *maps, struct dialect_refusal *why);
int dialect_write_subuid(FILE *out, const struct dialect *dialect,
			 const struct dialect_maps *maps, struct dialect_refusal *why);
int dialect_write_words(FILE *out, const struct dialect *dialect,
			const struct dialect_maps *maps, struct dialect_refusal *why);

int dialect_read_kernel(struct dialect_reader *r);
int dialect_read_newuidmap(struct dialect_reader *r);
int dialect_read_options(struct dialect_reader *r);
int dialect_read_podman(struct dialect_reader *r);
int dialect_read_oci(struct dialect_reader *r);
int dialect_read_lxc(struct dialect_reader *r);
int dialect_read_incus(struct dialect_reader *r);
int dialect_read_nspawn(struct dialect_reader *r);
int dialect_read_words(struct dialect_reader *r);

/* SPDX-License-Identifier: BSD-2-Clause */
#include "dialect-parts.h"

#include <bsd/vis.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* util-linux 2.39 turned the order round and took colons for it; 2.38 has only the commas. */
static const struct dialect_row unshare = {
	.option = {"--map-users", "--map-groups"},
	.joint = "=",
	.prefix = {"", ""},
	.separator = ':',
	.doubt = true,
	.end = ' ',
};

static const struct dialect_row unshare_2_38 = {
	.option = {"--map-users", "--map-groups"},
	.joint = "=",
	.prefix = {"", ""},
	.separator = ',',
	.outer_first = true,
	.single = true,
	.end = ' ',
};

static const struct dialect_row podman = {
	.option = {"--uidmap", "--gidmap"},
	.joint = " ",
	.prefix = {"", ""},
	.separator = ':',
	.end = ' ',
};

static const struct dialect_row lxc = {
	.option = {"lxc.idmap", "lxc.idmap"},
	.joint = " = ",
	.prefix = {"u ", "g "},
	.separator = ' ',
	.end = '\n',
};

static const struct dialect_row lxc_usernsexec = {
	.option = {"-m", "-m"},
	.joint = " ",
	.prefix = {"u:", "g:"},
	.separator = ':',
	.end = ' ',
};

const struct dialect dialects[] = {
	{"kernel", "INNER OUTER COUNT", dialect_write_kernel, dialect_read_kernel, NULL},
	{"newuidmap", "newuidmap PID INNER OUTER COUNT ...", dialect_write_newuidmap,
	 dialect_read_newuidmap, NULL},
	{"unshare", "--map-users=INNER:OUTER:COUNT ...", dialect_write_row,
	 dialect_read_options, &unshare},
	{"unshare-2.38", "--map-users=OUTER,INNER,COUNT", dialect_write_row,
	 dialect_read_options, &unshare_2_38},
	{"podman", "--uidmap INNER:OUTER:COUNT ...", dialect_write_podman,
	 dialect_read_podman, &podman},
	{"docker-oci",
	 "{\"uidMappings\":[{\"containerID\":INNER,\"hostID\":OUTER,\"size\":COUNT}, "
	 "...]}",
	 dialect_write_oci, dialect_read_oci, NULL},
	{"lxc", "lxc.idmap = u INNER OUTER COUNT", dialect_write_row, dialect_read_lxc,
	 &lxc},
	{"lxc-usernsexec", "-m u:INNER:OUTER:COUNT ...", dialect_write_row,
	 dialect_read_options, &lxc_usernsexec},
	{"incus", "uid OUTER[-LAST] INNER[-LAST]", dialect_write_incus,
	 dialect_read_incus, NULL},
	{"nspawn", "--private-users=OUTER:COUNT", dialect_write_nspawn,
	 dialect_read_nspawn, NULL},
	{"subuid", "OWNER:OUTER:COUNT", dialect_write_subuid, NULL, NULL},
	{"words", "Inner uids FIRST-LAST are outer uids FIRST-LAST.", dialect_write_words,
	 dialect_read_words, NULL},
	{NULL, NULL, NULL, NULL, NULL},
};

const struct dialect *dialect_find(const char *name)
{
	for (const struct dialect *d = dialects; d->name; d++)
		if (strcmp(d->name, name) == 0)
			return d;
	return NULL;
}

static void put_extent(FILE *out, const struct extent *extent)
{
	fprintf(out, "%" PRIu32 ":%" PRIu32 ":%" PRIu32, extent->inner, extent->outer,
		extent->count);
}

/* What was read may hold anything, and a terminal obeys some of it. */
static void put_value(FILE *out, const struct dialect_refusal *why)
{
	char safe[4 * 64 + 1];
	size_t len = why->value_len < 64 ? why->value_len : 64;

	if (len == 0) {
		fputs("nothing", out);
		return;
	}
	strvisx(safe, why->value, len, VIS_CSTYLE | VIS_TAB | VIS_NL);
	fprintf(out, "'%s%s'", safe, len < why->value_len ? "..." : "");
}

static void put_express(FILE *out, const struct dialect *dialect,
			const struct dialect_refusal *why)
{
	fprintf(out, "%s can't say this %s map: ", dialect->name,
		id_words[why->kind].word);
	if (why->first.count > 0) {
		put_extent(out, &why->first);
		fputs(" (INNER:OUTER:COUNT) ", out);
	}
	fputs(why->reason, out);
}

static void put_bad_extent(FILE *out, const struct dialect_refusal *why)
{
	bool inner = why->number_error == EXTENT_E_INNER;
	uint32_t start = inner ? why->first.inner : why->first.outer;

	fprintf(out, "inner %" PRIu32 ", outer %" PRIu32 ", count %" PRIu32 ": ",
		why->first.inner, why->first.outer, why->first.count);
	if (why->number_error == EXTENT_E_COUNT)
		fputs("the count is 0; it must be at least 1", out);
	else if (start > ID_MAX)
		fprintf(out, "%" PRIu32 " is not an ID; the largest is %" PRIu32, start,
			ID_MAX);
	else
		fprintf(out,
			"the %s IDs pass %" PRIu32 "; a count of %" PRIu32 " would fit",
			inner ? "inner" : "outer", ID_MAX, ID_NONE - start);
}

/* The two readings are each other's mirror, so both are valid or neither is. */
static void put_order(FILE *out, const struct dialect_refusal *why)
{
	put_value(out, why);
	fputs(" can be read in two ways: ", out);
	put_extent(out, &why->first);
	fputs(" if it is OUTER,INNER,COUNT as unshare 2.38 takes it, ", out);
	put_extent(out, &why->second);
	fputs(" if it is INNER,OUTER,COUNT; write one of the two with its colons, or name"
	      " unshare-2.38",
	      out);
}

static void put_map(FILE *out, const struct dialect_refusal *why)
{
	bool inner = why->number_error == IDMAP_E_INNER;

	fprintf(out, "%s map: ", id_words[why->kind].word);
	switch (why->number_error) {
	case IDMAP_E_EXTENTS:
		fprintf(out, "%zu of %u extents; take %zu out", why->map.extents,
			IDMAP_EXTENTS, why->map.extents - IDMAP_EXTENTS);
		break;
	case IDMAP_E_BYTES:
		fprintf(out, "%zu of %zu bytes; the first %zu extent%s fit%s",
			why->map.bytes, why->page - 1, why->map.fit,
			why->map.fit == 1 ? "" : "s", why->map.fit == 1 ? "s" : "");
		break;
	default:
		put_extent(out, &why->map.first);
		fputs(" and ", out);
		put_extent(out, &why->map.second);
		fprintf(out, " (INNER:OUTER:COUNT) share %s IDs; each may be mapped once",
			inner ? "inner" : "outer");
	}
}

static void put_refusal(FILE *out, const struct dialect *dialect, int error,
			const struct dialect_refusal *why)
{
	switch (error) {
	case DIALECT_E_EMPTY:
		fprintf(out, "no map is there; %s says one as %s", dialect->name,
			dialect->form);
		break;
	case DIALECT_E_EXPRESS:
		put_express(out, dialect, why);
		break;
	case DIALECT_E_GRANTS:
		fputs("subuid lines grant outer IDs and don't say which inner IDs map to "
		      "them;"
		      " --layout=subids stacks them from inner 0",
		      out);
		break;
	case DIALECT_E_FORM:
		put_value(out, why);
		fprintf(out, " stands where %s belongs; %s says a map as %s", why->reason,
			dialect->name, dialect->form);
		break;
	case DIALECT_E_NUMBER:
		put_value(out, why);
		fprintf(out, " %s; wanted is a decimal number, 0..%" PRIu32,
			id_reason(why->number_error), ID_MAX);
		break;
	case DIALECT_E_EXTENT:
		put_bad_extent(out, why);
		break;
	case DIALECT_E_UNEQUAL:
		fprintf(out,
			"%" PRIu32 " IDs against %" PRIu32
			"; outer and inner range must be equally long",
			why->first.count, why->second.count);
		break;
	case DIALECT_E_ORDER:
		put_order(out, why);
		break;
	case DIALECT_E_MAP:
		put_map(out, why);
		break;
	default:
		fputs(strerror(-error), out);
	}
}

char *dialect_explain(const struct dialect *dialect, const char *where, int error,
		      const struct dialect_refusal *why)
{
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);

	if (!out)
		return NULL;
	if (where && error > 0 && why->line > 0)
		fprintf(out, "%s:%zu:%zu: ", where, why->line, why->column);
	else if (where)
		fprintf(out, "%s: ", where);
	put_refusal(out, dialect, error, why);
	if (fclose(out) != 0) {
		free(text);
		return NULL;
	}
	return text;
}

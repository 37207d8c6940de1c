/* SPDX-License-Identifier: BSD-2-Clause */
#include "source.h"

#include "../trusted/nss.h"
#include "../trusted/plugin.h"
#include "../trusted/setting.h"
#include "message.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#define NSSWITCH "/etc/nsswitch.conf"

static void set_part(struct source *source, enum source_part part)
{
	source->part = part;
	if (part == SOURCE_SERVICE)
		snprintf(source->name, sizeof(source->name), "service %s",
			 source->service);
	else
		snprintf(source->name, sizeof(source->name), "%s",
			 part == SOURCE_SWITCH ? NSSWITCH
					       : id_words[source->kind].grants);
}

/* Read which of the two counts. */
static int read_switch(struct source *source)
{
	struct textfile file = {"", 0};
	int r = textfile_map(NSSWITCH, 0, &file);
	bool named;

	if (r != 0 && r != -ENOENT) {
		set_part(source, SOURCE_SWITCH);
		return r;
	}
	named = setting_subid_service(file.text, file.len, source->service);
	textfile_unmap(&file);
	set_part(source, named ? SOURCE_SERVICE : SOURCE_FILE);
	return 0;
}

/* The answer in the shape of a mapped file. */
static int ask(const struct source *source, const struct nss_question *question,
	       struct textfile *ret_text)
{
	struct sigaction inherited;
	size_t len = 0;
	int r;
	char *text = mmap(NULL, NSS_TEXT, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (text == MAP_FAILED)
		return -errno;
	sigaction(SIGCHLD, NULL, &inherited); /* which nss_ask() changes */
	r = nss_ask(source->service, question, text, &len);
	sigaction(SIGCHLD, &inherited, NULL);
	if (r != 0 || len == 0) {
		munmap(text, NSS_TEXT);
		text = NULL;
	} else if (mremap(text, NSS_TEXT, len, 0) == MAP_FAILED) {
		r = -errno;
		munmap(text, NSS_TEXT);
	}
	if (r == 0)
		*ret_text = (struct textfile){text ? text : "", len};
	return r;
}

static int answer(enum id_kind kind, const struct nss_question *question,
		  struct source *ret_source, struct textfile *ret_text)
{
	int r;

	*ret_source = (struct source){.kind = kind};
	r = read_switch(ret_source);
	if (r == 0 && ret_source->part == SOURCE_SERVICE) {
		r = ask(ret_source, question, ret_text);
		if (r != NSS_E_ABSENT)
			return r;
		set_part(ret_source, SOURCE_FILE);
		r = 0;
	}
	return r == 0 ? textfile_map(id_words[kind].grants, O_NOFOLLOW, ret_text) : r;
}

int source_open(enum id_kind kind, const char *owner, struct source *ret_source,
		struct textfile *ret_text)
{
	const struct nss_question question = {.kind = kind, .owner = owner};

	return answer(kind, &question, ret_source, ret_text);
}

int source_open_id(enum id_kind kind, uint32_t id, struct source *ret_source,
		   struct textfile *ret_text)
{
	const struct nss_question question = {.kind = kind, .id = id};

	return answer(kind, &question, ret_source, ret_text);
}

bool source_is_absent(const struct source *source)
{
	return source->part == SOURCE_FILE && source->service[0];
}

char *source_explain(const struct source *source, int error)
{
	char *message = NULL;

	if (error == NSS_E_ABSENT)
		message_fail(&message, "libsubid_%s.so %s: %s counts", source->service,
			     plugin_reason(error), source->name);
	else if (source->part == SOURCE_SERVICE)
		message_fail(&message, "libsubid_%s.so%s %s", source->service,
			     error < 0 ? ":" : "", plugin_reason(error));
	else if (source->part == SOURCE_FILE && error == -EACCES)
		message_fail(&message,
			     "%s: Permission denied: as root: chmod 644 it; as it is, "
			     "only helpers that are setuid root can read it",
			     source->name);
	else
		message_fail(&message, "%s: %s", source->name, textfile_reason(error));
	return message;
}

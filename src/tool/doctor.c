/* SPDX-License-Identifier: BSD-2-Clause */
#include "doctor.h"

#include "../trusted/autoclose.h"
#include "../trusted/live.h"
#include "../trusted/target.h"
#include "doctor-parts.h"
#include "process.h"
#include "writer.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* PROC_USER_INIT_INO in the kernel's include/linux/proc_ns.h. */
#define INITIAL_NAMESPACE 4026531837U

const char *const doctor_words[] = {"ok", "warning", "problem"};

enum doctor_state doctor_blocks(const struct examination *e)
{
	return e->privileged ? DOCTOR_WARNING : DOCTOR_PROBLEM;
}

void doctor_say(struct examination *e, enum doctor_state state, const char *cause,
		const char *source, const char *format, ...)
{
	struct findings *f = &e->findings;
	struct finding *list = reallocarray(f->list, f->n + 1, sizeof(*list));
	struct finding finding = {
		.state = state, .cause = cause, .source = strdup(source)};
	va_list args;

	va_start(args, format);
	if (vasprintf(&finding.evidence, format, args) < 0)
		finding.evidence = NULL;
	va_end(args);
	if (list)
		f->list = list;
	if (!list || !finding.evidence || !finding.source) {
		e->no_memory = true;
		free(finding.evidence);
		free(finding.source);
		return;
	}
	list[f->n++] = finding;
	if (state > f->worst)
		f->worst = state;
}

void doctor_fix(struct examination *e, const char *format, ...)
{
	struct finding *last;
	va_list args;

	if (e->no_memory)
		return;
	last = &e->findings.list[e->findings.n - 1];
	va_start(args, format);
	if (vasprintf(&last->fix, format, args) < 0) {
		last->fix = NULL;
		e->no_memory = true;
	}
	va_end(args);
}

int doctor_read(const char *path, char *ret_line, size_t room)
{
	AUTOCLOSE int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t len = fd < 0 ? -1 : read(fd, ret_line, room - 1);

	if (len < 0)
		return -errno;
	ret_line[len] = '\0';
	ret_line[strcspn(ret_line, "\n")] = '\0';
	return 0;
}

/* alice stays alice, DOMAIN\alice becomes 'DOMAIN\alice'. */
char *doctor_quote(const char *text)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789/._-+:@,=";
	char *quoted = NULL;
	size_t len;
	FILE *out;

	if (*text && text[strspn(text, plain)] == '\0')
		return strdup(text);
	out = open_memstream(&quoted, &len);
	if (!out)
		return NULL;
	fputc('\'', out);
	for (; *text; text++)
		if (*text == '\'')
			fputs("'\\''", out);
		else
			fputc(*text, out);
	fputc('\'', out);
	fclose(out);
	return quoted;
}

/* What all examinations know of the caller. */
static int prepare(struct examination *e)
{
	const bool both[ID_KINDS] = {true, true};
	AUTOCLOSE int self = open("/proc/self", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct stat st;
	int r = account_self(&e->account);

	if (r != 0)
		return r;
	e->privileged = !writer_needs_grants(both);
	e->initial =
		stat("/proc/self/ns/user", &st) == 0 && st.st_ino == INITIAL_NAMESPACE;
	for (enum id_kind kind = ID_UID; kind <= ID_GID; kind++) {
		live_map(self, kind, &e->parents[kind]);
		e->grants_error[kind] = grants_load(&e->account, kind, &e->grants[kind]);
	}
	return 0;
}

static void examination_clear(struct examination *e)
{
	findings_clear(&e->findings);
	account_clear(&e->account);
	for (enum id_kind kind = ID_UID; kind <= ID_GID; kind++)
		grants_clear(&e->grants[kind]);
	answer_clear(&e->answer);
}

/* /proc shows no such process; is there one all the same? */
static int examine_target(struct examination *e, const char *target)
{
	AUTOCLOSE int dir = -1;
	int r = target_open(target, &dir);
	char *message = NULL;

	if (r == 0 && process_has_ended(dir))
		r = TARGET_E_GONE;
	if (r == TARGET_E_GONE) {
		process_refuse(target, r, &message);
		doctor_say(e, DOCTOR_PROBLEM, "target", "/proc", "%s",
			   message ? message : target);
		free(message);
		doctor_fix(e, "name a process that runs");
	} else if (r == TARGET_E_HIDDEN) {
		doctor_say(
			e, DOCTOR_PROBLEM, "target_hidden", "/proc/self/mountinfo",
			"process %s runs, but /proc is mounted with hidepid and does not "
			"show it",
			target);
		doctor_fix(e, "as root: mount -o remount,hidepid=0 /proc");
	} else if (r == 0) {
		doctor_target(e, target, dir);
	} else {
		return r;
	}
	return 0;
}

int doctor_examine(const char *target, struct findings *ret_findings)
{
	__attribute__((cleanup(examination_clear))) struct examination e = {0};
	int r = prepare(&e);

	if (r != 0)
		return r;
	doctor_kernel(&e);
	doctor_helpers(&e);
	doctor_grants(&e);
	doctor_live(&e);
	r = target ? examine_target(&e, target) : 0;
	if (r == 0 && e.no_memory)
		r = -ENOMEM;
	if (r != 0)
		return r;
	*ret_findings = e.findings;
	e.findings = (struct findings){0};
	return 0;
}

void findings_clear(struct findings *findings)
{
	for (size_t i = 0; i < findings->n; i++) {
		free(findings->list[i].evidence);
		free(findings->list[i].source);
		free(findings->list[i].fix);
	}
	free(findings->list);
	*findings = (struct findings){0};
}

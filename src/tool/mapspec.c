/* SPDX-License-Identifier: BSD-2-Clause */
#include "mapspec.h"

#include <bsd/vis.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool mapspec_looks_like(const char *text)
{
	return text[0] == '+' || text[0] == '-' || strchr(text, ':');
}

bool mapspec_has_base(const struct mapspec *specs, size_t n, enum id_kind kind)
{
	for (size_t i = 0; i < n; i++)
		if (specs[i].sign == MAPSPEC_BASE && specs[i].applies[kind])
			return true;
	return false;
}

/* Read sign and letter. Returns what follows them. */
static const char *parse_head(const char *text, struct mapspec *ret_spec)
{
	*ret_spec = (struct mapspec){.sign = MAPSPEC_BASE, .applies = {true, true}};
	if (*text == '+' || *text == '-')
		ret_spec->sign = *text++ == '+' ? MAPSPEC_OVERLAY : MAPSPEC_REMOVE;
	if (*text != '\0' && strchr("ugb", *text) && text[1] == ':') {
		ret_spec->applies[ID_UID] = *text != 'g';
		ret_spec->applies[ID_GID] = *text != 'u';
		text += 2;
	}
	return text;
}

struct field {
	const char *name;
	const char *text;
	uint32_t number;
};

/* Where the field's first byte that doesn't belong to a number is, or else where it begins. */
static const char *field_fault(const struct field *field, int error)
{
	size_t digits = strspn(field->text, "0123456789");

	return field->text + (error == ID_E_DIGIT ? digits : 0);
}

/* Cut TEXT at its colons. Returns where there is one field too many or too few, or NULL. */
static const char *split_fields(const char *text, struct field *fields, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const char *end = strchrnul(text, ':');

		fields[i].text = text;
		if ((*end == ':') != (i + 1 < n))
			return end;
		text = end + 1;
	}
	return NULL;
}

static int parse_fields(const char *text, struct field *fields, size_t n,
			struct mapspec_refusal *ret_why)
{
	for (size_t i = 0; i < n; i++) {
		size_t len = strcspn(fields[i].text, ":");
		int error = id_parse(fields[i].text, len, &fields[i].number);

		if (error != 0) {
			const char *fault = field_fault(&fields[i], error);

			*ret_why = (struct mapspec_refusal){
				fields[i].name, (size_t)(fault - text), error};
			return MAPSPEC_E_NUMBER;
		}
	}
	return 0;
}

int mapspec_parse(const char *text, struct mapspec *ret_spec,
		  struct mapspec_refusal *ret_why)
{
	static const int errors[] = {0, MAPSPEC_E_COUNT, MAPSPEC_E_INNER,
				     MAPSPEC_E_OUTER};
	struct field all[] = {{.name = "inner"}, {.name = "outer"}, {.name = "count"}};
	struct mapspec spec;
	const char *rest = parse_head(text, &spec), *wrong;
	size_t n = spec.sign == MAPSPEC_REMOVE ? 2 : 3;
	const struct field *faulty[] = {NULL, &all[n - 1], &all[0], &all[1]};
	int r;

	if (n == 2)
		all[1].name = "count";
	wrong = split_fields(rest, all, n);
	if (wrong) {
		*ret_why = (struct mapspec_refusal){.offset = (size_t)(wrong - text)};
		return MAPSPEC_E_FIELDS;
	}
	r = parse_fields(text, all, n, ret_why);
	if (r != 0)
		return r;
	r = extent_make(all[0].number, n == 3 ? all[1].number : 0, all[n - 1].number,
			&spec.extent);
	if (r != 0) {
		*ret_why = (struct mapspec_refusal){faulty[r]->name,
						    (size_t)(faulty[r]->text - text), 0};
		return errors[r];
	}
	*ret_spec = spec;
	return 0;
}

static const char *wanted_form(const char *text)
{
	return *text == '-' ? "-[u:|g:|b:]INNER:COUNT with a colon, such as -5:1"
			    : "[+][u:|g:|b:]INNER:OUTER:COUNT with colons, such as 0:1:1";
}

/* The field's own bytes, out of TEXT, safe to print. */
static char *field_text(const char *text, const struct mapspec_refusal *why)
{
	const char *start = text + why->offset;
	char *field, *safe = NULL;

	while (start > text && start[-1] != ':' && strchr("0123456789", start[-1]))
		start--;
	field = strndup(start, strcspn(start, ":"));
	if (field && stravis(&safe, field, VIS_NOSLASH | VIS_TAB | VIS_NL) < 0)
		safe = NULL;
	free(field);
	return safe;
}

static char *explain(const char *safe, const char *field, int error,
		     const struct mapspec_refusal *why)
{
	char *message = NULL;
	int r;

	switch (error) {
	case MAPSPEC_E_FIELDS:
		r = asprintf(&message, "MAP '%s' is not of the form %s", safe,
			     wanted_form(safe));
		break;
	case MAPSPEC_E_NUMBER:
		r = asprintf(&message,
			     "MAP '%s': %s '%s' %s; IDs go from 0 to %u, plain decimal",
			     safe, why->field, field, id_reason(why->number_error),
			     ID_MAX);
		break;
	case MAPSPEC_E_COUNT:
		r = asprintf(&message, "MAP '%s': a count of 0 maps nothing", safe);
		break;
	default:
		r = asprintf(&message,
			     "MAP '%s': the %s range goes past %u, the largest ID; the "
			     "largest count from %s on is %lld",
			     safe, why->field, ID_MAX, field,
			     (long long)ID_NONE - strtoll(field, NULL, 10));
	}
	return r < 0 ? NULL : message;
}

char *mapspec_explain(const char *text, int error, const struct mapspec_refusal *why)
{
	char *field = field_text(text, why), *safe = NULL, *message = NULL;

	if (field && stravis(&safe, text, VIS_NOSLASH | VIS_TAB | VIS_NL) >= 0)
		message = explain(safe, field, error, why);
	free(safe);
	free(field);
	return message;
}

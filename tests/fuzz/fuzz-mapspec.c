/* SPDX-License-Identifier: BSD-2-Clause */

/* The language of MAP arguments. */

#include "fuzz.h"
#include "tool/mapspec.h"

struct reading {
	int error;
	enum mapspec_sign sign;
	bool applies[ID_KINDS];
	uint32_t n[3]; /* inner, outer, count */
};

/* Read TEXT by the grammar of the header, from its end. */
static struct reading oracle_read(const char *text)
{
	struct reading reading = {.applies = {true, true}};
	size_t fields = 1, wanted;
	const char *last;

	reading.sign = *text == '+'   ? MAPSPEC_OVERLAY
		       : *text == '-' ? MAPSPEC_REMOVE
				      : MAPSPEC_BASE;
	text += reading.sign != MAPSPEC_BASE;
	if (strncmp(text, "u:", 2) == 0)
		reading.applies[ID_GID] = false;
	if (strncmp(text, "g:", 2) == 0)
		reading.applies[ID_UID] = false;
	if (!reading.applies[0] || !reading.applies[1] || strncmp(text, "b:", 2) == 0)
		text += 2;
	for (const char *p = text; *p; p++)
		fields += *p == ':';
	wanted = reading.sign == MAPSPEC_REMOVE ? 2 : 3;
	if (fields != wanted) {
		reading.error = MAPSPEC_E_FIELDS;
		return reading;
	}
	last = text + strlen(text);
	for (size_t i = wanted; i-- > 0;) {
		const char *start = last;

		while (start > text && start[-1] != ':')
			start--;
		if (oracle_number(start, (size_t)(last - start),
				  &reading.n[i == 1 && wanted == 2 ? 2 : i]) != 0)
			reading.error = MAPSPEC_E_NUMBER;
		last = start - (i > 0);
	}
	if (reading.error == 0 && reading.n[2] == 0)
		reading.error = MAPSPEC_E_COUNT;
	else if (reading.error == 0 && !oracle_range(reading.n[0], reading.n[2]))
		reading.error = MAPSPEC_E_INNER;
	else if (reading.error == 0 && !oracle_range(reading.n[1], reading.n[2]))
		reading.error = MAPSPEC_E_OUTER;
	return reading;
}

static bool same(const struct mapspec *a, const struct mapspec *b)
{
	return a->sign == b->sign && a->applies[0] == b->applies[0] &&
	       a->applies[1] == b->applies[1] && a->extent.inner == b->extent.inner &&
	       a->extent.outer == b->extent.outer && a->extent.count == b->extent.count;
}

/* Written down again it is read the same. */
static void check_round_trip(const struct mapspec *spec)
{
	static const char *const letters[] = {"", "g:", "u:", "b:"};
	const char *sign = spec->sign == MAPSPEC_OVERLAY  ? "+"
			   : spec->sign == MAPSPEC_REMOVE ? "-"
							  : "";
	const char *letter = letters[spec->applies[0] * 2 + spec->applies[1]];
	struct mapspec_refusal why;
	struct mapspec again;
	char text[64];

	if (spec->sign == MAPSPEC_REMOVE)
		snprintf(text, sizeof(text), "%s%s%u:%u", sign, letter,
			 spec->extent.inner, spec->extent.count);
	else
		snprintf(text, sizeof(text), "%s%s%u:%u:%u", sign, letter,
			 spec->extent.inner, spec->extent.outer, spec->extent.count);
	HOLDS(mapspec_parse(text, &again, &why) == 0 && same(spec, &again));
	HOLDS(mapspec_looks_like(text));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = fuzz_string(data, size);
	struct mapspec spec = {.position = 7};
	struct mapspec_refusal why = {0};
	struct reading right = oracle_read(text);
	int error = mapspec_parse(text, &spec, &why);

	HOLDS(error == right.error);
	if (error == 0) {
		HOLDS(spec.sign == right.sign &&
		      spec.applies[ID_UID] == right.applies[ID_UID] &&
		      spec.applies[ID_GID] == right.applies[ID_GID]);
		HOLDS(spec.extent.inner == right.n[0] && spec.extent.count == right.n[2]);
		HOLDS(spec.extent.outer == right.n[1]);
		HOLDS(mapspec_has_base(&spec, 1, ID_UID) ==
		      (right.sign == MAPSPEC_BASE && right.applies[ID_UID]));
		check_round_trip(&spec);
	} else {
		HOLDS(spec.position == 7);
		HOLDS(why.offset <= strlen(text));
		fuzz_check_message(mapspec_explain(text, error, &why), true);
	}
	free(text);
	return 0;
}

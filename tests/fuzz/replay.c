/* SPDX-License-Identifier: BSD-2-Clause */

/*
 * replay: a target without a fuzzer. Hands it each file of its corpus, or each that is named, and
 * prints TAP. What does not hold ends the process, and the last line names the input.
 */

#include "fuzz.h"

#include <dirent.h>
#include <errno.h>

static void run_file(const char *path)
{
	static uint8_t bytes[1 << 20];
	FILE *file = fopen(path, "re");
	size_t size;

	if (!file) {
		printf("Bail out! %s: %s\n", path, strerror(errno));
		exit(1);
	}
	size = fread(bytes, 1, sizeof(bytes), file);
	fclose(file);
	printf("# %s\n", path);
	fflush(stdout);
	LLVMFuzzerTestOneInput(bytes, size);
}

static size_t run_folder(const char *folder)
{
	struct dirent **entries;
	int n = scandir(folder, &entries, NULL, alphasort);
	size_t inputs = 0;

	for (int i = 0; i < n; i++) {
		char *path = NULL;

		if (entries[i]->d_name[0] != '.' &&
		    asprintf(&path, "%s/%s", folder, entries[i]->d_name) > 0) {
			run_file(path);
			inputs++;
		}
		free(path);
		free(entries[i]);
	}
	if (n >= 0)
		free(entries);
	return inputs;
}

/* "tests/fuzz/fuzz-id" is the target id. */
int main(int argc, char **argv)
{
	const char *source = getenv("IDMAP_SRCDIR"), *name = strrchr(argv[0], '/');
	size_t inputs = (size_t)argc - 1;
	char *folder = NULL;

	name = name ? name + 1 : argv[0];
	if (strncmp(name, "fuzz-", 5) == 0)
		name += 5;
	puts("1..1");
	for (int i = 1; i < argc; i++)
		run_file(argv[i]);
	if (argc == 1 &&
	    asprintf(&folder, "%s/tests/fuzz/corpus/%s", source ? source : ".", name) > 0)
		inputs = run_folder(folder);
	printf("%s 1 - all that holds of %s holds for its kept inputs (%zu)\n",
	       inputs ? "ok" : "not ok", name, inputs);
	free(folder);
	return inputs == 0;
}

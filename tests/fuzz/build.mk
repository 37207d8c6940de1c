# SPDX-License-Identifier: BSD-2-Clause
#
# build.mk: the fuzzers, by clang whatever the rest was compiled with. "make fuzz" calls it in build/fuzz
# with SRCDIR, FUZZ_CC and TARGETS.

FUZZ_CC = clang
VPATH = $(SRCDIR)
checks = address,undefined,unsigned-integer-overflow
fuzz_CFLAGS = -std=gnu11 -g -O2 -Wall -Wextra -D_GNU_SOURCE= -DLIBBSD_OPENBSD_VIS \
	-DPACKAGE_VERSION='"0"' -I$(SRCDIR)/src -I$(SRCDIR)/tests \
	-fsanitize=fuzzer-no-link,$(checks) -fno-sanitize-recover=all -fno-omit-frame-pointer \
	-fsanitize-ignorelist=$(SRCDIR)/tests/fuzz/wraps
fuzz_LIBS := $(shell pkg-config --libs libbsd libcap smartcols)
fuzz_CFLAGS += $(shell pkg-config --cflags libbsd libcap smartcols)

programs = idmap cmd-% getsubids
trusted := $(patsubst $(SRCDIR)/%.c,%.o,$(wildcard $(SRCDIR)/src/trusted/*.c))
tool := $(patsubst $(SRCDIR)/%.c,%.o,$(wildcard $(SRCDIR)/src/tool/*.c))
library := $(trusted) $(filter-out $(addprefix src/tool/,$(addsuffix .o,$(programs))),$(tool))

# Programs of bytes are mutated as bytes, text by mutate.c.
bytes = idset idmap plan
text = $(filter-out helper $(bytes),$(TARGETS))
link = $(FUZZ_CC) -fsanitize=fuzzer,$(checks) -o $@ $^ $(fuzz_LIBS)

all: $(TARGETS)

$(text): %: tests/fuzz/fuzz-%.o tests/fuzz/mutate.o library.a
	$(link)

$(bytes): %: tests/fuzz/fuzz-%.o library.a
	$(link)

# The one that forks for each input, which AddressSanitizer makes slow. What the other sanitizer finds
# is a trap, so that no library of its stands between the counters and the fuzzer.
helper: $(addprefix helper-objects/,$(trusted) src/helper/helper.o tests/fuzz/mutate.o \
		tests/fuzz/fuzz-helper.o tests/fuzz/helper-oracle.o tests/fuzz/helper-server.o)
	$(FUZZ_CC) -fsanitize=fuzzer -o $@ $^ $(shell pkg-config --libs libcap)

library.a: $(library)
	rm -f $@ && ar cr $@ $^

helper-objects/%.o: %.c
	@mkdir -p $(@D)
	$(FUZZ_CC) $(fuzz_CFLAGS) -fno-sanitize=address -fsanitize-trap=all -MMD -c -o $@ $<

%.o: %.c
	@mkdir -p $(@D)
	$(FUZZ_CC) $(fuzz_CFLAGS) -MMD -c -o $@ $<

.SECONDARY:
-include $(wildcard */*/*.d */*/*/*.d)

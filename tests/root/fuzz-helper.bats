#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
# What the fuzzer of the helpers (tests/fuzz/fuzz-helper.c) has kept.

load helper

@test "every kept call of the helpers ends as an oracle says, inside and installed" {
	run "$IDMAP_BUILDDIR/tests/fuzz/fuzz-helper"
	assert_success
	assert_line --regexp '^ok 1 - .* \([1-9][0-9]*\)$'
}

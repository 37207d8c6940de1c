#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause

load ../support

@test "ours_writes_what_the_systems_helpers_write_but_for_causes_that_have_a_name" {
	[ "$EUID" -eq 0 ] || skip "only root may set up users and their grants"
	run -0 "$IDMAP_BUILDDIR/tests/root/pairs" 2000
	printf '%s\n' "${lines[@]}" | grep '^#' >&3
}

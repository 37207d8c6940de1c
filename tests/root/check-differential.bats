#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause

load ../support

@test "what_check_calls_granted_is_granted_by_both_helpers_and_what_it_calls_void_is_refused" {
	[ "$EUID" -eq 0 ] || skip "only root may set up users and their grants"
	run -0 "$IDMAP_BUILDDIR/tests/root/check-differential" 10000
	printf '%s\n' "${lines[@]}" | grep '^#' >&3
}

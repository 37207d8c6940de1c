#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
#
# Real load in the namespaces of idmap exec --mount: overlapping propagation trees.

load ../support

setup() {
	grant_uid alice:100000:65536
	grant_gid alice:300000:65536
	export PATH=$HELPERS_SETUID:$PATH
}

# grow OPTION...: the trees for N = 9 and 10 come and go, and hold the mounts they should.
grow() {
	local n mounts before
	before=$(cat /proc/self/mountinfo)
	for n in 9 10; do
		run as alice "$IDMAP" exec "$@" -- \
			sh -s "$n" <"$BATS_TEST_DIRNAME/../bench/propagation-tree"
		assert_success
		mounts=$((2 << n))
		assert_output --regexp "^$n"$'\t'"$mounts"$'\t'
	done
	assert_equal "$(cat /proc/self/mountinfo)" "$before"
}

@test "overlapping propagation trees come and go under --mount" {
	grow --mount
}

@test "overlapping propagation trees come and go under --mount --pid" {
	grow --mount --pid
}

@test "overlapping propagation trees come and go as the only ID" {
	grow --mount --layout self
}

#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
#
# idmap verify: a live map against the one that is meant, on the real kernel.

load ../support

setup() {
	grant_uid alice:100000:65536
	grant_gid alice:300000:65536
	export PATH=$HELPERS_SETUID:$PATH
}

# assert_differs REGEXP ARG...: status 1, one line that matches.
assert_differs() {
	local regexp=$1
	shift
	run -1 --separate-stderr "$IDMAP" verify "$@"
	assert_output ''
	assert_regex "$stderr" "$regexp"
}

assert_same() {
	run -0 "$IDMAP" verify "$@"
	assert_output ''
}

@test "what idmap wrote verifies, and nothing is said" {
	spawn_userns alice
	as alice "$IDMAP" "$TARGET"
	run -0 as alice "$IDMAP" verify "$TARGET"
	assert_output ''
	assert_same "$TARGET" u:0:1001:1 u:1:100000:65536 g:0:1001:1 g:1:300000:65536
}

@test "order and seams of extents make no difference" {
	spawn_userns alice
	"$IDMAP" "$TARGET" 0:100000:1000
	assert_same "$TARGET" 500:100500:500 0:100000:500
}

@test "the lowest ID that differs is named with both answers" {
	spawn_userns alice
	"$IDMAP" "$TARGET" 0:100000:1000 1000:5000:1
	assert_differs "^idmap: uid_map of $TARGET differs from the plan: inner ID 7 is outer ID 100007 instead of outer ID 9$" \
		-u "$TARGET" 0:100000:7 7:9:1 8:100008:992 1000:5000:1
	assert_differs 'inner ID 1000 is outer ID 5000 instead of unmapped' \
		-u "$TARGET" 0:100000:1000
	assert_differs 'inner ID 1001 is unmapped instead of outer ID 5001' \
		-u "$TARGET" 0:100000:1000 1000:5000:2
}

@test "each of the two maps is compared" {
	spawn_userns alice
	"$IDMAP" "$TARGET" u:0:100000:10 g:0:200000:10
	assert_differs '^idmap: gid_map of .* inner ID 0 is outer ID 200000' "$TARGET" 0:100000:10
	assert_differs '^idmap: uid_map of .* inner ID 0 is outer ID 100000' "$TARGET" 0:200000:10
	assert_same -u "$TARGET" 0:100000:10
	assert_same -g "$TARGET" 0:200000:10
	run -1 --separate-stderr "$IDMAP" verify "$TARGET" 0:7:10
	assert_equal "$(wc -l <<<"$stderr")" 2
}

@test "340 extents verify, and one ID changed among them is found" {
	spawn_userns alice
	local maps=() i
	for ((i = 0; i < 340; i++)); do
		maps+=("$((i * 2)):$((1000 + i * 3)):1")
	done
	"$IDMAP" "$TARGET" "${maps[@]}"
	assert_same "$TARGET" "${maps[@]}"
	maps[173]=346:9999:1
	assert_differs 'inner ID 346 is outer ID 1519 instead of outer ID 9999' -u "$TARGET" "${maps[@]}"
}

@test "a map that is not written yet is named" {
	spawn_userns alice
	assert_differs "uid_map of $TARGET is not written yet" -u "$TARGET" 0:0:1
}

@test "a descriptor of the process's directory verifies" {
	spawn_userns alice
	"$IDMAP" "$TARGET" 0:100000:10
	exec 9<"/proc/$TARGET"
	assert_same fd:9 0:100000:10
	exec 9<&-
}

@test "a target that is none is refused" {
	run -2 --separate-stderr "$IDMAP" verify
	assert_regex "$stderr" 'no PID or fd:N'
	run -1 --separate-stderr "$IDMAP" verify 99999999 0:0:1
	assert_regex "$stderr" '99999999 is no running process'
	run -2 --separate-stderr "$IDMAP" verify nonsense 0:0:1
	assert_regex "$stderr" "^idmap: 'nonsense' "
}

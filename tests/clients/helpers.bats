#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
#
# Programs that call newuidmap and newgidmap get their maps from ours.
#
# Ours stand first in PATH, on a file system that notes each access; the system's are covered by a
# program that leaves a line and exits 97, for whoever calls them by an absolute path. alice's
# ranges differ between uid (100000) and gid (300000), so that a mix-up is seen.

load ../support

FIRST=/run/first
COVERED_LOG=/run/covered.log

cover_system_helpers() {
	cat >/run/covered <<-END
		#!/bin/sh
		echo "\$0 \$*" >>$COVERED_LOG
		exit 97
	END
	chmod 755 /run/covered
	install -m 666 /dev/null "$COVERED_LOG"
	local helper
	for helper in newuidmap newgidmap; do
		mount --bind /run/covered "$(realpath "$SYSTEM_HELPERS/$helper")"
	done
}

setup_file() {
	mkdir -p "$FIRST"
	mount -t tmpfs -o strictatime,mode=755 tmpfs "$FIRST"
	cover_system_helpers
}

setup() {
	grant_uid alice:100000:65536
	grant_gid alice:300000:65536
	: >"$COVERED_LOG"
}

# put_first FOLDER: its two helpers, privilege included, never accessed so far.
put_first() {
	cp --remove-destination --preserve=all "$1/newuidmap" "$1/newgidmap" "$FIRST"
	touch -a -d @0 "$FIRST/newuidmap" "$FIRST/newgidmap"
}

# What CLIENT's child sees: its uid_map, then its gid_map.
maps_under() {
	as alice env PATH="$FIRST:$PATH" "$@" cat /proc/self/uid_map /proc/self/gid_map
}

# assert_served EXTENT...: nothing printed but these, both of our helpers used, no other.
assert_served() {
	local printed helper
	[ -z "$stderr" ] || echo "stderr: $stderr"
	assert_success
	assert_equal "$stderr" ""
	printed=$(tr -s ' ' <<<"$output" | sed 's/^ //')
	assert_equal "$printed" "$(printf '%s\n' "$@")"
	for helper in newuidmap newgidmap; do
		assert [ "$(stat -c %X "$FIRST/$helper")" -gt 0 ]
	done
	assert_equal "$(<"$COVERED_LOG")" ""
}

# util-linux makes room for its 0 by dropping the last ID of the range, not the first.
check_unshare() {
	put_first "$1"
	run --separate-stderr maps_under unshare --map-auto --map-root-user
	assert_served "0 1001 1" "1 100000 65535" "0 1001 1" "1 300000 65535"
}

check_lxc() {
	put_first "$1"
	run --separate-stderr maps_under lxc-usernsexec --
	assert_served "0 100000 65536" "0 300000 65536"
}

check_rootlesskit() {
	put_first "$1"
	run --separate-stderr maps_under rootlesskit
	assert_served "0 1001 1" "1 100000 65536" "0 1001 1" "1 300000 65536"
}

@test "unshare --map-auto --map-root-user is served by our setuid helpers" {
	check_unshare "$HELPERS_SETUID"
}

@test "unshare --map-auto --map-root-user is served by our helpers with file capabilities" {
	check_unshare "$HELPERS_FILECAPS"
}

@test "lxc-usernsexec is served by our setuid helpers" {
	check_lxc "$HELPERS_SETUID"
}

@test "lxc-usernsexec is served by our helpers with file capabilities" {
	check_lxc "$HELPERS_FILECAPS"
}

@test "rootlesskit is served by our setuid helpers" {
	check_rootlesskit "$HELPERS_SETUID"
}

@test "rootlesskit is served by our helpers with file capabilities" {
	check_rootlesskit "$HELPERS_FILECAPS"
}

@test "the system's helpers are covered, so none of these can have used them" {
	rm -f "$FIRST/newuidmap" "$FIRST/newgidmap"
	run maps_under unshare --map-auto --map-root-user
	assert_failure
	assert [ -s "$COVERED_LOG" ]
}

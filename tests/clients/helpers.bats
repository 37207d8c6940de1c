#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
#
# Programs that make a user namespace for one command or one tree get its maps from our newuidmap and
# newgidmap.

# bats runs functions by name, and inner shells expand what stands in single quotes.
# shellcheck disable=SC2016,SC2153,SC2317
load clients

# util-linux makes room for its 0 by dropping the last ID of the range, not the first.
@test "unshare --map-auto --map-root-user is served by our helpers" {
	check() {
		client unshare --map-auto --map-root-user "${READ_MAPS[@]}"
		assert_served "0 1001 1" "1 100000 65535" "0 1001 1" "1 300000 65535"
	}
	ours check
}

@test "unshare --map-auto -c is served its three extents in the order that it asked for" {
	check() {
		client unshare --map-auto -c "${READ_MAPS[@]}"
		assert_served "1001 1001 1" "0 100000 1001" "1002 101001 64534" \
			"1001 1001 1" "0 300000 1001" "1002 301001 64534"
	}
	ours check
}

@test "unshare --map-users and --map-groups are served by our helpers" {
	check() {
		client unshare --map-users=100500,0,500 --map-groups=300000,5,70 "${READ_MAPS[@]}"
		assert_served "0 100500 500" "5 300000 70"
	}
	ours check
}

@test "lxc-usernsexec is served by our helpers" {
	check() {
		client lxc-usernsexec -- "${READ_MAPS[@]}"
		assert_served "${MAPS_WITHOUT[@]}"
	}
	ours check
}

@test "rootlesskit is served by our helpers, by the ranges that our getsubids lists" {
	check() {
		client rootlesskit "${READ_MAPS[@]}"
		assert_served "${MAPS_WITH_OWN_ID[@]}"
		assert_ran "${IDMAP%/*}/getsubids"
	}
	ours check
}

# With the options by which rootless dockerd is started.
@test "rootlesskit with folders copied up and mounts propagated is served by our helpers" {
	check() {
		client rootlesskit --copy-up=/etc --propagation=rslave "${READ_MAPS[@]}"
		assert_served "${MAPS_WITH_OWN_ID[@]}"
	}
	ours check
}

@test "rootlesskit gives an owner of several ranges all of them" {
	check() {
		grant_uid alice:100000:1000 alice:200000:500
		grant_gid alice:300000:70 alice:400000:30
		client rootlesskit "${READ_MAPS[@]}"
		assert_served "${MAPS_OF_TWO_RANGES[@]}"
	}
	ours check
}

@test "idmap exec is served by our helpers" {
	check() {
		client idmap exec -- "${READ_MAPS[@]}"
		assert_ran "$IDMAP"
		assert_served "${MAPS_WITH_OWN_ID[@]}"
	}
	ours check
}

@test "idmap exec --auto is served by our helpers" {
	check() {
		client idmap exec --auto -- "${READ_MAPS[@]}"
		assert_served "${MAPS_WITHOUT[@]}"
	}
	ours check
}

# bwrap waits until the maps are written. Opened for both, a FIFO makes nobody wait for the other end.
@test "bwrap --userns-block-fd runs in the maps that idmap wrote by our helpers" {
	local script='
		mkfifo "$TMPDIR/info" "$TMPDIR/block"
		exec 5<>"$TMPDIR/info" 6<>"$TMPDIR/block"
		rm "$TMPDIR/info" "$TMPDIR/block"
		bwrap --unshare-user --userns-block-fd 6 --info-fd 5 --bind / / --proc /proc "$@" &
		until [[ $line == *child-pid* ]]; do read -r -u 5 line; done
		idmap "${line//[^0-9]/}"
		echo >&6
		wait $!'
	check() {
		client bash -c "$script" bash "${READ_MAPS[@]}"
		assert_served "${MAPS_WITH_OWN_ID[@]}"
	}
	ours check
}

@test "bwrap --userns joins a namespace that our helpers mapped" {
	local script='
		exec 7</proc/$1/ns/user
		newuidmap "$1" 0 1001 1 1 100000 65536
		newgidmap "$1" 0 1001 1 1 300000 65536
		exec bwrap --userns 7 --bind / / --proc /proc "${@:2}"'
	check() {
		spawn_userns alice
		client bash -c "$script" bash "$TARGET" "${READ_MAPS[@]}"
		assert_served "${MAPS_WITH_OWN_ID[@]}"
	}
	ours check
}

# The hook's folder is the new tree, which ends in the tarball.
@test "mmdebstrap --mode=unshare makes a tree by our helpers, its files' owners included" {
	make_mirror
	check() {
		client mmdebstrap --quiet --mode=unshare --variant=extract --include=tiny \
			--setup-hook="${READ_MAPS[*]} >\"\$1/maps\"" '' "$TMPDIR/tree.tar" \
			"$MIRROR"
		assert_helpers_ran
		run tar --extract --to-stdout --file "$TMPDIR/tree.tar" ./maps
		assert_maps "${MAPS_WITHOUT[@]}"
		run tar --list --verbose --numeric-owner --file "$TMPDIR/tree.tar" ./srv/tiny
		assert_output --partial ' 7/9 '
		rm -f "$TMPDIR/tree.tar"
	}
	ours check
}

# The tree that autopkgtest unpacks has to have a mktemp with long options.
make_testbed() {
	local tree=/run/testbed
	cp -a "$ROOTFS" "$tree"
	printf '#!/bin/sh\nmkdir -p /tmp/bed && echo /tmp/bed\n' >"$tree/bin/mktemp"
	chmod 755 "$tree/bin/mktemp"
	tar --create --directory "$tree" --file "$TMPDIR/bed.tar" .
}

# It is asked for a command line to run others by, after it has unpacked the tree: words joined by commas.
@test "autopkgtest-virt-unshare makes a testbed by our helpers" {
	local script='
		coproc BED { exec autopkgtest-virt-unshare -t "$TMPDIR/bed.tar" -u "$TMPDIR/bed"; }
		exec 5<&"${BED[0]}" 6>&"${BED[1]}"
		echo open >&6 && echo print-execute-command >&6
		read -r ok <&5 && read -r ok <&5 && read -r ok line <&5 || exit
		IFS=, read -r -a words <<<"$(printf %b "${line//%/\\x}")"
		"${words[@]}" "$@"
		echo quit >&6
		wait "$BED_PID"'
	make_testbed
	check() {
		client bash -c "$script" bash cat /proc/self/uid_map /proc/self/gid_map
		assert_served "0 1001 1" "1 100000 65535" "0 1001 1" "1 300000 65535"
	}
	ours check
}

@test "the system's helpers are covered, so none of these can have used them" {
	HELPERS=$BATS_TEST_TMPDIR
	IDMAP=$HELPERS/idmap
	touch "$HELPERS"/new{u,g}idmap
	client unshare --map-auto --map-root-user true
	assert_failure
	assert [ -s "$COVERED_LOG" ]
}

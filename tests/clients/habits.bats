#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
#
# How each client calls newuidmap and newgidmap, and that ours, called so, serve it without one byte on
# stdout or stderr. helper-arguments.bats has the same without any client.

# bats runs functions by name, and inner shells expand what stands in single quotes.
# shellcheck disable=SC2001,SC2016,SC2030,SC2031,SC2034,SC2153,SC2317
load clients

sanitized() {
	ldd "$IDMAP" | grep -q libasan
}

# A sanitizer can't look for leaks under strace. That it shall not, it reads in /proc/self/environ, which
# is closed to a helper with file capabilities.
if sanitized; then
	export ASAN_OPTIONS=detect_leaks=0
	HELPERS_FILECAPS=
fi

OWN="PID 0 1001 1"
UID_MAP="$OWN 1 100000 65536"
GID_MAP="$OWN 1 300000 65536"
SILENT="writes=0 status=0"

# stand_ins: $HELPERS becomes a folder for what takes the place of ours.
stand_ins() {
	HELPERS=$(mktemp -d)
	chmod 755 "$HELPERS"
}

# assert_calls LINE...: it went well, and CALLS is this but for the size of the environment.
assert_calls() {
	assert_success
	assert_equal "$(sed 's/ vars=[0-9]*//' <<<"$CALLS")" "$(printf "%s $SILENT\n" "$@")"
	assert_equal "$(<"$COVERED_LOG")" ""
}

# assert_calls_sorted LINE...: the same, whichever was first.
assert_calls_sorted() {
	CALLS=$(sort <<<"$CALLS")
	assert_calls "$@"
}

@test "unshare starts both side by side, in no order" {
	check() {
		traced unshare --map-auto --map-root-user true
		assert_calls_sorted "newgidmap $OWN 1 300000 65535" "newuidmap $OWN 1 100000 65535"
	}
	ours check
}

@test "unshare -c has extents that are not in order" {
	check() {
		traced unshare --map-auto -c true
		assert_calls_sorted "newgidmap PID 1001 1001 1 0 300000 1001 1002 301001 64534" \
			"newuidmap PID 1001 1001 1 0 100000 1001 1002 101001 64534"
	}
	ours check
}

@test "lxc-usernsexec calls newuidmap, then newgidmap, through a shell" {
	check() {
		traced lxc-usernsexec -- true
		assert_calls "newuidmap PID 0 100000 65536" "newgidmap PID 0 300000 65536"
		assert grep -q '"sh", "-c", "newuidmap ' "$TRACE"
	}
	ours check
}

# It looks at the mode and the capabilities of the file.
@test "lxc-usernsexec calls no helper that has no privilege" {
	check() {
		local real=$HELPERS
		stand_ins
		install -m 755 "$real"/new[ug]idmap "$HELPERS"
		traced lxc-usernsexec -- true
		assert_failure
		assert_equal "$CALLS" ""
	}
	ours check
}

@test "rootlesskit asks getsubids for the name and for the UID, and calls newuidmap first" {
	check() {
		local asked
		traced rootlesskit true
		assert_calls "newuidmap $UID_MAP" "newgidmap $GID_MAP"
		asked=$(sed -n 's/.*getsubids", \[".*getsubids", \(.*\)\], .*/\1/p' "$TRACE")
		assert_equal "$asked" $'"alice"\n"1001"\n"-g", "alice"\n"-g", "1001"'
	}
	ours check
}

# By the absolute path.
@test "podman calls newuidmap, then newgidmap, with sorted ranges" {
	check() {
		grant_uid alice:200000:500 alice:100000:1000
		traced podman unshare true
		assert_calls "$HELPERS/newuidmap $OWN 1 100000 1000 1001 200000 500" \
			"$HELPERS/newgidmap $GID_MAP"
	}
	ours check
}

@test "buildah calls newgidmap first" {
	check() {
		traced buildah unshare true
		assert_calls "$HELPERS/newgidmap $GID_MAP" "$HELPERS/newuidmap $UID_MAP"
	}
	ours check
}

@test "crun blocks nearly all signals and calls newgidmap first" {
	make_bundle /run/bundle
	check() {
		traced crun run --bundle /run/bundle test-crun
		assert_calls "newgidmap $GID_MAP" "newuidmap $UID_MAP"
		assert grep -q 'rt_sigprocmask(SIG_BLOCK, ~\[' "$TRACE"
	}
	ours check
}

# It would write a map of the own ID itself if they failed.
@test "crun calls them for a map of the own ID alone too" {
	make_bundle /run/bundle --layout self
	check() {
		grant_uid
		grant_gid
		traced crun run --bundle /run/bundle test-crun
		assert_calls "newgidmap $OWN" "newuidmap $OWN"
		assert_maps "0 1001 1" "0 1001 1"
	}
	ours check
}

@test "runc calls them with an empty environment" {
	! sanitized || HELPERS_SETUID= # see above
	make_bundle /run/bundle
	check() {
		traced runc run --bundle /run/bundle test-runc
		assert_equal "$(grep -c ' vars=0 ' <<<"$CALLS")" 2
		assert_calls "$HELPERS/newuidmap $UID_MAP" "$HELPERS/newgidmap $GID_MAP"
	}
	ours check
}

# Programs in the place of ours note their descriptors, then become ours.
@test "runc leaves sockets and a FIFO of its own open in them" {
	make_bundle /run/bundle
	check() {
		local real=$HELPERS helper
		stand_ins
		for helper in newuidmap newgidmap; do
			printf '#!/bin/sh\nls -l /proc/$$/fd >>%s\nexec %s "$@"\n' \
				"$HELPERS/seen" "$real/$helper" >"$HELPERS/$helper"
			chmod 755 "$HELPERS/$helper"
		done
		install -m 666 /dev/null "$HELPERS/seen"
		client runc run --bundle /run/bundle test-runc
		assert_served "${MAPS_WITH_OWN_ID[@]}"
		assert_regex "$(<"$HELPERS/seen")" ' [3-9] -> socket:'
		assert_regex "$(<"$HELPERS/seen")" ' [3-9] -> /run/user/1001/runc/.*fifo'
	}
	ours check
}

# It wants to know whether they are there: 1 and no other status says so.
@test "mmdebstrap calls both without an argument first, and takes status 1 for yes" {
	make_mirror
	check() {
		traced mmdebstrap --quiet --mode=unshare --variant=extract --include=tiny '' \
			"$TMPDIR/tree.tar" "$MIRROR"
		rm -f "$TMPDIR/tree.tar"
		run -0 sed -n 's/ vars=[0-9]*//p' <<<"$CALLS"
		assert_equal "${lines[0]}" "newuidmap writes=1 status=1"
		assert_equal "${lines[1]}" "newgidmap writes=1 status=1"
		assert_equal "${lines[2]}" "newuidmap PID 0 100000 65536 $SILENT"
		assert_equal "${lines[3]}" "newgidmap PID 0 300000 65536 $SILENT"
		assert_equal "$(printf '%s\n' "${lines[@]:4}" | grep -v "$SILENT\$")" ""
	}
	ours check
}

@test "idmap exec calls newuidmap first" {
	check() {
		traced idmap exec -- true
		assert_calls "$HELPERS/newuidmap $UID_MAP" "$HELPERS/newgidmap $GID_MAP"
	}
	ours check
}


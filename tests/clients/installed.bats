#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
#
# What "make install" left: "make installcheck" runs this where the files are, $IDMAP_BINDIR and
# $IDMAP_MANDIR, and tells what was configured, $IDMAP_PRIVILEGE and $IDMAP_VERSION. If the helpers
# have privilege, the clients' tests are run by them too.

load ../support

@test "idmap has the version that was configured" {
	run -0 as alice "$IDMAP" --version
	assert_line --index 0 "idmap $IDMAP_VERSION"
}

# privilege FILE: its mode, its capabilities.
privilege() {
	echo "$(stat -c %a "$1")" "$(getcap "$1" | sed 's/.* //')"
}

@test "the helpers have the privilege that was configured, the others none" {
	local plain='755 ' uid gid
	case $IDMAP_PRIVILEGE in
	filecaps)
		uid='755 cap_setuid=ep'
		gid='755 cap_setgid=ep'
		;;
	setuid)
		uid='4755 '
		gid=$uid
		;;
	none)
		uid=$plain
		gid=$plain
		;;
	esac
	assert_equal "$(privilege "$IDMAP_BINDIR/newuidmap")" "$uid"
	assert_equal "$(privilege "$IDMAP_BINDIR/newgidmap")" "$gid"
	assert_equal "$(privilege "$IDMAP_BINDIR/idmap")" "$plain"
	assert_equal "$(privilege "$IDMAP_BINDIR/getsubids")" "$plain"
}

@test "newuidmap and newgidmap run, and say their usage" {
	local helper
	for helper in newuidmap newgidmap; do
		run -1 as alice "${IDMAP%/*}/$helper"
		assert_output --partial "usage: $helper PID"
	done
}

@test "man finds the manual of each program, and it can be read" {
	local program
	for program in idmap newuidmap newgidmap getsubids; do
		run -0 man -M "$IDMAP_MANDIR" -w "$program"
		assert_output "$IDMAP_MANDIR/man1/$program.1"
		run -0 mandoc -T utf8 -W warning,stop "$output"
		assert_regex "${lines[0]}" "^${program^^}\\(1\\) "
	done
}

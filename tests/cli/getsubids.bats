#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause

load ../support

OURS=$IDMAP_BUILDDIR/getsubids
THEIRS=$SYSTEM_HELPERS/getsubids

setup() {
	[ "$EUID" -eq 0 ] || skip "only root may set up users and their grants"
	grant_uid alice:100000:65536 1001:300000:5 bob:7:7 4242:400000:10 ' alice:1:1' \
		'alice: 900:3' gone:1:2 3333:5:5 'alice:1:1 '
	grant_gid alice:500000:65536 1001:600000:5 2003:700000:5 1003:800000:5
}

# alike ARG...: stdout and status are those of shadow's program.
alike() {
	run --separate-stderr "$THEIRS" "$@"
	local expected="$status: $output"
	run --separate-stderr "$OURS" "$@"
	assert_equal "$status: $output" "$expected"
}

@test "the_lines_are_those_of_shadows_program" {
	local owner
	for owner in alice 1001 bob 1002 4242 dora gone 3333 nobody 9; do
		alike "$owner"
	done
	for owner in alice 1001 bob extra; do
		alike -g "$owner"
	done
	run -0 "$OURS" alice
	assert_line --index 0 '0: alice 100000 65536'
}

@test "no_ranges_is_1_and_named" {
	run -1 --separate-stderr "$OURS" nobody
	assert_equal "$output" ''
	assert_equal "$stderr" 'getsubids: nobody has no ranges in /etc/subuid'
}

@test "what_could_not_be_looked_up_is_2" {
	rm /etc/subuid
	run -2 --separate-stderr "$OURS" alice
	assert_equal "$stderr" 'getsubids: /etc/subuid: No such file or directory'
	grant_uid alice:1:1
	chmod o+w /etc/subuid
	run -2 "$OURS" alice
	chmod o-w /etc/subuid
	chmod o+w /etc/nsswitch.conf
	run -2 --separate-stderr "$OURS" alice
	chmod o-w /etc/nsswitch.conf
	[[ $stderr == *'/etc/nsswitch.conf: writable by everybody'* ]]
}

@test "of_a_directory_service_without_its_plugin_it_is_said_that_the_file_counts" {
	grant_uid alice:5:5
	echo 'subid: frob' >>/etc/nsswitch.conf
	run -0 --separate-stderr "$OURS" alice
	sed -i '/^subid/d' /etc/nsswitch.conf
	assert_output '0: alice 5 5'
	assert_equal "$stderr" 'getsubids: libsubid_frob.so is not found: /etc/subuid counts'
}

@test "what_the_helper_would_not_grant_is_not_listed" {
	grant_uid alice:0x10:5 alice:010:5 alice:+1:1 alice:5:0 alice:9:1
	run -0 "$OURS" alice
	assert_output '0: alice 9 1'
}

@test "a_wrong_call_is_answered_with_the_usage" {
	run -1 --separate-stderr "$OURS"
	assert_equal "$output" ''
	[[ $stderr == "Usage: getsubids [-g] OWNER"* ]]
	run -1 "$OURS" -x alice
	run -1 "$OURS" alice bob
}

@test "a_full_disk_is_a_failure" {
	run -2 bash -c "'$OURS' alice >/dev/full"
}

@test "a_line_that_was_meant_to_grant_is_named" {
	grant_uid 'alice:100000:65536 # mine'
	run -1 --separate-stderr "$OURS" alice
	assert_equal "$output" ''
	assert_regex "$stderr" '/etc/subuid:1 names alice but grants nothing .COUNT is no plain number.: run idmap check'
}

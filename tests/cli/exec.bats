#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
#
# idmap exec, by an ordinary user: what COMMAND gets, what comes back, what is refused.

# shellcheck disable=SC2016,SC2030,SC2031 # quoted for the shell inside; each test has its own environment

load ../support

setup() {
	grant_uid alice:100000:65536
	grant_gid alice:300000:65536
	export PATH=$HELPERS_SETUID:$PATH
}

# exec_alice ARG...: idmap exec as alice, bats' own descriptors closed.
exec_alice() {
	as alice "$IDMAP" exec "$@" 3>&- 4>&-
}

# words TEXT: blanks squeezed, for maps as /proc shows them.
words() {
	tr -s ' \n' ' ' <<<"$1" | sed 's/^ //; s/ $//'
}

# assert_maps UID_MAP GID_MAP ARG...: what COMMAND sees under these options.
assert_maps() {
	local uid_map=$1 gid_map=$2
	shift 2
	run --separate-stderr exec_alice "$@" -- cat /proc/self/uid_map
	assert_success
	assert_equal "$(words "$output")$stderr" "$uid_map"
	run --separate-stderr exec_alice "$@" -- cat /proc/self/gid_map
	assert_success
	assert_equal "$(words "$output")$stderr" "$gid_map"
}

# assert_refused STATUS REGEXP ARG...: nothing runs, the message matches.
assert_refused() {
	local status_wanted=$1 regexp=$2
	shift 2
	run "-$status_wanted" --separate-stderr exec_alice "$@"
	assert_equal "$output" ""
	assert_regex "$stderr" "$regexp"
}

@test "the exit status is COMMAND's" {
	local wanted
	for wanted in 0 1 3 255; do
		run exec_alice -- sh -c "exit $wanted"
		assert_equal "$status" "$wanted"
		assert_output ''
		run exec_alice --pid -- sh -c "exit $wanted"
		assert_equal "$status" "$wanted"
		assert_output ''
	done
}

@test "a signal that kills COMMAND is the end idmap comes to" {
	local options
	for options in '' --pid '--pid --mount'; do
		# shellcheck disable=SC2086
		run as alice perl -e 'system @ARGV; print $? & 127' \
			"$IDMAP" exec $options -- sh -c 'kill -TERM $$'
		assert_output 15
	done
}

@test "a COMMAND that is not found ends with 127, one that can't be run with 126" {
	echo 'echo ran' >"$BATS_TEST_TMPDIR/no-interpreter"
	# LeakSanitizer can't look into a process that has changed its IDs.
	export ASAN_OPTIONS=detect_leaks=0
	chmod 755 "$BATS_TEST_TMPDIR/no-interpreter"
	chmod -R a+rX "$BATS_RUN_TMPDIR"
	local options
	for options in --setgroups=allow --pid; do
		assert_refused 127 'no-such-command: not found in PATH' \
			$options -- no-such-command
		assert_refused 127 '/no/such: No such file' $options -- /no/such
		assert_refused 127 'not found' $options -- ''
		assert_refused 126 '/etc/passwd: Permission denied' $options -- /etc/passwd
		assert_refused 126 '/: Permission denied' $options -- /
		assert_refused 126 'no shell is started' \
			$options -- "$BATS_TEST_TMPDIR/no-interpreter"
	done
}

@test "a file in PATH that can't be run counts when no other is found" {
	local folder=$BATS_TEST_TMPDIR/bin
	mkdir "$folder"
	echo '#!/bin/sh' >"$folder/denied"
	cp "$folder/denied" "$folder/true"
	chmod -R a+rX "$BATS_RUN_TMPDIR"
	install -d -m 700 "$folder/closed"
	PATH=$folder/closed:$folder:$PATH
	export ASAN_OPTIONS=detect_leaks=0
	assert_refused 126 'denied: Permission denied' -- denied
	assert_refused 127 'not found' -- no-such-command
	run exec_alice -- true
	assert_success
}

@test "COMMAND takes the place of idmap" {
	run as alice sh -c 'echo $$; exec "$@"' sh "$IDMAP" exec -- sh -c 'echo $$'
	assert_success
	assert_equal "${lines[0]}" "${lines[1]}"
}

@test "input, output, errors, arguments, environment and folder are COMMAND's" {
	cd /usr/share
	run --separate-stderr exec_alice -- cat <<<'from stdin'
	assert_output 'from stdin'
	run --separate-stderr exec_alice -- \
		env -u IDMAP A=1 sh -c 'echo "$A $PWD $# <$1> <$2>"; echo oops >&2' sh 'a b' ''
	assert_success
	assert_output '1 /usr/share 2 <a b> <>'
	assert_equal "$stderr" oops
}

@test "COMMAND has the descriptors that idmap was given, no other" {
	local list='for fd in /proc/$$/fd/*; do echo "${fd##*/}"; done'
	run as alice sh -c "$list"
	local outside=$output
	run as alice "$IDMAP" exec -- sh -c "$list"
	assert_output "$outside"
	run as alice "$IDMAP" exec --pid --mount -- sh -c "$list"
	assert_output "$outside"
	run as alice sh -c '"$@" <&- 5>/dev/null' sh "$IDMAP" exec -- \
		sh -c '[ ! -e /proc/$$/fd/0 ] && [ -e /proc/$$/fd/5 ]'
	assert_success
}

@test "with all three standard streams closed the maps are there and errors are errors" {
	run as alice sh -c '"$@" <&- >&- 2>&-' sh "$IDMAP" exec -- sh -c 'exit 7'
	assert_failure 7
	grant_gid
	run as alice sh -c '"$@" <&- >&- 2>&-' sh "$IDMAP" exec -- sh -c 'exit 7'
	assert_failure 1
}

@test "signal mask and dispositions are those idmap was given" {
	local odd='use POSIX; $SIG{$_} = "IGNORE" for qw(CHLD HUP PIPE);
		sigprocmask(SIG_SETMASK, POSIX::SigSet->new(SIGUSR1, SIGTERM)); exec @ARGV'
	local show=(grep -E 'Sig(Blk|Ign)' /proc/self/status) options
	run as alice perl -e "$odd" "${show[@]}"
	local outside=$output
	assert_line $'SigBlk:\t0000000000004200'
	for options in --setgroups=allow --pid; do
		run as alice perl -e "$odd" "$IDMAP" exec $options -- "${show[@]}"
		assert_success
		assert_output "$outside"
	done
}

@test "COMMAND has no children" {
	run exec_alice -- perl -e 'print wait'
	assert_output -- -1
}

@test "COMMAND outlives the one who started idmap" {
	local done=$TMPDIR/outlived
	rm -f "$done"
	as alice sh -c '"$@" >/dev/null 2>&1 &' sh \
		"$IDMAP" exec -- sh -c 'sleep 0.2; touch "$1"' sh "$done" 3>&- 4>&-
	[ ! -e "$done" ]
	local i
	for ((i = 0; i < 300; i++)); do
		[ ! -e "$done" ] || return 0
		sleep 0.01
	done
	fail "COMMAND did not go on"
}

@test "every layout's maps are those of the plan" {
	assert_maps '0 1001 1 1 100000 65536' '0 1001 1 1 300000 65536'
	assert_maps '0 100000 65536' '0 300000 65536' --layout subids
	assert_maps '0 100000 1001 1001 1001 1 1002 101001 64535' \
		'0 300000 1001 1001 1001 1 1002 301001 64535' --layout keep-id
	assert_maps '0 1001 1' '0 1001 1' --layout self
	assert_maps '0 1001 1 1 100000 999' '0 1001 1 1 300000 999' --size 1000
}

@test "MAPs make the base, add to it and take from it" {
	assert_maps '0 100000 10' '0 300000 10' u:0:100000:10 g:0:300000:10
	assert_maps '0 1001 1 6 100005 65531' '0 1001 1 1 300000 65536' -u:1:5
	assert_maps '0 100000 1001 1001 1001 1' '0 300000 1001 1001 1001 1' \
		--identity 1001 u:0:100000:1001 g:0:300000:1001
}

@test "COMMAND runs as inner 0, without other groups" {
	run exec_alice -- id
	assert_output 'uid=0(root) gid=0(root) groups=0(root)'
	run as carol "$IDMAP" exec --layout self -- id -u
	assert_output 0
}

@test "with keep-id COMMAND runs as the caller's own IDs, without capabilities" {
	run exec_alice --layout keep-id -- \
		sh -c 'id -u; id -g; grep -E "Cap(Prm|Eff|Amb)" /proc/self/status'
	assert_success
	assert_equal "${lines[0]} ${lines[1]}" '1001 1001'
	assert_line $'CapPrm:\t0000000000000000'
	assert_line $'CapEff:\t0000000000000000'
	assert_line $'CapAmb:\t0000000000000000'
}

@test "--setuid and --setgid choose other inner IDs" {
	local options
	for options in '' --pid; do
		# shellcheck disable=SC2086
		run exec_alice $options --setuid 33 --setgid=34 -- id
		assert_output 'uid=33(www-data) gid=34(backup) groups=34(backup)'
	done
	run exec_alice --setuid 33 -- sh -c 'touch "$1" && stat -c "%u %g" "$1"' sh \
		"$TMPDIR/exec-setuid"
	assert_output '33 0'
	assert_equal "$(stat -c '%u %g' "$TMPDIR/exec-setuid")" '100032 1001'
}

@test "an inner ID that isn't mapped is refused, and one that works is named" {
	assert_refused 1 'inner uid 70000.*isn.t mapped.*--setuid 0 would work' \
		--setuid 70000 -- echo ran
	assert_refused 1 'inner gid 70000.*--setgid 0 would work' --setgid 70000 -- echo ran
	assert_refused 1 'inner uid 0.*isn.t mapped.*--setuid 1000 would work' \
		u:1000:1001:1 -- echo ran
}

@test "setgroups is left alone, denied, or asked to be allowed" {
	run exec_alice -- cat /proc/self/setgroups
	assert_output allow
	run exec_alice --setgroups=allow -- cat /proc/self/setgroups
	assert_output allow
	run exec_alice --setgroups deny -- cat /proc/self/setgroups
	assert_output deny
	run exec_alice --layout self -- cat /proc/self/setgroups
	assert_output deny
	assert_refused 1 'setgroups=allow' --layout self --setgroups=allow -- echo ran
}

@test "each option gives COMMAND a namespace of its own" {
	local option name
	for option in mount pid net uts ipc cgroup; do
		name=$option
		[ "$option" != mount ] || name=mnt
		run exec_alice -- readlink "/proc/self/ns/$name"
		assert_output "$(readlink "/proc/self/ns/$name")"
		run exec_alice "--$option" --mount -- readlink "/proc/self/ns/$name"
		assert_success
		refute_output "$(readlink "/proc/self/ns/$name")"
		run exec_alice "--$option" -- unshare --mount true
		assert_success
	done
}

@test "--mount lets nothing out" {
	mkdir -p "$BATS_TEST_TMPDIR/shared"
	mount -t tmpfs tmpfs "$BATS_TEST_TMPDIR/shared"
	mount --make-shared "$BATS_TEST_TMPDIR/shared"
	chmod -R a+rX "$BATS_RUN_TMPDIR"
	run exec_alice --mount -- sh -c 'mount -t tmpfs tmpfs "$1" && touch "$1/inside" &&
		grep -c " \(shared\|master\):" /proc/self/mountinfo' sh "$BATS_TEST_TMPDIR/shared"
	assert_output 0
	[ ! -e "$BATS_TEST_TMPDIR/shared/inside" ]
	umount "$BATS_TEST_TMPDIR/shared"
}

@test "what can't be asked is a usage error and runs nothing" {
	assert_refused 2 'no COMMAND' --pid
	assert_refused 2 'no COMMAND' --
	assert_refused 2 "'echo' is no MAP" echo ran
	assert_refused 2 "--setuid '-1'" --setuid -1 -- echo ran
	assert_refused 2 "--setgid '4294967295'" --setgid 4294967295 -- echo ran
	assert_refused 2 "--setuid '010'" --setuid 010 -- echo ran
	assert_refused 2 'neither allow nor deny' --setgroups=maybe -- echo ran
	assert_refused 2 'exec writes both maps' -u -- echo ran
	assert_refused 2 'exec has no --user' --user bob -- echo ran
	assert_refused 2 'Try' --no-such-option -- echo ran
	assert_refused 2 '0:0' 0:0 -- echo ran
}

@test "--help prints the usage" {
	run --separate-stderr exec_alice --help
	assert_success
	assert_line --index 0 --partial 'Usage: idmap exec'
	assert_equal "$stderr" ""
}

@test "in a namespace without IDs to grant, MAPs that work there are named" {
	run -1 --separate-stderr exec_alice -- "$IDMAP" exec -- id
	assert_regex "$stderr" "no entry for root or 0 .*: this user namespace has no IDs that could be granted; what works are MAPs of its own IDs, such as"
	refute_regex "$stderr" usermod
	local map
	map=$(sed -n 2p <<<"$stderr")
	# shellcheck disable=SC2086
	run -0 exec_alice -- "$IDMAP" exec $map -- id -u
	assert_output 0
	run -0 exec_alice -- "$IDMAP" exec --layout self -- id -u
	assert_output 0
}

@test "unmapped IDs of both kinds are one message, with where the own ones are" {
	assert_refused 1 "^idmap: inner uid 0 and gid 0, which COMMAND would run as, aren't mapped; --setuid 1001 --setgid 1001 would work" \
		--identity 1001 -- id
	run -0 exec_alice --identity 1001 --setuid 1001 --setgid 1001 -- id -u
	assert_output 1001
}

@test "a name is no inner ID, and an empty COMMAND stands in quotes" {
	assert_refused 2 "--setuid 'www-data': names are not taken: give the number .id -u www-data" --setuid www-data -- id
	assert_refused 2 "--setgid 'staff': names are not taken" --setgid staff -- id
	run -127 --separate-stderr exec_alice -- ''
	assert_regex "$stderr" "^idmap: '': "
}

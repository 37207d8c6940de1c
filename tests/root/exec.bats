#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
#
# idmap exec: who writes the maps, what is left when something dies, PID namespaces, nesting.

# shellcheck disable=SC2016,SC2030,SC2031 # quoted for the shell inside; each test has its own PATH

load ../support

setup() {
	grant_uid alice:100000:65536
	grant_gid alice:300000:65536
	export PATH=$HELPERS_SETUID:$PATH
}

exec_alice() {
	as alice "$IDMAP" exec "$@" 3>&- 4>&-
}

words() {
	tr -s ' \n' ' ' <<<"$1" | sed 's/^ //; s/ $//'
}

# A helper that tells it was started, and never ends.
slow_helpers() {
	local folder=$BATS_TEST_TMPDIR/slow helper
	mkdir "$folder"
	for helper in newuidmap newgidmap; do
		printf '#!/bin/sh\necho $$ >%s/%s.pid\nexec sleep infinity\n' "$TMPDIR" "$helper" \
			>"$folder/$helper"
		rm -f "$TMPDIR/$helper.pid"
	done
	chmod -R a+rx "$folder"
	chmod a+rx "$BATS_RUN_TMPDIR" "$BATS_TEST_TMPDIR"
	PATH=$folder:$PATH
}

# eventually CMD [ARG]...: wait until it succeeds.
eventually() {
	local i
	for ((i = 0; i < 500; i++)); do
		! "$@" 2>/dev/null || return 0
		sleep 0.01
	done
	fail "never came: $*"
}

# gone PID: the process has ended; a zombie that nobody has reaped yet is as good.
gone() {
	! grep -q '^State:.[^ZX]' "/proc/$1/status"
}

# in_background ARG...: idmap exec as alice; its PID in $TARGET.
in_background() {
	rm -f "$TMPDIR/output"
	become alice "$IDMAP" exec "$@" </dev/null >"$TMPDIR/output" 2>&1 3>&- 4>&- &
	TARGET=$!
	TARGETS+=("$TARGET")
}

@test "the maps come through a setuid install and through file capabilities" {
	local helpers
	for helpers in "$HELPERS_SETUID" "$HELPERS_FILECAPS" "$SYSTEM_HELPERS"; do
		PATH=$helpers:$PATH
		run exec_alice -- cat /proc/self/uid_map /proc/self/gid_map
		assert_success
		assert_equal "$(words "$output")" '0 1001 1 1 100000 65536 0 1001 1 1 300000 65536'
	done
}

@test "root writes the maps itself, without helpers or grants" {
	PATH=/usr/sbin:/sbin:/bin
	run "$IDMAP" exec 0:100000:65536 -- cat /proc/self/uid_map /proc/self/gid_map
	assert_success
	assert_equal "$(words "$output")" '0 100000 65536 0 100000 65536'
	run "$IDMAP" exec --pid --mount --setuid 5 --setgid 6 0:100000:65536 -- \
		sh -c 'id -u; id -g; id -G'
	assert_output $'5\n6\n6'
}

@test "without its helpers idmap says what to install, and COMMAND doesn't run" {
	mkdir -p "$BATS_TEST_TMPDIR/empty"
	run --separate-stderr as alice env PATH="$BATS_TEST_TMPDIR/empty" "$IDMAP" exec -- \
		/bin/echo ran
	assert_failure 1
	assert_output ''
	assert_regex "$stderr" 'newuidmap.*PATH'
}

@test "when a helper fails, its words are passed on and COMMAND doesn't run" {
	mkdir -p "$BATS_TEST_TMPDIR/bad"
	printf '#!/bin/sh\necho it is broken >&2\nexit 1\n' >"$BATS_TEST_TMPDIR/bad/newgidmap"
	chmod -R a+rx "$BATS_RUN_TMPDIR"
	PATH=$BATS_TEST_TMPDIR/bad:$PATH
	run --separate-stderr exec_alice -- echo ran
	assert_failure 1
	assert_output ''
	assert_regex "$stderr" 'it is broken'
}

@test "a helper gets no descriptor but the target's" {
	local folder=$BATS_TEST_TMPDIR/listing
	mkdir "$folder"
	printf '#!/bin/sh\nfor fd in /proc/$$/fd/*; do echo "${fd##*/}"; done >&2\nexit 1\n' \
		>"$folder/newuidmap"
	chmod 755 "$folder/newuidmap"
	chmod -R a+rX "$BATS_RUN_TMPDIR"
	# 3 and 4 are taken, so that nothing of idmap's hides behind the target's number 3.
	run as alice "$folder/newuidmap" 3</dev/null 4</dev/null
	local outside=$output
	PATH=$folder:$PATH
	run as alice "$IDMAP" exec -- true 3</dev/null 4</dev/null
	assert_output --partial "$outside"
	assert_equal "$(grep -cx '[0-9]*' <<<"${output#*: }")" "$(wc -l <<<"$outside")"
}

@test "each helper is started once, and with a PID" {
	local folder=$BATS_TEST_TMPDIR/counting log=$BATS_TEST_TMPDIR/log name
	mkdir "$folder"
	for name in newuidmap newgidmap; do
		printf '#!/bin/sh\necho "${0##*/} $1" >>%s\nexec %s/${0##*/} "$@"\n' \
			"$log" "$SYSTEM_HELPERS" >"$folder/$name"
		chmod 755 "$folder/$name"
	done
	: >"$log"
	chmod -R a+rX "$BATS_RUN_TMPDIR"
	chmod 666 "$log"
	PATH=$folder:$PATH run -0 as alice "$IDMAP" exec -- true
	run -0 sort "$log"
	assert_equal "${#lines[@]}" 2
	assert_line --index 0 --regexp '^newgidmap [0-9]+$'
	assert_line --index 1 --regexp '^newuidmap [0-9]+$'
}

@test "IDs that are not granted are refused before anything is started" {
	run --separate-stderr exec_alice 0:200000:10 -- echo ran
	assert_failure 1
	assert_output ''
	assert_regex "$stderr" '200000'
}

@test "idmap killed in the middle of the set-up leaves no process" {
	slow_helpers
	in_background --pid -- sleep infinity
	eventually test -s "$TMPDIR/newuidmap.pid"
	local writer helper
	helper=$(cat "$TMPDIR/newuidmap.pid")
	writer=$(pgrep -P "$TARGET")
	kill -KILL "$TARGET"
	eventually gone "$TARGET"
	eventually gone "$writer"
	# A stand-in that never ends, as no helper does, is not ours to kill.
	kill -KILL "$helper" "$(cat "$TMPDIR/newgidmap.pid")" 2>/dev/null || true
	assert_equal "$(cat "$TMPDIR/output")" ''
}

@test "idmap ends when its writer is killed, and COMMAND doesn't run" {
	slow_helpers
	in_background -- echo ran
	eventually test -s "$TMPDIR/newuidmap.pid"
	eventually test -s "$TMPDIR/newgidmap.pid"
	kill -KILL "$(pgrep -P "$TARGET")"
	run wait "$TARGET"
	eventually gone "$TARGET"
	kill -KILL "$(cat "$TMPDIR/newuidmap.pid")" "$(cat "$TMPDIR/newgidmap.pid")"
	run cat "$TMPDIR/output"
	refute_output --partial ran
}

@test "a namespace that can't be made is an error with its limit" {
	run --separate-stderr as alice sh -c \
		'"$1" exec -- sh -c "echo 0 >/proc/sys/user/max_user_namespaces && exec \"\$1\" exec --layout self -- echo ran" sh "$1"' \
		sh "$IDMAP"
	assert_failure 1
	assert_output ''
	assert_regex "$stderr" 'max_.*namespaces'
}

@test "with --pid COMMAND is process 2 below one that only reaps" {
	run exec_alice --pid --mount -- sh -c 'echo $$; cat /proc/1/comm; echo /proc/[0-9]*'
	assert_success
	assert_line --index 0 2
	assert_line --index 1 idmap
	assert_line --index 2 '/proc/1 /proc/2'
}

@test "with --pid orphans are reaped" {
	run exec_alice --pid --mount -- sh -c '(sh -c "sleep 0.05" & :)
		sleep 0.3; cat /proc/[0-9]*/stat | grep -c ") Z "'
	assert_output 0
}

@test "with --pid the first process holds no descriptor and COMMAND's IDs" {
	run exec_alice --pid --mount -- sh -c 'ls /proc/1/fd; stat -c %u:%g /proc/1'
	assert_output 0:0
	run exec_alice --pid --mount --layout subids -- stat -c %u:%g /proc/1
	assert_output 0:0
}

@test "with --pid all that COMMAND leaves behind ends with it" {
	run exec_alice --pid --mount -- sh -c \
		'setsid sleep 4321 >/dev/null 2>&1 & sleep 0.1; exit 3'
	assert_failure 3
	run pgrep -f 'sleep 4321'
	assert_failure
}

@test "with --pid a signal to idmap is passed to COMMAND" {
	in_background --pid -- sh -c 'trap "exit 9" TERM; trap "echo usr1" USR1
		echo ready; while :; do sleep 0.01; done'
	eventually test -s "$TMPDIR/output"
	kill -USR1 "$TARGET"
	eventually grep -q usr1 "$TMPDIR/output"
	kill -TERM "$TARGET"
	local status=0
	wait "$TARGET" || status=$?
	assert_equal "$status" 9
}

@test "with --pid idmap stops when COMMAND stops, and both go on" {
	in_background --pid -- sh -c 'echo ready; kill -STOP $$; exit 8'
	eventually grep -q '^State:.T' "/proc/$TARGET/status"
	kill -CONT "$TARGET"
	local status=0
	wait "$TARGET" || status=$?
	assert_equal "$status" 8
}

@test "with --pid the death of idmap ends the whole namespace" {
	in_background --pid -- sh -c 'echo ready; sleep infinity & wait'
	eventually test -s "$TMPDIR/output"
	local children
	children=$(pgrep -P "$TARGET")
	kill -KILL "$TARGET"
	local child
	for child in $children; do
		eventually gone "$child"
	done
}

@test "three deep, each inside the one before" {
	run exec_alice -- "$IDMAP" exec --layout self -- "$IDMAP" exec --layout self -- \
		cat /proc/self/uid_map
	assert_success
	assert_equal "$(words "$output")" '0 0 1'
	run exec_alice --pid --mount -- "$IDMAP" exec --pid --mount 0:0:1000 -- \
		"$IDMAP" exec --pid --mount 0:0:100 +50:60:1 -- \
		sh -c 'echo $$; cat /proc/self/uid_map /proc/self/gid_map'
	assert_success
	assert_equal "$(words "$output")" \
		'2 0 0 1 1 1 49 50 60 1 51 51 9 61 61 39 0 0 1 1 1 49 50 60 1 51 51 9 61 61 39'
}

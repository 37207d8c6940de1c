#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
#
# idmap lookup, by an ordinary user: IDs through maps of the command line, of the plan and of live
# processes, one by one and in streams.

load ../support

setup() {
	grant_uid alice:100000:65536
	grant_gid alice:300000:65536
	export PATH=$HELPERS_SETUID:$PATH
}

# lookup ARG...: idmap lookup as alice.
lookup() {
	as alice "$IDMAP" lookup "$@" 3>&- 4>&-
}

# assert_answers STATUS "ANSWER..." ARG...: these lines, nothing on stderr.
assert_answers() {
	local wanted=$1 answers=$2
	shift 2
	run "-$wanted" --separate-stderr lookup "$@"
	assert_equal "${output//$'\n'/ }" "$answers"
	assert_equal "$stderr" ''
}

# assert_refused STATUS REGEXP ARG...: no answer, the message matches.
assert_refused() {
	local wanted=$1 regexp=$2
	shift 2
	run "-$wanted" --separate-stderr lookup "$@"
	assert_equal "$output" ''
	assert_regex "$stderr" "$regexp"
}

# stream TEXT ARG...: lookup with TEXT (printf's escapes) on stdin.
stream() {
	local text=$1
	shift
	printf '%b' "$text" | lookup "$@" -
}

SEED=(0:1000000:1000000000 +999:999:1 +1001:1001:1)

@test "inner IDs become outer ones through MAPs" {
	assert_answers 0 '1000000 1000998 999 1001000 1001 1001002 1000999999' \
		"${SEED[@]}" 0 998 999 1000 1001 1002 999999999
}

@test "outer IDs become inner ones with -r" {
	assert_answers 0 '0 999 1001' -r "${SEED[@]}" 1000000 999 1001
	assert_answers 0 '0' --reverse "${SEED[@]}" 1000000
}

@test "an unmapped ID is printed as such and makes the status 1" {
	assert_answers 1 '100000 unmapped 165535' 0:100000:65536 0 65536 65535
	assert_answers 1 'unmapped' -r "${SEED[@]}" 1000999
}

@test "user IDs are meant, group IDs with -g" {
	assert_answers 0 100005 u:0:100000:10 g:0:200000:10 5
	assert_answers 0 100005 -u u:0:100000:10 g:0:200000:10 5
	assert_answers 0 200005 -g u:0:100000:10 g:0:200000:10 5
}

@test "without a process and MAPs the caller's own plan answers" {
	assert_answers 0 1001 0
	assert_answers 0 100000 1
	assert_answers 0 300000 -g 1
	assert_answers 0 1 -r 100000
	assert_answers 0 '100000 100001' --layout subids 0 1
	assert_answers 0 '1001 5' +5:5:1 0 5
	run --separate-stderr stream '0\n1\n'
	assert_equal "${output//$'\n'/ }" '1001 100000'
}

@test "the plan of another user answers with --user" {
	grant_uid bob:500000:65536
	assert_answers 0 '1002 500000' --user bob 0 1
}

@test "the first of two numbers is a PID, and its live map answers" {
	spawn_userns alice
	as alice "$IDMAP" "$TARGET"
	assert_answers 0 '1001 100000 165535' "$TARGET" 0 1 65536
	assert_answers 0 '300000' -g "$TARGET" 1
	assert_answers 0 '0 1' -r "$TARGET" 1001 100000
	assert_answers 1 'unmapped' "$TARGET" 65537
	assert_answers 0 '1001' --pid "$TARGET" 0
	run --separate-stderr stream '0\n1\n' "$TARGET"
	assert_equal "${output//$'\n'/ }" '1001 100000'
}

@test "a descriptor of the process's directory answers" {
	spawn_userns alice
	as alice "$IDMAP" "$TARGET"
	exec 9<"/proc/$TARGET"
	assert_answers 0 '100000' fd:9 1
	exec 9<&-
}

@test "an unwritten map maps nothing" {
	spawn_userns alice
	run -1 --separate-stderr lookup "$TARGET" 0
	assert_output unmapped
	assert_equal "$stderr" "idmap: uid_map of $TARGET is not written yet, so that nothing is mapped"
}

@test "lookup agrees with what the kernel says a file's owner is inside" {
	spawn_userns alice
	"$IDMAP" "$TARGET" 0:1000:10 10:5000:1 20:7000:100
	local id
	for id in 1000 1009 1010 5000 7000 7099 7100; do
		touch "$TMPDIR/owned-$id"
		chown "$id" "$TMPDIR/owned-$id"
		inside=$(nsenter -U -t "$TARGET" --preserve-credentials \
			stat -c %u "$TMPDIR/owned-$id")
		run lookup -r --overflow "$TARGET" "$id"
		assert_equal "$output" "$inside"
	done
}

@test "a chain of MAPs is what a nested namespace gets" {
	assert_answers 0 '100005 100014' --through 0:5:10 --through 0:100000:65536 0 9
	assert_answers 1 'unmapped' --through 0:5:10 --through 0:100000:65536 10
	assert_answers 0 '0 9' -r --through 0:5:10 --through 0:100000:65536 100005 100014
	assert_answers 0 '1007' 0:2:5 --through 0:5:10 --through 0:1000:65536 0
}

@test "a chain through an extent's boundary is split there" {
	assert_answers 0 '1000 100000 100999' \
		--through 0:0:1001 --through 0:1000:1 1:100000:65536 0 1 1000
}

@test "MAPs go on through the live map of a process" {
	spawn_userns alice
	as alice "$IDMAP" "$TARGET"
	assert_answers 0 '100004' 0:5:10 --pid "$TARGET" 0
	assert_answers 0 '100004' --through 0:5:10 --pid "$TARGET" 0
}

@test "a real nested namespace has the map of the chain" {
	spawn_userns root
	"$IDMAP" "$TARGET" 0:100000:65536
	local parent=$TARGET
	spawn nsenter -U -t "$parent" -S 0 -G 0 unshare -U sleep infinity
	nsenter -U -t "$parent" -S 0 -G 0 sh -c \
		"echo '0 5 10' >/proc/$TARGET/uid_map"
	local id
	for id in 0 9 10; do
		run lookup --pid "$TARGET" "$id"
		local live=$output
		run lookup --through 0:5:10 --pid "$parent" "$id"
		assert_equal "$output" "$live"
	done
}

@test "a chain that needs more than 340 extents is refused" {
	local maps=() more=() i
	for ((i = 0; i < 200; i++)); do
		maps+=("$((i * 4)):$(((199 - i) * 4)):4")
		more+=("$((i * 4 + 2)):$((10000 - i * 4)):4")
	done
	assert_refused 1 'more than 340 extents' "${maps[@]}" --through "${more[@]}" 0:20000:2 0
}

@test "--overflow prints what a process inside sees" {
	local uid gid
	uid=$(</proc/sys/kernel/overflowuid)
	gid=$(</proc/sys/kernel/overflowgid)
	assert_answers 1 "3 $uid" -r --overflow 0:100000:10 100003 5
	assert_answers 1 "$gid" -g -r --overflow 0:100000:10 5
	run stream '5\n' -r --overflow 0:100000:10
	assert_equal "$output" "$uid"
}

@test "a stream is answered line by line in its order" {
	run -1 --separate-stderr stream '3\n70000\n1\n2' 0:100000:65536
	assert_output $'100003\nunmapped\n100001\n100002'
	assert_equal "$stderr" ''
	run -0 stream '4294967294\n0\n' 0:0:4294967295
	assert_output $'4294967294\n0'
	run -0 stream '' 0:0:10
	assert_output ''
}

@test "a hundred thousand IDs of a stream answer as one by one" {
	awk 'BEGIN { for (i = 0; i < 100000; i++) print i * 7919 % 100000 }' >"$TMPDIR/ids"
	lookup "${SEED[@]}" - <"$TMPDIR/ids" >"$TMPDIR/streamed"
	awk '{ print $1 == 999 || $1 == 1001 ? $1 : $1 + 1000000 }' "$TMPDIR/ids" >"$TMPDIR/wanted"
	cmp "$TMPDIR/streamed" "$TMPDIR/wanted"
	# Lines cut at odd places by the pipe, too.
	dd if="$TMPDIR/ids" bs=777 status=none | lookup "${SEED[@]}" - | cmp - "$TMPDIR/wanted"
}

@test "a stream through 340 extents answers both ways" {
	local maps=() i
	for ((i = 0; i < 340; i++)); do
		maps+=("$((i * 3)):$((3000 - i * 4)):2")
	done
	seq 0 1100 >"$TMPDIR/ids"
	run -1 lookup "${maps[@]}" - <"$TMPDIR/ids"
	awk '{ i = int($1 / 3); print i < 340 && $1 % 3 < 2 ? 3000 - i * 4 + $1 % 3 : "unmapped" }' \
		"$TMPDIR/ids" >"$TMPDIR/wanted"
	assert_output "$(<"$TMPDIR/wanted")"
	run -0 lookup -r "${maps[@]}" - < <(grep -v unmapped "$TMPDIR/wanted")
	assert_output "$(awk '$1 < 1020 && $1 % 3 < 2' "$TMPDIR/ids")"
}

@test "a reader of a pipe gets each answer at once" {
	coproc LOOKUP { lookup 0:100000:65536 -; }
	local id answer
	for id in 5 6 7; do
		echo "$id" >&"${LOOKUP[1]}"
		read -t 5 -r answer <&"${LOOKUP[0]}"
		assert_equal "$answer" "$((100000 + id))"
	done
}

@test "a bad line of a stream is named by its number, and what stood before it is answered" {
	local line
	for line in x -1 +1 010 0x10 '1 ' '' '1\r' 4294967295 4294967296; do
		run -1 --separate-stderr stream "1\n2\n$line\n4\n" 0:100000:65536
		assert_output $'100001\n100002'
		assert_regex "$stderr" '^idmap: stdin:3: '
	done
}

@test "a line longer than any buffer is refused" {
	run -1 --separate-stderr lookup 0:0:10 - < <(head -c 200000 /dev/zero | tr '\0' 1)
	assert_output ''
	assert_regex "$stderr" 'stdin:1: .* is over 4294967294'
}

@test "progress is shown on a terminal when the work takes over a second" {
	run script -qec "(seq 5; sleep 1.2; seq 5) | '$IDMAP' lookup 0:0:10 - >'$TMPDIR/out'" \
		/dev/null
	assert_output --partial '10 IDs'
	assert_equal "$(wc -l <"$TMPDIR/out")" 10
}

@test "no progress is shown for quick work, nor away from a terminal" {
	run script -qec "seq 1000 | '$IDMAP' lookup 0:0:2000 - >'$TMPDIR/out'" /dev/null
	assert_output ''
	(seq 5; sleep 1.2; seq 5) | lookup 0:0:10 - >"$TMPDIR/out" 2>"$TMPDIR/err"
	assert_equal "$(<"$TMPDIR/err")" ''
}

@test "--json gives one object, an unmapped ID as null" {
	run -1 lookup --json 0:100000:65536 5 70000
	assert_equal "$(jq -c '.ids' <<<"$output")" \
		'[{"type":"uid","inner":5,"outer":100005},{"type":"uid","inner":70000,"outer":null}]'
	run -0 lookup --json -g -r 0:100000:65536 100005
	assert_equal "$(jq -c '.ids' <<<"$output")" '[{"type":"gid","inner":5,"outer":100005}]'
}

@test "a table has the columns that -o names" {
	run -1 lookup --raw --noheadings -o outer,inner 0:100000:65536 5 70000
	assert_output $'100005 5\nunmapped 70000'
	assert_refused 2 'the columns are TYPE, INNER and OUTER' -o inner,color 0:0:5 1
}

@test "an ID that is none is refused" {
	local id
	for id in x +1: 010 '1 ' 4294967295 4294967296 18446744073709551616; do
		run -2 --separate-stderr lookup 0:0:10 "$id"
		assert_output ''
	done
	assert_refused 2 "ID '4294967295' is over 4294967294" 0:0:10 4294967295
	assert_refused 2 "ID '010' has a leading zero" 0:0:10 010
}

@test "a command line that makes no sense is refused" {
	assert_refused 2 'no ID' 0:0:10
	assert_refused 2 'no MAP follows' --through 5
	assert_refused 2 'no MAP follows' --through --through 0:0:5 5
	assert_refused 2 'one map can.t be both' --pid 1 0:0:5 5
	assert_refused 2 'answered one line an ID' --json 0:0:10 -
	assert_refused 2 'no-such-option' --no-such-option
	assert_refused 1 'is no running process' 99999999 5
}

@test "MAPs that overlap are refused and both are named" {
	assert_refused 1 '0.*100000.*65536' 0:100000:65536 10:10:1 5
}

@test "output that can't be written is an error" {
	run -1 --separate-stderr sh -c "seq 100000 | '$IDMAP' lookup 0:0:1000000 - >/dev/full"
	assert_regex "$stderr" 'No space left'
}

@test "any option of a layout says that no number is a PID" {
	assert_answers 0 '100000 100004' --layout root 1 5
	assert_answers 0 '1001 5' --identity 5 0 5
	assert_answers 0 '100000 100001' --size 10 1 2
	assert_refused 2 'one map can.t be both' --layout root fd:3 5
}

@test "a number that is taken for a PID is explained when there is no such process" {
	assert_refused 2 "^idmap: '0' is neither .*: of several numbers the first is a process; for IDs of your own plan say --layout root" 0 1 5
	assert_refused 1 '^idmap: 99999999 is no running process: of several numbers' 99999999 5
	run -1 --separate-stderr lookup --pid 99999999 5
	assert_equal "$stderr" 'idmap: 99999999 is no running process'
}

@test "u and g together are refused, and so is a word beside the dash" {
	assert_refused 2 '-u and -g' -u -g 0
	assert_refused 2 '-u and -g' -g -u 0:0:5 0
	assert_refused 2 "'-' takes the IDs from stdin, and '6' stands" - 6
}

@test "a name is no ID, and the way to its number is said" {
	assert_refused 2 "names are not taken: give the number .id -u alice" alice
	assert_refused 2 "names are not taken: give the number .getent group staff" -g staff
}

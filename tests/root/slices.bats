#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
#
# idmap exec --auto: slices of the grants that no live namespace uses.

# shellcheck disable=SC2016,SC2030,SC2031,SC2153 # quoted for the shell inside; spawn sets $TARGET

load ../support

setup() {
	grant_uid alice:100000:262144
	grant_gid alice:500000:1000 alice:600000:262144
	export PATH=$HELPERS_SETUID:$PATH
	FOLDER=/run/user/1001/idmap
	rm -rf "$FOLDER"
}

# start ARG...: sleep in a slice of alice's; its PID is in $TARGET.
start() {
	spawn become alice "$IDMAP" exec --auto "$@" -- sleep infinity
}

# end PID: kill it, and see it gone.
end() {
	kill -KILL "$1"
	wait "$1" 2>/dev/null || true
}

# assert_slice PID UID GID [COUNT]: where its slices begin.
assert_slice() {
	local pid=$1 count=${4:-65536}
	assert_equal "$(tr -s ' ' <"/proc/$pid/uid_map")" " 0 $2 $count"
	assert_equal "$(tr -s ' ' <"/proc/$pid/gid_map")" " 0 $3 $count"
}

# assert_refused PATTERN ARG...: exec as alice fails with this message, and runs nothing.
assert_refused() {
	local pattern=$1
	shift
	run --separate-stderr as alice "$IDMAP" exec "$@" -- echo ran
	assert_failure
	assert_equal "$output" ''
	assert_regex "$stderr" "$pattern"
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

@test "a slice is mapped from inner 0 on, and the own ID is not in it" {
	run as alice "$IDMAP" exec --auto -- cat /proc/self/uid_map /proc/self/gid_map
	assert_success
	assert_equal "$(tr -s ' \n' ' ' <<<"$output")" ' 0 100000 65536 0 600000 65536 '
	grant_uid alice:1000:20
	run as alice "$IDMAP" dump -u --auto=18 --format=kernel
	assert_output '0 1002 18'
	run as alice "$IDMAP" dump -u --auto=1 --format=kernel
	assert_output '0 1000 1'
}

@test "whoever lives keeps his slice to himself, and the next comes beside it" {
	start
	assert_slice "$TARGET" 100000 600000
	start
	assert_slice "$TARGET" 165536 665536
	become alice "$IDMAP" exec --auto --pid --mount -- sleep infinity </dev/null >/dev/null 2>&1 3>&- &
	TARGETS+=("$!")
	eventually pgrep -u 231072 -x sleep
	run as alice "$IDMAP" exec --auto=64k -- cat /proc/self/uid_map
	assert_output --regexp '^ +0 +296608 +65536$'
}

@test "a slice is free as soon as its holder is dead" {
	start
	local first=$TARGET
	start
	end "$first"
	start
	assert_slice "$TARGET" 100000 600000
}

@test "uid and gid slices are chosen each from their own gaps, the smallest that fits" {
	start --auto=1000
	assert_slice "$TARGET" 100000 500000 1000
	local first=$TARGET
	start
	assert_slice "$TARGET" 101000 600000
	end "$first"
	start --auto=500
	assert_slice "$TARGET" 100000 500000 500
	start --auto=501
	assert_slice "$TARGET" 166536 665536 501
}

@test "a name gets the slice that it had last, unless someone else has it" {
	start
	local other=$TARGET
	start --name web.1
	local web=$TARGET
	assert_slice "$web" 165536 665536
	end "$other"
	end "$web"
	start --name web.1
	assert_slice "$TARGET" 165536 665536
	start --name web.1
	assert_slice "$TARGET" 100000 600000
}

@test "a name that is remembered in a way nobody understands is a new one" {
	start --name web
	end "$TARGET"
	local text
	for text in x 1 1: :1 -1:5 99999999999:0 4294967295:4294967295 0:0; do
		ln -sfn -- "$text" "$FOLDER/name.web"
		run as alice "$IDMAP" dump --auto --name web -u --format=kernel
		assert_output '0 100000 65536'
	done
	start --name web
	assert_equal "$(readlink "$FOLDER/name.web")" 100000:600000
}

@test "what another user's namespace maps is in use, though he may not look into it" {
	spawn_userns bob
	"$IDMAP" "$TARGET" u:0:100000:65536 g:0:600000:65536
	run ! as alice readlink "/proc/$TARGET/ns/user"
	start
	assert_slice "$TARGET" 165536 665536
	# A namespace with all IDs, as some services have, claims none of them.
	spawn_userns root
	"$IDMAP" "$TARGET" 0:0:1 1:1:4294967294
	start
	assert_slice "$TARGET" 231072 731072
}

@test "a namespace with nothing but children keeps its slice" {
	as alice "$IDMAP" exec --auto -- sh -c 'unshare -U sleep infinity & exit 0' \
		</dev/null >/dev/null 2>&1 3>&-
	eventually pgrep -u 100000 -x sleep
	TARGETS+=("$(pgrep -u 100000 -x sleep)")
	start
	assert_slice "$TARGET" 165536 665536
}

@test "slices in a namespace are those of its own grants and map" {
	grant_uid alice:100000:262144 root:1000:70000
	grant_gid alice:600000:262144 root:1000:70000
	run as alice "$IDMAP" exec --size 40001 -- bash -c '
		set -e
		"$IDMAP" exec --auto=20000 -- sleep infinity >/dev/null 2>&1 &
		trap "kill -KILL $!" EXIT
		for i in {1..500}; do [ "$(cat /proc/$!/comm)" != sleep ] || break; sleep 0.01; done
		cat /proc/$!/uid_map
		"$IDMAP" exec --auto=19001 -- cat /proc/self/gid_map
		"$IDMAP" exec --auto=19002 -- true' 3>&-
	assert_equal "$(head -n 2 <<<"$output" | tr -s ' \n' ' ')" ' 0 1000 20000 0 21000 19001 '
	assert_line --partial 'has 19001; --auto=19001 would work'
}

@test "the lock is held until COMMAND is there, and no longer" {
	local slow=$BATS_TEST_TMPDIR/slow
	mkdir "$slow"
	printf '#!/bin/sh\nexec sleep infinity\n' | tee "$slow/newuidmap" >"$slow/newgidmap"
	chmod -R a+rx "$BATS_RUN_TMPDIR"
	become alice env PATH="$slow:$PATH" "$IDMAP" exec --auto -- sleep 1 </dev/null >/dev/null 2>&1 3>&- &
	local first=$!
	eventually pgrep -u alice -x sleep
	local helpers
	mapfile -t helpers < <(pgrep -u alice -x sleep)
	TARGETS+=("$first" "${helpers[@]}")
	run ! flock -n "$FOLDER/lock" true
	become alice "$IDMAP" exec --auto -- sleep infinity </dev/null >/dev/null 2>&1 3>&- &
	local second=$!
	TARGETS+=("$second")
	eventually grep -qx idmap "/proc/$second/comm"
	sleep 0.1
	grep -qx idmap "/proc/$second/comm"
	kill -KILL "$first"
	eventually grep -qx sleep "/proc/$second/comm"
	assert_slice "$second" 100000 600000
	flock -n "$FOLDER/lock" true
}

@test "COMMAND has no descriptor of the lock or the folder" {
	run as alice "$IDMAP" exec --auto --name web -- ls -l /proc/self/fd 3>&- 4>&-
	assert_success
	refute_output --partial "$FOLDER"
	run as alice "$IDMAP" exec --auto --pid -- ls -l /proc/self/fd 3>&- 4>&-
	refute_output --partial "$FOLDER"
}

@test "without --auto no lock is taken and nothing is made, and dump takes none" {
	as alice "$IDMAP" dump --auto --name web >/dev/null
	as alice "$IDMAP" exec -- true
	[ ! -e "$FOLDER" ] || fail "$FOLDER was made"
	as alice "$IDMAP" exec --auto -- true
	flock "$FOLDER/lock" sleep infinity 3>&- &
	TARGETS+=("$!")
	eventually not_free
	as alice timeout 20 "$IDMAP" exec -- true
	as alice timeout 20 "$IDMAP" dump --auto >/dev/null
	run -124 as alice timeout 0.2 "$IDMAP" exec --auto -- true
	pkill -KILL -P "$!"
}

not_free() {
	! flock -n "$FOLDER/lock" true
}

# What the set-up opens, how often it reads, and whether it locks or lists anything. Sanitizers search
# for leaks at the end, which can't be traced, and read their own maps; how often a pipe is read is chance.
set_up() {
	ASAN_OPTIONS=detect_leaks=0 XDG_RUNTIME_DIR=/run/user/1001 strace -u alice -yfo "$TMPDIR/trace" \
		-e trace=openat,read,flock,getdents64 "$IDMAP" exec -- true
	sed -n 's/^[0-9]* *openat([^,]*, "\([^"]*\)".*/\1/; T; s/[0-9]\+/N/g; p' "$TMPDIR/trace" | sort
	grep -vE '/maps>|<pipe:' "$TMPDIR/trace" | grep -c ' read('
	grep -oE ' (flock|getdents64)\(' "$TMPDIR/trace" || true
}

@test "without --auto the set-up takes no lock and reads nothing more beside many namespaces" {
	local alone i
	alone=$(set_up)
	refute_regex "$alone" 'flock|getdents'
	assert_regex "$alone" 'subuid'
	for ((i = 0; i < 20; i++)); do
		start --auto=100
	done
	assert_equal "$(set_up)" "$alone"
}

@test "a folder for the lock that others can write to is refused, and none is said" {
	as alice mkdir -m 777 "$TMPDIR/open"
	run -1 as alice env XDG_RUNTIME_DIR="$TMPDIR/open" "$IDMAP" exec --auto -- echo ran
	assert_output --partial "won't keep its lock in $TMPDIR/open"
	run -1 as alice env XDG_RUNTIME_DIR=/run "$IDMAP" exec --auto -- echo ran
	assert_output --partial "won't keep its lock in /run, which isn't yours"
	run -1 as alice env XDG_RUNTIME_DIR=/nowhere "$IDMAP" exec --auto -- echo ran
	assert_output --partial '/nowhere (XDG_RUNTIME_DIR): No such file'
	run -0 as alice env -u XDG_RUNTIME_DIR "$IDMAP" exec --auto -- echo ran
	assert_output ran
	[ -e "$FOLDER/lock" ] || fail "the usual folder was not used"
	mv /run/user/1001 /run/user/away
	run -1 as alice env -u XDG_RUNTIME_DIR "$IDMAP" exec --auto -- echo ran
	mv /run/user/away /run/user/1001
	assert_output --partial '/run/user/1001 while XDG_RUNTIME_DIR isn'"'"'t set'
}

@test "when no gap is large enough the largest is told" {
	assert_refused 'no slice of 262145 uids.* has 262144; --auto=262144 would work' --auto=262145
	start --auto=256k
	assert_refused 'no slice of 1 uids.* has 0; end one' --auto=1
	grant_uid
	assert_refused 'no entry for alice' --auto
}

@test "what doesn't go with --auto is told" {
	assert_refused "--name 'web' names a slice: it wants --auto" --name web
	assert_refused "--auto and --layout" --auto --layout root
	assert_refused "--auto chooses the base itself" --auto 0:100000:1
	assert_refused "--auto '?1x'?: not a number of IDs" --auto=1x
	run -2 --separate-stderr as alice "$IDMAP" dump --auto --parent "$$"
	assert_regex "$stderr" '--auto and --parent: .* is chosen there'
	local name
	for name in '' . .a -a a/b 'a b' "$(printf 'a%.0s' {1..65})"; do
		assert_refused "--name '.*': a name is up to 64" --auto --name "$name"
	done
	run as alice "$IDMAP" exec --auto --setuid 7 +u:7:1001:1 -u:0:1 -- cat /proc/self/uid_map
	assert_equal "$(tr -s ' \n' ' ' <<<"$output")" ' 1 100001 6 7 1001 1 8 100008 65528 '
}

@test "64 at once under a storm of kills never share an ID, and none is lost" {
	grant_uid alice:100000:4194304
	grant_gid alice:20000000:4194304
	local seed=${IDMAP_SEED:-$RANDOM}
	echo "# IDMAP_SEED=$seed" >&3
	run as alice bash -s "${IDMAP_ROUNDS:-9}" "$seed" \
		<"$BATS_TEST_DIRNAME/slices-storm" 3>&-
	assert_success
	assert_line "${IDMAP_ROUNDS:-9} rounds"
}

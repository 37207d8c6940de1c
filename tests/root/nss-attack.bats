# SPDX-License-Identifier: BSD-2-Clause
# What a caller may try where a directory service grants, and the files would grant something else:
# alice has uid 500000 and gid 700000 of the service, and 100000 and 300000 in files that don't count.
# Whatever she does to the helper, to the child that asks, or to their limits, the files never count.

# bats runs functions by name.
# shellcheck disable=SC2030,SC2031,SC2034,SC2119,SC2153,SC2317
load helper

CALL=$IDMAP_BUILDDIR/tests/root/attack-call

# The plugin lies in the folder of libc, which ld.so knows without its cache.
setup_file() {
	local folder
	[ "$EUID" -eq 0 ] || return 0
	cp /etc/login.defs /etc/nsswitch.conf "$BATS_FILE_TMPDIR"
	folder=$(dirname "$(ldd /bin/sh | grep -o '/.*/libc\.so[^ ]*')")
	folder=$(realpath "$folder")
	install -d /run/plugin
	"${CC:-cc}" -shared -fPIC -o /run/plugin/libsubid_attacked.so \
		"$IDMAP_SRCDIR/tests/root/libsubid_attacked.c"
	mount -t overlay -o "lowerdir=/run/plugin:$folder" overlay "$folder"
	echo 'subid: attacked' >>"$BATS_FILE_TMPDIR/nsswitch.conf"
}

# call PROGRAM OUTER [HABIT...]: alice calls for 10 IDs.
call() {
	run as alice timeout -s KILL 20 "$CALL" "${@:3}" -- "$HELPERS/$1" "$TARGET" 0 "$2" 10
}

# files_do_not_count [HABIT...]: what the service grants is written, what the files do is not.
files_do_not_count() {
	fresh_target
	call newuidmap 100000 "$@"
	assert_refused '^newuidmap: uid range \[0-10\) -> \[100000-100010\) not allowed'
	call newgidmap 300000 "$@"
	assert_refused '^newgidmap: gid range \[0-10\) -> \[300000-300010\) not allowed'
	assert_untouched
	call newuidmap 500000 "$@"
	assert_silent_success
	assert_map uid_map '0 500000 10'
	call newgidmap 700000 "$@"
	assert_silent_success
	assert_map gid_map '0 700000 10'
}

points() {
	points_of() {
		run --separate-stderr timeout 200 \
			"$IDMAP_BUILDDIR/tests/root/attack-points" "$1" "$HELPERS" service
		assert_success
	}
	ours points_of "$1"
}

@test "the service counts, and not the files" {
	ours files_do_not_count
}

@test "neither it nor its child that asks has more than it needs when it says something" {
	points look
}

@test "at no point can its caller trace it or the child, look into them or take from them" {
	points pry
}

@test "out of memory at any point it does not go to the files" {
	points memory
}

@test "out of descriptors at any point it does not go to the files" {
	points descriptors
}

@test "whichever system call fails, of it or of the child, it does not go to the files" {
	points break
}

@test "killed at any point, it or the child, it does not go to the files" {
	points kill
}

@test "signals, timers, descriptors and children that the caller hands down do no harm" {
	habits() {
		local habit
		for habit in ignore block pend fds=500 share-files personality environment=100000 \
			close=0 close=1 children=20 real=60000000; do
			files_do_not_count "$habit"
		done
		files_do_not_count close=0 close=1 ignore children=3
	}
	ours habits
}

# waiting PROGRAM OUTER: alice's helper waits for its child, which waits in the plugin; $HELPER and
# $CHILD are their PIDs; what the helper says goes to /run/tmp/said.
waiting() {
	local tries
	: >/run/tmp/wait
	become alice "$HELPERS/$1" "$TARGET" 0 "$2" 10 >/run/tmp/said 2>&1 3>&- &
	HELPER=$!
	for ((tries = 0; tries < 500; tries++)); do
		CHILD=$(pgrep -P "$HELPER") &&
			grep -q libsubid_attacked "/proc/$CHILD/maps" && return
		sleep 0.01
	done
	fail 'no child asks'
}

# ended: the helper has come to its end; sets $status and $output.
ended() {
	status=0
	wait "$HELPER" || status=$?
	output=$(</run/tmp/said)
	rm -f /run/tmp/wait
}

@test "a child that is killed is a refusal, whatever the signal" {
	killed() {
		local signal
		fresh_target
		for signal in KILL TERM INT ALRM SEGV ABRT USR1 XCPU 34; do
			waiting newuidmap 500000
			as alice kill -s "$signal" "$CHILD"
			ended
			assert_refused '^newuidmap: libsubid_attacked\.so crashed or was killed$'
		done
		waiting newgidmap 300000
		as alice kill -s KILL "$CHILD"
		ended
		assert_refused '^newgidmap: libsubid_attacked\.so crashed or was killed$'
		assert_untouched
		UNTOUCHED_OF=alice
	}
	ours killed
}

@test "a child that is stopped is a refusal in the end, and one that goes on is not" {
	stopped() {
		local first second
		fresh_target
		waiting newuidmap 500000
		as alice kill -s STOP "$HELPER" "$CHILD"
		rm /run/tmp/wait
		sleep 0.1
		as alice kill -s CONT "$CHILD" "$HELPER"
		ended
		assert_equal "$status $output" '0 '
		assert_map uid_map '0 500000 10'
		spawn_userns alice
		waiting newuidmap 500000
		as alice kill -s STOP "$CHILD"
		rm /run/tmp/wait
		ended
		assert_refused '^newuidmap: libsubid_attacked\.so gave no answer within 10 seconds$'
		assert_untouched
		refute [ -e "/proc/$CHILD" ]
	}
	ours stopped
}

@test "no child is left of a helper that is killed" {
	left() {
		local signal tries
		fresh_target
		for signal in KILL TERM ALRM; do
			waiting newuidmap 500000
			as alice kill -s "$signal" "$HELPER"
			ended
			for ((tries = 0; tries < 500; tries++)); do
				[ -e "/proc/$CHILD" ] || break
				sleep 0.01
			done
			refute [ -e "/proc/$CHILD" ]
		done
		assert_untouched
		UNTOUCHED_OF=alice
	}
	ours left
}

@test "limits of the caller's do not lead to the files, be they set before or meanwhile" {
	local limit
	limits() {
		cd /run/tmp || return
		for limit in --nofile={3..9} --nofile=64 --fsize=0 --cpu=0 --nproc=0 --memlock=0 \
			--sigpending=0 --as={4,6,8,10,16}000000 --data={0,65536,1048576,1500000} \
			--stack={0,16384,65536}; do
			fresh_target
			as alice prlimit --core=unlimited "$limit" \
				"$HELPERS/newuidmap" "$TARGET" 0 100000 10 >/run/tmp/said 2>&1 &&
				fail "$limit: granted"
			assert_untouched
			UNTOUCHED_OF=alice
		done
		for limit in --nofile=0 --as=1 --data=1 --nproc=0 --fsize=0 --stack=1; do
			fresh_target
			waiting newuidmap 100000
			as alice prlimit "$limit" --pid "$CHILD"
			as alice prlimit "$limit" --pid "$HELPER"
			rm /run/tmp/wait
			ended
			[ "$status" -ne 0 ]
			assert_untouched
			UNTOUCHED_OF=alice
		done
		assert_equal "$(find /run/tmp -maxdepth 1 -name 'core*')" ''
	}
	ours limits
}

@test "limits that change while the plugin is looked for do not lead to the files" {
	race_of() {
		run --separate-stderr "$IDMAP_BUILDDIR/tests/root/attack-race" \
			limits "$HELPERS" "${IDMAP_TRIES:-500}"
		echo "# ${HELPERS##*/}: ${lines[-1]}" >&3
		assert_success
		assert_line --regexp '^limits: [0-9]+ tries.*, 0 faults'
	}
	ours race_of
}

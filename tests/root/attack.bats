# SPDX-License-Identifier: BSD-2-Clause
# What an ordinary user may try against the installed helpers. Nothing may be granted, nothing hang,
# no core be left. Holes of other programs are in helper-history.bats.

# bats runs functions by name, and inner shells expand what stands in single quotes.
# shellcheck disable=SC2016,SC2030,SC2031,SC2034,SC2119,SC2153,SC2317
load helper

# points WHAT: attack a helper at each of its system calls (attack-points.c).
points() {
	points_of() {
		cd /run/tmp || return
		run --separate-stderr timeout 100 \
			"$IDMAP_BUILDDIR/tests/root/attack-points" "$1" "$HELPERS"
		assert_success
	}
	ours points_of "$1"
}

@test "it has a caller's IDs and no capability whenever it says something" {
	points look
}

@test "at no point can its caller trace it, look into it or take a descriptor" {
	points pry
}

@test "out of memory at any point it drops its privilege before it says so" {
	points memory
}

@test "out of descriptors at any point it drops its privilege before it says so" {
	points descriptors
}

@test "whichever system call fails, no map is written that must not be" {
	points break
}

@test "whichever signal comes at any point, it leaves a whole map or none, and no core" {
	points kill
}

@test "a PID used anew at any point by a process of another group gets no map" {
	points reuse
}

@test "a pidfd whose PID is used anew at any point leads to no other process" {
	points pidfd
}

@test "a target that unshares at any point has setgroups denied with a map of the own gid" {
	points unshare
}

# mounted_over SOURCE FILE: a mount namespace of alice's own has SOURCE over FILE of the target;
# $OVER is the target's directory there.
mounted_over() {
	local target=$TARGET
	spawn become alice unshare -Urm sh -c 'mount --bind "$0" "$1" && exec sleep infinity' \
		"$1" "/proc/$target/$2"
	OVER=/proc/$TARGET/root/proc/$target
	TARGET=$target
}

# call_over PROGRAM ARG...: alice calls for that directory.
call_over() {
	run as alice timeout 10 sh -c 'exec "$@" 8<"$0"' "$OVER" \
		"$HELPERS/$1" fd:8 "${@:2}"
}

@test "CVE-2018-7169: a file mounted over setgroups does not pass for a deny" {
	grant_gid
	echo deny >/run/home/alice/deny
	over() {
		spawn_userns alice
		as alice "$HELPERS/newuidmap" "$TARGET" 0 1001 1
		mounted_over /run/home/alice/deny setgroups
		call_over newgidmap 0 1001 1
		run ! as alice nsenter -U -t "$TARGET" --preserve-credentials \
			/usr/bin/python3 -c 'import os; os.setgroups([])'
		assert_output --partial PermissionError
		[ "$(<"/proc/$TARGET/setgroups")" = deny ] || assert_map gid_map ''
	}
	ours over
}

@test "CVE-2018-7169: setgroups of another namespace does not pass for the target's" {
	grant_gid
	over() {
		spawn_userns alice
		local denied=$TARGET
		as alice sh -c "echo deny >/proc/$denied/setgroups"
		spawn_userns alice
		mounted_over "/proc/$denied/setgroups" setgroups
		call_over newgidmap 0 1001 1
		[ "$(<"/proc/$TARGET/setgroups")" = deny ] || assert_map gid_map ''
	}
	ours over
}

@test "CVE-2018-7169: gid_map of another namespace does not pass for the target's" {
	grant_gid
	over() {
		spawn_userns alice
		local other=$TARGET
		spawn_userns alice
		mounted_over "/proc/$other/gid_map" gid_map
		call_over newgidmap 0 1001 1
		TARGET=$other
		assert_map gid_map ''
	}
	ours over
}

@test "a process of another group is not reached through a mount over uid_map" {
	over() {
		spawn setpriv --reuid 1001 --regid 1002 --clear-groups --inh-caps=-all -- \
			unshare -U sleep infinity
		local other=$TARGET
		spawn_userns alice
		mounted_over "/proc/$other/uid_map" uid_map
		call_over newuidmap 0 100000 10
		TARGET=$other
		assert_map uid_map ''
	}
	ours over
}

@test "a file, a FIFO or a device mounted over a map is neither written nor waited for" {
	local source
	echo precious >/run/home/alice/precious
	as alice mkfifo /run/home/alice/fifo
	chown alice: /run/home/alice/precious
	over() {
		for source in /run/home/alice/precious /run/home/alice/fifo /dev/null; do
			fresh_target
			mounted_over "$source" uid_map
			call_over newuidmap 0 100000 10
			assert_refused 'uid_map'
			assert_map uid_map ''
		done
		assert_equal "$(</run/home/alice/precious)" precious
	}
	ours over
}

@test "fd:N on a thread's directory is that thread's process" {
	thread() {
		spawn_userns alice
		run as alice "$HELPERS/newuidmap" fd:8 0 100000 10 8<"/proc/$TARGET/task/$TARGET"
		assert_silent_success
		assert_map uid_map '0 100000 10'
	}
	ours thread
}

@test "fd:N on any directory but a process's own is refused" {
	local folder
	elsewhere() {
		spawn_userns alice
		for folder in /proc "/proc/$TARGET"/{task,fd,ns,net,attr} /proc/sys /proc/sys/kernel \
			/proc/net /proc/tty /sys / /dev /run/home/alice; do
			run as alice sh -c 'exec "$@" 8<"$0"' "$folder" \
				"$HELPERS/newuidmap" fd:8 0 100000 10
			assert_refused ''
			run as alice sh -c 'exec "$@" 8<"$0"' "$folder" \
				"$HELPERS/newgidmap" fd:8 0 1001 1
			assert_refused ''
		done
		assert_untouched
	}
	ours elsewhere
}

@test "a procfs of the caller's own PID namespace shows the same owners" {
	own_procfs() {
		local unshare child tries
		spawn become alice sh -c '
			unshare -Urpmf --kill-child --mount-proc sleep infinity & exec sleep infinity'
		for ((tries = 0; tries < 100; tries++)); do
			sleep 0.02
			unshare=$(pgrep -P "$TARGET") && child=$(pgrep -P "$unshare" -x sleep) && break
		done
		TARGETS+=("$unshare")
		run as alice sh -c 'exec "$@" 8<"$0"' "/proc/$child/root/proc/1" \
			"$HELPERS/newuidmap" fd:8 0 100000 10
		assert_refused 'uid_map'
		assert_equal "$(awk '{ print $1, $2, $3 }' "/proc/$child/uid_map")" '0 1001 1'
	}
	ours own_procfs
}

# in_namespace UID CMD...: run CMD as UID of a user namespace of alice, where 0 is 1001 and
# 1..65535 are 100001..165535, with a target beside it.
in_namespace() {
	spawn_userns alice
	local namespace=$TARGET
	as alice "$HELPERS/newuidmap" "$namespace" 0 1001 1 1 100001 65535
	as alice "$HELPERS/newgidmap" "$namespace" 0 1001 1 1 300001 65535
	spawn become alice nsenter -U -t "$namespace" setpriv --reuid "$1" --regid "$1" \
		--clear-groups unshare -U sleep infinity
	run as alice nsenter -U -t "$namespace" setpriv --reuid "$1" --regid "$1" --clear-groups \
		"${@:2}" "$TARGET" "${ARGUMENTS[@]}"
}

@test "called inside a user namespace it reaches no ID that the namespace lacks" {
	grant_uid root:0:4294967294 alice:0:4294967294 alice:100000:65536
	grant_gid root:0:4294967294 alice:0:4294967294 alice:300000:65536
	ARGUMENTS=(0 200000 10)
	inside() {
		local uid
		for uid in 0 1001; do
			in_namespace "$uid" "$HELPERS/newuidmap"
			assert_refused 'uid_map'
			assert_map uid_map ''
			in_namespace "$uid" "$HELPERS/newgidmap"
			assert_refused 'gid_map'
			assert_map gid_map ''
		done
	}
	ours inside
}

@test "variables of the loader, of libc and of its allocator are void" {
	local library=/run/tmp/evil.so
	install -m 4755 "$(ldd "$IDMAP_BUILDDIR/idmap" | awk '/libsmartcols/ { print $3 }')" "$library"
	variables() {
		spawn_userns alice
		run as alice env LD_PRELOAD="$library" LD_AUDIT="$library" LD_DEBUG=all \
			LD_DEBUG_OUTPUT=/run/tmp/debug LD_SHOW_AUXV=1 \
			LD_LIBRARY_PATH=/run/tmp GCONV_PATH=/run/tmp LOCPATH=/run/tmp LC_ALL=xx_XX.UTF-8 \
			LANGUAGE=xx NLSPATH=/run/tmp/%N TZ=/run/tmp/tz TZDIR=/run/tmp PATH=/run/tmp \
			MALLOC_CHECK_=3 MALLOC_PERTURB_=7 MALLOC_TRACE=/run/tmp/trace \
			GLIBC_TUNABLES=glibc.malloc.check=3:glibc.malloc.mxfast=glibc.malloc.mxfast=A \
			RES_OPTIONS=debug HOSTALIASES=/run/tmp/hosts \
			"$HELPERS/newuidmap" "$TARGET" 0 100000 10
		assert_silent_success
		assert_map uid_map '0 100000 10'
		refute [ -e /run/tmp/trace ]
		assert_equal "$(find /run/tmp -name 'debug*')" ''
	}
	ours variables
}

# limited LIMIT PROGRAM ARG...: alice runs PROGRAM under a limit of prlimit(1); sets $status and
# $output. It says one thing, or its loader does, or the limit ends it.
limited() {
	status=0
	as alice timeout 20 prlimit --core=unlimited "$1" \
		"$HELPERS/$2" "$TARGET" "${@:3}" >/run/tmp/said 2>&1 || status=$?
	# In a build for coverage gcov complains of a limit on top.
	output=$(grep -v '^profiling:' /run/tmp/said) || true
	[ "$status" -ne 124 ] || fail "$1: hangs"
	! sanitizer_spoke || return 0
	[[ $status != 1 || $output =~ $ONE_REASON ]] || fail "$1: $output"
	[[ $status != 127 || $output != *$'\n'* ]] || fail "$1: $output"
	[[ $status != 0 || -z $output ]] || fail "$1: $output"
}

# under LIMIT: a map that is not granted, the own gid, and one that is granted.
under() {
	limited "$1" newuidmap 0 200000 10
	[ "$status" -ne 0 ] || fail "$1: succeeds"
	assert_untouched
	limited "$1" newgidmap 0 1001 1
	if [ -n "$(<"/proc/$TARGET/gid_map")" ]; then
		assert_map gid_map '0 1001 1'
		assert_setgroups deny
	elif [ "$status" -eq 0 ]; then
		fail "$1: succeeds, and no map is written"
	fi
	limited "$1" newuidmap 0 100000 10
	# A sanitizer may fail once the map is written.
	if [ "$status" -eq 0 ] ||
		{ sanitizer_spoke && [ -n "$(<"/proc/$TARGET/uid_map")" ]; }; then
		assert_map uid_map '0 100000 10'
	else
		assert_map uid_map ''
	fi
	[ -z "$(cat "/proc/$TARGET"/?id_map)" ] || spawn_userns alice
}

@test "limits of the caller at zero or tiny grant nothing, hang nothing and leave no core" {
	local limit
	limits() {
		cd /run/tmp || return
		spawn_userns alice
		for limit in --nofile={0..7} --fsize=0 --cpu={0,1} --nproc=0 --memlock=0 \
			--sigpending=0 --as={0,1,2,4,5,6,8}000000 --data={0,65536,262144,2000000} \
			--stack={0,16384,65536} --rss=0 --locks=0 --msgqueue=0 --nice=0 --rtprio=0; do
			under "$limit"
		done
		assert_equal "$(find /run/tmp -maxdepth 1 -name 'core*')" ''
	}
	ours limits
}

@test "a run that uses up its processor time leaves no map and no core" {
	local triples
	grant_uid alice:200000:400000
	ulimit -Ss unlimited
	mapfile -t triples < <(seq 0 99999 | awk '{ print 4 * $1 "\n" 200000 + 4 * $1 "\n1" }')
	time_is_up() {
		local usec
		cd /run/tmp || return
		fresh_target
		for usec in 1000 5000 10000 20000; do
			run as alice prlimit --core=unlimited "$IDMAP_BUILDDIR/tests/root/attack-call" \
				"profile=$usec" -- "$HELPERS/newuidmap" "$TARGET" "${triples[@]}"
			[[ $status = @(1|155) ]] || fail "status $status: $output"
			assert_untouched
		done
		assert_equal "$(find /run/tmp -maxdepth 1 -name 'core*')" ''
		UNTOUCHED_OF=alice
	}
	ours time_is_up
}

@test "a hundred thousand triples are read, merged and written, or counted and refused" {
	local limit triples
	grant_uid alice:200000:200000
	ulimit -Ss unlimited
	many() {
		mapfile -t triples < <(seq 0 99999 | awk '{ print $1 "\n" 200000 + $1 "\n1" }')
		writes newuidmap '0 200000 100000' "${triples[@]}"
		mapfile -t triples < <(seq 0 99999 | awk '{ print 2 * $1 "\n" 200000 + $1 "\n1" }')
		refuses newuidmap '100000 extents: a map holds at most 340' "${triples[@]}"
	}
	ours many
}

@test "a number of 131071 digits is refused in one short line" {
	local number
	number=$(head -c 131071 /dev/zero | tr '\0' 7)
	long() {
		fresh_target
		run as alice "$HELPERS/newuidmap" "$TARGET" "$number" 100000 1
		assert_refused '^newuidmap: inner "7{40}" is over 4294967295: give a .*$'
		[ "${#output}" -lt 200 ]
		assert_untouched
		run as alice "$HELPERS/newuidmap" "$number" 0 100000 1
		assert_refused '^newuidmap: target "7{40}" is neither a process ID nor fd:N$'
	}
	ours long
}

@test "control bytes in arguments reach neither the terminal nor a line of their own" {
	local bytes=$'1\e]0;x\a\r\nnewuidmap: ok\x9b31m\x7f\xff'
	clean() {
		refuses newuidmap 'digits only' "$bytes" 100000 1
		refute_output --regexp '[^ -~]'
		run as alice "$HELPERS/newuidmap" "$bytes" 0 100000 1
		assert_refused 'is neither a process ID nor fd:N'
		refute_output --regexp '[^ -~]'
	}
	ours clean
}

LOGGED= # set while with_syslog() has its own /dev

teardown() {
	[ -z "$LOGGED" ] || umount --lazy /dev
	kill_targets
}

# with_syslog CMD...: run CMD while datagrams to /dev/log go to /run/tmp/log.
with_syslog() {
	LOGGED=yes
	mkdir -p /run/dev
	mount -t tmpfs tmpfs /run/dev
	cp -a /dev/null /dev/fd /run/dev
	mount --move /run/dev /dev
	/usr/bin/python3 -c '
import os, socket
log = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
log.bind("/dev/log")
os.chmod("/dev/log", 0o666)
while True:
    line = log.recv(65536)
    with open("/run/tmp/log", "ab", 0) as out:
        out.write(repr(line).encode() + b"\n")' 3>&- &
	TARGETS+=("$!")
	until [ -S /dev/log ]; do sleep 0.02; done
	"$@"
}

# unread CMD...: run CMD with a stderr that is full and that nobody reads; it is killed after it has
# had the time to end.
unread() {
	/usr/bin/python3 -c '
import os, subprocess, sys
r, w = os.pipe()
os.set_blocking(w, False)
try:
    while True: os.write(w, bytes(65536))
except BlockingIOError:
    os.set_blocking(w, True)
try:
    subprocess.run(sys.argv[1:], stderr=w, timeout=0.5)
except subprocess.TimeoutExpired:
    pass' "$@"
}

@test "a refusal is in syslog also if nobody reads stderr and the helper is killed" {
	unheard() {
		: >/run/tmp/log
		fresh_target
		as alice "$BASH" -c "$(declare -f unread); unread \"\$@\"" bash \
			"$HELPERS/newuidmap" "$TARGET" 0 200000 10
		run cat /run/tmp/log
		assert_output --regexp 'user alice \(1001\).*not allowed'
	}
	with_syslog ours unheard
}

@test "control bytes in arguments make no line of their own in syslog" {
	injected() {
		: >/run/tmp/log
		run as alice "$HELPERS/newuidmap" $'1\n<85>evil\e[31m' 0 100000 10
		assert_failure 1
		sleep 0.1
		run cat /run/tmp/log
		assert_output --partial 'target 1?<85>evil?[31m, 1 extents'
		refute_output --partial '\n<85>'
		refute_output --partial '\x1b'
	}
	with_syslog ours injected
}

@test "under a tracer it has no privilege and maps the own ID alone" {
	traced() {
		refuses_traced newuidmap 0 100000 10
		refuses_traced newgidmap 0 300000 10
	}
	refuses_traced() {
		fresh_target
		run as alice strace -f -o /dev/null "$HELPERS/$1" "$TARGET" "${@:2}"
		assert_refused '_map failed: Operation not permitted'
		assert_line --regexp 'cause: its privilege is void: a tracer, securebits or CLONE_FS$'
		assert_untouched
	}
	ours traced
}

@test "while it runs the caller can neither trace it nor take its descriptors" {
	attached() {
		fresh_target
		mkfifo -m 666 /run/tmp/unread
		exec 7<>/run/tmp/unread
		head -c 65536 /dev/zero >&7
		# Not right after setpriv, which has all capabilities until then: what has less than
		# its caller may be traced.
		become alice env "$HELPERS/newuidmap" "$TARGET" 0 200000 10 \
			2>/run/tmp/unread 3>&- 7<&- &
		local helper=$!
		TARGETS+=("$helper")
		until [ "$(<"/proc/$helper/wchan")" = anon_pipe_write ]; do
			sleep 0.02
		done
		run as alice timeout 5 strace -o /dev/null -p "$helper"
		assert_output --partial 'Operation not permitted'
		run as alice ls -l "/proc/$helper/fd"
		assert_output --partial 'Permission denied'
		run as alice cat "/proc/$helper/mem" "/proc/$helper/maps"
		assert_output --partial 'Permission denied'
		kill -KILL "$helper"
		exec 7>&-
		rm /run/tmp/unread
		assert_untouched
	}
	ours attached
}

@test "groups got by sg or a setgid program are not the own gid" {
	install -m 2755 -g 2004 /usr/bin/env /run/tmp/setgid-env
	grant_gid
	CALLER=carol
	groups() {
		fresh_target
		run as carol sg extra -c "exec $HELPERS/newgidmap $TARGET 0 2004 1"
		assert_refused 'owned by a different user'
		run as carol sg extra -c "exec $HELPERS/newgidmap $TARGET 0 2003 1"
		assert_refused 'owned by a different user'
		run as carol /run/tmp/setgid-env "$HELPERS/newgidmap" "$TARGET" 0 2004 1
		assert_refused 'not allowed'
		assert_untouched
		UNTOUCHED_OF=carol
		refuses newgidmap 'not allowed' 0 2004 1
		refuses newgidmap 'not allowed' 0 2003 1 1 2004 1
		spawn become carol /run/tmp/setgid-env unshare -U sleep infinity
		run as carol "$HELPERS/newgidmap" "$TARGET" 0 2003 1
		assert_refused '(another group|different user)'
		assert_untouched
		UNTOUCHED_OF=
	}
	ours groups
}

@test "GRANT_AUX_GROUP_SUBIDS is yes only where it is exactly that" {
	local line
	in_group() {
		spawn setpriv --reuid 1001 --regid 1002 --clear-groups -- unshare -U sleep infinity
		run setpriv --reuid 1001 --regid 1002 --clear-groups --inh-caps=-all -- \
			"$HELPERS/newuidmap" "$TARGET" 0 100000 10
		assert_refused 'owned by a different user'
		assert_untouched
	}
	for line in 'yes # note' 'yes no' 'yes "' 'yesno' 1 true \
		$'yes\nGRANT_AUX_GROUP_SUBIDS ""'; do
		printf 'GRANT_AUX_GROUP_SUBIDS %s\n' "$line" >/etc/login.defs
		every in_group
	done
	printf 'GRANT_AUX_GROUP_SUBIDS %229s\n' yesno >/etc/login.defs
	every in_group
}

@test "a FIFO, a device or a socket in place of subuid is neither granted by nor waited for" {
	instead() {
		refuses newuidmap '/etc/subuid: (not a regular file|No such device or address)' \
			0 100000 10
	}
	rm /etc/subuid
	mkfifo -m 644 /etc/subuid
	ours instead
	rm /etc/subuid
	mknod -m 644 /etc/subuid c 1 5
	ours instead
	rm /etc/subuid
	/usr/bin/python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind("/etc/subuid")'
	ours instead
}

@test "a FIFO in place of subgid, nsswitch.conf or login.defs grants nothing and is not waited for" {
	local file gid reason
	fifo() {
		# Not by setpriv, which reads nsswitch.conf and waits itself.
		run timeout -s KILL 20 /usr/bin/python3 -c '
import os, sys
gid = int(sys.argv[1])
os.setgroups([])
os.setresgid(gid, gid, gid)
os.setresuid(1001, 1001, 1001)
os.execv(sys.argv[2], sys.argv[2:])' "$gid" "$HELPERS/newgidmap" "$TARGET" 0 300000 10
		assert_refused "$reason"
		assert_untouched
	}
	for file in /etc/subgid /etc/nsswitch.conf /etc/login.defs; do
		gid=1001 reason="^newgidmap: $file: not a regular file$"
		[ "$file" != /etc/login.defs ] || gid=1002 reason='owned by a different user'
		spawn setpriv --reuid +1001 --regid "+$gid" --clear-groups -- unshare -U sleep infinity
		mv "$file" /run/tmp/kept
		mkfifo -m 644 "$file"
		ours fifo
		mv /run/tmp/kept "$file"
	done
}

@test "an own gid is denied setgroups after newuidmap too, and a second map changes nothing" {
	grant_gid alice:300000:10
	order() {
		spawn_userns alice
		as alice "$HELPERS/newuidmap" "$TARGET" 0 1001 1
		run as alice "$HELPERS/newgidmap" "$TARGET" 0 1001 1
		assert_silent_success
		assert_setgroups deny
		UNTOUCHED_OF=
		refuses newgidmap 'not allowed' 0 1001 1 1 300000 11
		refuses newgidmap 'not allowed' 0 300000 1 1 1001 2
		as alice "$HELPERS/newgidmap" "$TARGET" 0 300000 10
		run as alice "$HELPERS/newgidmap" "$TARGET" 0 1001 1
		assert_refused 'setgroups|gid_map'
		assert_map gid_map '0 300000 10'
	}
	ours order
}

# SPDX-License-Identifier: BSD-2-Clause
# What a caller hands down to the installed helpers with exec: signals, timers, descriptors, limits,
# capabilities, namespaces. Nothing may be granted, nothing hang, no core be left.

# bats runs functions by name, and inner shells expand what stands in single quotes.
# shellcheck disable=SC2016,SC2030,SC2031,SC2034,SC2119,SC2153,SC2317
load helper

CALL=$IDMAP_BUILDDIR/tests/root/attack-call

# with HABIT... PROGRAM ARG...: alice calls PROGRAM for $TARGET with these habits (attack-call.c).
with() {
	local habits=()
	while [[ $1 != new?idmap ]]; do
		habits+=("$1")
		shift
	done
	run as alice timeout -s KILL 20 "$CALL" "${habits[@]}" -- "$HELPERS/$1" "$TARGET" "${@:2}"
}

# no_harm HABIT...: what is granted is written in silence and what is not is refused in one line.
no_harm() {
	fresh_target
	with "$@" newuidmap 0 100000 10
	assert_silent_success
	assert_map uid_map '0 100000 10'
	with "$@" newgidmap 0 300000 10
	assert_silent_success
	assert_map gid_map '0 300000 10'
	spawn_userns alice
	with "$@" newuidmap 0 200000 10
	assert_refused '^newuidmap: uid range \[0-10\) -> \[200000-200010\) not allowed'
	with "$@" newgidmap 0 200000 10
	assert_refused '^newgidmap: gid range \[0-10\) -> \[200000-200010\) not allowed'
	assert_untouched
	UNTOUCHED_OF=alice
}

# void HABIT...: with these the privilege does not count: the own ID alone is mapped.
void() {
	spawn_userns alice
	with "$@" newuidmap 0 100000 10
	assert_refused '^newuidmap: write to uid_map failed: Operation not permitted'
	assert_line --regexp "^newuidmap: cause: $CAUSE"
	with "$@" newgidmap 0 300000 10
	assert_refused '^newgidmap: write to gid_map failed: Operation not permitted'
	assert_untouched
	with "$@" newgidmap 0 1001 1
	assert_silent_success
	assert_map gid_map '0 1001 1'
	assert_setgroups deny
}

@test "signals that are ignored, blocked or waiting to be delivered do no harm" {
	ours no_harm ignore
	ours no_harm block
	ours no_harm pend
}

@test "an odd personality, a huge environment and hundreds of descriptors do no harm" {
	ours no_harm personality
	ours no_harm environment=1000000
	ours no_harm fds=500
}

@test "started by execveat from a descriptor, or sharing its descriptors, it does the same" {
	ours no_harm execveat
	ours no_harm share-files
	ours no_harm share-files execveat block personality
}

@test "sharing its folder with another process it has no privilege, and says that this is why" {
	CAUSE='its privilege is void: a tracer, securebits or CLONE_FS$' ours void share-fs
}

@test "of descriptors 0 to 2 any may be closed" {
	ours no_harm close=0
	ours no_harm close=1
	ours no_harm close=0 close=1
	closed() {
		fresh_target
		with close=2 "$@" newuidmap 0 100000 10
		assert_silent_success
		assert_map uid_map '0 100000 10'
		spawn_userns alice
		with close=2 "$@" newgidmap 0 200000 10
		assert_failure 1
		assert_output ''
		assert_untouched
		UNTOUCHED_OF=alice
	}
	ours closed
	ours closed close=0
	ours closed close=1
	ours closed close=0 close=1
}

@test "what fd:0 to fd:2 name counts, and nothing that was opened in the place of a closed one" {
	named() {
		local n
		for n in 0 1 2; do
			spawn_userns alice
			run as alice "$CALL" "close=$n" -- "$HELPERS/newuidmap" "fd:$n" 0 100000 10
			assert_failure 1
			assert_untouched
			run as alice sh -c 'eval "exec \"\$@\" $0<\"/proc/'"$TARGET"'\""' "$n" \
				"$HELPERS/newuidmap" "fd:$n" 0 100000 10
			assert_success
			assert_map uid_map '0 100000 10'
		done
	}
	ours named
}

@test "a reason that can't be said changes nothing" {
	unheard() {
		local end
		for end in broken=2 socket=2; do
			fresh_target
			run as alice timeout 1 "$CALL" "$end" -- "$HELPERS/newuidmap" "$TARGET" 0 200000 10
			assert_failure
			assert_output ''
			assert_untouched
			UNTOUCHED_OF=alice
			fresh_target
			with "$end" newuidmap 0 100000 10
			assert_silent_success
			assert_map uid_map '0 100000 10'
		done
		fresh_target
		with broken=2 ignore newuidmap 0 200000 10
		assert_failure 1
		run as alice sh -c 'exec "$@" >/dev/full 2>&1' sh \
			"$HELPERS/newuidmap" "$TARGET" 0 200000 10
		assert_failure 1
		assert_untouched
		UNTOUCHED_OF=alice
	}
	ours unheard
}

@test "on a terminal it says what it says elsewhere" {
	terminal() {
		fresh_target
		run as alice timeout 20 setsid "$CALL" terminal=2 -- \
			"$HELPERS/newuidmap" "$TARGET" 0 200000 10
		output=${output//$'\r'}
		assert_refused 'not allowed'
		assert_untouched
		UNTOUCHED_OF=alice
	}
	ours terminal
}

@test "a map, setgroups or a setting of the kernel as stderr is not written by what it says" {
	said_to() {
		local file
		for file in uid_map gid_map setgroups; do
			fresh_target
			run as alice sh -c 'exec "$@" 2>"$0"' "/proc/$TARGET/$file" \
				"$HELPERS/newuidmap" "$TARGET" 0 200000 10
			assert_failure 1
			run as alice sh -c 'exec "$@" 2>"$0"' "/proc/$TARGET/$file" \
				bash -c 'exec -a "0 0 1" "$@"' bash "$HELPERS/newgidmap"
			assert_failure 1
			assert_untouched
			UNTOUCHED_OF=alice
		done
	}
	ours said_to
}

@test "what the loader says before main() has no privilege but the one capability" {
	local before
	loader() {
		run -127 as alice /usr/bin/python3 -c '
import os, resource, sys
os.dup2(os.open(sys.argv[2], os.O_WRONLY), 2)
resource.setrlimit(resource.RLIMIT_NOFILE, (3, 3))
os.execv(sys.argv[1], sys.argv[3:])' "$@"
	}
	spawn_userns alice
	HELPERS=$HELPERS_FILECAPS
	loader "$HELPERS/newuidmap" "/proc/$TARGET/uid_map" '0 100000 10'
	loader "$HELPERS/newuidmap" "/proc/$TARGET/uid_map" '0 0 1'
	loader "$HELPERS/newgidmap" "/proc/$TARGET/gid_map" '0 300000 10'
	assert_untouched
	loader "$HELPERS/newuidmap" /proc/sys/kernel/ns_last_pid '4000000 '
	[ "$(</proc/sys/kernel/ns_last_pid)" -lt 3000000 ]
	HELPERS=$HELPERS_SETUID
	loader "$HELPERS/newuidmap" "/proc/$TARGET/uid_map" '0 100000 10'
	loader "$HELPERS/newgidmap" "/proc/$TARGET/gid_map" '0 300000 10'
	assert_untouched
}

@test "run by the loader it has no privilege, and gives no advice to privilege the loader" {
	loaded() {
		spawn_userns alice
		run as alice "$(ldd "$HELPERS/newuidmap" | grep -o '/.*/ld-[^ ]*')" \
			"$HELPERS/newuidmap" "$TARGET" 0 100000 10
		assert_refused 'write to uid_map failed: Operation not permitted'
		assert_line --regexp '^newuidmap: fix: .*setcap cap_setuid=ep PATH-OF-THIS-PROGRAM$'
		assert_untouched
	}
	ours loaded
}

# timed TIMER: it goes off at many moments of a run; a whole map or none is left.
timed() {
	local usec map
	cd /run/tmp || return
	for usec in 1 100 200 300 400 500 600 700 800 900 1000 1200 1400 1600 1800 2000 3000; do
		fresh_target
		as alice prlimit --core=unlimited "$CALL" "$1=$usec" -- \
			"$HELPERS/newuidmap" "$TARGET" 0 100000 10 2>/dev/null && status=0 || status=$?
		[[ $status = @(0|142|154|155) ]] || fail "$1=$usec: status $status"
		if [ -n "$(<"/proc/$TARGET/uid_map")" ]; then
			assert_map uid_map '0 100000 10'
		else
			[ "$status" -ne 0 ]
			UNTOUCHED_OF=alice
		fi
	done
	assert_equal "$(find /run/tmp -maxdepth 1 -name 'core*')" ''
}

@test "a timer that the caller has set kills it or does not, and a whole map or none is left" {
	ours timed real
	ours timed virtual
	ours timed profile
}

# privileged OPTION...: alice calls with more than she has by herself, by setpriv(1).
privileged() {
	local options=("$@")
	call() {
		run setpriv --reuid 1001 --regid 1001 "${options[@]}" -- "$HELPERS/$1" "$TARGET" "${@:2}"
	}
	spawn_userns alice
	call newuidmap 0 200000 10
	assert_refused 'not allowed'
	call newgidmap 0 300000 1 1 2004 1
	assert_refused 'not allowed'
	call newgidmap 0 0 1
	assert_refused 'not allowed'
	assert_untouched
	call newgidmap 0 1001 1
	assert_silent_success
	assert_setgroups deny
}

@test "capabilities of the caller's, in effect, ambient or inheritable, grant nothing" {
	local all=+chown,+dac_override,+setuid,+setgid,+setfcap,+sys_admin,+sys_ptrace
	ours privileged --clear-groups --inh-caps=$all
	ours privileged --clear-groups --inh-caps=$all --ambient-caps=$all
	ours privileged --clear-groups --inh-caps=+setuid,+setgid --ambient-caps=+setuid,+setgid
}

@test "groups of the caller's, be it root's or a thousand, grant nothing" {
	ours privileged --groups "$(seq -s, 0 1000)" --inh-caps=-all
	ours privileged --groups 0,2004 --inh-caps=-all
}

@test "whatever securebits the caller has, what is not granted is refused" {
	local bits
	bits() {
		spawn_userns alice
		run setpriv --reuid 1001 --regid 1001 --clear-groups --inh-caps=-all --securebits "$1" \
			-- "$HELPERS/newuidmap" "$TARGET" 0 200000 10
		[[ $1 = *keep_caps* ]] || assert_refused 'not allowed'
		assert_failure 1
		run setpriv --reuid 1001 --regid 1001 --clear-groups --inh-caps=-all --securebits "$1" \
			-- "$HELPERS/newgidmap" "$TARGET" 0 1002 1
		assert_refused ''
		assert_untouched
		run setpriv --reuid 1001 --regid 1001 --clear-groups --inh-caps=-all --securebits "$1" \
			-- "$HELPERS/newgidmap" "$TARGET" 0 1001 1
		[ "$status" -ne 0 ] || assert_setgroups deny
	}
	for bits in +noroot +noroot,+noroot_locked +no_setuid_fixup,+no_setuid_fixup_locked \
		+keep_caps_locked +noroot,+no_setuid_fixup,+keep_caps_locked; do
		ours bits "$bits"
	done
}

# blocked CMD...: CMD, which execs a helper that refuses, stands still in the helper's write to a full
# stderr; $BLOCKED is its PID.
blocked() {
	mkfifo -m 666 /run/tmp/unread
	exec 7<>/run/tmp/unread
	head -c 65536 /dev/zero >&7
	become alice "$@" 2>/run/tmp/unread 3>&- 7<&- &
	BLOCKED=$!
	TARGETS+=("$BLOCKED")
	until [ "$(<"/proc/$BLOCKED/wchan")" = anon_pipe_write ]; do
		sleep 0.02
	done
}

unblock() {
	kill -KILL "$BLOCKED"
	exec 7>&-
	rm /run/tmp/unread
}

@test "flags that make memory executable or addresses known do not reach it" {
	flags() {
		fresh_target
		blocked "$CALL" personality -- "$HELPERS/newuidmap" "$TARGET" 0 200000 10
		assert_equal "$(<"/proc/$BLOCKED/personality")" 04000000 # STICKY_TIMEOUTS alone
		run grep -E ' rwx|^0000' "/proc/$BLOCKED/maps"
		assert_output ''
		unblock
	}
	ours flags
}

@test "while it speaks nothing of it is the caller's to read, write, trace or take" {
	taken() {
		fresh_target
		blocked env "$HELPERS/newuidmap" "$TARGET" 0 200000 10
		run as alice /usr/bin/python3 -c '
import ctypes, os, sys
libc = ctypes.CDLL(None, use_errno=True)
pid = int(sys.argv[1])
def denied(what, result):
    if result != -1 or ctypes.get_errno() not in (1, 13):
        print(what, result, ctypes.get_errno())
for request in (16, 0x4206):
    denied("ptrace", libc.ptrace(request, pid, None, None))
pidfd = os.pidfd_open(pid)
for fd in range(4):
    denied("pidfd_getfd", libc.syscall(438, pidfd, fd, 0))
room = ctypes.create_string_buffer(8)
class vec(ctypes.Structure):
    _fields_ = [("base", ctypes.c_void_p), ("len", ctypes.c_size_t)]
local = vec(ctypes.addressof(room), 8)
for call in (310, 311):
    denied("process_vm", libc.syscall(call, pid, ctypes.byref(local), 1, ctypes.byref(local), 1, ctypes.c_long(0)))
for name in ("mem", "maps", "environ", "auxv", "fd/0", "fd/2", "fdinfo/2", "ns/user", "cwd", "root",
             "exe", "map_files", "syscall", "stack", "io", "clear_refs", "oom_score_adj",
             "coredump_filter", "uid_map", "gid_map", "setgroups",
             "task/%d/mem" % pid):
    for flags in (os.O_RDONLY, os.O_WRONLY):
        if flags == os.O_RDONLY and name in ("oom_score_adj", "coredump_filter", "uid_map",
                                             "gid_map", "setgroups"):
            continue
        try:
            fd = os.open("/proc/%d/%s" % (pid, name), flags)
            if flags == os.O_WRONLY:
                print(name, "opened for writing")
            elif os.read(fd, 1):
                print(name, "read")
        except OSError as error:
            if error.errno not in (1, 2, 13, 21):
                print(name, error)
' "$BLOCKED"
		assert_output ''
		unblock
	}
	ours taken
}

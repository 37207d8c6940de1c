# SPDX-License-Identifier: BSD-2-Clause
# Targets that a caller may name to the installed helpers: every way to lead to a process that is not
# his, or to one that is not the process that was checked. Nothing may be granted, nothing hang.

# bats runs functions by name, and inner shells expand what stands in single quotes.
# shellcheck disable=SC2016,SC2030,SC2031,SC2034,SC2119,SC2153,SC2317
load helper

# by_fd PATH PROGRAM ARG...: alice calls with PATH open as descriptor 8.
by_fd() {
	run as alice timeout 20 sh -c 'exec "$@" 8<"$0"' "$1" "$HELPERS/$2" fd:8 "${@:3}"
}

# by_python CODE PROGRAM ARG...: CODE, which sees $TARGET as target, sets fd, the descriptor to name.
by_python() {
	run as alice timeout 20 /usr/bin/python3 -c "
import ctypes, os, signal, sys, time
target = $TARGET
libc = ctypes.CDLL(None, use_errno=True)
$1
os.set_inheritable(fd, True)
os.execv(sys.argv[1], [sys.argv[1], 'fd:%d' % fd, *sys.argv[2:]])" "$HELPERS/$2" "${@:3}"
}

@test "fd:N of the helper itself, of its thread or of its caller writes nothing" {
	own() {
		local path
		for path in /proc/self /proc/thread-self /proc/self/task; do
			by_fd "$path" newuidmap 0 100000 10
			assert_refused ''
			by_fd "$path" newgidmap 0 1001 1
			assert_refused ''
		done
		run as alice sh -c 'exec "$@" "$$" 0 100000 10' sh "$HELPERS/newuidmap"
		assert_refused 'open of uid_map failed: Permission denied'
		run as alice sh -c '"$@" "$$" 0 100000 10; exit' sh "$HELPERS/newuidmap"
		assert_refused 'in our own user namespace'
	}
	ours own
}

@test "of another user's process neither PID, directory nor pidfd is taken" {
	grant_uid bob:100000:65536 alice:100000:65536
	others() {
		local target
		spawn_userns bob
		target=$TARGET
		spawn unshare -U sleep infinity
		for TARGET in "$target" "$TARGET" 1; do
			run as alice "$HELPERS/newuidmap" "$TARGET" 0 100000 10
			assert_refused 'owned by a different user'
			by_fd "/proc/$TARGET" newuidmap 0 100000 10
			assert_refused 'owned by a different user'
			by_fd "/proc/$TARGET/task/$TARGET" newgidmap 0 1001 1
			assert_refused 'owned by a different user'
			by_python 'fd = os.pidfd_open(target)' newuidmap 0 100000 10
			assert_refused 'owned by a different user'
			by_python 'fd = os.open("/proc/%d" % target, os.O_PATH)' newgidmap 0 1001 1
			assert_refused 'owned by a different user'
			[ "$TARGET" -eq 1 ] || assert_untouched
		done
	}
	ours others
}

@test "a descriptor that only names a directory will do, one that names a link will not" {
	paths() {
		spawn_userns alice
		by_python 'fd = os.open("/proc/self", os.O_PATH | os.O_NOFOLLOW)' newuidmap 0 100000 10
		assert_refused 'neither a directory of /proc nor a pidfd'
		by_python 'fd = os.open("/proc/%d/exe" % target, os.O_PATH | os.O_NOFOLLOW)' \
			newuidmap 0 100000 10
		assert_refused 'neither a directory of /proc nor a pidfd'
		by_python 'fd = os.open("/proc/%d/ns/user" % target, os.O_RDONLY)' newuidmap 0 100000 10
		assert_refused 'neither a directory of /proc nor a pidfd'
		assert_untouched
		by_python 'fd = os.open("/proc/%d" % target, os.O_PATH)' newuidmap 0 100000 10
		assert_silent_success
		assert_map uid_map '0 100000 10'
	}
	ours paths
}

# Each shows "Pid:" or is none at all.
@test "no other kind of descriptor passes for a pidfd" {
	kinds() {
		local code
		spawn_userns alice
		for code in 'fd = libc.eventfd(target, 0)' 'fd = libc.timerfd_create(1, 0)' \
			'fd = libc.epoll_create1(0)' 'fd = libc.inotify_init()' \
			'fd = os.memfd_create("x\nPid:\t%d" % target)' 'fd = os.pipe()[0]' \
			'fd = libc.socket(1, 1, 0)' 'fd = os.open("/dev/null", os.O_RDWR)' \
			'fd = os.open("/proc/self/fdinfo/0", os.O_RDONLY)' \
			'fd = libc.signalfd(-1, ctypes.create_string_buffer(128), 0)'; do
			by_python "$code" newuidmap 0 100000 10
			assert_refused 'neither a directory of /proc nor a pidfd'
		done
		assert_untouched
	}
	ours kinds
}

@test "a pidfd of a zombie or of a dead process writes nothing" {
	pidfds() {
		TARGET=0
		by_python '
pid = os.fork() or os._exit(0)
os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
fd = os.pidfd_open(pid)' newuidmap 0 100000 10
		assert_refused ''
		by_python '
pid = os.fork() or os._exit(0)
fd = os.pidfd_open(pid)
os.waitpid(pid, 0)' newuidmap 0 100000 10
		assert_refused 'is no running process'
	}
	ours pidfds
}

# in_own_procfs OPTIONS: $TARGET, alice's, is in new user, PID and mount namespaces without any map,
# and sees itself as /mnt/1 of a procfs with these options; $OVER is that directory.
in_own_procfs() {
	spawn become alice /usr/bin/python3 -c '
import ctypes, os, sys
libc = ctypes.CDLL(None, use_errno=True)
if libc.unshare(0x10000000 | 0x20000000 | 0x20000) != 0:
    sys.exit(1)
pid = os.fork()
if pid:
    os.execvp("sleep", ["sleep", "infinity"])
libc.prctl(1, 9)
if libc.mount(b"proc", b"/mnt", b"proc", 0, sys.argv[1].encode()) != 0:
    sys.exit(2)
os.execvp("sleep", ["sleep", "infinity"])' "$1"
	local child tries
	for ((tries = 0; tries < 500; tries++)); do
		child=$(pgrep -P "$TARGET" -x sleep) && break
		sleep 0.01
	done
	TARGET=$child
	OVER=/proc/$TARGET/root/mnt/1
}

@test "a procfs of the caller's own, be it hidepid or of processes alone, shows the same owners" {
	local options
	own_procfs() {
		for options in hidepid=0 hidepid=1 hidepid=2 hidepid=4 subset=pid; do
			in_own_procfs "$options"
			by_fd "$OVER" newuidmap 0 200000 10
			assert_refused 'not allowed'
			by_fd "$OVER" newgidmap 0 1002 1
			assert_refused 'not allowed'
			assert_untouched
			by_fd "$OVER" newuidmap 0 100000 10
			assert_silent_success
			assert_map uid_map '0 100000 10'
			by_fd "$OVER" newgidmap 0 1001 1
			assert_silent_success
			assert_setgroups deny
		done
	}
	ours own_procfs
}

@test "a PID means what /proc shows, also where the caller has a PID namespace of his own" {
	inner() {
		spawn_userns bob
		local other=$TARGET
		in_own_procfs hidepid=0
		run as alice nsenter -t "$TARGET" -U -p --preserve-credentials \
			"$HELPERS/newuidmap" 1 0 100000 10
		assert_refused ''
		run as alice nsenter -t "$TARGET" -U -p --preserve-credentials \
			"$HELPERS/newuidmap" "$other" 0 100000 10
		assert_refused ''
		assert_untouched
		TARGET=$other
		assert_untouched
	}
	ours inner
}

@test "a directory of /proc that is bound elsewhere has the owner that it has" {
	bound() {
		local mine other over
		spawn_userns bob
		other=$TARGET
		spawn_userns alice
		mine=$TARGET
		spawn become alice unshare -Urm sh -c '
			mkdir /run/tmp/bound.$$ && mount -t tmpfs tmpfs /run/tmp/bound.$$ &&
			cd /run/tmp/bound.$$ && mkdir mine other && mount --bind "/proc/$0" mine &&
			mount --bind "/proc/$1" other && exec sleep infinity' "$mine" "$other"
		over=/proc/$TARGET/cwd
		by_fd "$over/other" newuidmap 0 100000 10
		assert_refused 'owned by a different user'
		by_fd "$over" newuidmap 0 100000 10
		assert_refused 'neither a directory of /proc nor a pidfd'
		TARGET=$other
		assert_untouched
		TARGET=$mine
		assert_untouched
		by_fd "$over/mine" newuidmap 0 100000 10
		assert_silent_success
		assert_map uid_map '0 100000 10'
	}
	ours bound
}

@test "a /proc of the caller's own making leads no write to a file that is not his" {
	fake() {
		local link
		echo precious >/run/tmp/precious
		chmod 666 /run/tmp/precious
		chown bob: /run/tmp/precious
		for link in 'ln -s /run/tmp/precious' 'mount --bind /run/tmp/precious'; do
			run as alice unshare -Urm sh -c '
				mount -t tmpfs tmpfs /proc && mkdir /proc/4711 &&
				case $1 in mount*) : >/proc/4711/uid_map ;; esac &&
				$1 /proc/4711/uid_map && exec "$0" 4711 0 0 1' \
				"$HELPERS/newuidmap" "$link"
			# A sanitizer misses /proc and says so in lines of its own.
			assert_failure 1
			assert_line --regexp '^newuidmap: open of uid_map failed: (Too many levels|Invalid cross)'
			assert_equal "$(</run/tmp/precious)" precious
		done
	}
	ours fake
}

@test "a target whose first thread has ended writes nothing by its PID, and its map by the thread's" {
	leaderless() {
		become alice /usr/bin/python3 -c '
import ctypes, threading, time
libc = ctypes.CDLL(None)
libc.unshare(0x10000000)
threading.Thread(target=time.sleep, args=(1000,)).start()
libc.pthread_exit(None)' 3>&- &
		TARGET=$!
		TARGETS+=("$TARGET")
		until grep -q '^State:.Z' "/proc/$TARGET/status" && [ -n "$(thread)" ]; do sleep 0.02; done
		run as alice "$HELPERS/newuidmap" "$TARGET" 0 100000 10
		assert_refused 'open of uid_map failed: Permission denied'
		by_fd "/proc/$TARGET/task/$(thread)" newuidmap 0 200000 10
		assert_refused 'not allowed'
		assert_map uid_map ''
		by_fd "/proc/$TARGET/task/$(thread)" newuidmap 0 100000 10
		assert_silent_success
		assert_map "task/$(thread)/uid_map" '0 100000 10'
	}
	thread() {
		find "/proc/$TARGET/task" -mindepth 1 -maxdepth 1 ! -name "$TARGET" -printf '%f\n'
	}
	ours leaderless
}

@test "a PID that wraps round to a process of another user or group leads to a refusal" {
	wrapped() {
		local pid
		spawn_userns alice
		pid=$TARGET
		kill_targets || true
		TARGET=
		for UID_GID in 1002:1002 1001:1002 0:0; do
			until [ "$TARGET" = "$pid" ]; do
				echo $((pid - 1)) >/proc/sys/kernel/ns_last_pid
				spawn setpriv --reuid "${UID_GID%:*}" --regid "${UID_GID#*:}" --clear-groups \
					--inh-caps=-all -- unshare -U sleep infinity
			done
			run as alice "$HELPERS/newuidmap" "$pid" 0 100000 10
			assert_refused 'owned by a different user'
			run as alice "$HELPERS/newgidmap" "$pid" 0 1001 1
			assert_refused 'owned by a different user'
			assert_untouched
			kill_targets || true
			TARGET=
		done
	}
	ours wrapped
}

@test "a descriptor of a process whose PID is used anew leads to no other process" {
	anew() {
		local kind
		for kind in 'os.open("/proc/%d" % pid, os.O_RDONLY)' 'os.pidfd_open(pid)' \
			'os.open("/proc/%d" % pid, os.O_PATH)'; do
			run /usr/bin/python3 -c "
import ctypes, os, sys, time
libc = ctypes.CDLL(None)
def target():
    ready = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.setgroups([]); os.setresgid(1001, 1001, 1001); os.setresuid(1001, 1001, 1001)
        libc.prctl(4, 1)
        libc.unshare(0x10000000)
        os.write(ready[1], b'.')
        time.sleep(1000)
    os.read(ready[0], 1)
    return pid
def end(pid):
    os.kill(pid, 9); os.waitpid(pid, 0)
pid = target()
fd = $kind
os.set_inheritable(fd, True)
end(pid)
again = 0
while again != pid:
    if again: end(again)
    with open('/proc/sys/kernel/ns_last_pid', 'w') as last: last.write(str(pid - 1))
    again = target()
caller = os.fork()
if caller == 0:
    os.setgroups([]); os.setresgid(1001, 1001, 1001); os.setresuid(1001, 1001, 1001)
    os.execv(sys.argv[1], [sys.argv[1], 'fd:%d' % fd, '0', '100000', '10'])
status = os.waitstatus_to_exitcode(os.waitpid(caller, 0)[1])
if open('/proc/%d/uid_map' % pid).read(): print('another process is mapped')
end(pid)
sys.exit(status)" "$HELPERS/newuidmap"
			assert_refused ''
			refute_output --partial mapped
		done
	}
	ours anew
}

@test "in a chroot of the caller's own, with an /etc of his own, only the namespace's own IDs are mapped" {
	chrooted() {
		local outer
		for outer in 200000 0 1; do
			spawn_userns alice
			run as alice unshare -Urm sh -c '
				mount -t tmpfs tmpfs /mnt && mkdir /mnt/etc /mnt/lib64 /mnt/usr /mnt/proc /mnt/run /mnt/dev &&
				mount --rbind /usr /mnt/usr && mount --rbind /proc /mnt/proc &&
				mount --rbind /run /mnt/run && mount --rbind /dev /mnt/dev &&
				ln -s usr/lib /mnt/lib && cp -rL /lib64/. /mnt/lib64 &&
				echo root:x:0:0::/:/bin/sh >/mnt/etc/passwd &&
				echo passwd: files >/mnt/etc/nsswitch.conf &&
				echo root:0:4294967294 | tee /mnt/etc/subuid >/mnt/etc/subgid &&
				{ unshare -U sleep infinity & child=$!; } && sleep 0.3 &&
				for target in "$1" "$child"; do
					chroot /mnt "$0/newuidmap" "$target" 0 "$2" 10
					chroot /mnt "$0/newgidmap" "$target" 0 "$2" 10
					cat "/proc/$child"/?id_map
				done
				kill "$child"' "$HELPERS" "$TARGET" "$outer"
			assert_equal "$(grep -c 'failed: \(Operation not permitted\|Permission denied\)' <<<"$output")" 4
			refute_line --regexp '^ *0 +[0-9]+ +10$'
			assert_untouched
		done
	}
	ours chrooted
}

@test "a caller whose ID the user namespace lacks is nobody's heir there" {
	grant_uid nobody:100000:65536 65534:100000:65536
	grant_gid nobody:300000:65536
	lost() {
		spawn_userns alice
		local namespace=$TARGET uid
		as alice "$HELPERS/newuidmap" "$namespace" 0 1001 1
		grant_uid alice:100000:65536
		# alice is unmapped in a namespace of IDs that she is granted.
		spawn_userns alice
		namespace=$TARGET
		as alice "$HELPERS/newuidmap" "$namespace" 0 100000 65536
		grant_uid nobody:0:65536 65534:0:65536
		spawn_userns bob
		run as alice nsenter -U -t "$namespace" --preserve-credentials \
			"$HELPERS/newuidmap" "$TARGET" 0 1 10
		assert_refused ''
		run as alice nsenter -U -t "$namespace" --preserve-credentials \
			"$HELPERS/newgidmap" "$TARGET" 0 1 10
		assert_refused ''
		assert_untouched
		grant_uid alice:100000:65536
	}
	ours lost
}

@test "a caller in a time namespace, or with the lowest priority, is served as any" {
	served() {
		spawn_userns alice
		run as alice unshare -T --monotonic 100000000 --boottime 100000000 true
		run setpriv --reuid 1001 --regid 1001 --init-groups --inh-caps=-all -- \
			nice -n 19 chrt --idle 0 taskset 1 "$HELPERS/newuidmap" "$TARGET" 0 100000 10
		assert_silent_success
		run unshare -T --monotonic 100000000 --boottime 100000000 setpriv --reuid 1001 --regid 1001 \
			--init-groups --inh-caps=-all -- "$HELPERS/newgidmap" "$TARGET" 0 300000 10
		assert_silent_success
		assert_map uid_map '0 100000 10'
		assert_map gid_map '0 300000 10'
	}
	ours served
}

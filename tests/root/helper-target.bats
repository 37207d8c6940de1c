# SPDX-License-Identifier: BSD-2-Clause
# Whose maps are written: how the target is named, and whose it must be.

# bats runs functions by name, and inner shells expand what stands in single quotes.
# shellcheck disable=SC2030,SC2031,SC2317
load helper

# refuses_target NAME REGEXP: newuidmap refuses the target of that name.
refuses_target() {
	run as "${CALLER-alice}" "$HELPERS/newuidmap" "$1" 0 100000 10
	assert_refused "$2"
}

@test "fd:N on the directory of a process writes its map" {
	by_directory() {
		spawn_userns alice
		run as alice "$HELPERS/newuidmap" fd:8 0 100000 10 8<"/proc/$TARGET"
		assert_silent_success
		assert_map uid_map '0 100000 10'
		run as alice "$HELPERS/newgidmap" fd:8 0 300000 10 8<"/proc/$TARGET"
		assert_silent_success
		assert_map gid_map '0 300000 10'
	}
	ours by_directory
}

@test "fd:N on a pidfd writes the map of its process" {
	by_pidfd() {
		spawn_userns alice
		run as alice /usr/bin/python3 -c '
import os, sys
fd = os.pidfd_open(int(sys.argv[2]))
os.set_inheritable(fd, True)
os.execv(sys.argv[1], [sys.argv[1], "fd:%d" % fd, *sys.argv[3:]])' \
			"$HELPERS/newuidmap" "$TARGET" 0 100000 10
		assert_silent_success
		assert_map uid_map '0 100000 10'
	}
	ours by_pidfd
}

@test "fd:N on a pidfd of a process of root is refused" {
	of_root() {
		run as alice /usr/bin/python3 -c '
import os, sys
fd = os.pidfd_open(1)
os.set_inheritable(fd, True)
os.execv(sys.argv[1], [sys.argv[1], "fd:%d" % fd, "0", "100000", "10"])' "$HELPERS/newuidmap"
		assert_refused 'owned by a different user'
	}
	ours of_root
}

@test "fd:N on a pidfd of a process that is gone is refused" {
	gone() {
		run as alice /usr/bin/python3 -c '
import os, sys
pid = os.fork() or os._exit(0)
fd = os.pidfd_open(pid)
os.waitpid(pid, 0)
os.set_inheritable(fd, True)
os.execv(sys.argv[1], [sys.argv[1], "fd:%d" % fd, "0", "100000", "10"])' "$HELPERS/newuidmap"
		assert_refused 'is no running process'
	}
	ours gone
}

@test "fd:N on a folder with a symlink named uid_map is refused and the file behind it stays" {
	local folder=/run/home/alice/fake
	echo precious >/run/tmp/precious
	as alice mkdir "$folder"
	as alice ln -s /run/tmp/precious "$folder/uid_map"
	as alice ln -s /run/tmp/precious "$folder/gid_map"
	fake() {
		run as alice "$HELPERS/newuidmap" fd:8 0 100000 10 8<"$folder"
		assert_refused ''
		run as alice "$HELPERS/newgidmap" fd:8 0 1001 1 8<"$folder"
		assert_refused ''
		assert_equal "$(</run/tmp/precious)" precious
	}
	every fake
	HELPERS=$HELPERS_SETUID
	run as alice "$HELPERS/newuidmap" fd:8 0 100000 10 8<"$folder"
	assert_refused '"fd:8" is neither a directory of /proc nor a pidfd'
}

@test "fd:N on /proc itself is refused" {
	proc() {
		run as alice "$HELPERS/newuidmap" fd:8 0 100000 10 8</proc
		assert_refused ''
		grant_uid root:100000:10
		run as root "$HELPERS/newuidmap" fd:8 0 100000 10 8</proc
		assert_refused ''
		run as root "$HELPERS/newuidmap" fd:8 0 100000 10 8</proc/sys
		assert_refused ''
	}
	every proc
}

@test "fd:N of a closed descriptor is refused and the reason said" {
	every refuses_target fd:9 ''
	ours refuses_target fd:9 'fd:9" is not an open descriptor'
}

@test "fd:N of a descriptor that the helper opened itself is refused" {
	own() {
		local fd
		for fd in 3 4 5 6; do
			run as alice "$HELPERS/newuidmap" "fd:$fd" 0 100000 10 3>&- 4>&- 5>&- 6>&-
			assert_failure 1
		done
	}
	every own
}

@test "fd:N on a file is refused" {
	file() {
		run as alice "$HELPERS/newuidmap" fd:8 0 100000 10 8</etc/passwd
		assert_refused ''
		spawn_userns alice
		run as alice "$HELPERS/newuidmap" fd:8 0 100000 10 8<"/proc/$TARGET/uid_map"
		assert_refused ''
		assert_untouched
	}
	every file
}

@test "fd:N with anything but a plain number is refused" {
	local name
	spawn_userns alice
	for name in fd: fd:-1 fd:+8 'fd: 8' fd:08 fd:0x8 fd:8x fd:4294967304 fd:18446744073709551624; do
		ours refuses_target "$name" 'is neither a process ID nor fd:N' 8<"/proc/$TARGET"
	done
	assert_untouched
}

@test "a target that is no plain number is refused" {
	local name
	spawn_userns alice
	for name in '' self / . "./$TARGET" "$TARGET/" "+$TARGET" "0$TARGET" " $TARGET" "$TARGET " \
		"-$TARGET" "$TARGET/../$TARGET" 0 -1 18446744073709551615 4294967295 \
		"$((TARGET + 4294967296))"; do
		ours refuses_target "$name" "target \".*\" is neither a process ID nor fd:N"
	done
	assert_untouched
}

@test "a process ID that nobody has is refused and the reason said" {
	every refuses_target 999999999 ''
	ours refuses_target 999999999 'target "999999999" is no running process'
}

@test "a target of another user is refused and all IDs are named" {
	grant_uid bob:100000:65536
	other_user() {
		spawn_userns alice
		CALLER=bob refuses_target "$TARGET" "^newuidmap: Target process$1 is owned by a \
different user: uid:1002 pw_uid:1002 st_uid:1001, gid:1002 pw_gid:1002 st_gid:1001"
		assert_untouched
	}
	ours other_user ''
	every other_user '.*'
}

@test "a target of root is refused" {
	other_user() {
		spawn unshare -U sleep infinity
		refuses_target "$TARGET" 'owned by a different user: .* st_uid:0, '
		assert_untouched
	}
	every other_user
}

# in_group GID CMD...: turn this subshell into CMD, run by alice but for the real group.
in_group() {
	exec setpriv --reuid 1001 --regid "$1" --groups 1001,1002 --inh-caps=-all -- "${@:2}"
}

@test "a caller whose real group is not his primary one is refused" {
	other_group() {
		spawn in_group 1002 unshare -U sleep infinity
		run in_group 1002 "$HELPERS/newuidmap" "$TARGET" 0 100000 10
		assert_refused "^newuidmap: Target process.* is owned by a different \
user: uid:1001 pw_uid:1001 st_uid:1001, gid:1002 pw_gid:1001 st_gid:1002"
		assert_untouched
	}
	every other_group
}

@test "a target whose group is not the caller's is refused" {
	other_group() {
		spawn in_group 1002 unshare -U sleep infinity
		run as alice "$HELPERS/newgidmap" "$TARGET" 0 300000 10
		assert_refused "^newgidmap: Target.* is owned by a different \
user: uid:1001 pw_uid:1001 st_uid:1001, gid:1001 pw_gid:1001 st_gid:1002"
		assert_untouched
	}
	every other_group
}

@test "GRANT_AUX_GROUP_SUBIDS yes lets the caller's real group be another than his primary one" {
	echo 'GRANT_AUX_GROUP_SUBIDS yes' >>/etc/login.defs
	other_group() {
		spawn in_group 1002 unshare -U sleep infinity
		run in_group 1002 "$HELPERS/newuidmap" "$TARGET" 0 100000 10
		assert_silent_success
		assert_map uid_map '0 100000 10'
		run in_group 1002 "$HELPERS/newgidmap" "$TARGET" 0 1002 1
		assert_silent_success
		assert_map gid_map '0 1002 1'
		assert_setgroups deny
	}
	every other_group
}

@test "GRANT_AUX_GROUP_SUBIDS yes never lets the target's group be another than the caller's" {
	echo 'GRANT_AUX_GROUP_SUBIDS yes' >>/etc/login.defs
	other_group() {
		spawn in_group 1002 unshare -U sleep infinity
		run as alice "$HELPERS/newuidmap" "$TARGET" 0 100000 10
		assert_refused 'owned by a different user'
		spawn_userns alice
		run in_group 1002 "$HELPERS/newuidmap" "$TARGET" 0 100000 10
		assert_refused 'owned by a different user'
		assert_untouched
	}
	every other_group
}

@test "GRANT_AUX_GROUP_SUBIDS no, commented out or of another name lets nobody in" {
	local line
	spawn in_group 1002 unshare -U sleep infinity
	for line in 'GRANT_AUX_GROUP_SUBIDS no' '#GRANT_AUX_GROUP_SUBIDS yes' \
		'GRANT_AUX_GROUP_SUBIDS_X yes' 'GRANT_AUX_GROUP_SUBIDS'; do
		echo "$line" >/etc/login.defs
		other_group() {
			run in_group 1002 "$HELPERS/newuidmap" "$TARGET" 0 100000 10
			assert_refused 'owned by a different user'
		}
		every other_group
	done
	assert_untouched
}

@test "without login.defs the caller's group must be his primary one" {
	rm /etc/login.defs
	spawn in_group 1002 unshare -U sleep infinity
	other_group() {
		run in_group 1002 "$HELPERS/newuidmap" "$TARGET" 0 100000 10
		assert_refused 'owned by a different user'
		assert_untouched
	}
	every other_group
}

@test "a caller without an entry in passwd is refused" {
	grant_uid 1999:100000:65536
	nobody_knows() {
		spawn setpriv --reuid 1999 --regid 1999 --clear-groups -- unshare -U sleep infinity
		run setpriv --reuid 1999 --regid 1999 --clear-groups --inh-caps=-all -- \
			"$HELPERS/newuidmap" "$TARGET" 0 100000 10
		assert_refused ''
		assert_untouched
	}
	every nobody_knows
	HELPERS=$HELPERS_SETUID
	run setpriv --reuid 1999 --regid 1999 --clear-groups --inh-caps=-all -- \
		"$HELPERS/newuidmap" "$TARGET" 0 100000 10
	assert_refused 'user ID 1999 has no entry in passwd'
}

@test "a zombie, whose map only root may open, is refused and the reason said" {
	zombie() {
		spawn become alice sh -c '
			unshare -U sh -c "exec 3>&-; echo \$\$ >/run/home/alice/zombie" &
			exec sleep infinity'
		until [ "$(ps -o stat= --ppid "$TARGET" | head -c 1)" = Z ]; do
			sleep 0.02
		done
		TARGET=$(</run/home/alice/zombie)
		run as alice "$HELPERS/newuidmap" "$TARGET" 0 100000 10
		assert_refused 'open of uid_map failed: Permission denied'
		assert_map uid_map ''
	}
	ours zombie
}

@test "fd:N on the directory of a process that is gone is refused" {
	reaped() {
		run as alice /usr/bin/python3 -c '
import os, sys
pid = os.fork() or os._exit(0)
fd = os.open("/proc/%d" % pid, os.O_RDONLY)
os.set_inheritable(fd, True)
os.waitpid(pid, 0)
os.execv(sys.argv[1], [sys.argv[1], "fd:%d" % fd, "0", "100000", "10"])' "$HELPERS/newuidmap"
		assert_refused ''
	}
	every reaped
}

@test "a target that is not dumpable is refused and the reason said" {
	install -m 711 "$(command -v sleep)" /run/tmp/sleep
	undumpable() {
		spawn become alice unshare -U /run/tmp/sleep infinity
		run as alice "$HELPERS/newuidmap" "$TARGET" 0 100000 10
		assert_refused 'uid_map.*Permission denied.*not dumpable'
		assert_untouched
	}
	ours undumpable
}

@test "a target that has not unshared is refused" {
	same_namespace() {
		spawn become alice sleep infinity
		run as alice "$HELPERS/newuidmap" "$TARGET" 0 100000 10
		assert_refused 'uid_map'
		assert_map uid_map '0 0 4294967295'
	}
	every same_namespace
}

@test "a map that is written already is refused and stays" {
	second() {
		spawn_userns alice
		as alice "$HELPERS/newuidmap" "$TARGET" 0 100000 10
		run as alice "$HELPERS/newuidmap" "$TARGET" 0 100020 5
		assert_refused 'uid_map'
		assert_map uid_map '0 100000 10'
	}
	every second
}

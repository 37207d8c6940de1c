# SPDX-License-Identifier: BSD-2-Clause
# What the helpers do with their privilege, and the trace they leave.

# bats runs functions by name, and inner shells expand what stands in single quotes.
# shellcheck disable=SC2030,SC2031,SC2119,SC2120,SC2153
load helper

# bounded SET CMD...: turn this subshell into CMD, run by alice under a bounding set.
bounded() {
	exec setpriv --reuid 1001 --regid 1001 --clear-groups --inh-caps=-all \
		--bounding-set "$1" -- "${@:2}"
}

@test "it works with CAP_SYS_ADMIN out of the bounding set" {
	without_sys_admin() {
		spawn_userns alice
		run bounded -sys_admin "$HELPERS/newuidmap" "$TARGET" 0 100000 10
		assert_silent_success
		assert_map uid_map '0 100000 10'
		run bounded -sys_admin "$HELPERS/newgidmap" "$TARGET" 0 300000 10
		assert_silent_success
		assert_map gid_map '0 300000 10'
	}
	ours without_sys_admin
}

@test "CAP_SETUID, or CAP_SETGID, is all that it needs" {
	alone() {
		spawn_userns alice
		run bounded -all,+setuid "$HELPERS/newuidmap" "$TARGET" 0 100000 10
		assert_silent_success
		assert_map uid_map '0 100000 10'
		run bounded -all,+setgid "$HELPERS/newgidmap" "$TARGET" 0 300000 10
		assert_silent_success
		assert_map gid_map '0 300000 10'
	}
	ours alone
}

# without_capability CMD...: CMD starts helpers that get no capability. No grant helps then, but the
# kernel lets everybody map his own ID alone.
without_capability() {
	spawn_userns alice
	run as alice "$@" "$HELPERS/newuidmap" "$TARGET" 0 100000 10
	assert_refused '^newuidmap: write to uid_map failed: Operation not permitted'
	assert_output --regexp "$CAUSE"
	run as alice "$@" "$HELPERS/newgidmap" "$TARGET" 0 300000 10
	assert_refused '^newgidmap: write to gid_map failed: Operation not permitted'
	assert_output --regexp "$CAUSE"
	assert_untouched
	run as alice "$@" "$HELPERS/newgidmap" "$TARGET" 0 1001 1
	assert_silent_success
	assert_map gid_map '0 1001 1'
	assert_setgroups deny
}

@test "neither setuid nor with file capabilities it maps the own ID alone, and says what is missing" {
	install -d /run/tmp/bare
	install -m 755 "$HELPERS_FILECAPS"/new[ug]idmap /run/tmp/bare
	HELPERS=/run/tmp/bare
	CAUSE='neither setuid root nor has it file capabilities' without_capability
}

@test "under no_new_privs it maps the own ID alone, and says that this is why" {
	CAUSE='[Nn]o_?[Nn]ew_?[Pp]rivs' ours without_capability setpriv --no-new-privs
}

@test "an outer 0 that is granted to a user is written by a setuid install, which has CAP_SETFCAP" {
	grant_uid alice:0:10
	grant_gid alice:0:10
	HELPERS=$HELPERS_SETUID
	writes newuidmap '0 0 10' 0 0 10
	ours writes newgidmap '0 0 10' 0 0 10
	HELPERS=$HELPERS_FILECAPS
	refuses newuidmap 'uid_map.*Operation not permitted' 0 0 10
	writes newuidmap '0 1 9' 0 1 9
}

@test "CAP_SETFCAP is in effect only where an outer 0 is mapped" {
	grant_uid alice:0:20
	HELPERS=$HELPERS_SETUID
	spawn_userns alice
	run bounded -setfcap "$HELPERS/newuidmap" "$TARGET" 0 1 9
	assert_silent_success
	spawn_userns alice
	run bounded -setfcap "$HELPERS/newuidmap" "$TARGET" 0 0 10
	assert_refused 'Operation not permitted'
	assert_untouched
}

@test "no variable of the caller reaches it" {
	variables() {
		spawn_userns alice
		run as alice env LD_PRELOAD=/nowhere.so LD_LIBRARY_PATH=/nowhere GCONV_PATH=/nowhere \
			LOCPATH=/nowhere LC_ALL=xx_XX TZ=/nowhere POSIXLY_CORRECT=1 \
			"$HELPERS/newuidmap" "$TARGET" 0 200000 10
		assert_refused '^newuidmap: uid range \[0-10\) -> \[200000-200010\) not allowed'
	}
	ours variables
}

@test "syslog is told who asked for what, and the answer" {
	mkdir /run/dev
	mount -t tmpfs tmpfs /run/dev
	cp -a /dev/null /run/dev/null
	mount --move /run/dev /dev
	/usr/bin/python3 -c '
import os, socket
log = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
log.bind("/dev/log")
os.chmod("/dev/log", 0o666)
while True:
    line = log.recv(65536)
    with open("/run/tmp/log", "ab") as out:
        out.write(line + b"\n")' 3>&- &
	local logger=$!
	TARGETS+=("$logger")
	until [ -S /dev/log ]; do sleep 0.02; done
	logged() {
		: >/run/tmp/log
		fresh_target
		run as alice "$HELPERS/newuidmap" "$TARGET" 5 200000 10
		assert_failure
		run as alice "$HELPERS/newuidmap" "$TARGET" 5 100000 10
		assert_success
		sleep 0.2
		cat /run/tmp/log
		# 10 is authpriv: 10 * 8 + 5 (notice) and + 6 (info).
		grep -E "^<85>.* newuidmap\[[0-9]+\]: user alice \(1001\), target $TARGET, \
1 extents from 5 200000 10: uid range \[5-15\) -> \[200000-200010\) not allowed" /run/tmp/log
		grep -E "^<86>.* newuidmap\[[0-9]+\]: user alice \(1001\), target $TARGET, \
1 extents from 5 100000 10: written" /run/tmp/log
	}
	ours logged
	umount --lazy /dev
}

@test "without a syslog daemon nothing is said about it" {
	[ ! -S /dev/log ] || mount --bind /dev/null /dev/log
	ours writes newuidmap '0 100000 10' 0 100000 10
}

#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
#
# The AppArmor profiles of newuidmap and newgidmap, where the kernel need not have AppArmor: they are
# compiled, and what the helpers open on each way to an end, as strace sees it, is looked up in what
# the compiler understood. What no path says (capabilities, ptrace, signals) stays unproved here.

load ../root/helper

PROFILES=/run/apparmor
PIDFD_OF=

setup_file() {
	cp /etc/login.defs /etc/nsswitch.conf "$BATS_FILE_TMPDIR"
	mkdir -p "$PROFILES/abstractions" /run/traces
	make -C "$IDMAP_BUILDDIR" etc/apparmor/newuidmap etc/apparmor/newgidmap
	cp "$IDMAP_BUILDDIR"/etc/apparmor/new[ug]idmap "$PROFILES"
	cp "$IDMAP_SRCDIR/etc/apparmor/idmap-helper" "$PROFILES/abstractions"
}

# parser OPTION... PROFILE: compile it, for the features of AppArmor 3.0.
parser() {
	apparmor_parser --skip-kernel-load --skip-cache --Include "$PROFILES" \
		--kernel-features /etc/apparmor.d/abi/3.0 --Werror "$@"
}

# with_pidfd CMD [ARG]...: run CMD; if PIDFD_OF is a PID, with a pidfd of it as descriptor 8.
with_pidfd() {
	[ -n "$PIDFD_OF" ] || { "$@"; return; }
	python3 -c 'import os, sys
os.dup2(os.pidfd_open(int(sys.argv[1])), 8)
os.execvp(sys.argv[2], sys.argv[2:])' "$PIDFD_OF" "$@"
}

# traced REGEXP PROGRAM ARG...: alice, or CALLER, calls our setuid PROGRAM with ARG...; the output
# matches, or there is none if REGEXP is empty.
traced() {
	local regexp=$1 program=$2
	shift 2
	run with_pidfd strace -qq -f -y -u "${CALLER-alice}" -e trace=open,openat,openat2,connect,mmap \
		-o "/run/traces/$program.$BATS_TEST_NUMBER.$((++TRACED))" \
		"$HELPERS_SETUID/$program" "$@"
	if [ -n "$regexp" ]; then
		assert_output --regexp "$regexp"
	else
		assert_output ''
	fi
}

# both REGEXP UID-ARGS GID-ARGS: the same of both programs on a fresh target.
both() {
	spawn_userns alice
	traced "$1" newuidmap "$TARGET" 0 "$2" 10
	traced "$1" newgidmap "$TARGET" 0 "$3" 10
}

assert_no_refusals() {
	local program traces
	for program in newuidmap newgidmap; do
		traces=(/run/traces/"$program".*)
		parser --debug "$PROFILES/$program" >"/run/$program.rules"
		run "$IDMAP_SRCDIR/tests/packages/apparmor-refusals" "/run/$program.rules" \
			"${traces[@]}"
		assert_success
		assert_output --regexp '^[1-9][0-9]+$'
		echo "figure: ${#traces[@]} calls of $program opened" \
			"$output files, all allowed by its profile" >&3
	done
}

@test "the profiles are compiled without a warning" {
	local program
	for program in newuidmap newgidmap; do
		run parser "$PROFILES/$program"
		assert_success
		assert_output ''
		run parser --names "$PROFILES/$program"
		assert_output "$program"
	done
}

@test "a profile holds for the programs of its prefix" {
	local program
	for program in newuidmap newgidmap; do
		make -C "$IDMAP_BUILDDIR" -B bindir=/opt/idmap/bin "etc/apparmor/$program"
		grep -q "^profile $program /opt/idmap/bin/$program {" \
			"$IDMAP_BUILDDIR/etc/apparmor/$program"
		make -C "$IDMAP_BUILDDIR" -B "etc/apparmor/$program"
	done
}

@test "writing a map" {
	both '' 100000 300000
	spawn_userns alice
	traced '' newuidmap "$TARGET" 0 1001 1
	traced '' newgidmap "$TARGET" 0 1001 1
	spawn_userns alice
	traced '' newuidmap fd:8 0 100000 10 8<"/proc/$TARGET"
	traced '' newgidmap fd:8 0 300000 10 8<"/proc/$TARGET"
	spawn_userns alice
	PIDFD_OF=$TARGET
	traced '' newuidmap fd:8 0 100000 10
	traced '' newgidmap fd:8 0 300000 10
	PIDFD_OF=
	grant_uid alice:0:1
	spawn_userns alice
	traced '' newuidmap "$TARGET" 0 0 1
}

@test "a request that is refused" {
	both 'not allowed' 200000 200000
	local program
	for program in newuidmap newgidmap; do
		traced usage: "$program"
		traced 'decimal number' "$program" "$TARGET" 0 0x1 1
		traced 'share inner IDs' "$program" "$TARGET" 0 1001 1 0 1001 1
		traced 'no running process' "$program" 2147483647 0 1001 1
		traced 'neither a process ID' "$program" alice 0 1001 1
		traced 'not an open descriptor' "$program" fd:9 0 1001 1
		traced 'neither a directory of /proc' "$program" fd:8 0 1001 1 8</dev/null
	done
	spawn_userns bob
	traced 'runs as another user' newuidmap "$TARGET" 0 1001 1
	traced 'runs as another user' newgidmap "$TARGET" 0 1001 1
	echo 'alice-in-bobs-group:x:1001:1002::/:/bin/sh' >>/etc/passwd
	CALLER=alice-in-bobs-group both 'your group is not your primary one' 100000 300000
	rm /etc/subuid /etc/subgid
	both 'No such file' 100000 300000
}

@test "the grants of a directory service" {
	mkdir /run/changes
	mount -t tmpfs tmpfs /run/changes
	mkdir /run/changes/{upper,work}
	mount -t overlay -o lowerdir=/usr/lib,upperdir=/run/changes/upper,workdir=/run/changes/work \
		overlay /usr/lib
	gcc -shared -fPIC -o /usr/lib/libsubid_profiled.so -x c - <<-'END'
		#include <stdlib.h>
		int shadow_subid_list_owner_ranges(const char *owner, int type, void *ranges, int *n)
		{
			unsigned long *range = malloc(2 * sizeof(*range));

			range[0] = owner[0] == 'a' ? 500000 : 0;
			range[1] = type > 0 ? 10 : 0;
			*(unsigned long **)ranges = range;
			*n = 1;
			return 0;
		}
	END
	echo 'subid: profiled' >>/etc/nsswitch.conf
	both '' 500000 500000
	assert_map uid_map '0 500000 10'
	both 'not allowed' 100000 300000
	rm /usr/lib/libsubid_profiled.so
	both 'not found' 200000 200000
	grep -q '/usr/lib/libsubid_profiled.so>' /run/traces/newuidmap.*
}

@test "a map that the kernel refuses" {
	spawn become alice sleep infinity
	traced 'our own user namespace' newuidmap "$TARGET" 0 100000 10
	traced 'our own user namespace' newgidmap "$TARGET" 0 300000 10
	spawn_userns alice
	as alice "$HELPERS_SETUID/newuidmap" "$TARGET" 0 100000 10
	as alice "$HELPERS_SETUID/newgidmap" "$TARGET" 0 300000 10
	traced 'written already' newuidmap "$TARGET" 0 100000 10
	traced 'written already' newgidmap "$TARGET" 0 300000 10
	install -m 711 "$(command -v sleep)" /run/tmp/sleep
	spawn become alice unshare -U /run/tmp/sleep infinity
	traced 'not dumpable' newuidmap "$TARGET" 0 100000 10
	traced 'not dumpable' newgidmap "$TARGET" 0 300000 10
	spawn_userns alice
	HELPERS_SETUID=$IDMAP_BUILDDIR # without privilege
	traced 'neither setuid' newuidmap "$TARGET" 0 100000 10
	traced 'neither setuid' newgidmap "$TARGET" 0 300000 10
}

@test "all that was opened is allowed by the profiles" {
	assert_no_refusals
}

@test "what a profile does not allow is found" {
	echo '1 openat(AT_FDCWD, "/etc/shadow", O_RDONLY|O_CLOEXEC) = 3</etc/shadow>' \
		>/run/traces/newuidmap.shadow
	echo '1 openat2(5</proc/7>, "gid_map", {flags=O_WRONLY|O_CLOEXEC, mode=0}, 24) = 6</proc/7/gid_map>' \
		>/run/traces/newuidmap.gid_map
	run "$IDMAP_SRCDIR/tests/packages/apparmor-refusals" /run/newuidmap.rules \
		/run/traces/newuidmap.{shadow,gid_map}
	assert_output $'r /etc/shadow\nw /proc/7/gid_map\n2'
}

#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
#
# Each cause behind a refusal, provoked for real: the helpers and `idmap doctor` name that cause and no
# other, and the fix that they print, run, makes the same call pass.

# shellcheck disable=SC2030,SC2031,SC2317 # each test has its own; functions are called by name

load helper

# A copy of the helpers that a test may spoil, first in PATH.
setup() {
	[ "$EUID" -eq 0 ] || skip "only root may set up users and their grants"
	grant_uid alice:100000:65536
	grant_gid alice:300000:65536
	chmod 644 /etc/subuid /etc/subgid
	TARGET=
	SPOILT=$(mktemp -d)
	chmod 755 "$SPOILT"
}

# copies INSTALL: fresh copies of that install in $SPOILT and in PATH.
copies() {
	rm -f "$SPOILT"/*
	cp -p --preserve=all "$1"/new?idmap "$SPOILT"
	HELPERS=$SPOILT
	export PATH=$SPOILT:${PATH#"$SPOILT":}
}

# both TEST: with copies of either install.
both() {
	local install
	for install in "$HELPERS_SETUID" "$HELPERS_FILECAPS"; do
		echo "# with $install"
		copies "$install"
		"$@"
	done
}

# as_caller CMD...: what the caller does; a test that needs another one has its own.
as_caller() {
	as alice "$@"
}

# helper_names CAUSE ARG...: newuidmap refuses ARG... on $TARGET and names CAUSE, a regular expression;
# $FIX is its fix.
helper_names() {
	local cause=$1
	shift
	run as_caller "$HELPERS/newuidmap" "$TARGET" "$@"
	assert_failure 1
	assert_equal "$(grep -c '^newuidmap: cause: ' <<<"$output")" 1
	assert_line --regexp "^newuidmap: cause: $cause"
	FIX=$(sed -n 's/^newuidmap: fix: //p' <<<"$output")
	[ -n "$FIX" ] || fail 'no fix'
}

# doctor ARG...: as the caller; $BAD are the causes that are not ok, $FIX the fixes, a line each.
doctor() {
	run --separate-stderr as_caller "$IDMAP" doctor --raw --noheadings \
		-o STATE,CAUSE,FIX "$@"
	assert_equal "$stderr" ''
	BAD=$(sed -nE 's/^(warning|problem) ([^ ]*) .*/\2/p' <<<"$output" | tr '\n' ' ')
	BAD=${BAD% }
	FIX=$(sed -nE 's/^(warning|problem) [^ ]* //p' <<<"$output" | sed 's/\\x20/ /g')
}

# doctor_names CAUSES [PID]: these and no others, status 1.
doctor_names() {
	local causes=$1
	shift
	doctor "$@"
	assert_equal "$BAD" "$causes"
	assert_failure 1
}

doctor_is_content() {
	doctor "$@"
	assert_equal "$BAD" ''
	assert_success
}

# run_fix: run what $FIX says for root.
run_fix() {
	local line commands=0
	while IFS= read -r line; do
		[[ $line == *"as root: "* ]] || continue
		bash -ec "${line##*as root: }" || fail "does not work: $line"
		commands=$((commands + 1))
	done <<<"$FIX"
	[ "$commands" -gt 0 ] || fail "no command: $FIX"
}

# writes_now ARG...: newuidmap writes ARG... to $TARGET.
writes_now() {
	run as_caller "$HELPERS/newuidmap" "$TARGET" "$@"
	assert_silent_success
}

@test "with nothing in the way doctor finds no cause" {
	content() {
		doctor_is_content
		spawn_userns alice
		doctor_is_content "$TARGET"
		writes_now 0 100000 65536
	}
	both content
}

@test "a nosuid mount is named and its fix works" {
	mkdir -p /run/nosuid
	nosuid() {
		mount -t tmpfs -o mode=755,nosuid,nodev tmpfs /run/nosuid
		cp -p --preserve=all "$SPOILT"/* /run/nosuid
		HELPERS=/run/nosuid
		PATH=/run/nosuid:$PATH
		spawn_userns alice
		helper_names 'this program lies on a file system mounted nosuid$' 0 100000 10
		doctor_names 'newuidmap_mount newgidmap_mount'
		run_fix
		assert_equal "$(findmnt -no VFS-OPTIONS /run/nosuid)" rw,nodev,relatime
		doctor_is_content
		writes_now 0 100000 10
		umount -l /run/nosuid
		PATH=${PATH#*:}
	}
	both nosuid
}

@test "the fix that the helper itself prints for a nosuid mount works" {
	mkdir -p /run/nosuid
	nosuid() {
		mount -t tmpfs -o mode=755,nosuid,nodev tmpfs /run/nosuid
		cp -p --preserve=all "$SPOILT"/* /run/nosuid
		HELPERS=/run/nosuid
		spawn_userns alice
		helper_names 'this program lies on a file system mounted nosuid$' 0 100000 10
		run_fix
		writes_now 0 100000 10
		umount -l /run/nosuid
	}
	both nosuid
}

@test "helpers without their setuid bit are named and the fix works" {
	copies "$HELPERS_SETUID"
	chmod 755 "$SPOILT"/*
	spawn_userns alice
	helper_names 'this program is neither setuid root nor has it file capabilities$' 0 100000 10
	doctor_names 'newuidmap_privilege newgidmap_privilege'
	run_fix
	doctor_is_content
	writes_now 0 100000 10
}

@test "helpers without their capabilities are named and the fix works" {
	copies "$HELPERS_FILECAPS"
	setcap -r "$SPOILT/newuidmap"
	spawn_userns alice
	helper_names 'this program is neither setuid root nor has it file capabilities$' 0 100000 10
	doctor_names newuidmap_privilege
	run_fix
	doctor_is_content
	writes_now 0 100000 10
}

@test "the fix that the helper itself prints for lost privilege works" {
	lost() {
		chmod 755 "$SPOILT"/newuidmap
		setcap -r "$SPOILT/newuidmap" 2>/dev/null || true
		spawn_userns alice
		helper_names 'this program is neither' 0 100000 10
		run_fix
		writes_now 0 100000 10
	}
	both lost
}

@test "a path that can't stand in a command as it is stands in no fix" {
	install -d '/run/tmp/a folder'
	install -m 755 "$HELPERS_SETUID/newuidmap" '/run/tmp/a folder'
	HELPERS='/run/tmp/a folder'
	spawn_userns alice
	helper_names 'this program is neither' 0 100000 10
	assert_equal "$FIX" 'as root: setcap cap_setuid=ep PATH-OF-THIS-PROGRAM'
}

@test "a setuid helper of another owner than root is named and the fix works" {
	copies "$HELPERS_SETUID"
	chown bob "$SPOILT/newuidmap"
	chmod 4755 "$SPOILT/newuidmap"
	doctor_names 'newuidmap_privilege newuidmap_owner'
	run_fix
	doctor_is_content
	spawn_userns alice
	writes_now 0 100000 10
}

@test "helpers that others may change are a warning and the fix works" {
	others() {
		chmod go+w "$SPOILT/newgidmap"
		doctor
		assert_equal "$BAD" newgidmap_owner
		assert_success
		run_fix
		doctor_is_content
	}
	both others
}

@test "no_new_privs of the caller is named" {
	no_new_privs() {
		as_caller() { as alice setpriv --no-new-privs "$@"; }
		spawn_userns alice
		helper_names 'the caller has no_new_privs set' 0 100000 10
		assert_equal "$FIX" \
			'start the caller without it (systemd: NoNewPrivileges=no)'
		doctor_names no_new_privs "$TARGET"
		as_caller() { as alice "$@"; }
		doctor_is_content "$TARGET"
		writes_now 0 100000 10
	}
	both no_new_privs
}

# A program with file capabilities that the bounding set lacks is not even started by the kernel.
@test "a bounding set without the capability is named" {
	copies "$HELPERS_SETUID"
	as_caller() {
		setpriv --reuid 1001 --regid 1001 --init-groups --inh-caps=-all \
			--bounding-set=-setuid -- "$@"
	}
	spawn_userns alice
	helper_names "the capability is not in the caller's bounding set\$" 0 100000 10
	assert_equal "$FIX" \
		'start the caller with cap_setuid (systemd: CapabilityBoundingSet=)'
	doctor_names bounding_set "$TARGET"
	assert_regex "$FIX" '^start the caller with cap_setuid in it'
	as_caller() { as alice "$@"; }
	doctor_is_content "$TARGET"
	writes_now 0 100000 10
}

@test "a map that is written already is named and shown" {
	second() {
		spawn_userns alice
		writes_now 0 100000 10
		helper_names 'the map is written already' 0 100020 5
		assert_line '0 100000 10'
		doctor_names target_uid_map "$TARGET"
		spawn_userns alice
		doctor_is_content "$TARGET"
		writes_now 0 100020 5
	}
	both second
}

@test "a target in our own namespace is named" {
	own() {
		spawn become alice sleep infinity
		helper_names 'the target is in our own user namespace' 0 100000 10
		assert_equal "$FIX" \
			'call again once the target has called unshare(CLONE_NEWUSER)'
		doctor_names target_uid_map "$TARGET"
		assert_equal "$FIX" \
			'call again once the target has called unshare(CLONE_NEWUSER)'
	}
	both own
}

# inside MAP: a user namespace with that uid_map, and gid_map of all; the caller is alice in it, and
# spawn_inside starts a target of hers.
inside() {
	spawn unshare -U sleep infinity
	INSIDE=$TARGET
	printf '%s\n' "$1" | tr ',' '\n' >"/proc/$INSIDE/uid_map"
	echo 0 0 4294967295 >"/proc/$INSIDE/gid_map"
	as_caller() { nsenter -U -t "$INSIDE" -S 1001 -G 1001 -- "$@"; }
}

spawn_inside() {
	spawn exec nsenter -U -t "$INSIDE" -S 1001 -G 1001 -- unshare -U sleep infinity
}

@test "a parent map that lacks the outer IDs is named and the fix works" {
	too_small() {
		grant_uid alice:100000:65536
		inside '0 0 65536'
		spawn_inside
		helper_names 'outer IDs do not lie inside one extent' 0 100000 10
		assert_line '0 0 65536'
		assert_regex "$FIX" 'outer 100000 is not mapped here'
		doctor_names uid_map "$TARGET"
		run_fix
		doctor
		assert_equal "$BAD" subuid # fewer than 65536 now
		assert_success
		local start
		IFS=: read -r _ start _ </etc/subuid
		writes_now 0 "$start" 10
	}
	both too_small
}

@test "outer IDs across a boundary of the parent map are named and the split works" {
	crossing() {
		inside '0 0 100010,100010 200000 65536'
		spawn_inside
		helper_names 'outer IDs do not lie inside one extent' 0 100000 100
		assert_line '100010 200000 65536'
		assert_equal "$FIX" 'instead of 0 100000 100 ask for 0 100000 10 10 100010 90'
		doctor "$TARGET"
		assert_equal "$BAD" uid_map
		assert_success
		assert_regex "$FIX" 'by hand: idmap dump --format=newuidmap$'
		run as_caller "$IDMAP" dump --format=newuidmap
		assert_line --partial ' 0 1001 1 1 100000 10 11 100010 65526'
		writes_now 0 100000 10 10 100010 90
		spawn_inside
		run as_caller "$IDMAP" "$TARGET" -u
		assert_silent_success
	}
	both crossing
}

@test "outer 0 without cap_setfcap is named and the fix works" {
	copies "$HELPERS_FILECAPS"
	grant_uid alice:0:10 alice:100000:65536
	spawn_userns alice
	helper_names 'outer 0 is asked for, and that needs cap_setfcap too$' 0 0 1
	local fix=$FIX
	doctor_names outer_zero "$TARGET"
	run_fix
	doctor_is_content "$TARGET"
	writes_now 0 0 1
	setcap cap_setuid=ep "$SPOILT/newuidmap"
	FIX=$fix
	run_fix
	spawn_userns alice
	writes_now 0 0 1
}

without_setfcap() {
	setpriv --reuid 1001 --regid 1001 --init-groups --inh-caps=-all --bounding-set=-setfcap \
		-- "$@"
}

@test "a bounding set without cap_setfcap is named by doctor to who is granted 0 alone" {
	copies "$HELPERS_SETUID"
	as_caller() { without_setfcap "$@"; }
	doctor_is_content
	grant_uid alice:0:10 alice:100000:65536
	doctor_names bounding_set
	assert_regex "$FIX" '^start the caller with cap_setfcap in it'
}

@test "a bounding set without cap_setfcap is named by the helper that shall map outer 0" {
	copies "$HELPERS_SETUID"
	grant_uid alice:0:10 alice:100000:65536
	as_caller() { without_setfcap "$@"; }
	spawn_userns alice
	helper_names "the capability is not in the caller's bounding set\$" 0 0 1
	assert_regex "$FIX" 'start the caller with cap_setfcap'
}

@test "outer 0 for root without cap_setfcap is named" {
	copies "$HELPERS_FILECAPS"
	grant_uid
	as_caller() {
		setpriv --inh-caps=-all --bounding-set=-setfcap -- "$@"
	}
	spawn unshare -U sleep infinity
	helper_names "the capability is not in the caller's bounding set\$" 0 0 1
	as_caller() { "$@"; }
	writes_now 0 0 1
}

@test "max_user_namespaces of 0 is named and the fix works" {
	copies "$HELPERS_SETUID"
	inside '0 0 4294967295'
	nsenter -U -t "$INSIDE" -S 0 -G 0 -- sysctl -qw user.max_user_namespaces=0
	run as_caller unshare -U true
	assert_failure
	doctor_names max_user_namespaces
	assert_equal "$FIX" 'as root: sysctl -w user.max_user_namespaces=15000'
	run_inside() { nsenter -U -t "$INSIDE" -S 0 -G 0 -- bash -c "${FIX#as root: }"; }
	run run_inside
	assert_success
	doctor_is_content
	as_caller unshare -U true
}

@test "33 nested namespaces are named, inside as what the kernel leaves open, outside by number" {
	local nest='unshare -r ' command=
	copies "$HELPERS_SETUID"
	for ((depth = 0; depth < 33; depth++)); do
		command+=$nest
	done
	# shellcheck disable=SC2086
	spawn become alice $command sleep infinity
	run as alice nsenter -U --preserve-credentials -t "$TARGET" unshare -U true
	assert_failure
	assert_output --partial 'No space left on device'
	as_caller() { nsenter -U --preserve-credentials -t "$TARGET" "$@"; }
	run as_caller "$IDMAP" doctor
	assert_failure 1
	assert_line --regexp '^problem nesting +33 namespaces deep, which is the limit, or'
	refute_line --regexp '^problem (max_user|unshare)'
	as_caller() { as alice "$@"; }
	doctor "$TARGET"
	assert_equal "$BAD" target_nesting
	assert_failure 1
}

@test "32 nested namespaces are no cause" {
	local command=
	copies "$HELPERS_SETUID"
	for ((depth = 0; depth < 32; depth++)); do
		command+='unshare -r '
	done
	# shellcheck disable=SC2086
	spawn become alice $command sleep infinity
	run as alice nsenter -U --preserve-credentials -t "$TARGET" "$IDMAP" doctor
	refute_line --regexp '^problem (max_user|unshare|nesting)'
	assert_line --regexp '^ok +nesting '
}

@test "a target that is not dumpable is named" {
	install -m 711 "$(command -v sleep)" /run/tmp/sleep
	undumpable() {
		spawn become alice unshare -U /run/tmp/sleep infinity
		helper_names 'the target is not dumpable' 0 100000 10
		doctor_names target_uid_map "$TARGET"
		assert_regex "$FIX" 'PR_SET_DUMPABLE'
		chmod 755 /run/tmp/sleep
		spawn become alice unshare -U /run/tmp/sleep infinity
		doctor_is_content "$TARGET"
		writes_now 0 100000 10
		chmod 711 /run/tmp/sleep
	}
	both undumpable
}

# spawn_zombie: a target that has ended in its own namespace and is not reaped.
spawn_zombie() {
	spawn become alice sh -c '
		unshare -U sh -c "exec 3>&-; echo \$\$ >/run/home/alice/zombie" &
		exec sleep infinity'
	until [ "$(ps -o stat= --ppid "$TARGET" | head -c 1)" = Z ]; do
		sleep 0.02
	done
	TARGET=$(</run/home/alice/zombie)
}

@test "a zombie is named by doctor" {
	copies "$HELPERS_SETUID"
	spawn_zombie
	doctor_names target_zombie "$TARGET"
}

@test "a zombie is named by the helper" {
	spawn_zombie
	helper() { helper_names 'the target has ended' 0 100000 10; }
	both helper
}

@test "a namespace that is no child of ours is named by doctor" {
	copies "$HELPERS_SETUID"
	spawn become alice unshare -r unshare -U sleep infinity
	doctor_names target_namespace "$TARGET"
}

@test "a namespace that is no child of ours is named by the helper" {
	spawn become alice unshare -r unshare -U sleep infinity
	helper() {
		helper_names "the target's user namespace is no child of ours" 0 100000 10
	}
	both helper
}

# spawn_hidden: hidepid, and a target that is not dumpable, which it hides.
spawn_hidden() {
	mkdir -p /run/tmp/hidden
	install -m 711 "$(command -v sleep)" /run/tmp/hidden/sleep
	mount -o remount,hidepid=2 /proc
	spawn become alice unshare -U /run/tmp/hidden/sleep infinity
}

@test "hidepid that hides the target is named by doctor and the fix works" {
	copies "$HELPERS_SETUID"
	spawn_hidden
	doctor_names target_hidden "$TARGET"
	local own=$TARGET fix=$FIX
	spawn_userns bob
	doctor_names target_hidden "$TARGET"
	FIX=$fix
	run_fix
	doctor_names target_uid_map "$own"
	doctor_names target_owner "$TARGET"
}

@test "hidepid that hides the target is not taken for its end by the helper" {
	spawn_hidden
	hidden() {
		run as_caller "$HELPERS/newuidmap" fd:8 0 100000 10 8<"/proc/$TARGET"
		assert_failure 1
		assert_output --partial 'target "fd:8" is hidden: as root: '
		run as_caller "$HELPERS/newuidmap" "$TARGET" 0 100000 10
		assert_failure 1
		assert_output --partial ' is hidden: as root: '
		FIX=$output
		run_fix
		run as_caller "$HELPERS/newuidmap" "$TARGET" 0 100000 10
		assert_output --partial 'the target is not dumpable'
		mount -o remount,hidepid=2 /proc
	}
	both hidden
	mount -o remount,hidepid=0 /proc
}

@test "hidepid alone is in nobody's way" {
	ordinary() {
		mount -o remount,hidepid=2 /proc
		spawn_userns alice
		doctor_is_content "$TARGET"
		writes_now 0 100000 10
		mount -o remount,hidepid=0 /proc
	}
	both ordinary
}

# in_group GID CMD...: turn this subshell into CMD, run by alice but for the real group.
in_group() {
	exec setpriv --reuid 1001 --regid "$1" --groups 1001,1002 --inh-caps=-all -- "${@:2}"
}

@test "a group that is not the primary one is named and both fixes work" {
	group() {
		sed -i /GRANT_AUX/d /etc/login.defs
		as_caller() { (in_group 1002 "$@"); }
		spawn in_group 1002 unshare -U sleep infinity
		doctor_names group "$TARGET"
		local fix=$FIX
		helper_names 'your group is not your primary one' 0 100000 10
		assert_equal "$FIX" 'run both as user 1001 and group 1001'
		FIX=$fix
		run_fix
		doctor_is_content "$TARGET"
		writes_now 0 100000 10
		sed -i /GRANT_AUX/d /etc/login.defs
		as_caller() { as alice "$@"; }
		spawn_userns alice
		writes_now 0 100000 10
	}
	both group
}

@test "doctor names the caller's group alone where the target has the primary one" {
	copies "$HELPERS_SETUID"
	as_caller() { (in_group 1002 "$@"); }
	spawn_userns alice
	doctor_names group "$TARGET"
	assert_regex "$FIX" 'a shell of: newgrp alice; '
	as_caller() { as alice "$@"; }
	doctor_is_content "$TARGET"
	writes_now 0 100000 10
}

# spawn_by_sg: alice, in the group 1002, starts a target with sg(1).
spawn_by_sg() {
	rm -f /run/home/alice/pid
	in_group 1002 sg alice -c 'echo $$ >/run/home/alice/pid; exec unshare -U sleep infinity' \
		</dev/null >/dev/null 2>&1 3>&- &
	until TARGET=$(cat /run/home/alice/pid 2>/dev/null) && [ -n "$TARGET" ] &&
		[ "$(cat "/proc/$TARGET/comm")" = sleep ]; do
		sleep 0.02
	done
	TARGETS+=("$TARGET")
}

@test "a target of another group is named and the fix works" {
	group() {
		spawn in_group 1002 unshare -U sleep infinity
		helper_names 'the target runs with another group' 0 100000 10
		doctor_names target_owner "$TARGET"
		assert_equal "$FIX" 'start the target with: sg alice -c COMMAND'
		spawn_by_sg
		doctor_is_content "$TARGET"
		writes_now 0 100000 10
	}
	both group
}

@test "a target of another user is named and the fix works" {
	copies "$HELPERS_SETUID"
	spawn_userns bob
	grant_uid alice:100000:65536 bob:200000:65536
	grant_gid alice:300000:65536 bob:400000:65536
	helper_names 'the target runs as another user' 0 100000 10
	doctor_names target_owner "$TARGET"
	assert_equal "$FIX" "as root: idmap write --user 1002 $TARGET"
	PATH=${IDMAP%/*}:$PATH
	run_fix
	assert_map uid_map '0 1002 1,1 200000 65536'
}

@test "no grant, a file that all may write, and a symlink are named and the fixes work" {
	copies "$HELPERS_SETUID"
	grant_uid
	doctor_names subuid
	run_fix
	doctor_is_content
	chmod 666 /etc/subuid
	doctor_names subuid
	run_fix
	doctor_is_content
	mv /etc/subuid /etc/subuid.real
	ln -s subuid.real /etc/subuid
	doctor_names subuid
	run_fix
	doctor_is_content
	rm /etc/subuid.real
}

@test "a directory service without its plugin is named and the fix works" {
	copies "$HELPERS_SETUID"
	echo 'subid: sss' >>/etc/nsswitch.conf
	doctor
	assert_equal "$BAD" nsswitch
	assert_success
	[[ $FIX == *'package that has libsubid_sss.so'* ]]
	run_fix
	doctor_is_content
	[ "$(grep -c '' /etc/nsswitch.conf)" -gt 2 ]
}

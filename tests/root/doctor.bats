#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
#
# idmap doctor: what it shows, in which shape, and with which status. Its causes are in causes.bats.

# shellcheck disable=SC2030,SC2031 # each test has its own PATH

load helper

setup() {
	grant_uid alice:100000:65536
	grant_gid alice:300000:65536
	chmod 644 /etc/subuid /etc/subgid
	export PATH=$HELPERS_SETUID:$PATH
}

doctor() {
	run --separate-stderr as "${CALLER-alice}" "$IDMAP" doctor "$@"
	assert_equal "$stderr" ''
}

# cell CAUSE COLUMN: of the last JSON answer, each finding of that cause on a line.
cell() {
	python3 -c '
import json, sys
for row in json.loads(sys.argv[1])["causes"]:
    if row["cause"] == sys.argv[2]:
        print(row[sys.argv[3]])' "$output" "$@"
}

# on_terminal CMD...: what alice's CMD writes to a terminal, plain.
on_terminal() {
	as alice env TERM=xterm python3 -c '
import os, pty, sys
sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))' "$@" </dev/null
}

@test "every cause has a row with what was read and where" {
	local cause
	doctor
	assert_success
	for cause in kernel max_user_namespaces nesting unprivileged_userns_clone apparmor \
		seccomp unshare yama lsm no_new_privs bounding_set newuidmap newuidmap_privilege \
		newuidmap_mount newgidmap newgidmap_privilege newgidmap_mount nsswitch account \
		subuid subgid uid_map gid_map layout; do
		assert_line --regexp "^ok +$cause +[^ ]"
	done
	assert_line --regexp "^ok +kernel +Linux $(uname -r): a map has up to 340 extents and \
$(($(getconf PAGESIZE) - 1)) bytes "
	assert_line --regexp "^ok +max_user_namespaces +up to $(</proc/sys/user/max_user_namespaces) "
	assert_line --regexp "^ok +newuidmap +$HELPERS_SETUID/newuidmap +PATH"
	assert_line --regexp '^ok +newuidmap_privilege +mode 4755, owner 0, capabilities: none '
	assert_line --regexp '^ok +subuid +65536 IDs, from line 1 on: 100000\.\.165535 +/etc/subuid'
	assert_line --regexp '^ok +uid_map +1 extent, the largest of 4294967295 IDs; of the grants up to 65536 in one piece'
	refute_line --partial 'fix:'
}

@test "file capabilities of the helpers are shown" {
	PATH=$HELPERS_FILECAPS:$PATH
	doctor
	assert_success
	assert_line --regexp '^ok +newuidmap_privilege +mode 0755, owner 0, capabilities: .*cap_setuid[=+]ep'
	assert_line --regexp '^ok +newgidmap_privilege +mode 0755, owner 0, capabilities: .*cap_setgid[=+]ep'
}

@test "JSON is one document with all columns, the fix too" {
	grant_gid
	doctor --json
	assert_failure 1
	assert_equal "$(cell subgid state)" problem
	assert_equal "$(cell subgid source)" /etc/subgid
	assert_equal "$(cell subgid evidence)" 'no entry for alice or 1001'
	assert_equal "$(cell subgid fix)" 'as root: usermod --add-subgids 100000-165535 alice'
	assert_equal "$(cell subuid state)" ok
	assert_equal "$(cell subuid fix)" None
}

@test "the text has the fix below the table" {
	grant_uid
	doctor
	assert_failure 1
	assert_line --regexp '^problem +subuid +no entry for alice or 1001 +/etc/subuid'
	assert_equal "${lines[-1]}" \
		'subuid: fix: as root: usermod --add-subuids 100000-165535 alice'
}

@test "o chooses columns and a wrong one is refused with their names" {
	doctor --noheadings -o cause,STATE
	assert_line --regexp '^kernel +ok$'
	run --separate-stderr as alice "$IDMAP" doctor -o CAUSE,X
	assert_failure 2
	assert_regex "$stderr" "^idmap: -o 'CAUSE,X': .*STATE, CAUSE, EVIDENCE, SOURCE and FIX"
}

@test "usage errors have status 2" {
	run --separate-stderr as alice "$IDMAP" doctor 1 2
	assert_failure 2
	run --separate-stderr as alice "$IDMAP" doctor --nonsense
	assert_failure 2
	run --separate-stderr as alice "$IDMAP" doctor x
	assert_failure 2
	assert_equal "${stderr%%$'\n'*}" "idmap: 'x' is neither a process ID nor fd:N"
	run -0 --separate-stderr as alice "$IDMAP" doctor --help
	assert_line --index 0 'Usage: idmap doctor [OPTION]... [PID|fd:N]'
}

@test "colours are for a terminal, and NO_COLOR keeps them away" {
	run on_terminal "$IDMAP" doctor
	assert_success
	assert_output --partial $'\e[32m'
	run on_terminal env NO_COLOR=1 "$IDMAP" doctor
	assert_success
	refute_output --partial $'\e['
	run on_terminal env NO_COLOR= "$IDMAP" doctor
	assert_output --partial $'\e[32m'
	doctor
	refute_output --partial $'\e['
}

@test "few grants are a warning and status 0, with the line that adds more" {
	grant_uid alice:100000:10
	doctor
	assert_success
	assert_line --regexp '^warning +subuid +10 IDs, from line 1 on: 100000\.\.100009; images'
	assert_line 'subuid: fix: as root: usermod --add-subuids 100010-165545 alice'
}

@test "helpers that are not in PATH are a problem with what to install" {
	run --separate-stderr as alice env PATH=/run/home/alice "$IDMAP" doctor
	assert_failure 1
	assert_line --regexp '^problem +newuidmap +no newuidmap in it +PATH'
	assert_line --regexp '^newgidmap: fix: .*apt-get install uidmap'
}

@test "a helper behind a symlink is shown with its file" {
	local folder
	folder=$(mktemp -d)
	chmod 755 "$folder"
	ln -s "$HELPERS_SETUID/newuidmap" "$folder/newuidmap"
	PATH=$folder:$PATH
	doctor
	assert_success
	assert_line --regexp "^ok +newuidmap +$folder/newuidmap is $HELPERS_SETUID/newuidmap +PATH"
}

@test "a command for root is quoted where a path or a name needs it" {
	local folder="/run/tmp/it's; here"
	mkdir "$folder"
	cp "$HELPERS_SETUID/newuidmap" "$folder"
	PATH=$folder:$PATH
	doctor --json
	assert_failure 1
	local fix
	fix=$(cell newuidmap_privilege fix)
	assert_equal "$fix" "as root: setcap cap_setuid=ep '/run/tmp/it'\\''s; here/newuidmap'"
	bash -ec "${fix#as root: }"
	doctor
	assert_success
	CALLER='DOMAIN\alice'
	doctor --json
	assert_equal "$(cell subuid fix)" \
		"as root: usermod --add-subuids 165536-231071 'DOMAIN\\alice'"
}

@test "root needs neither helpers nor grants, so that they are warnings" {
	chmod 755 "$HELPERS_SETUID/newuidmap"
	CALLER=root doctor
	chmod 4755 "$HELPERS_SETUID/newuidmap"
	assert_success
	assert_line --regexp '^warning +newuidmap_privilege '
	assert_line --regexp '^warning +subuid +no entry for root or 0'
}

@test "a caller without an entry in passwd is told so" {
	grant_uid 1999:100000:65536
	grant_gid 1999:100000:65536
	run --separate-stderr setpriv --reuid 1999 --regid 1999 --clear-groups --inh-caps=-all -- \
		"$IDMAP" doctor
	assert_failure 1
	assert_line --regexp '^problem +account +user ID 1999 has no entry'
	assert_line 'account: fix: as root: useradd --uid 1999 NAME'
}

@test "a live map that the files still grant is ok, once for each namespace" {
	spawn_userns alice
	as alice "$IDMAP" "$TARGET"
	local first=$TARGET
	spawn become alice nsenter -U --preserve-credentials -t "$first" sleep infinity
	doctor --json
	assert_success
	assert_equal "$(cell live_map evidence)" "uid_map of process $first: the default layout, as it is granted now
gid_map of process $first: the default layout, as it is granted now"
}

@test "a live map of another layout inside the grants is ok" {
	spawn_userns alice
	as alice "$IDMAP" "$TARGET" --layout subids --size 10
	doctor --json
	assert_success
	assert_equal "$(cell live_map state | sort -u)" ok
	assert_equal "$(cell live_map evidence | grep -c 'not the default layout; all its outer IDs are granted')" 2
}

@test "a live map with IDs that are not granted is a warning, and its history is left open" {
	spawn_userns alice
	as alice "$IDMAP" "$TARGET"
	grant_uid alice:500000:65536
	doctor --json
	assert_success
	assert_equal "$(cell live_map state)" 'warning
ok'
	assert_equal "$(cell live_map evidence | head -n 1)" "uid_map of process $TARGET \
maps IDs that /etc/subuid does not grant alice: 100000..165535 (never granted, or the file was edited since)"
	grant_uid alice:100000:65536
	doctor
	refute_line --regexp 'edited since|fewer IDs'
}

@test "a map that root wrote is not said to come of an edited file" {
	spawn_userns alice
	"$IDMAP" "$TARGET" 0:5:10
	doctor --json
	assert_success
	assert_equal "$(cell live_map evidence | head -n 1)" "uid_map of process $TARGET maps IDs that /etc/subuid does not grant alice: 5..14 (never granted, or the file was edited since)"
}

@test "files that have grown since are a warning too, another layout of older files is none" {
	spawn_userns alice
	as alice "$IDMAP" "$TARGET"
	local first=$TARGET
	sleep 0.1
	grant_uid alice:100000:65536 bob:200000:10
	doctor
	refute_line --regexp 'edited since|fewer IDs'
	touch -d +1hour /etc/subuid
	spawn_userns alice
	as alice "$IDMAP" "$TARGET" --layout keep-id
	doctor
	refute_line --regexp 'edited since|fewer IDs'
	grant_uid alice:100000:65536 alice:500000:65536
	kill "$TARGET"
	sleep 0.1
	spawn_userns alice
	as alice "$IDMAP" "$TARGET" --size 10
	doctor --json
	assert_success
	assert_equal "$(cell live_map evidence | grep -c 'edited since')" 1
	assert_equal "$(cell live_map evidence | head -n 1)" "uid_map of process $first \
has fewer IDs than /etc/subuid grants alice, and the file was edited since the process began"
}

@test "the namespaces of other users are not looked at" {
	spawn_userns bob
	doctor
	refute_line --partial live_map
	CALLER=root doctor
	refute_line --partial live_map
}

@test "a target that is ready has only ok" {
	spawn_userns alice
	doctor "$TARGET"
	assert_success
	assert_line --regexp '^ok +target_namespace +a child of ours'
	assert_line --regexp '^ok +target_uid_map +not written yet, and may be'
	assert_line --regexp '^ok +target_gid_map +not written yet, and may be'
	doctor fd:7 7<"/proc/$TARGET"
	assert_success
	assert_line --regexp "^ok +target_owner +process fd:7 has uid 1001"
	assert_equal "$(cat "/proc/$TARGET/uid_map" "/proc/$TARGET/gid_map")" ''
}

@test "a number that no process has is a problem" {
	doctor 4194305
	assert_failure 1
	assert_line --regexp '^problem +target +4194305 is no running process'
}

@test "in a namespace whose map is not written the map is the one problem" {
	spawn_userns alice
	run --separate-stderr as alice nsenter -U --preserve-credentials -t "$TARGET" \
		"$IDMAP" doctor --noheadings --raw -o STATE,CAUSE
	assert_failure 1
	assert_line 'problem uid_map'
	assert_line 'problem gid_map'
	refute_line 'problem unshare'
}

@test "a caller whose ID the own namespace lacks is told so" {
	spawn_userns alice
	as alice "$IDMAP" "$TARGET"
	run --separate-stderr nsenter -U --preserve-credentials -t "$TARGET" \
		setpriv --inh-caps=-all --bounding-set=-all "$IDMAP" doctor
	assert_failure 1
	assert_line --regexp '^problem +own_id '
	refute_line --regexp '^problem +unshare '
}

@test "a chroot is a problem of unshare with its errno" {
	mkdir -p /run/jail
	mount --rbind / /run/jail
	run --separate-stderr chroot /run/jail /usr/bin/env PATH="$PATH" setpriv --reuid 1001 \
		--regid 1001 --init-groups --inh-caps=-all -- "$IDMAP" doctor
	umount -l /run/jail
	assert_failure 1
	assert_line --regexp '^problem +unshare +a child could make no user namespace: Operation not'
	assert_line --regexp '^unshare: fix: leave the chroot'
}

@test "another user's process that has not unshared is said to be one" {
	doctor 1
	assert_failure 1
	assert_line --partial 'its uid_map is that of our own namespace, so it seems not to have unshared'
	refute_line --partial 'idmap write --user'
	spawn_userns bob
	doctor "$TARGET"
	assert_failure 1
	refute_line --partial 'have unshared'
	assert_line --partial "idmap write --user 1002 $TARGET"
}

@test "inside a namespace without root the helpers' privilege is not judged" {
	run -0 --separate-stderr as alice "$IDMAP" exec -- "$IDMAP" doctor
	assert_line --partial 'shows as 65534, as whoever has no ID in this user namespace does: its privilege can'
	refute_line --partial setcap
	refute_line --partial 'chown root'
	refute_line --partial usermod
}

@test "a line that was meant to grant is named, and so is a file that is not there" {
	grant_uid 'alice:100000:65536 # mine'
	rm /etc/subgid
	doctor
	assert_failure 1
	assert_line --partial 'line 1 names alice but grants nothing: COUNT is no plain number'
	assert_line --partial 'the file does not exist: no entry for alice or 1001'
	assert_line --partial 'fix: as root: touch /etc/subgid; usermod --add-subgids '
}

@test "each raw line has a word for each column" {
	doctor --raw --noheadings
	assert_success
	assert_equal "$(awk '{ print NF }' <<<"$output" | sort -u)" 5
}

@test "on a terminal long cells are wrapped" {
	run on_terminal stty cols 100
	run -0 on_terminal sh -c "stty cols 100; '$IDMAP' doctor"
	assert_equal "$(tr -d '\r' <<<"$output" | sed 's/\x1b\[[0-9;]*m//g' | grep -v fix: | awk 'length > 100')" ''
}

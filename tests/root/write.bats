#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
#
# idmap write on real user namespaces: the three ways, what is checked first, what a failure leaves.

load ../support

setup() {
	grant_uid alice:100000:65536
	grant_gid alice:300000:65536
	chmod 644 /etc/subuid /etc/subgid
	sed -i '/^subid:/d' /etc/nsswitch.conf
	export PATH=$HELPERS_SETUID:$PATH
}

# live KIND [PID]: the live map, blanks squeezed, one line.
live() {
	tr -s ' \n' ' ' <"/proc/${2:-$TARGET}/$1_map" | sed 's/^ //; s/ $//'
}

# assert_maps UID_MAP GID_MAP: the live maps of $TARGET.
assert_maps() {
	assert_equal "$(live uid)" "$1"
	assert_equal "$(live gid)" "$2"
}

# write USER ARG...: idmap as USER on $TARGET.
write() {
	local user=$1
	shift
	run --separate-stderr as "$user" "$IDMAP" "$TARGET" "$@"
}

# assert_silent_success: status 0 and not one byte on stdout and stderr.
assert_silent_success() {
	assert_equal "$output$stderr" ""
	assert_success
}

# assert_message PATTERN: stderr as a whole matches a pattern of the shell.
assert_message() {
	# shellcheck disable=SC2053
	[[ $stderr == $1 ]] || fail "stderr is: $stderr"
}

# assert_untouched: neither a map nor setgroups of $TARGET was written.
assert_untouched() {
	assert_maps "" ""
	assert_equal "$(cat "/proc/$TARGET/setgroups")" allow
}

first_in_path() {
	export PATH=$1:$PATH
}

# broken_helper NAME SCRIPT: a folder first in PATH, $BROKEN, in which NAME is a shell script.
broken_helper() {
	BROKEN=$(mktemp -d)
	printf '#!/bin/sh\n%s\n' "$2" >"$BROKEN/$1"
	chmod 755 "$BROKEN" "$BROKEN/$1"
	first_in_path "$BROKEN"
}

# start_and_write COMMAND: "unshare -U sleep 60 & idmap $!" as alice types it, then both maps.
start_and_write() {
	as alice sh -c "unshare -U sleep 60 3>&- & $IDMAP \"\$@\" \$! && cat /proc/\$!/uid_map \
		/proc/\$!/gid_map | tr -s ' ' | sed 's/^ //'; r=\$?; kill \$!; exit \$r" sh "$@"
}

@test "unshare_in_the_background_and_idmap_at_once_map_root_to_the_caller_and_the_grant_above" {
	for _ in 1 2 3 4 5; do
		run --separate-stderr start_and_write
		assert_success
		assert_equal "$stderr" ""
		assert_equal "$output" "0 1001 1
1 100000 65536
0 1001 1
1 300000 65536"
	done
}

@test "setuid_helpers_write_both_maps_and_nothing_is_said" {
	spawn_userns alice
	write alice
	assert_silent_success
	assert_maps "0 1001 1 1 100000 65536" "0 1001 1 1 300000 65536"
	assert_equal "$(cat "/proc/$TARGET/setgroups")" allow
}

@test "helpers_with_file_capabilities_write_both_maps_and_nothing_is_said" {
	first_in_path "$HELPERS_FILECAPS"
	spawn_userns alice
	write alice
	assert_silent_success
	assert_maps "0 1001 1 1 100000 65536" "0 1001 1 1 300000 65536"
}

@test "the_helpers_of_shadow_that_know_no_fd_write_both_maps_too" {
	first_in_path "$SYSTEM_HELPERS"
	spawn_userns alice
	write alice
	assert_silent_success
	assert_maps "0 1001 1 1 100000 65536" "0 1001 1 1 300000 65536"
}

@test "both_helpers_run_at_the_same_time" {
	local helper other
	for helper in newuidmap newgidmap; do
		other=$([ $helper = newuidmap ] && echo newgidmap || echo newuidmap)
		broken_helper $helper "touch \$HOME/$helper
			for i in 1 2 3 4 5 6 7 8 9 10; do
				[ -e \$HOME/$other ] && exec $HELPERS_SETUID/$helper \"\$@\"
				sleep 0.2
			done
			exit 1"
	done
	spawn_userns alice
	write alice
	assert_silent_success
	assert_maps "0 1001 1 1 100000 65536" "0 1001 1 1 300000 65536"
}

@test "root_writes_directly_without_helpers_and_without_grants" {
	broken_helper newuidmap "exit 1"
	broken_helper newgidmap "exit 1"
	spawn_userns alice
	write root 0:5000:10 g:10:7000:1
	assert_silent_success
	assert_equal "$(live uid)" "0 5000 10"
	assert_equal "$(live gid)" "0 5000 10 10 7000 1"
	assert_equal "$(cat "/proc/$TARGET/setgroups")" allow
}

@test "a_direct_write_that_fails_leaves_the_other_map_alone" {
	spawn_userns alice
	run -1 --separate-stderr setpriv --bounding-set=-setfcap "$IDMAP" "$TARGET" 0:0:10
	assert_message "idmap: writing uid_map: Operation not permitted*outer 0 without CAP_SETFCAP*"
	assert_untouched
}

@test "root_writes_the_layout_of_another_user" {
	spawn_userns alice
	write root --user alice
	assert_silent_success
	assert_maps "0 1001 1 1 100000 65536" "0 1001 1 1 300000 65536"
}

@test "own_id_alone_needs_no_helper_and_no_grant_and_denies_setgroups" {
	broken_helper newuidmap "exit 1"
	broken_helper newgidmap "exit 1"
	grant_uid
	grant_gid
	spawn_userns alice
	write alice --layout self
	assert_silent_success
	assert_maps "0 1001 1" "0 1001 1"
	assert_equal "$(cat "/proc/$TARGET/setgroups")" deny
}

@test "own_id_alone_as_a_map_is_written_the_same_way" {
	broken_helper newuidmap "exit 1"
	broken_helper newgidmap "exit 1"
	spawn_userns alice
	write alice 1001:1001:1
	assert_silent_success
	assert_maps "1001 1001 1" "1001 1001 1"
}

@test "verbose_says_that_setgroups_is_denied_and_what_was_written" {
	spawn_userns alice
	write alice --verbose --layout self
	assert_success
	assert_equal "$output" ""
	assert_message "*setgroups: denied*"
	assert_message "*uid_map of process $TARGET: 1 of 340 extents*read back, equal*"
	assert_message "*gid_map of process $TARGET: 1 of 340 extents*read back, equal*"
}

@test "u_writes_uid_map_alone_and_g_gid_map_alone" {
	spawn_userns alice
	write alice -u
	assert_silent_success
	assert_maps "0 1001 1 1 100000 65536" ""
	write alice --gid
	assert_silent_success
	assert_maps "0 1001 1 1 100000 65536" "0 1001 1 1 300000 65536"
}

@test "signed_maps_act_left_to_right_on_the_layout" {
	spawn_userns alice
	write root --user alice -1:10 +g:5:9999:1
	assert_silent_success
	assert_maps "0 1001 1 11 100010 65526" "0 1001 1 5 9999 1 11 300010 65526"
}

@test "a_removal_with_a_letter_is_a_map_and_no_option" {
	spawn_userns alice
	write alice -u:1:65536
	assert_silent_success
	assert_maps "0 1001 1" "0 1001 1 1 300000 65536"
}

@test "size_takes_64k_and_layout_keep_id_keeps_the_own_id" {
	spawn_userns alice
	write alice --layout=keep-id --size 64k
	assert_silent_success
	assert_maps "0 100000 1001 1001 1001 1 1002 101001 64534" \
		"0 300000 1001 1001 1001 1 1002 301001 64534"
}

@test "identity_maps_ids_to_themselves" {
	spawn_userns alice
	write root --user alice --identity 7 --identity 20-29
	assert_silent_success
	assert_equal "$(live uid)" \
		"0 1001 1 1 100000 6 7 7 1 8 100007 12 20 20 10 30 100029 65507"
}

@test "a_process_is_named_by_a_descriptor_of_its_proc_directory" {
	spawn_userns alice
	run --separate-stderr as alice "$IDMAP" fd:7 7<"/proc/$TARGET"
	assert_silent_success
	assert_maps "0 1001 1 1 100000 65536" "0 1001 1 1 300000 65536"
}

@test "a_process_is_named_by_a_pidfd" {
	spawn_userns alice
	run --separate-stderr as alice /usr/bin/python3 -c '
import os, sys
fd = os.pidfd_open(int(sys.argv[2]))
os.set_inheritable(fd, True)
os.execv(sys.argv[1], [sys.argv[1], "fd:%d" % fd])' "$IDMAP" "$TARGET"
	assert_silent_success
	assert_maps "0 1001 1 1 100000 65536" "0 1001 1 1 300000 65536"
}

@test "a_grant_keyed_by_uid_counts" {
	grant_uid 1001:200000:10
	spawn_userns alice
	write alice
	assert_silent_success
	assert_equal "$(live uid)" "0 1001 1 1 200000 10"
}

@test "the_own_id_next_to_its_grant_stays_an_extent_that_the_helper_allows" {
	grant_uid alice:1002:10
	spawn_userns alice
	write alice
	assert_silent_success
	assert_equal "$(live uid)" "0 1001 1 1 1002 10"
}

@test "sigchld_ignored_by_the_parent_loses_no_exit_status" {
	spawn_userns alice
	run --separate-stderr as alice env --ignore-signal=CHLD "$IDMAP" "$TARGET"
	assert_silent_success
	broken_helper newgidmap "exit 1"
	spawn_userns alice
	run -1 as alice env --ignore-signal=CHLD "$IDMAP" "$TARGET"
}

@test "closed_standard_descriptors_are_not_taken_for_ours" {
	spawn_userns alice
	as alice sh -c "$IDMAP $TARGET <&- >&- 2>&-"
	assert_maps "0 1001 1 1 100000 65536" "0 1001 1 1 300000 65536"
}

@test "idmap_ends_only_after_both_helpers_have" {
	broken_helper newuidmap "exit 1"
	broken_helper newgidmap "sleep 0.5; touch \$HOME/late; exit 1"
	spawn_userns alice
	write alice
	assert_failure 1
	[ -e /run/home/alice/late ]
}

@test "a_map_without_grant_is_refused_before_anything_is_written" {
	spawn_userns alice
	write alice 0:100000:65536
	assert_failure 1
	assert_message "idmap: gid_map:*100000*/etc/subgid*"
	assert_untouched
}

@test "no_entry_names_login_uid_files_and_the_command_to_add_one" {
	spawn_userns bob
	write bob
	assert_failure 1
	assert_message "*no entry for bob or 1002 in /etc/subuid and none in /etc/subgid*"
	assert_message "*usermod --add-subuids 165536-231071 --add-subgids 365536-431071 bob*"
	assert_untouched
}

@test "an_entry_in_one_file_alone_is_refused_and_the_other_named" {
	grant_gid
	spawn_userns alice
	write alice
	assert_failure 1
	assert_message "*no entry for alice or 1001 in /etc/subgid: *"
	assert_message "*usermod --add-subgids 100000-165535 alice"
	assert_untouched
}

@test "the_suggested_command_makes_it_work" {
	spawn_userns bob
	write bob
	local command=${stderr##*$'\n'}
	read -ra command <<<"$command"
	"${command[@]}"
	write bob
	assert_silent_success
	assert_maps "0 1002 1 1 165536 65536" "0 1002 1 1 365536 65536"
}

@test "a_world_writable_grant_file_is_refused_by_name" {
	chmod 666 /etc/subgid
	spawn_userns alice
	write alice
	assert_failure 1
	assert_message "*/etc/subgid: writable by everybody*"
	assert_untouched
}

@test "a_directory_service_without_its_plugin_leaves_the_files_to_count_and_that_is_said" {
	echo "subid: sss" >>/etc/nsswitch.conf
	spawn_userns alice
	write alice
	assert_success
	assert_output ''
	assert_message "*libsubid_sss.so is not found: /etc/subuid counts*"
	assert_message "*libsubid_sss.so is not found: /etc/subgid counts*"
}

@test "one_map_that_fails_leaves_the_other_and_the_message_says_which_stands" {
	broken_helper newgidmap "echo 'newgidmap: the disk is full' >&2; exit 1"
	spawn_userns alice
	write alice
	assert_failure 1
	assert_message "*newgidmap: the disk is full*"
	assert_message "*uid_map is written and stands*gid_map is not*"
	assert_equal "$output" ""
	assert_maps "0 1001 1 1 100000 65536" ""
}

@test "uid_map_that_fails_leaves_gid_map_and_the_message_says_so" {
	broken_helper newuidmap "kill -9 \$\$"
	spawn_userns alice
	write alice
	assert_failure 1
	assert_message "*newuidmap was killed by signal 9*"
	assert_message "*gid_map is written and stands*uid_map is not*"
	assert_maps "" "0 1001 1 1 300000 65536"
}

@test "both_helpers_failing_are_both_heard" {
	broken_helper newuidmap "echo one; exit 1"
	broken_helper newgidmap "exit 1"
	spawn_userns alice
	write alice
	assert_failure 1
	assert_message "idmap: one?*newgidmap failed and did not say why"
	assert_untouched
}

@test "a_helper_that_writes_another_map_is_found_out" {
	broken_helper newgidmap "exec $HELPERS_SETUID/newgidmap \"\$1\" 0 300000 65536"
	spawn_userns alice
	write alice
	assert_failure 1
	assert_message "*gid_map is written but is not what was planned: inner ID 0 is outer ID 300000 instead of outer ID 1001*"
}

@test "a_missing_helper_is_named_with_what_to_install_before_anything_is_written" {
	broken_helper newuidmap "exit 1"
	spawn_userns alice
	run -1 --separate-stderr as alice env "PATH=$BROKEN" "$IDMAP" "$TARGET"
	assert_message "*newgidmap is not in PATH*package uidmap*"
	assert_untouched
}

@test "a_map_that_is_written_already_is_shown" {
	spawn_userns alice
	write alice
	write alice
	assert_failure 1
	assert_message "*uid_map is written already*0 1001 1?1 100000 65536"
}

@test "a_process_that_has_not_unshared_is_told_so" {
	spawn become alice sleep infinity
	write alice
	assert_failure 1
	assert_message "*process $TARGET has not unshared yet*"
}

@test "a_process_of_another_user_is_refused" {
	spawn_userns bob
	write alice
	assert_failure 1
	assert_message "*process $TARGET: its user namespace can't be seen: it belongs to another user*"
	assert_untouched
}

@test "a_grandchild_namespace_is_refused_with_the_reason" {
	spawn become alice unshare -Ur unshare -U sleep infinity
	write root 0:0:1
	assert_failure 1
	assert_message "*no child of ours*parent user namespace*"
	assert_maps "" ""
}

@test "inside_a_namespace_the_outer_ids_are_those_of_that_namespace" {
	spawn become alice unshare -Ur sleep infinity
	run --separate-stderr as alice nsenter -t "$TARGET" -U --preserve-credentials \
		sh -c "unshare -U sleep 60 & $IDMAP --verbose \$! 0:0:1; r=\$?
			cat /proc/\$!/uid_map; kill \$!; exit \$r"
	assert_success
	assert_equal "$(tr -s ' ' <<<"$output")" " 0 0 1"
}

@test "outer_ids_that_the_own_namespace_lacks_are_refused" {
	spawn become alice unshare -Ur sleep infinity
	run -1 --separate-stderr as alice nsenter -t "$TARGET" -U --preserve-credentials \
		sh -c "unshare -U sleep 60 & $IDMAP \$! 0:5:1; r=\$?; kill \$!; exit \$r"
	assert_message "*uid_map:*5*"
}

@test "a_number_no_process_has_is_refused" {
	run -1 --separate-stderr as alice "$IDMAP" 4194305
	assert_equal "$stderr" "idmap: 4194305 is no running process"
	run -1 --separate-stderr as alice "$IDMAP" fd:77
	assert_equal "$stderr" "idmap: fd:77 is not an open descriptor"
}

@test "a_descriptor_of_another_directory_is_refused" {
	run -1 --separate-stderr as alice "$IDMAP" fd:7 7</etc
	assert_equal "$stderr" "idmap: fd:7 is neither a directory of /proc nor a pidfd"
}

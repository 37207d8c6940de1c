#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
#
# idmap dump: plans and live maps, as table, raw, JSON and in other forms.

load ../support

setup() {
	grant_uid alice:100000:65536
	grant_gid alice:300000:65536
	export PATH=$HELPERS_SETUID:$PATH
	PAGE=$(($(getconf PAGESIZE) - 1))
	OURS=$(readlink /proc/self/ns/user)
}

# dump ARG...: idmap --dump as alice; stderr must be empty.
dump() {
	run --separate-stderr as alice "$IDMAP" --dump "$@"
	assert_equal "$stderr" ""
	assert_success
}

# kernel ARG...: the text of uid_map that would be written.
kernel() {
	dump -u --format=kernel "$@"
}

@test "without_a_process_the_plan_of_the_caller_is_shown_with_its_sources" {
	dump
	assert_output "TYPE INNER   OUTER         COUNT SOURCE
uid  0       1001              1 own uid
uid  1-65536 100000-165535 65536 /etc/subuid:1
gid  0       1001              1 own gid
gid  1-65536 300000-365535 65536 /etc/subgid:1
uid_map: 2 of 340 extents, 338 left; 23 of $PAGE bytes, $((PAGE - 23)) left
gid_map: 2 of 340 extents, 338 left; 23 of $PAGE bytes, $((PAGE - 23)) left
outer IDs as seen from $OURS, the reader's own"
}

@test "user_names_whose_plan_is_shown_by_login_or_uid" {
	grant_uid root:5:5 bob:200000:10
	grant_gid bob:400000:10
	dump --user bob
	assert_line "uid  1-10  200000-200009    10 /etc/subuid:2"
	local expected=$output
	dump --user 1002
	assert_output "$expected"
}

@test "a_size_without_a_layout_is_refused" {
	run -2 --separate-stderr as alice "$IDMAP" dump --size 10 0:100000:5
	assert_regex "$stderr" "^idmap: --size and MAPs without a sign: they stand in the place of the layout"
	dump --size 10 u:0:100000:5 --noheadings
	assert_line --regexp '^uid +0-4 +100000-100004'
	assert_line --regexp '^gid +1-9 +300000-300008'
}

@test "two_signs_and_a_base_give_five_extents" {
	kernel 0:1000000:1000000000 +999:999:1 +1001:1001:1
	assert_output "0 1000000 999
999 999 1
1000 1001000 1
1001 1001 1
1002 1001002 999998998"
}

@test "the_kernel_form_has_no_final_newline_and_single_blanks" {
	as alice "$IDMAP" --dump -u --format=kernel >"$BATS_TEST_TMPDIR/map"
	printf '0 1001 1\n1 100000 65536' | cmp - "$BATS_TEST_TMPDIR/map"
}

@test "the_kernel_form_of_two_kinds_is_refused_and_the_options_named" {
	run -1 --separate-stderr as alice "$IDMAP" --dump --format=kernel
	assert_equal "$output" ""
	[[ $stderr == *"-u or -g"* ]]
}

@test "the_newuidmap_form_is_the_two_command_lines" {
	dump --format=newuidmap
	assert_output "newuidmap PID 0 1001 1 1 100000 65536
newgidmap PID 0 1001 1 1 300000 65536"
	dump --format=newuidmap 1 u:0:5:1 g:0:6:1
	assert_output "newuidmap 1 0 5 1
newgidmap 1 0 6 1"
}

@test "what_the_kernel_form_says_is_what_write_writes" {
	local planned
	planned=$(as alice "$IDMAP" --dump -u --format=kernel)
	spawn_userns alice
	as alice "$IDMAP" "$TARGET"
	assert_equal "$(tr -s ' ' <"/proc/$TARGET/uid_map" | sed 's/^ //')" "$planned"
}

@test "another_form_read_back_gives_the_same_maps" {
	local form expected
	dump --format=podman 0:1000:10 +3:50:2 +g:4:77:1
	expected=$output
	for form in podman lxc lxc-usernsexec docker-oci newuidmap; do
		as alice "$IDMAP" --dump --format="$form" 0:1000:10 +3:50:2 +g:4:77:1 \
			>"$TMPDIR/maps"
		dump --format=podman --from "$form" "$TMPDIR/maps"
		assert_output "$expected"
		run -0 as alice sh -c "$IDMAP --dump --format=podman --from $form - <$TMPDIR/maps"
		assert_output "$expected"
	done
}

@test "a_kind_that_a_form_does_not_say_is_not_made_up" {
	printf 'lxc.idmap = u 0 1000 10\n' >"$TMPDIR/maps"
	dump --from lxc "$TMPDIR/maps" -o TYPE,INNER --raw
	assert_output "TYPE INNER
uid 0-9"
	run -1 --separate-stderr as alice "$IDMAP" --dump -g --from lxc "$TMPDIR/maps"
	assert_equal "$stderr" "idmap: $TMPDIR/maps holds no map of the kind asked for"
}

@test "a_file_that_does_not_hold_the_form_is_named" {
	run -1 --separate-stderr as alice "$IDMAP" --dump --from lxc /nowhere
	[[ $stderr == "idmap: /nowhere: No such file or directory" ]] || fail "$stderr"
	printf 'frob\n' >"$TMPDIR/maps"
	run -1 --separate-stderr as alice "$IDMAP" --dump --from lxc "$TMPDIR/maps"
	[[ $stderr == *"$TMPDIR/maps"*frob* ]]
}

@test "json_is_one_document_with_numbers_and_the_limits" {
	as alice "$IDMAP" --dump --json >"$TMPDIR/json"
	run -0 jq -c '.extents[]' "$TMPDIR/json"
	assert_output '{"type":"uid","inner":0,"outer":1001,"count":1,"source":"own uid"}
{"type":"uid","inner":1,"outer":100000,"count":65536,"source":"/etc/subuid:1"}
{"type":"gid","inner":0,"outer":1001,"count":1,"source":"own gid"}
{"type":"gid","inner":1,"outer":300000,"count":65536,"source":"/etc/subgid:1"}'
	run -0 jq -c '.limits[0] | del(.seen_from)' "$TMPDIR/json"
	assert_output '{"type":"uid","written":false,"extents":2,"extents_max":340,"bytes":23,"bytes_max":'"$PAGE}"
	run -0 jq -r '.limits[1].seen_from' "$TMPDIR/json"
	assert_output "$OURS, the reader's own"
}

@test "json_of_unwritten_maps_is_a_document_too" {
	spawn_userns alice
	as alice "$IDMAP" --dump --json "$TARGET" >"$TMPDIR/json"
	run -0 jq -c '[.extents, .limits[0].extents]' "$TMPDIR/json"
	assert_output '[[],0]'
}

@test "json_may_be_cut_to_columns" {
	as alice "$IDMAP" --dump --json -u -o outer,COUNT >"$TMPDIR/json"
	run -0 jq -c '.extents' "$TMPDIR/json"
	assert_output '[{"outer":1001,"count":1},{"outer":100000,"count":65536}]'
}

@test "raw_and_noheadings_print_rows_alone" {
	dump -u --raw
	assert_output 'TYPE INNER OUTER COUNT SOURCE
uid 0 1001 1 own\x20uid
uid 1-65536 100000-165535 65536 /etc/subuid:1'
	dump -g --raw --noheadings -o INNER,OUTER
	assert_output "0 1001
1-65536 300000-365535"
	dump -g --noheadings --output COUNT
	assert_output "    1
65536"
}

@test "no_colours_and_no_escapes_are_printed" {
	dump
	[[ $output != *$'\e'* ]]
}

@test "a_live_map_is_shown_as_live" {
	spawn_userns alice
	as alice "$IDMAP" "$TARGET"
	dump "$TARGET"
	assert_output "TYPE INNER   OUTER         COUNT SOURCE
uid  0       1001              1 live
uid  1-65536 100000-165535 65536 live
gid  0       1001              1 live
gid  1-65536 300000-365535 65536 live
uid_map: 2 of 340 extents, 338 left; 23 of $PAGE bytes, $((PAGE - 23)) left
gid_map: 2 of 340 extents, 338 left; 23 of $PAGE bytes, $((PAGE - 23)) left
outer IDs as seen from $OURS, the reader's own"
	run -0 --separate-stderr as alice "$IDMAP" --dump fd:7 7<"/proc/$TARGET"
	assert_line "uid  1-65536 100000-165535 65536 live"
	dump -g --format=newuidmap "$TARGET"
	assert_output "newgidmap $TARGET 0 1001 1 1 300000 65536"
}

@test "an_unwritten_map_is_said_to_be_so" {
	spawn_userns alice
	dump "$TARGET"
	assert_output "uid_map: not written yet
gid_map: not written yet
outer IDs as seen from $OURS, the reader's own"
	run --separate-stderr as alice "$IDMAP" --dump --format=newuidmap "$TARGET"
	assert_failure 1
	assert_equal "$output$stderr" "idmap: $TARGET: not written yet, so no form can show it"
}

@test "outer_ids_that_the_reader_lacks_have_no_number" {
	spawn become alice unshare -Ur sleep infinity
	run -0 --separate-stderr as alice nsenter -t "$TARGET" -U --preserve-credentials \
		"$IDMAP" dump -u 1
	assert_line --regexp '^uid  0-4294967294 - +4294967295 live$'
}

@test "inside_a_namespace_its_own_map_is_seen_from_its_parent" {
	spawn become alice unshare -Ur sleep infinity
	run -0 --separate-stderr as alice nsenter -t "$TARGET" -U --preserve-credentials \
		"$IDMAP" dump "$TARGET"
	assert_line "uid  0     1001      1 live"
	assert_line "outer IDs as seen from the parent of $(readlink "/proc/$TARGET/ns/user"), which is the reader's own"
}

@test "a_process_that_is_not_there_is_named" {
	run -1 --separate-stderr as alice "$IDMAP" dump 4194305
	assert_equal "$stderr" "idmap: 4194305 is no running process"
}

@test "parent_plans_for_a_child_of_another_map" {
	printf '0 1000 1\n1 100000 65536\n' >"$TMPDIR/parent"
	dump -u --parent "$TMPDIR/parent" 0:0:1001
	assert_output "TYPE INNER  OUTER  COUNT SOURCE
uid  0      0          1 MAP 1
uid  1-1000 1-1000  1000 MAP 1
uid_map: 2 of 340 extents, 338 left; 14 of $PAGE bytes, $((PAGE - 14)) left
outer IDs as seen from the namespace with the map of $TMPDIR/parent"
	spawn_userns alice
	as alice "$IDMAP" "$TARGET"
	kernel --parent "$TARGET" 0:0:1001
	assert_output "0 0 1
1 1 1000"
}

@test "a_parent_that_can_be_none_is_refused_with_the_reason" {
	run -1 --separate-stderr as alice "$IDMAP" dump --parent /nowhere 0:0:1
	[[ $stderr == "idmap: --parent /nowhere: No such file"* ]] || fail "$stderr"
	run -1 --separate-stderr as alice "$IDMAP" dump --parent /etc/passwd 0:0:1
	[[ $stderr == "idmap: --parent /etc/passwd: not in the form of /proc/PID/uid_map"* ]]
	spawn_userns alice
	run -1 --separate-stderr as alice "$IDMAP" dump --parent "$TARGET" 0:0:1
	[[ $stderr == "idmap: uid_map of $TARGET is not written yet"* ]]
}

# show ARG...: idmap dump as alice, for a pipe.
show() {
	as alice "$IDMAP" dump "$@"
}

@test "a_parent_may_be_a_file_of_proc_or_a_pipe" {
	spawn_userns alice
	as alice "$IDMAP" "$TARGET"
	local wanted
	wanted=$(show --parent "$TARGET" --noheadings --raw 0:0:1001)
	assert_regex "$wanted" '^uid 0 0 1 MAP'
	assert_equal "$(show --parent "/proc/$TARGET/uid_map" --noheadings --raw 0:0:1001)" "$wanted"
	assert_equal "$(show --parent /dev/stdin --noheadings --raw 0:0:1001 <"/proc/$TARGET/uid_map")" "$wanted"
	# A pipe, which is read once for both maps.
	assert_equal "$(tr -s ' ' <"/proc/$TARGET/uid_map" | show --parent - --noheadings --raw 0:0:1001)" "$wanted"
	spawn_userns alice
	run -1 --separate-stderr as alice "$IDMAP" dump --parent "/proc/$TARGET/uid_map" 0:0:1
	assert_equal "$stderr" "idmap: uid_map of /proc/$TARGET/uid_map is not written yet: a child of that user namespace can have no map before"
}

@test "a_layout_that_is_asked_for_is_shown_in_place_of_the_live_map" {
	spawn_userns alice
	as alice "$IDMAP" "$TARGET" 0:1001:1
	assert_equal "$(show "$TARGET" --layout root)" "$(show)"
}

@test "json_says_of_each_kind_whether_it_is_written" {
	spawn_userns alice
	assert_equal "$(show --json "$TARGET" | jq -c '[.limits[].written]')" '[false,false]'
	as alice "$IDMAP" -u "$TARGET" 0:1001:1
	assert_equal "$(show --json "$TARGET" | jq -c '[.limits[] | .type, .written]')" '["uid",true,"gid",false]'
	assert_equal "$(show --json | jq -c '[.limits[].written]')" '[false,false]'
}

@test "a_plan_writes_nothing" {
	spawn_userns alice
	dump "$TARGET" 0:1001:1
	assert_equal "$(cat "/proc/$TARGET/uid_map" "/proc/$TARGET/gid_map")" ""
	assert_equal "$(cat "/proc/$TARGET/setgroups")" allow
}

@test "a_plan_of_maps_needs_no_grants_and_a_layout_does" {
	dump --user bob 0:5:1
	run -1 --separate-stderr as bob "$IDMAP" dump
	[[ $stderr == *"no entry for bob or 1002 in /etc/subuid and none in /etc/subgid"* ]]
	dump --layout self --user bob
	assert_line "uid  0     1002      1 own uid"
}

@test "a_line_that_was_meant_to_grant_is_named_with_what_is_wrong" {
	local line
	for line in 'alice:100000:65536 # mine' $'alice:100000:65536\r' 'alice:100000-165535' \
		'alice :100000:65536' ' 1001:100000:65536' alice 'alice:0100000:1' 'alice:1:0'; do
		grant_uid '# comment' "$line"
		run -1 --separate-stderr as alice "$IDMAP" dump
		assert_regex "$stderr" '^idmap: /etc/subuid:2 names alice but grants nothing \(.+\): run idmap check$'
	done
	grant_gid 'alice:1:0'
	run -1 --separate-stderr as alice "$IDMAP" dump
	assert_regex "$stderr" $'/etc/subuid:2 .*\n/etc/subgid:1 names alice but grants nothing .COUNT is 0.'
	# What grants nothing is no matter beside a line that grants.
	grant_uid 'alice:1:0' alice:100000:65536
	grant_gid alice:300000:65536
	run -0 --separate-stderr as alice "$IDMAP" dump
	assert_equal "$stderr" ''
	grant_uid 'alicex:1:0' '#alice:1:1'
	run -1 --separate-stderr as alice "$IDMAP" dump
	assert_regex "$stderr" '^idmap: no entry for alice '
}

@test "a_file_of_grants_that_is_not_there_is_made_first" {
	rm /etc/subuid
	run -1 --separate-stderr as alice "$IDMAP" dump
	assert_regex "$stderr" '/etc/subuid does not exist; root can add one with'
	local command=${stderr##*$'\n'}
	assert_regex "$command" '^  touch /etc/subuid; usermod --add-subuids [0-9-]+ alice$'
	sh -c "$command"
	dump
	assert_line --partial /etc/subuid:1
	install -m 644 /dev/null /etc/subuid
}

@test "who_has_no_account_is_not_told_of_usermod" {
	run -1 --separate-stderr setpriv --reuid 5555 --regid 5555 --clear-groups --inh-caps=-all "$IDMAP" dump
	assert_regex "$stderr" 'UID 5555 has no account in passwd'
	refute_regex "$stderr" usermod
}

@test "a_file_of_grants_that_only_root_may_read_is_said_to_be_one" {
	chmod 600 /etc/subuid
	run -1 --separate-stderr as alice "$IDMAP" dump
	chmod 644 /etc/subuid
	assert_equal "$stderr" "idmap: /etc/subuid: Permission denied: as root: chmod 644 it; as it is, only helpers that are setuid root can read it"
}

#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause

load ../support

setup() {
	[ "$EUID" -eq 0 ] || skip "only root may set up users and their grants"
	grant_uid
	grant_gid
}

# finds RULE PLACE SEVERITY [TEXT [ARG...]]: RULE says one thing about /etc/subuid (about
# /etc/subgid if PLACE begins with g), at PLACE, LINE:COLUMN or empty; TEXT is in it.
finds() {
	local rule=$1 place=$2 severity=$3 text=${4-} file=/etc/subuid
	shift $(($# < 4 ? $# : 4))
	if [[ $place == g* ]]; then
		file=/etc/subgid place=${place#g}
	fi
	run --separate-stderr as alice "$IDMAP" check --rule "$rule" "$@"
	assert_equal "${#lines[@]}: ${lines[0]%%: "$severity": *}" "1: $file${place:+:$place}"
	[[ $output == *": $severity: "*"$text"*" [$rule]" ]] || fail "$output"
	assert_equal "$status" "$([ "$severity" = error ] && echo 1 || echo 0)"
}

finds_nothing() {
	run -0 as alice "$IDMAP" check "$@"
	assert_output ''
}

# fixes_to LINE...: the corrected /etc/subuid.
fixes_to() {
	run --separate-stderr as alice "$IDMAP" check --fix /etc/subuid
	assert_output "$(printf '%s\n' "$@")"
}

@test "two_files_without_fault_are_clean" {
	grant_uid '# users' alice:100000:65536 '' bob:200000:65536
	grant_gid alice:100000:65536 bob:200000:65536
	finds_nothing
	finds_nothing --strict
}

@test "trailing_blank" {
	grant_uid 'alice:100000:65536 '
	finds trailing-blank 1:19 error 'grants nothing'
	fixes_to alice:100000:65536
}

@test "crlf" {
	grant_uid $'alice:100000:65536\r'
	finds crlf 1:19 error 'grants nothing'
	fixes_to alice:100000:65536
}

@test "no_final_newline" {
	printf 'alice:100000:65536' >/etc/subuid
	finds no-final-newline 1:19 warning
	fixes_to alice:100000:65536
}

@test "comment_and_inline_comment" {
	grant_uid '# note' 'alice:100000:65536 # note'
	finds inline-comment 2:20 error 'grants nothing'
	fixes_to '# note' '# note' alice:100000:65536
	grant_uid '# note'
	finds_nothing
}

@test "blank_around_colon" {
	grant_uid 'alice : 100000 : 65536'
	finds blank-around-colon 1:6 error
	fixes_to alice:100000:65536
	grant_uid 'alice: 100000:65536'
	finds blank-around-colon 1:7 warning
	fixes_to alice:100000:65536
}

@test "four_fields" {
	grant_uid alice:100000:65536:x
	finds fields 1:19 error '4 fields, not 3'
	fixes_to alice:100000:65536:x
	grant_uid alice::65536
	finds fields 1:7 error 'empty field'
	grant_uid alice
	finds fields 1:6 error '1 field,'
}

@test "zero_count" {
	grant_uid alice:0:0
	finds zero-count 1:9 error 'grants nothing'
}

@test "past_the_end" {
	grant_uid kubelet:327680:4294836224
	finds past-the-end 1:16 error 'at most 4294639615 fit'
	grant_uid 65535:4294901760:65536
	finds past-the-end 1:18 error 'at most 65535 fit'
}

@test "range_form" {
	grant_uid alice:100000-165535
	finds range-form 1:7 error 'it should be alice:100000:65536'
	fixes_to alice:100000:65536
}

@test "numbers_that_readers_differ_on" {
	grant_uid alice:0x10:1
	finds hex 1:8 error "'0x10'"
	grant_uid alice:5:010
	finds leading-zero 1:9 error "'010'"
	grant_uid alice:+5:1
	finds sign 1:7 error "'+5'"
	grant_uid alice:5:4294967296
	finds too-large 1:9 error "'4294967296'"
	grant_uid alice:5:1k
	finds number 1:10 error "'1k'"
}

@test "numeric_login" {
	grant_uid 4242:300000:65536
	finds numeric-login 1:1 warning '4242 is a login name, and the UID of dora'
	grant_uid 1001:300000:65536
	grant_gid 1001:300000:65536
	finds_nothing
}

@test "domain_login" {
	local lines=('DOMAIN\alice:100000:65536' alice@example.org:200000:65536
		first.last:300000:65536)
	grant_uid "${lines[@]}"
	grant_gid "${lines[@]}"
	finds_nothing
	grant_gid
	run -0 as alice "$IDMAP" check --rule one-file-only
	assert_line --index 0 --partial ':1:1: warning: DOMAIN\alice has nothing in /etc/subgid:'
	assert_equal "${#lines[@]}" 3
}

@test "keyed_by_group" {
	grant_gid extra:100000:65536
	finds keyed-by-group g1:1 warning 'only a group'
	finds_nothing --rule orphan
}

@test "overlap" {
	grant_uid alice:100000:65536 bob:165535:10
	finds overlap 2:5 error '165535..165535 of bob on this line and of alice on line 1'
}

@test "overlap_is_found_behind_ranges_that_may_share" {
	grant_uid root:100000:65536 lxd:100000:1000 bob:100500:1 lxd:100600:1
	run -1 as alice "$IDMAP" check --rule overlap --allow-shared root,lxd
	assert_line --partial ':3:5: error: 100500..100500 of bob on this line and of root'
	assert_equal "$(grep -c error: <<<"$output")" 1
}

@test "identical_owner_duplicate" {
	grant_uid alice:100000:65536 bob:1000000:65536 alice:100000:65536
	finds duplicate 3:1 warning 'line 1'
	finds_nothing --rule overlap
	fixes_to alice:100000:65536 bob:1000000:65536
	grant_uid alice:100000:65536 1001:100010:1
	finds overlap 2:6 warning
}

@test "shared_on_purpose" {
	grant_uid root:165536:65536 lxd:165536:65536
	finds overlap 2:5 error 165536..231071
	finds overlap 2:5 note 165536..231071 --allow-shared root,lxd
	finds overlap 2:5 error 165536..231071 --allow-shared root,lx
}

@test "collides_with_accounts" {
	grant_uid bob:1001:65536
	finds collides-with-accounts 1:5 error '1001 is the UID of account alice'
	grant_gid alice:2003:1
	run -1 as alice "$IDMAP" check --rule collides-with-accounts /etc/subgid
	assert_output --partial '1:7: error: 2003 is the GID of account carol'
	grant_uid root:1001:1
	finds_nothing --strict --rule own-id /etc/subuid
	run -0 as alice "$IDMAP" check --rule collides-with-accounts /etc/subuid
	assert_output --partial ':1:6: note: 1001'
}

@test "own_id_in_grant" {
	grant_uid alice:1001:1 alice:165536:65536
	finds own-id 1:7 warning "1001 is the owner's own"
	finds_nothing --rule collides-with-accounts
}

@test "one_file_only" {
	grant_uid alice:100000:65536
	finds one-file-only 1:1 warning 'alice has nothing in /etc/subgid'
	grant_gid alice:100000:65535
	finds_nothing --rule one-file-only
	finds counts-differ g1:14 warning '65535 IDs here and 65536 in /etc/subuid'
	grant_gid 1001:100000:65536
	finds_nothing --rule counts-differ
}

@test "orphan" {
	grant_uid gone:100000:65536 7777:200000:65536
	run -0 as alice "$IDMAP" check --rule orphan
	assert_line --partial "/etc/subuid:1:1: warning: no account 'gone'"
	assert_line --partial "/etc/subuid:2:1: warning: no account '7777'"
}

@test "above_2_31" {
	grant_uid alice:3000000000:65536
	finds above-2-31 1:7 note 3000000000..3000065535
}

@test "small" {
	grant_uid alice:100000:65535
	finds small 1:14 note 'alice has 65535'
	grant_uid alice:100000:65535 1001:200000:1
	finds_nothing --rule small
}

@test "ranges_of_systemd" {
	grant_uid alice:61184:1
	finds systemd-dynamic 1:7 note
	grant_uid alice:524287:2
	finds systemd-nspawn 1:7 note
	grant_uid alice:524287:1 alice:65520:10
	finds_nothing --rule systemd-dynamic --rule systemd-nspawn
}

@test "line_of_1024_bytes" {
	grant_uid "$(printf 'alice:100000:%01011d' 1)"
	finds long-line 1:1024 error
}

@test "control_bytes" {
	printf 'alice:100000:65536\0\n' >/etc/subuid
	finds control 1:19 error 'byte 0x00'
	printf 'al\033ice:100000:65536\n' >/etc/subuid
	finds control 1:3 error 'byte 0x1b'
	run as alice "$IDMAP" check
	refute_output --partial $'\033'
}

@test "nis_entry" {
	grant_uid +alice:100000:65536
	finds nis-entry 1:1 warning
}

@test "the_file_itself" {
	chmod o+w /etc/subuid
	finds writable '' error 'chmod o-w'
	chmod o-w /etc/subuid
	chown alice /etc/subuid
	finds file-owner '' error 'UID 1001'
	chown root:extra /etc/subuid
	finds_nothing --rule group-writable
	chmod g+w /etc/subuid
	finds group-writable '' error 'writable by the group 2004'
	chown root:root /etc/subuid
	finds_nothing --rule group-writable
	chmod g-w /etc/subuid
	mv /etc/subuid /etc/moved
	ln -s moved /etc/subuid
	finds symlink '' error
	rm /etc/subuid
	finds unreadable '' error 'No such file'
	mkdir /etc/subuid
	finds unreadable '' error 'not a regular file'
	rmdir /etc/subuid
	mkfifo /etc/subuid
	finds unreadable '' error 'not a regular file'
	rm /etc/subuid
	install -m 644 /dev/null /etc/subuid
}

@test "a_symlink_is_read_all_the_same" {
	printf 'alice:0:0\n' >"$TMPDIR/behind"
	ln -sf behind "$TMPDIR/subuid"
	run -1 as alice "$IDMAP" check "$TMPDIR/subuid"
	assert_line --partial "$TMPDIR/subuid: error: a symbolic link"
	assert_line --partial "$TMPDIR/subuid:1:9: error:"
}

@test "a_service_without_its_plugin" {
	echo 'subid: sss' >>/etc/nsswitch.conf
	run -0 as alice "$IDMAP" check --rule plugin-absent
	sed -i '/^subid/d' /etc/nsswitch.conf
	assert_line --partial '/etc/subuid: warning: /etc/nsswitch.conf says subid: sss, but'
	assert_line --partial '/etc/subgid: warning:'
}

@test "what_useradd_will_do_next" {
	cp /etc/login.defs "$TMPDIR/defs"
	sed -i '/SUB_UID_/d' /etc/login.defs
	grant_uid alice:100000:65536
	finds_nothing --rule useradd-range
	printf 'SUB_UID_MIN 100000\nSUB_UID_MAX 200000\n' >>/etc/login.defs
	finds useradd-range '' warning 'no 65536 free IDs in one piece are left in 100000..200000'
	printf 'SUB_UID_MIN 3000\nSUB_UID_COUNT 2000\n' >>/etc/login.defs
	finds useradd-range '' warning '3000..4999, which holds 4242 of account dora'
	printf 'SUB_UID_MIN 0x1388\n' >>/etc/login.defs
	finds useradd-range '' warning 'accounts are made, 1000..60000'
	cp "$TMPDIR/defs" /etc/login.defs
}

@test "gaps_and_how_many_more_users_fit" {
	grant_uid alice:100000:65536 bob:231072:65536
	run -0 as alice "$IDMAP" check --gaps --rule crlf /etc/subuid
	assert_output "FILE         START      LAST     COUNT USERS
/etc/subuid 165536    231071     65536     1
/etc/subuid 296608 600100000 599803393  9152
/etc/subuid: 9153 more users of 65536 IDs fit into 100000..600100000"
}

@test "json_is_one_document" {
	grant_uid 'alice:100000:65536 ' 'DOMAIN\x"y:200000:65536'
	as alice "$IDMAP" check --json --gaps >"$TMPDIR/json" || true
	run -0 jq -c '.findings[] | [.file, .line, .column, .severity, .rule, .lines, .verdict]' \
		"$TMPDIR/json"
	assert_line '["/etc/subuid",1,19,"error","trailing-blank",1,"void"]'
	assert_line '["/etc/subuid",2,1,"warning","orphan",1,"grants"]'
	run -0 jq -c '.gaps[0]' "$TMPDIR/json"
	assert_output '{"file":"/etc/subuid","start":100000,"last":199999,"count":100000,"users":1}'
	grant_uid
	as alice "$IDMAP" check --json >"$TMPDIR/json"
	run -0 jq -c . "$TMPDIR/json"
	assert_output '{"findings":[]}'
}

@test "a_note_is_said_once_a_file_and_by_name_for_each_line" {
	grant_uid alice:100000:1 bob:200000:1
	run -0 as alice "$IDMAP" check /etc/subuid
	assert_line --partial ':1:14: note: alice has 1 of the usual 65536 IDs (as on 1 more line)'
	assert_equal "${#lines[@]}" 1
	run -0 as alice "$IDMAP" check --rule small /etc/subuid
	assert_equal "${#lines[@]}" 2
}

@test "rules_are_chosen_by_name" {
	grant_uid 'alice:100000:65536 ' gone:1:0
	run -1 as alice "$IDMAP" check --no-rule zero-count
	assert_output --partial trailing-blank
	refute_output --partial zero-count
	run -1 as alice "$IDMAP" check --rule zero-count --rule trailing-blank --no-rule zero-count
	refute_output --partial zero-count
	run -2 as alice "$IDMAP" check --rule frob
	assert_output --partial "--rule 'frob': no such rule"
}

@test "strict_makes_warnings_fail_and_notes_not" {
	printf 'alice:100000:1' >/etc/subuid
	run -0 as alice "$IDMAP" check /etc/subuid
	run -1 as alice "$IDMAP" check --strict /etc/subuid
	grant_uid alice:100000:1
	run -0 as alice "$IDMAP" check --strict /etc/subuid
	assert_output --partial note:
}

@test "fix_keeps_comments_and_order_and_writes_nothing" {
	grant_uid '# head' 'bob: 5:5' '' '#tail' gone:x:y 'alice:7-9'
	cp /etc/subuid "$TMPDIR/before"
	fixes_to '# head' bob:5:5 '' '#tail' gone:x:y alice:7:3
	[[ $stderr == *range-form* ]]
	cmp /etc/subuid "$TMPDIR/before"
	run -2 as alice "$IDMAP" check --fix
	run -2 as alice "$IDMAP" check --fix /etc/subuid /etc/subgid
	run -2 as alice "$IDMAP" check --fix --json /etc/subuid
}

@test "a_corrected_file_is_corrected_no_further" {
	grant_uid 'bob: 5:5' $'alice:7-9\r' 'alice:9:9 # x' 'bob:5:5' 'bob:5:5'
	as alice "$IDMAP" check --fix /etc/subuid >"$TMPDIR/once" 2>/dev/null || true
	as alice "$IDMAP" check --fix "$TMPDIR/once" >"$TMPDIR/twice" 2>/dev/null || true
	cmp "$TMPDIR/once" "$TMPDIR/twice"
}

@test "a_terminal_gets_carets_and_colours_and_no_color_is_kept" {
	grant_uid $'al\tice:100000:65536 '
	run as alice script -qec "$IDMAP check --rule trailing-blank" /dev/null
	assert_line --partial $'\033[1;31merror:'
	assert_line --partial '|                       ^'
	run as alice env NO_COLOR=1 script -qec "$IDMAP check --rule trailing-blank" /dev/null
	refute_output --partial $'\033'
	assert_line --partial '     1 | al'
}

@test "files_are_read_as_what_their_names_say" {
	cp /etc/subuid "$TMPDIR/my-subuid"
	printf 'carol:2003:1\n' >"$TMPDIR/my-subgid"
	run -0 as alice "$IDMAP" check --rule own-id --rule one-file-only "$TMPDIR"/my-sub?id
	assert_line --partial 'my-subgid:1:7: warning: 2003'
	assert_line --partial 'my-subgid:1:1: warning: carol has nothing in'
}

@test "every_rule_is_in_the_manual_with_its_reason" {
	local rule
	for rule in $("$IDMAP" check --help | sed '1,/^Rules:/d' | awk '{ print $1 }'); do
		grep -qx "\.It Cm $rule" "$IDMAP_SRCDIR/man/idmap.1" || fail "$rule"
	done
}

@test "a_file_that_only_root_may_read_is_said_to_grant_to_setuid_helpers" {
	install -m 600 /dev/null "$TMPDIR/closed"
	run -1 --separate-stderr as alice "$IDMAP" check "$TMPDIR/closed"
	assert_output --regexp 'Permission denied: helpers that are setuid root read it all the same, to those with file capabilities, .* it grants nothing'
}

@test "stdin_is_a_file_too" {
	run -1 --separate-stderr as alice "$IDMAP" check - < <(printf 'alice:1:1\nalice:0:0\0\n')
	assert_line --partial 'stdin:2:'
	run -1 --separate-stderr as alice "$IDMAP" check --fix - < <(printf 'alice:70000:65536 # mine\n')
	assert_line 'alice:70000:65536'
}

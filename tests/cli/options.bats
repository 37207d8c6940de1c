#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
#
# The command line: verbs, options, exit status, and where the text goes.

load ../support

# assert_usage_error PATTERN ARG...: status 2, a message that matches, with the way to the help below
# it, nothing on stdout.
assert_usage_error() {
	local pattern=$1
	shift
	run -2 --separate-stderr as alice "$IDMAP" "$@"
	assert_equal "$output" ""
	assert_regex "$stderr" $'\n'"Try 'idmap( [a-z]+)? --help'\.\$"
	stderr=${stderr%$'\n'*}
	# shellcheck disable=SC2053
	[[ $stderr == $pattern ]] || fail "stderr is: $stderr"
}

# assert_refused PATTERN ARG...: status 1, the same.
assert_refused() {
	local pattern=$1
	shift
	run -1 --separate-stderr as alice "$IDMAP" "$@"
	assert_equal "$output" ""
	# shellcheck disable=SC2053
	[[ $stderr == $pattern ]] || fail "stderr is: $stderr"
}

setup() {
	grant_uid alice:100000:65536
	grant_gid alice:300000:65536
}

@test "help_goes_to_stdout_and_lists_the_verbs" {
	local verb
	for option in -h --help; do
		run -0 --separate-stderr "$IDMAP" "$option"
		assert_equal "$stderr" ""
		for verb in write dump exec lookup verify; do
			assert_line --regexp "^  $verb +[a-z]"
		done
	done
}

@test "each_verb_has_help_of_its_own" {
	local verb
	for verb in write dump exec lookup verify; do
		run -0 --separate-stderr "$IDMAP" "$verb" --help
		assert_equal "$stderr" ""
		assert_output --partial "Usage: idmap"
		assert_output --partial "$verb"
	done
}

@test "version_goes_to_stdout" {
	local option
	for option in -V --version; do
		run -0 --separate-stderr "$IDMAP" "$option"
		assert_output --regexp '^idmap [0-9.]+$'
		assert_equal "$stderr" ""
	done
}

@test "no_argument_at_all_shows_the_usage_on_stderr" {
	run -2 --separate-stderr "$IDMAP"
	assert_equal "$output" ""
	[[ $stderr == "Usage: idmap"* ]]
}

@test "a_word_that_is_neither_verb_nor_process_lists_the_verbs" {
	assert_usage_error "idmap: 'frob' is neither a PID, fd:N nor a verb;*write, dump, exec, *" frob
	assert_usage_error "idmap: 'writes' is neither *" writes 1
	assert_usage_error "idmap: '' is neither *" ""
}

@test "an_unknown_option_is_named" {
	assert_usage_error "idmap: unrecognized option '--frob'*" --frob
	assert_usage_error "idmap: unrecognized option '--frob'*" write --frob 1
	assert_usage_error "idmap: unrecognized option '--frob'*" dump --frob
	assert_usage_error "idmap: invalid option -- 'x'*" dump -x
	assert_usage_error "idmap: option '--layout' requires an argument*" dump --layout
}

@test "a_bad_value_is_named_with_its_option_and_what_would_work" {
	assert_usage_error "idmap: --layout 'tree': not one of root, keep-id, subids, self" dump --layout tree
	assert_usage_error "idmap: --identity 'x': *" dump --identity x
	assert_usage_error "idmap: --identity '9-5': *" dump --identity 9-5
	assert_usage_error "idmap: --identity '4294967295': *" dump --identity 4294967295
	assert_usage_error "idmap: --identity '5-': *" dump --identity 5-
	assert_usage_error "idmap: --format 'pod': no such form*" dump --format pod
	assert_usage_error "idmap: --from 'pod': no such form*" dump --from pod
	assert_usage_error "idmap: --from lxc: no FILE*" dump --from lxc
	assert_usage_error "idmap: -o 'FROB': the columns are *" dump -o FROB
	assert_usage_error "idmap: -o 'TYPE,TYPE': *" dump -o TYPE,TYPE
	assert_usage_error "idmap: -o '': the columns are *" dump -o ''
}

@test "sizes_are_whole_numbers_of_ids_and_may_have_a_unit" {
	local size
	for size in 0 -1 +5 x 1.5x "" 4294967296 5G 0x10; do
		assert_usage_error "idmap: --size '$size': not a number of IDs from 1 to 4294967295, *k, m or g*" \
			dump "--size=$size"
	done
	run -0 as alice "$IDMAP" dump -u --layout subids --size 1k -o COUNT --noheadings
	assert_output --regexp '^ *1024$'
}

@test "ids_never_have_a_unit" {
	assert_usage_error "idmap: *1k*" dump 1k:0:1
	assert_usage_error "idmap: --identity '1k': *" dump --identity 1k
}

@test "a_bad_map_is_named" {
	assert_usage_error "idmap: *0:0*" 1 0:0
	assert_usage_error "idmap: *4294967296:0:1*" dump 4294967296:0:1
	assert_usage_error "idmap: *010:0:1*" dump 010:0:1
	assert_usage_error "idmap: *0:0:0*" dump 0:0:0
}

@test "write_needs_exactly_one_process" {
	assert_usage_error "idmap: no PID or fd:N*" write
	assert_usage_error "idmap: no PID or fd:N*" 0:0:1
	assert_usage_error "idmap: '2': the process is 1 already; a MAP is INNER:OUTER:COUNT*" 1 2
	assert_usage_error "idmap: '2' stands behind --*" 1 -- 2
}

@test "what_can_be_no_pid_is_a_usage_error_and_a_pid_without_process_a_failure" {
	assert_usage_error "idmap: '0' is neither a process ID nor fd:N" 0
	assert_usage_error "idmap: '007' is neither a process ID nor fd:N" 007
	assert_usage_error "idmap: '4294967297' is neither a process ID nor fd:N" 4294967297
	assert_usage_error "idmap: 'fd:x' is neither a process ID nor fd:N" write fd:x
	assert_refused "idmap: 4194305 is no running process" 4194305
	assert_refused "idmap: fd:99 is not an open descriptor" fd:99
}

@test "an_unknown_user_is_named" {
	assert_usage_error "idmap: --user 'nobody-here': no such login name or UID" dump --user nobody-here
}

@test "dump_may_stand_anywhere_before_the_maps_end" {
	run -0 as alice "$IDMAP" --dump -u 0:1001:1
	local expected=$output
	run -0 as alice "$IDMAP" dump -u 0:1001:1
	assert_output "$expected"
	run -0 as alice "$IDMAP" -u 0:1001:1 --dump
	assert_output "$expected"
}

@test "a_full_disk_is_a_failure" {
	run -1 --separate-stderr as alice sh -c "$IDMAP --dump >/dev/full"
	assert_equal "$stderr" "idmap: standard output: No space left on device"
	run -1 --separate-stderr as alice sh -c "$IDMAP --help >/dev/full"
	run -1 --separate-stderr as alice sh -c "$IDMAP --dump --json >/dev/full"
	run -1 --separate-stderr as alice sh -c "$IDMAP --dump -u --format=kernel >/dev/full"
}

@test "a_closed_stdout_is_a_failure_where_there_is_output" {
	run -1 --separate-stderr as alice sh -c "$IDMAP --dump >&-"
	[[ $stderr == "idmap: standard output: "* ]]
}

@test "bytes_of_a_name_do_not_steer_the_terminal" {
	run -2 --separate-stderr as alice "$IDMAP" dump --user $'\e[2Jx'
	[[ $stderr != *$'\e'* ]]
	[[ $stderr == *"[2Jx': no such login name"* ]]
	run -1 --separate-stderr as 'DOMAIN\alice' "$IDMAP" dump
	[[ $stderr == *'no entry for DOMAIN\alice or 1006 in '* ]]
}

@test "help_and_version_are_verbs_too" {
	run -0 --separate-stderr "$IDMAP" help
	assert_equal "$stderr" ""
	assert_output "$("$IDMAP" --help)"
	run -0 --separate-stderr "$IDMAP" help lookup
	assert_equal "$stderr" ""
	assert_output "$("$IDMAP" lookup --help)"
	run -0 "$IDMAP" version
	assert_output "$("$IDMAP" --version)"
	assert_usage_error "idmap: 'frob' is neither *" help frob
	assert_usage_error "idmap: 'x': nothing belongs there" version x
	assert_usage_error "idmap: 'x': nothing belongs there" help dump x
}

@test "each_verb_points_to_its_help_after_a_usage_error" {
	local verb
	for verb in write dump exec check lookup verify ls who doctor; do
		run -2 --separate-stderr as alice "$IDMAP" "$verb" --frob
		assert_equal "${stderr##*$'\n'}" "Try 'idmap $verb --help'."
		run -2 --separate-stderr as alice "$IDMAP" "$verb" --rule= --pid 1 -o X x y
		assert_equal "$(grep -c '^Try ' <<<"$stderr")" 1
	done
}

@test "a_table_has_one_shape" {
	local verb
	for verb in dump "lookup 0:0:1 0" "who 0" doctor; do
		# shellcheck disable=SC2086
		assert_usage_error "idmap: --json and --raw are two shapes *" $verb --json --raw
	done
	assert_usage_error "idmap: --json is for tables, and --format prints none*" dump -u --json --format kernel
	assert_usage_error "idmap: --raw is for tables, *" dump -u --raw --format kernel
	assert_usage_error "idmap: -o is for tables, *" dump -u -o INNER --format kernel
}

@test "a_word_that_dump_would_not_look_at_is_refused" {
	assert_usage_error "idmap: 'extra' is neither a process ID nor fd:N" dump 0:1:1 extra
	assert_usage_error "idmap: 'x' is neither *" dump --layout self x
	assert_usage_error "idmap: 'x' is neither *" dump --user bob x
	assert_usage_error "idmap: '2': the process is 1 already*" dump 0:1:1 1 2
	assert_refused "idmap: 99999999 is no running process" dump 0:1:1 99999999
	assert_refused "idmap: 999999 is no running process" dump --layout self 999999
}

@test "a_size_behind_auto_is_joined_on" {
	local verb
	for verb in dump exec; do
		assert_usage_error "idmap: --auto 4k: a size is joined on with =: --auto=4k" "$verb" --auto 4k
		assert_usage_error "idmap: --auto 4096: *" "$verb" --auto 4096 -- true
		assert_usage_error "idmap: --auto=N and --size N both say the size*" "$verb" --auto=10 --size 5
		assert_usage_error "idmap: --auto=N and --size N both say the size*" "$verb" --size=5 --auto=5
	done
}

@test "a_layout_or_size_that_maps_take_the_place_of_is_refused" {
	local verb
	for verb in "write 1" dump "exec" "verify 1" "lookup 0"; do
		# shellcheck disable=SC2086
		assert_usage_error "idmap: --layout and MAPs without a sign: *" $verb --layout root 0:1001:1
		# shellcheck disable=SC2086
		assert_usage_error "idmap: --size and MAPs without a sign: *" $verb --size 5 0:1001:1
	done
	assert_usage_error "idmap: --auto chooses the base itself*" dump --auto 0:1001:1
	run -0 as alice "$IDMAP" dump --layout self +5:5:1 u:0:1001:1
	run -0 as alice "$IDMAP" dump -g --layout self u:0:1001:1
}

@test "three_numbers_that_are_no_map_are_told_its_form" {
	assert_usage_error "*a MAP is INNER:OUTER:COUNT with colons, such as 0:1:1" dump "0 1 1"
	assert_usage_error "*a MAP is INNER:OUTER:COUNT with colons, such as 0:1:1" 1 0 1001 1
	assert_usage_error "*INNER:OUTER:COUNT with colons, such as 0:1:1" 1 0-1000:1001
	assert_usage_error "*a MAP is INNER:OUTER:COUNT with colons, such as 0:1:1" verify 1 0,1,1
}

@test "what_can_be_no_process_is_a_usage_error_of_every_verb" {
	local verb id
	for verb in write dump verify doctor "lookup --pid"; do
		[[ $verb == look* ]] && id=(5) || id=()
		# shellcheck disable=SC2086
		assert_usage_error "idmap: '0' is neither a process ID nor fd:N*" $verb 0 "${id[@]}"
		# shellcheck disable=SC2086
		assert_usage_error "idmap: '' is neither *" $verb '' "${id[@]}"
	done
}

@test "a_parent_that_can_be_no_process_is_a_usage_error_and_one_that_is_gone_a_failure" {
	assert_usage_error "idmap: '0' is neither a process ID nor fd:N" dump --parent 0
	assert_refused "idmap: 4194305 is no running process" dump --parent 4194305
	assert_refused "idmap: fd:99 is not an open descriptor" dump --parent fd:99
}

@test "a_descriptor_of_an_ended_process_is_said_to_be_one" {
	local verb id
	sleep 0.05 &
	exec 7<"/proc/$!"
	wait "$!"
	for verb in write dump verify "lookup --pid"; do
		[[ $verb == look* ]] && id=(5) || id=()
		# shellcheck disable=SC2086
		assert_refused "idmap: fd:7: the process has ended" $verb fd:7 "${id[@]}"
	done
	run -1 --separate-stderr as alice "$IDMAP" doctor fd:7
	assert_output --partial "fd:7: the process has ended"
	exec 7<&-
}

# flags SECTION [ITEM]: the options that the section of idmap(1) names; with ITEM, those it explains.
flags() {
	awk -v section="$1" -v item="${2-}" '
		/^\.Sh / { inside = $2 == section }
		!inside || (item && !/^\.It /) { next }
		{
			flag = 0
			for (i = 1; i <= NF; i++)
				if ($i ~ /^\.?Fl$/)
					flag = 1
				else if ($i ~ /^\.?[A-Z][a-z]$/)
					flag = flag && $i ~ /It/
				else if (flag && $i ~ /^[-a-z]/)
					print "-" $i
		}' "$IDMAP_SRCDIR/man/idmap.1"
}

# The options that VERB's help lists.
helps() {
	"$IDMAP" "$1" --help | sed -nE 's/^ {2,6}(-.*)$/\1/p' | sed 's/  .*//' | grep -oE '(^|, )--?[a-z-]+' |
		sed 's/^, //' | grep -vxE -- '-h|--help' | sort
}

@test "the_manual_has_each_option_of_each_help_and_no_other" {
	local verb missing all
	for verb in write dump exec check lookup verify ls who doctor; do
		run -0 helps "$verb"
		all+=$output$'\n'
		missing=$(comm -23 <(echo "$output") <({ flags "${verb^^}" && flags DESCRIPTION; } | sort -u))
		assert_equal "not in the manual's $verb: $missing" "not in the manual's $verb: "
		missing=$(comm -13 <(echo "$output") <(flags "${verb^^}" It | sort -u))
		assert_equal "not in the help of $verb: $missing" "not in the help of $verb: "
	done
	missing=$(comm -13 <(sort -u <<<"$all") <(flags DESCRIPTION It | sort -u))
	assert_equal "in no help: $missing" "in no help: "
}

@test "the_manual_of_getsubids_has_the_options_of_its_usage" {
	run "$IDMAP_BUILDDIR/getsubids"
	assert_line 'Usage: getsubids [-g] OWNER'
	run grep -E '^\.(Op|It) Fl' "$IDMAP_SRCDIR/man/getsubids.1"
	assert_output $'.Op Fl g\n.It Fl g'
}

# in_section PAGE SECTION WORD: does an item of that section name WORD?
in_section() {
	sed -n "/^\.Sh $2/,/^\.Sh /p" "$IDMAP_SRCDIR/man/$1" | grep -E '^\.It ' | grep -qE " $3( |\$)" ||
		fail "$1 has no $3 in $2"
}

# read_by PATTERN FILE...: what stands between quotes where the source matches.
read_by() {
	grep -ohE "$@" | sed -E 's/^[^"]*"(.*)"$/\1/' | sort -u
}

@test "the_manuals_name_each_file_and_each_variable_that_is_read" {
	local word src=$IDMAP_SRCDIR/src
	while read -r word; do
		in_section idmap.1 ENVIRONMENT "$word"
	done < <(read_by 'getenv\("[A-Z_]+"' "$src"/tool/*.c)
	while read -r word; do
		in_section idmap.1 FILES "$word"
	done < <(read_by '"/etc/[a-z.]+"' "$src"/tool/*.c)
	while read -r word; do
		in_section newuidmap.1 FILES "$word"
		in_section newgidmap.1 FILES "$word"
	done < <(read_by '"/etc/[a-z.]+"' "$src"/helper/helper.c)
}

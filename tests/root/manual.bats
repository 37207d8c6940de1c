#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
#
# The examples of the manuals are run, each block of a page in a PID namespace of its own: lines behind
# "$ " by alice, those behind "# " by root, in one shell for all that follow each other. What stands
# below a command is all that it prints; "..." is anything. Its status is 0, unless "echo $?" is next.
# Of a line by itself (.Dl) the status is looked at only.
#
# PIDs in the pages are of 4700 to 4899; inodes of namespaces and what idmap says of processes that
# root alone may see are left out of the comparison.

load ../support

FIRST_PID=4710

setup_file() {
	install -m 755 "$IDMAP_BUILDDIR/getsubids" "$HELPERS_SETUID"
}

setup() {
	[ "$EUID" -eq 0 ] || skip "only root may set up users and their grants"
	grant_uid alice:100000:65536
	grant_gid alice:100000:65536
	PATH=$HELPERS_SETUID:${IDMAP%/*}:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
}

# blocks PAGE FOLDER: each block of the section EXAMPLES as a file in FOLDER; NUMBER-line for .Dl.
blocks() {
	awk -v folder="$2" '
		function text(line) {
			gsub(/\\-/, "-", line)
			gsub(/\\&/, "", line)
			gsub(/\\e/, "\\", line)
			return line
		}
		/^\.Sh / { inside = $2 == "EXAMPLES" }
		!inside { next }
		/^\.Ed/ { file = ""; next }
		/^\.Bd -literal/ { file = sprintf("%s/%02d-block", folder, ++n); next }
		/^\.Dl / { print text(substr($0, 5)) >sprintf("%s/%02d-line", folder, ++n); next }
		file { print text($0) >file }' "$IDMAP_SRCDIR/man/$1"
}

# incomplete COMMAND: does it go on on the next line?
incomplete() {
	[[ $1 == *\\ ]] || ! bash -n <<<"$1" 2>/dev/null
}

# parse FILE: the commands in it, by whom each is run, and what it prints.
parse() {
	local line
	COMMANDS=() USERS=() PRINTED=()
	while IFS= read -r line; do
		if [[ ${#COMMANDS[@]} -gt 0 && -z ${PRINTED[-1]} ]] && incomplete "${COMMANDS[-1]}"; then
			COMMANDS[-1]+=$'\n'$line
		elif [[ $line == [\$#]' '* ]]; then
			[[ $line == '#'* ]] && USERS+=(root) || USERS+=(alice)
			COMMANDS+=("${line:2}")
			PRINTED+=('')
		else
			PRINTED[-1]+=$line$'\n'
		fi
	done <"$1"
}

# session USER FROM TO: the commands of these numbers in one shell; what each prints goes to out.N,
# its status to status.N.
# shellcheck disable=SC2016 # what is expanded there is the session's
session() {
	local i script='status=0; exec </dev/null; cd || exit'$'\n'
	for ((i = $2; i <= $3; i++)); do
		printf '%s\n' "${COMMANDS[i]}" >"$WORK/command.$i"
		script+="(exit \$status); . $WORK/command.$i >$WORK/out.$i 2>&1; status=\$?"$'\n'
		script+="echo \$status >$WORK/status.$i"$'\n'
		# Who types is slower than unshare(1).
		[[ ${COMMANDS[i]} != *'&' ]] ||
			script+='while [[ -e /proc/$! && $(</proc/$!/comm) != sleep ]]; do :; done'$'\n'
	done
	as "$1" bash -c "$script"
}

run_sessions() {
	local from to
	mount --make-rshared /
	echo "$FIRST_PID" >/proc/sys/kernel/ns_last_pid
	for ((from = 0; from < ${#COMMANDS[@]}; from = to + 1)); do
		for ((to = from; to + 1 < ${#COMMANDS[@]}; to++)); do
			[[ ${USERS[to + 1]} == "${USERS[from]}" ]] || break
		done
		session "${USERS[from]}" "$from" "$to"
	done
}

normalized() {
	sed -E '/^idmap: not seen: /d; s/\<4026[0-9]{6}\>/INODE/g; s/\<4[78][0-9]{2}\>/PID/g'
}

# compare I HOW: is command I's output and status what the page says?
compare() {
	local i=$1 expected printed status
	read -r status <"$WORK/status.$i"
	[[ ${COMMANDS[i + 1]-} == 'echo $?' ]] || [[ $status == 0 ]] || {
		echo "status $status of: ${COMMANDS[i]}"
		cat "$WORK/out.$i"
		return 1
	}
	[[ $2 != line ]] || return 0
	expected=$(normalized <<<"${PRINTED[i]%$'\n'}" | sed 's/[][*?\\]/\\&/g; s/\.\.\./*/g')
	printed=$(normalized <"$WORK/out.$i")
	# shellcheck disable=SC2053
	[[ $printed == $expected ]] || {
		printf '%s\n' "command: ${COMMANDS[i]}" "the page has:" "${PRINTED[i]}" "it prints:" "$printed"
		return 1
	}
}

# example FILE: run and compare the block in FILE.
example() {
	local i
	WORK=$(mktemp -d)
	chmod 777 "$WORK"
	parse "$1"
	declare -p COMMANDS USERS PRINTED >"$WORK/parsed"
	export -f as become session run_sessions
	export WORK FIRST_PID
	# shellcheck disable=SC2016
	unshare -pf --kill-child --mount-proc bash -c '. "$WORK/parsed"; run_sessions'
	for i in "${!COMMANDS[@]}"; do
		compare "$i" "${1##*-}" || return
	done
}

# A target is given half a second to unshare, which may be short on a machine that has much to do.
patiently() {
	local tries
	for ((tries = 0; tries < 3; tries++)); do
		grant_uid alice:100000:65536
		grant_gid alice:100000:65536
		run "$@"
		[ "$status" -ne 0 ] || return 0
	done
	echo "$output"
	return 1
}

# Why a block that has no command is none: the line it begins with.
NOT_RUN=('[Service]') # a unit of systemd, which can't run in here; its command line is run below

check_page() {
	local file first state=0 folder=$BATS_TEST_TMPDIR/blocks
	mkdir "$folder"
	blocks "$1" "$folder"
	for file in "$folder"/*; do
		read -r first <"$file"
		if [[ $first == [\$#]' '* ]]; then
			patiently example "$file" || state=1
		else
			[[ " ${NOT_RUN[*]} " == *" $first "* ]] || fail "$1: not a command: $first"
		fi
	done
	echo "$1: $(find "$folder" -type f | wc -l) blocks"
	return "$state"
}

@test "the_examples_of_idmap_1_do_what_they_print" {
	check_page idmap.1
}

@test "the_examples_of_newuidmap_1_do_what_they_print" {
	check_page newuidmap.1
}

@test "the_examples_of_newgidmap_1_do_what_they_print" {
	check_page newgidmap.1
}

@test "the_examples_of_getsubids_1_do_what_they_print" {
	check_page getsubids.1
}

@test "the_command_line_of_the_unit_runs" {
	local line words
	line=$(sed -n 's/^ExecStart=//p' "$IDMAP_SRCDIR/man/idmap.1")
	line=${line//%p/unit}
	read -ra words <<<"${line/sleep infinity/true}"
	[ "${words[0]}" = idmap ]
	run -0 as alice "${words[@]}"
	assert_output ''
}

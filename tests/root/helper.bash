# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
#
# helper: what the tests of newuidmap and newgidmap share.
#
# A test is run with `ours` against both of our installs (setuid root, file capabilities), with
# `every` against the system's own helpers too: that proves the test itself. Before each test alice
# is granted 100000..165535 in /etc/subuid and 300000..365535 in /etc/subgid.
#
# CALLER=NAME in front makes NAME own the target and call; default alice.

load ../support

setup_file() {
	cp /etc/login.defs /etc/nsswitch.conf "$BATS_FILE_TMPDIR"
}

# A test may have put anything in the place of these files.
setup() {
	[ "$EUID" -eq 0 ] || skip "only root may set up users and their grants"
	rm -rf /etc/subuid /etc/subgid
	cp "$BATS_FILE_TMPDIR"/{login.defs,nsswitch.conf} /etc
	grant_uid alice:100000:65536
	grant_gid alice:300000:65536
}

every() {
	ours "$@"
	HELPERS=$SYSTEM_HELPERS
	echo "# with $HELPERS"
	"$@"
}

# assert_map FILE MAP: the live map is MAP, "INNER OUTER COUNT,INNER OUTER COUNT".
assert_map() {
	local map='' inner outer count
	while read -r inner outer count; do
		map+=${map:+,}"$inner $outer $count"
	done <"/proc/$TARGET/$1"
	assert_equal "$1: $map" "$1: $2"
}

assert_setgroups() {
	local setgroups
	read -r setgroups <"/proc/$TARGET/setgroups"
	assert_equal "setgroups: $setgroups" "setgroups: $1"
}

assert_untouched() {
	assert_map uid_map ''
	assert_map gid_map ''
	assert_setgroups allow
}

# Succeeded, without one byte on stdout or stderr.
assert_silent_success() {
	assert_success
	assert_output ''
}

# What a refusal of ours says: one reason in one line of printable characters, and at most, behind it,
# the line that would grant it, or the cause, the map that it is seen in, and the fix; before it, that
# a plugin is absent.
ABSENT=$'(new[ug]idmap: libsubid_[[:print:]]+ is not found: [[:print:]]+\n)?'
ONE_REASON=$'new[ug]idmap: [[:print:]]+(\n(new[ug]idmap: (cause|fix|no line of)[[:print:]]+|[0-9 ]+))*$'

# In a build with sanitizers: did one end the program, or complain that it can't look for leaks? That
# takes memory, descriptors and a tracer of its own, which a test may have taken away.
sanitizer_spoke() {
	[[ $output =~ ==[0-9]+==|AddressSanitizer ]]
}

# Exit status 1 exactly; ours always says why. REGEXP is looked for in the output.
assert_refused() {
	if sanitizer_spoke; then
		assert_failure
		return
	fi
	assert_failure 1
	[ -z "$1" ] || assert_output --regexp "$1"
	[ "$HELPERS" = "$SYSTEM_HELPERS" ] || [[ $output =~ ^$ABSENT$ONE_REASON ]] ||
		fail "not one clear reason: $output"
}

UNTOUCHED_OF= # whose target $TARGET is, as long as its maps are unwritten

# fresh_target: a target of the caller, the last one if a refusal left it as it was.
fresh_target() {
	[ "$UNTOUCHED_OF" = "${CALLER-alice}" ] || spawn_userns "${CALLER-alice}"
	UNTOUCHED_OF=
}

# writes PROGRAM MAP ARG...: on a fresh target, PROGRAM with ARG... writes MAP.
writes() {
	local program=$1 map=$2
	shift 2
	fresh_target
	run as "${CALLER-alice}" "$HELPERS/$program" "$TARGET" "$@"
	assert_silent_success
	program=${program#new}
	assert_map "${program%map}_map" "$map"
}

# refuses PROGRAM REGEXP ARG...: PROGRAM refuses ARG..., its output matches, and nothing is touched.
refuses() {
	local program=$1 regexp=$2
	shift 2
	fresh_target
	run as "${CALLER-alice}" "$HELPERS/$program" "$TARGET" "$@"
	assert_refused "$regexp"
	assert_untouched
	UNTOUCHED_OF=${CALLER-alice}
}

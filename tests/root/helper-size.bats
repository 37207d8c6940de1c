# SPDX-License-Identifier: BSD-2-Clause
# The privileged code stays small, and so does what is linked to it.

load ../support

# count FILE...: their lines, comments and blank ones aside.
count() {
	perl -0777 -pe 's{/\*.*?\*/}{}sg' "$@" | grep -c '[^[:space:]]'
}

# These run when all privilege has been dropped for good: they say why the kernel refused, or ask
# a directory service in a child.
unprivileged=(trusted/diagnose.c trusted/live.c trusted/plugin.c)

@test "fewer than 1000 lines of code run with privilege" {
	local file files=() privileged dropped headers
	cd "$IDMAP_SRCDIR/src"
	for file in helper/*.c trusted/*.c; do
		[[ " ${unprivileged[*]} " == *" $file "* ]] || files+=("$file")
	done
	privileged=$(count "${files[@]}")
	dropped=$(count "${unprivileged[@]}")
	headers=$(count helper/*.h trusted/*.h)
	echo "# lines of code with privilege: $privileged; without any: $dropped" \
		"(${unprivileged[*]}); in headers: $headers" >&3
	[ "$privileged" -gt 300 ]
	[ "$privileged" -lt 1000 ]
	[ "$dropped" -lt 450 ]
	run tr '\n' ' ' <"$IDMAP_SRCDIR/README"
	assert_output --partial " is $privileged lines of code; $dropped more "
}

@test "the helpers need libcap and libc alone" {
	local helper needed
	for helper in newuidmap newgidmap; do
		needed=$(readelf -d "$IDMAP_BUILDDIR/$helper" |
			sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p')
		echo "# $helper needs ${needed//$'\n'/ }" >&3
		[ -n "$needed" ]
		# A sanitizer build has its own two on top.
		run grep -Ev '^(libcap|libc|libasan|libubsan)\.so(\.[0-9]+)?$' <<<"$needed"
		assert_output ''
	done
}

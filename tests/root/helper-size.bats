# SPDX-License-Identifier: BSD-2-Clause
# The privileged code stays small, and so does what is linked to it.

load ../support

@test "src/trusted and src/helper have fewer than 1000 lines of code" {
	local lines
	lines=$(perl -0777 -pe 's{/\*.*?\*/}{}sg' "$IDMAP_SRCDIR"/src/{trusted,helper}/*.[ch] |
		grep -c '[^[:space:]]')
	echo "# $lines lines of code in src/trusted and src/helper" >&3
	[ "$lines" -gt 300 ]
	[ "$lines" -lt 1000 ]
}

@test "the helpers need libcap and libc alone" {
	local helper needed
	for helper in newuidmap newgidmap; do
		needed=$(readelf -d "$IDMAP_BUILDDIR/$helper" |
			sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p')
		echo "# $helper needs ${needed//$'\n'/ }" >&3
		[ -n "$needed" ]
		run grep -Ev '^(libcap|libc)\.so\.[0-9]+$' <<<"$needed"
		assert_output ''
	done
}

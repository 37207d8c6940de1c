#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
#
# The RPM packages: made of the tarball both ways, then unpacked below a folder of their own. The
# libraries they are made for are not known to rpm on Debian, so what they require is not asked for.

load packages

MODES=(default system_helpers)

setup_file() {
	export SOURCE=/run/source MADE=/run/made
	copy_source alice "$SOURCE"
	mkdir "$MADE"
	export -f make_in
	as alice bash -c 'make_in "$@"' - "$SOURCE" rpm RPMBUILDFLAGS=--nocheck >/run/rpm.log 2>&1 3>&- ||
		{ tail -n 50 /run/rpm.log; return 1; }
	mv "$SOURCE/build/rpm/RPMS" "$MADE/default"
	as alice make -C "$SOURCE/build" rpm RPMBUILDFLAGS='--nocheck --with system_helpers' \
		>/run/rpm.log 2>&1 3>&- || { tail -n 50 /run/rpm.log; return 1; }
	mv "$SOURCE/build/rpm/RPMS" "$MADE/system_helpers"
	local mode
	for mode in "${MODES[@]}"; do
		mkdir "$MADE/$mode/root"
		rpm --root "$MADE/$mode/root" -i --nodeps "$MADE/$mode"/*/*.rpm
	done
}

setup() {
	grant_uid alice:100000:65536
	grant_gid alice:300000:65536
}

# serves_alice FOLDER: have the helpers in FOLDER their privilege, and no more, and can alice use it?
serves_alice() {
	assert_equal "$(getcap "$1"/*)" "$1/newgidmap cap_setgid=ep
$1/newuidmap cap_setuid=ep"
	assert_equal "$(find "$1" -perm /7000)" ''
	run as alice env PATH="$1:$PATH" unshare --map-auto --map-root-user \
		cat /proc/self/uid_map /proc/self/gid_map
	assert_equal "$(tr -s ' ' <<<"$output")" ' 0 1001 1
 1 100000 65535
 0 1001 1
 1 300000 65535'
}

@test "the spec file is understood both ways" {
	rpmspec -P "$SOURCE/build/etc/idmap.spec"
	rpmspec -P --with system_helpers "$SOURCE/build/etc/idmap.spec"
}

@test "rpmlint has nothing against the spec file and the packages but what is explained" {
	local mode
	for mode in "${MODES[@]}"; do
		run rpmlint -r "$SOURCE/etc/idmap.rpmlintrc" "$SOURCE/build/etc/idmap.spec" \
			"$MADE/$mode"/*/*.rpm
		assert_success
		assert_line --partial ' 0 errors, 0 warnings, '
	done
}

@test "the packages of the default put no file where shadow has one" {
	run rpm -qpl "$MADE"/default/*/*.rpm
	assert_success
	assert_line /usr/bin/idmap
	assert_line --regexp '^/usr/share/man/man1/newuidmap\.1idmap'
	refute_line --regexp '^/usr/bin/(newuidmap|newgidmap|getsubids)$'
	refute_line --regexp '^/usr/share/man/man1/(newuidmap|newgidmap|getsubids)\.1(\.|$)'
	serves_alice "$MADE/default/root/usr/libexec/idmap"
}

@test "the packages --with system_helpers are for PATH and conflict with getsubids of shadow" {
	run rpm -qpl "$MADE"/system_helpers/*/*.rpm
	assert_success
	assert_line /usr/bin/newuidmap
	assert_line --regexp '^/usr/share/man/man1/newuidmap\.1(\.|$)'
	run rpm -qp --conflicts "$MADE"/system_helpers/*/idmap-uidmap-*.rpm
	assert_output shadow-utils-subid
	serves_alice "$MADE/system_helpers/root/usr/bin"
	local built=("$MADE"/*/*/*.rpm)
	echo "figure: ${#built[@]} RPM packages built and unpacked" >&3
}

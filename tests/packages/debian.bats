#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
#
# The tarball and the Debian packages: made twice, by two users in two folders, then installed in an
# overlay of this machine's root folder, where uidmap and those that depend on it are installed.

load packages

# What depends on uidmap; those that are installed here stay.
DEPENDANTS='buildah|lxc|mmdebstrap|podman|rootlesskit|sbuild'

setup_file() {
	export ONE=/run/one TWO=/run/two/another-place OVER=/run/over DEBS
	copy_source alice "$ONE"
	copy_source root "$TWO"
	(umask 077 && export -f make_in && as alice bash -c 'make_in "$@"' - "$ONE" deb) \
		>/run/one.log 2>&1 3>&- &
	(umask 002 && export TZ=Asia/Tokyo DEB_BUILD_OPTIONS=nocheck && make_in "$TWO" deb) \
		>/run/two.log 2>&1 3>&-
	wait $! || { tail -n 50 /run/one.log /run/two.log; return 1; }
	DEBS=$ONE/build/deb
	over_root "$OVER"
	mkdir "$OVER/root/tmp/debs"
	cp "$DEBS"/idmap_*.deb "$OVER/root/tmp/debs/idmap.deb"
	cp "$DEBS"/idmap-uidmap_*.deb "$OVER/root/tmp/debs/idmap-uidmap.deb"
	printf 'alice:100000:65536\n' >"$OVER/root/etc/subuid"
	printf 'alice:300000:65536\n' >"$OVER/root/etc/subgid"
}

# inside CMD [ARG]...: run CMD with the overlay as its root folder; chroot(2) would forbid it to make
# user namespaces.
inside() {
	# shellcheck disable=SC2016
	DEBIAN_FRONTEND=noninteractive timeout 100 unshare -m --propagation private bash -euc '
		cd "$OVER/root"
		pivot_root . mnt
		umount -l /mnt
		exec "$@"' - "$@"
}

apt_inside() {
	inside apt-get -qy --no-install-recommends -o APT::Sandbox::User=root "$@"
}

# same FILE...: are these the same bytes in both builds?
same() {
	local file
	for file; do
		cmp "$ONE/build/$file" "$TWO/build/$file" || return
		echo "figure: twice $(sha256sum "$ONE/build/$file" | head -c 16) ${file##*/}" >&3
	done
}

@test "two users in two folders make the same tarball" {
	cd "$ONE/build"
	same idmap-*.tar.xz
}

@test "an unpacked tarball makes itself again" {
	local tarball
	tarball=$(echo "$ONE"/build/idmap-*.tar.xz)
	mkdir /run/unpacked
	tar -C /run/unpacked -xf "$tarball"
	cd /run/unpacked/idmap-*
	./configure -q
	make dist
	cmp idmap-*.tar.xz "$tarball"
}

@test "two users in two folders make the same Debian packages" {
	cd "$ONE/build"
	same deb/*.deb deb/*.dsc deb/*.debian.tar.xz
}

@test "lintian has nothing against the Debian packages" {
	cd "$DEBS"
	run as alice lintian --fail-on error,warning --display-info --suppress-tags \
		debian-watch-file-is-missing ./*.changes
	assert_success
	assert_output ''
}

# assert_installed PACKAGE...: these of ours and uidmap are installed, and no other of them.
assert_installed() {
	local names
	# shellcheck disable=SC2016
	names=$(inside dpkg-query -W -f '${db:Status-Abbrev}${Package}\n' idmap idmap-uidmap uidmap |
		sed -n 's/^ii //p' | xargs) || true
	assert_equal "$names" "$*"
}

# The names of installed packages that depend on uidmap.
dependants() {
	# shellcheck disable=SC2016
	inside dpkg-query -W -f '${db:Status-Abbrev} ${Package}\n' |
		sed -nE "s/^ii +($DEPENDANTS)\$/\\1/p"
}

# repack PACKAGE: what is installed of it, as a package again in /tmp.
repack() {
	local root=$OVER/root/tmp/$1 path
	mkdir -p "$root/DEBIAN"
	while read -r path; do
		if [ -d "$OVER/root$path" ]; then
			mkdir -p "$root$path"
		elif [ -e "$OVER/root$path" ]; then
			cp -a "$OVER/root$path" "$root$path"
		fi
	done < <(inside dpkg-query -L "$1")
	inside dpkg-query -s "$1" | grep -v '^Status:' >"$root/DEBIAN/control"
	dpkg-deb --build "$root" "$OVER/root/tmp/$1.deb"
}

# What alice's process sees under unshare --map-auto in the overlay.
maps_inside() {
	inside setpriv --reuid 1001 --regid 1001 --init-groups --inh-caps=-all -- \
		unshare --map-auto --map-root-user cat /proc/self/uid_map /proc/self/gid_map |
		tr -s ' '
}

serves_alice() {
	run maps_inside
	assert_output ' 0 1001 1
 1 100000 65535
 0 1001 1
 1 300000 65535'
}

@test "installed in the place of uidmap, it takes away nothing else" {
	assert_installed uidmap
	repack uidmap
	local before
	before=$(dependants)
	[ -n "$before" ] || fail "none of $DEPENDANTS is installed here"
	run inside apt-get -s install /tmp/debs/idmap{,-uidmap}.deb
	assert_success
	assert_equal "$(grep -c ^Remv <<<"$output")" 1
	assert_line --regexp '^Remv uidmap '
	run apt_inside install /tmp/debs/idmap{,-uidmap}.deb
	assert_success
	assert_installed idmap idmap-uidmap
	assert_equal "$(dependants)" "$before"
	inside apt-get check
	assert_equal "$(inside dpkg --audit)" ''
	inside dpkg --verify idmap-uidmap
	echo "figure: idmap-uidmap takes the place of uidmap for $(xargs <<<"$before")" >&3
}

@test "unshare --map-auto is served by the package's helpers" {
	local helper
	for helper in newuidmap newgidmap getsubids; do
		assert_equal "$(inside dpkg -S "/usr/bin/$helper")" "idmap-uidmap: /usr/bin/$helper"
	done
	assert_equal "$(inside stat -c '%a %U' /usr/bin/new{u,g}idmap)" $'4755 root\n4755 root'
	serves_alice
	run inside idmap doctor --help
	assert_success
}

@test "a dpkg-statoverride outlives an upgrade" {
	inside dpkg-statoverride --update --add root root 755 /usr/bin/newuidmap
	inside dpkg -i /tmp/debs/idmap-uidmap.deb
	assert_equal "$(inside stat -c %a /usr/bin/new{u,g}idmap)" $'755\n4755'
	inside dpkg-statoverride --remove /usr/bin/newuidmap
	inside dpkg -i /tmp/debs/idmap-uidmap.deb
	assert_equal "$(inside stat -c %a /usr/bin/newuidmap)" 4755
}

@test "uidmap takes its place again, and a purge leaves nothing behind" {
	local profiles=(/etc/apparmor.d/{newuidmap,newgidmap,local/newuidmap,abstractions/idmap-helper})
	inside ls -d "${profiles[@]}" /usr/bin/idmap
	run apt_inside install /tmp/uidmap.deb
	assert_success
	assert_installed idmap uidmap
	serves_alice
	inside dpkg --verify uidmap
	inside dpkg --purge idmap-uidmap idmap
	assert_installed uidmap
	assert_equal "$(inside dpkg --audit)" ''
	run --separate-stderr inside ls -d "${profiles[@]}" /usr/bin/idmap
	assert_output ''
	serves_alice
}

# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
#
# packages: what the tests of the tarball and of the packages share. tests/in-private leaves them no
# network.

load ../support

# copy_source USER DIR: the source as USER's own, without what has been built in it.
copy_source() {
	install -d -o "$1" "$2"
	(umask 000; tar -C "$IDMAP_SRCDIR" --exclude='./build*' --exclude=./autom4te.cache \
		--exclude=./configure --exclude=./Makefile --exclude=./config.status -cf - .) |
		as "$1" tar -C "$2" --no-same-owner -xf -
}

# make_in DIR TARGET...: what who has the source in DIR makes of it, in DIR/build.
make_in() {
	cd "$1" && shift && autoreconf -fi && mkdir build && cd build && ../configure -q &&
		make "$@"
}

# over_root DIR: this machine's root folder under DIR, to be changed at will; accounts and grants are
# those of the test.
over_root() {
	mkdir -p "$1"/{changes,root}
	mount -t tmpfs -o mode=755 tmpfs "$1/changes"
	mkdir "$1"/changes/{upper,work}
	mount -t overlay -o "lowerdir=/,upperdir=$1/changes/upper,workdir=$1/changes/work" \
		overlay "$1/root"
	cp -a /etc/. "$1/root/etc"
	mount --rbind /proc "$1/root/proc"
	mount --rbind /dev "$1/root/dev"
	mount -t tmpfs -o mode=755 tmpfs "$1/root/run"
	mount -t tmpfs -o mode=1777 tmpfs "$1/root/tmp"
}

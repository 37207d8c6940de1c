# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
#
# clients: what the tests of other people's programs share.
#
# Each client runs as alice, whose ranges differ between uid (100000) and gid (300000), so that a
# mix-up is seen. Our programs stand first in PATH, on a file system that notes each access; the
# system's are covered by a program that leaves a line and exits 97, for whoever calls them by an
# absolute path. A test is run with `ours` against both of our installs, or the one that "make
# install" left (tests/in-private).
#
# Here is also what clients ask of a machine: cgroup2 alone, a shared root mount, a root file system.

# The .bats files read what is set here, and inner shells expand what stands in single quotes.
# shellcheck disable=SC2016,SC2034

load ../support

COVERED_LOG=/run/covered.log
TRACE=/run/trace
ROOTFS=/run/rootfs
READ_MAPS=(cat /proc/self/uid_map /proc/self/gid_map)

# Both maps of alice's in the layout that most clients make, and in that of lxc and mmdebstrap.
MAPS_WITH_OWN_ID=("0 1001 1" "1 100000 65536" "0 1001 1" "1 300000 65536")
MAPS_WITHOUT=("0 100000 65536" "0 300000 65536")

# The first, where a kind has two ranges: uid 100000:1000 and 200000:500, gid 300000:70 and 400000:30.
MAPS_OF_TWO_RANGES=("0 1001 1" "1 100000 1000" "1001 200000 500"
	"0 1001 1" "1 300000 70" "71 400000 30")

cover_system_programs() {
	local program
	cat >/run/covered <<-END
		#!/bin/sh
		echo "\$0 \$*" >>$COVERED_LOG
		exit 97
	END
	chmod 755 /run/covered
	install -m 666 /dev/null "$COVERED_LOG"
	for program in newuidmap newgidmap getsubids; do
		program=$SYSTEM_HELPERS/$program
		[ ! -e "$program" ] || mount --bind /run/covered "$(realpath "$program")"
	done
}

# A root file system of busybox alone, with the files that podman would else have to make in it.
make_rootfs() {
	local name
	mkdir -p "$ROOTFS"/{bin,proc,sys,dev,etc,home,tmp,run}
	cp "$(command -v busybox)" "$ROOTFS/bin"
	for name in sh cat mkdir touch chmod ln mount id rm; do
		ln -s busybox "$ROOTFS/bin/$name"
	done
	touch "$ROOTFS"/etc/{mtab,hosts,hostname,resolv.conf} "$ROOTFS/run/.containerenv"
	echo root:x:0:0::/:/bin/sh >"$ROOTFS/etc/passwd"
	echo root:x:0: >"$ROOTFS/etc/group"
	chown -R 1001:1001 "$ROOTFS"
}

# make_bundle FOLDER ARG...: an OCI bundle that reads its own maps, which are what `idmap --dump` makes
# of ARG....
make_bundle() {
	local oci
	oci=$(as alice "$IDMAP" --dump --format=docker-oci "${@:2}")
	mkdir -p "$1"
	cat >"$1/config.json" <<-END
		{"ociVersion": "1.0.2",
		 "process": {"user": {"uid": 0, "gid": 0}, "cwd": "/", "env": ["PATH=/bin"],
		             "args": ["cat", "/proc/self/uid_map", "/proc/self/gid_map"]},
		 "root": {"path": "$ROOTFS", "readonly": true},
		 "mounts": [{"destination": "/proc", "type": "proc", "source": "proc"},
		            {"destination": "/dev", "type": "tmpfs", "source": "tmpfs"}],
		 "linux": {"namespaces": [{"type": "user"}, {"type": "mount"}, {"type": "pid"}],
		           ${oci:1}}
	END
}

# A mirror at $MIRROR with one package of one file, which belongs to 7:9.
make_mirror() {
	local mirror=/run/mirror package=/run/mirror/package
	MIRROR="deb [trusted=yes] copy:$mirror ./"
	mkdir -p "$package/DEBIAN" "$package/srv"
	printf '%s\n' 'Package: tiny' 'Version: 1' 'Architecture: all' 'Description: a file' \
		'Maintainer: nobody <nobody@example.org>' >"$package/DEBIAN/control"
	echo tiny >"$package/srv/tiny"
	chown 7:9 "$package/srv/tiny"
	dpkg-deb --build "$package" "$mirror/tiny.deb"
	{
		cat "$package/DEBIAN/control"
		echo "Filename: ./tiny.deb"
		echo "Size: $(stat -c %s "$mirror/tiny.deb")"
		echo "SHA256: $(sha256sum "$mirror/tiny.deb" | cut -d ' ' -f 1)"
	} >"$mirror/Packages"
}

setup_file() {
	[ "$EUID" -eq 0 ] || return 0
	cover_system_programs
	make_rootfs
	umount -R /sys/fs/cgroup || true
	mount -t cgroup2 cgroup2 /sys/fs/cgroup
	mount --make-rshared /
}

setup() {
	[ "$EUID" -eq 0 ] || skip "only root may set up users and their grants"
	grant_uid alice:100000:65536
	grant_gid alice:300000:65536
	cd /
}

# podman and buildah leave a process that keeps the namespace: the next call would only join it, and
# strace wait for it.
AND_END_PAUSE='
	"$@"
	status=$?
	file=$XDG_RUNTIME_DIR/libpod/tmp/pause.pid
	[ ! -e "$file" ] || { kill -KILL "$(cat "$file")" && rm "$file"; }
	exit "$status"'

# prepare: what a client of alice's needs, into CLIENT; none of our programs was accessed so far.
# podman's storage must not depend on what this machine's kernel and tools offer. A client that waits
# for ever shall not take the whole file with it.
prepare() {
	CLIENT=(timeout 60 env PATH="$HELPERS:${IDMAP%/*}:$PATH" STORAGE_DRIVER=vfs
		sh -c "$AND_END_PAUSE" sh)
	touch -a -d @0 "$HELPERS"/new[ug]idmap "${IDMAP%/*}"/{idmap,getsubids}
	: >"$COVERED_LOG"
}

# client CMD [ARG]...: run CMD as alice; what it says is in $output and $stderr.
client() {
	prepare
	run --separate-stderr as alice "${CLIENT[@]}" "$@"
	[ -z "$stderr" ] || echo "stderr: $stderr"
}

# assert_maps EXTENT...: it went well and printed these, but for the kernel's padding.
assert_maps() {
	assert_success
	assert_equal "$(tr -s ' ' <<<"$output" | sed 's/^ //')" "$(printf '%s\n' "$@")"
}

assert_ran() {
	assert [ "$(stat -c %X "$1")" -gt 0 ]
}

# Both of our helpers ran, said nothing on stderr, and no others were asked.
assert_helpers_ran() {
	assert_success
	assert_ran "$HELPERS/newuidmap"
	assert_ran "$HELPERS/newgidmap"
	refute_regex "$stderr" 'new[ug]idmap'
	assert_equal "$(<"$COVERED_LOG")" ""
}

# assert_served EXTENT...: these are the maps that our helpers made.
assert_served() {
	assert_helpers_ran
	assert_maps "$@"
}

# traced CMD [ARG]...: client under strace, which root starts, since it voids the privilege of what
# another's strace runs. $CALLS has a line for each of our helpers that was executed, in that order:
#
#	ARGV0 PID ARG... vars=N writes=N status=N
#
# PID stands for the target's; then the size of the environment, the writes to stdout and stderr.
traced() {
	prepare
	run --separate-stderr env HOME=/run/home/alice USER=alice XDG_RUNTIME_DIR=/run/user/1001 \
		strace -f -q -u alice -s 300 -e trace=execve,write,writev,rt_sigprocmask -e signal=none -o "$TRACE" \
		"${CLIENT[@]}" "$@"
	[ -z "$stderr" ] || echo "stderr: $stderr"
	CALLS=$(awk -v helpers="execve(\"$HELPERS/new" '
		index($0, helpers) && !/ = -1 / {
			order[++calls] = $1
			vars = argv = $0
			sub(/.*\/\* /, "", vars)
			sub(/ vars.*/, "", vars)
			sub(/[^[]*\[/, "", argv)
			sub(/\].*/, "", argv)
			gsub(/[",]/, "", argv)
			sub(/ [0-9]+/, " PID", argv)
			call[$1] = argv " vars=" vars
		}
		$2 ~ /^writev?\([12],/ { writes[$1]++ }
		/\+\+\+ exited with/ { status[$1] = $5 }
		END {
			for (i = 1; i <= calls; i++) {
				pid = order[i]
				print call[pid] " writes=" writes[pid] + 0 " status=" status[pid]
			}
		}' "$TRACE")
	echo "calls: $CALLS"
}

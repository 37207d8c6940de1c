#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
#
# The tools whose dialects idmap speaks take its output and make that very map.
#
# Each tool runs as alice, who has different ranges for uid and gid, with our helpers first in PATH.
# The process it starts reads its own two maps, and these are what `idmap --dump` planned.

load ../support

ROOTFS=/run/rootfs
MAPS=(u:0:1001:1 u:1:100000:1000 u:1001:101500:5 g:0:1001:1 g:1:300000:70 g:71:301500:5)
READ_MAPS=(cat /proc/self/uid_map /proc/self/gid_map)

# A root file system of busybox alone, with the files that podman would else have to make in it.
make_rootfs() {
	mkdir -p "$ROOTFS"/{bin,proc,sys,dev,etc,tmp,run}
	cp "$(command -v busybox)" "$ROOTFS/bin/cat"
	touch "$ROOTFS"/etc/{mtab,hosts,hostname,resolv.conf} "$ROOTFS/run/.containerenv"
}

# What these tools ask of a machine: cgroup2 alone, and a shared root mount.
setup_file() {
	make_rootfs
	umount -R /sys/fs/cgroup || true
	mount -t cgroup2 cgroup2 /sys/fs/cgroup
	mount --make-rshared /
}

setup() {
	grant_uid alice:100000:65536
	grant_gid alice:300000:65536
	PATH=$HELPERS_SETUID:$PATH
	cd /
}

# plan MAP...: both maps of `idmap --dump`, as the kernel shows them.
plan() {
	as alice "$IDMAP" --dump --format=kernel -u "$@"
	echo
	as alice "$IDMAP" --dump --format=kernel -g "$@"
}

# dialect NAME MAP...: idmap's words for another tool, into the array WORDS.
dialect() {
	local text
	text=$(as alice "$IDMAP" --dump --format="$1" "${@:2}")
	read -r -a WORDS <<<"$text"
}

# assert_maps PLAN: the output, but for the kernel's padding.
assert_maps() {
	assert_success
	assert_equal "$(tr -s ' ' <<<"$output" | sed 's/^ //')" "$1"
}

# The bundle's config.json with idmap's arrays in it.
make_bundle() {
	local oci
	oci=$(as alice "$IDMAP" --dump --format=docker-oci "${MAPS[@]}")
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

# check_oci RUNTIME
check_oci() {
	make_bundle "/run/bundle-$1"
	run as alice "$1" --root "/run/user/1001/$1" run --bundle "/run/bundle-$1" "test-$1"
	assert_maps "$(plan "${MAPS[@]}")"
}

# util-linux 2.38 has one range for each kind, in an order of its own.
@test "unshare --map-users and --map-groups make the map that idmap planned" {
	local maps=(u:0:100000:1000 g:0:300000:70)
	local name=unshare
	[[ $(unshare --version) != *2.38* ]] || name=unshare-2.38
	dialect "$name" "${maps[@]}"
	run as alice unshare "${WORDS[@]}" "${READ_MAPS[@]}"
	assert_maps "$(plan "${maps[@]}")"
}

@test "lxc-usernsexec -m makes the map that idmap planned" {
	dialect lxc-usernsexec "${MAPS[@]}"
	run as alice lxc-usernsexec "${WORDS[@]}" -- "${READ_MAPS[@]}"
	assert_maps "$(plan "${MAPS[@]}")"
}

# Without root, podman first makes a namespace with all of alice's IDs from 1 on: the parent of the
# one that is planned here, so outer IDs are its IDs.
@test "a podman --uidmap list makes the map that idmap planned" {
	local maps=(u:0:1:1000 u:1000:2001:5 g:0:1:70 g:70:3001:5)
	dialect podman "${maps[@]}"
	run --separate-stderr as alice podman run --rm --cgroups=disabled --network=none \
		"${WORDS[@]}" --rootfs "$ROOTFS" "${READ_MAPS[@]}"
	assert_maps "$(plan "${maps[@]}")"
}

@test "crun runs an OCI config with the map that idmap planned" {
	check_oci crun
}

@test "runc runs an OCI config with the map that idmap planned" {
	check_oci runc
}

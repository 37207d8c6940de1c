#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
#
# The tools whose dialects idmap speaks take its output and make that very map.
#
# Each tool runs as alice, who has different ranges for uid and gid, with our helpers first in PATH.
# The process it starts reads its own two maps, and these are what `idmap --dump` planned.

# bats runs functions by name.
# shellcheck disable=SC2317
load clients

MAPS=(u:0:1001:1 u:1:100000:1000 u:1001:101500:5 g:0:1001:1 g:1:300000:70 g:71:301500:5)

# plan MAP...: into PLAN both maps of `idmap --dump`, as the kernel shows them.
plan() {
	mapfile -t PLAN < <(as alice "$IDMAP" --dump --format=kernel -u "$@"
		echo
		as alice "$IDMAP" --dump --format=kernel -g "$@")
}

# dialect NAME MAP...: idmap's words for another tool, into the array WORDS; the plan of MAP... too.
dialect() {
	local text
	text=$(as alice "$IDMAP" --dump --format="$1" "${@:2}")
	read -r -a WORDS <<<"$text"
	plan "${@:2}"
}

# makes_plan CLIENT...: each of our installs makes the planned maps for CLIENT.
makes_plan() {
	check() {
		client "$@"
		assert_served "${PLAN[@]}"
	}
	ours check "$@"
}

# util-linux 2.38 has one range for each kind, in an order of its own.
@test "unshare --map-users and --map-groups make the map that idmap planned" {
	local name=unshare
	[[ $(unshare --version) != *2.38* ]] || name=unshare-2.38
	dialect "$name" u:0:100000:1000 g:0:300000:70
	makes_plan unshare "${WORDS[@]}" "${READ_MAPS[@]}"
}

@test "lxc-usernsexec -m makes the map that idmap planned" {
	dialect lxc-usernsexec "${MAPS[@]}"
	makes_plan lxc-usernsexec "${WORDS[@]}" -- "${READ_MAPS[@]}"
}

# Without root, podman first makes a namespace with all of alice's IDs from 1 on: the parent of the
# one that is planned here, so outer IDs are its IDs.
@test "a podman --uidmap list makes the map that idmap planned" {
	dialect podman u:0:1:1000 u:1000:2001:5 g:0:1:70 g:70:3001:5
	makes_plan podman run --rm --cgroups=disabled --network=none "${WORDS[@]}" \
		--rootfs "$ROOTFS" "${READ_MAPS[@]}"
}

@test "crun runs an OCI config with the map that idmap planned" {
	make_bundle /run/bundle "${MAPS[@]}"
	plan "${MAPS[@]}"
	makes_plan crun run --bundle /run/bundle test-crun
}

@test "runc runs an OCI config with the map that idmap planned" {
	make_bundle /run/bundle "${MAPS[@]}"
	plan "${MAPS[@]}"
	makes_plan runc run --bundle /run/bundle test-runc
}

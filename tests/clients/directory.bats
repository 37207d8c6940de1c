#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
#
# Clients of a user whose IDs a directory service grants alone. podman asks its plugin through shadow's
# libsubid, rootlesskit our getsubids; then our helpers ask it. (buildah, as Debian builds it, and
# unshare --map-auto read /etc/subuid themselves.)

# bats runs functions by name.
# shellcheck disable=SC2153,SC2317
load clients
load ../directory

eval "$(declare -f setup_file | sed '1s/setup_file/setup_clients/')"

setup_file() {
	setup_clients
	install_plugins
}

setup() {
	[ "$EUID" -eq 0 ] || skip "only root may set up users and their grants"
	grant_uid
	grant_gid
	service directory
	withdraw
	offers alice.uid 'range 100000 65536'
	offers alice.gid 'range 300000 65536'
	cd /
}

@test "podman maps what a directory service grants" {
	check() {
		client podman unshare "${READ_MAPS[@]}"
		assert_served "${MAPS_WITH_OWN_ID[@]}"
	}
	ours check
}

@test "rootlesskit maps what a directory service grants, by the ranges that our getsubids lists" {
	check() {
		client rootlesskit "${READ_MAPS[@]}"
		assert_served "${MAPS_WITH_OWN_ID[@]}"
		assert_ran "${IDMAP%/*}/getsubids"
	}
	ours check
}

@test "unshare maps a range that a directory service grants" {
	check() {
		client unshare --map-users=100500,0,500 --map-groups=300000,5,70 "${READ_MAPS[@]}"
		assert_served "0 100500 500" "5 300000 70"
	}
	ours check
}

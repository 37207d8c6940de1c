#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
#
# Rootless containers and images get their maps from our newuidmap and newgidmap.

# bats runs functions by name, and inner shells expand what stands in single quotes.
# shellcheck disable=SC2016,SC2317
load clients

IMAGE=localhost/image

run_rootfs() {
	client podman run --rm --cgroups=disabled --network=none "$@" --rootfs "$ROOTFS" \
		"${READ_MAPS[@]}"
}

# An image of the root file system, which is in alice's storage then.
make_image() {
	tar --create --directory "$ROOTFS" --file "$TMPDIR/image.tar" .
	client podman import --quiet "$TMPDIR/image.tar" "$IMAGE"
	assert_helpers_ran
}

@test "podman unshare is served by our helpers" {
	check() {
		client podman unshare "${READ_MAPS[@]}"
		assert_served "${MAPS_WITH_OWN_ID[@]}"
	}
	ours check
}

# It sorts them.
@test "podman unshare maps all ranges of an owner" {
	check() {
		grant_uid alice:200000:500 alice:100000:1000
		grant_gid alice:400000:30 alice:300000:70
		client podman unshare "${READ_MAPS[@]}"
		assert_served "${MAPS_OF_TWO_RANGES[@]}"
	}
	ours check
}

# podman first makes a namespace with all of alice's IDs from 1 on, by our helpers, and the one of
# the container in it: outer IDs are those of the first.
@test "podman run with lists of --uidmap and --gidmap is served by our helpers" {
	check() {
		run_rootfs --uidmap 0:1:1000 --uidmap 1000:2001:5 --gidmap 0:1:70 --gidmap 70:3001:5
		assert_served "0 1 1000" "1000 2001 5" "0 1 70" "70 3001 5"
	}
	ours check
}

@test "podman run --userns=keep-id is served by our helpers" {
	local maps=("0 1 1001" "1001 0 1" "1002 1002 64535")
	check() {
		run_rootfs --userns=keep-id
		assert_served "${maps[@]}" "${maps[@]}"
	}
	ours check
}

@test "podman run --userns=auto is served by our helpers" {
	check() {
		make_image
		client podman run --rm --cgroups=disabled --network=none --userns=auto:size=5000 \
			"$IMAGE" "${READ_MAPS[@]}"
		assert_served "0 1 5000" "0 1 5000"
	}
	ours check
}

@test "buildah unshare is served by our helpers" {
	check() {
		client buildah unshare "${READ_MAPS[@]}"
		assert_served "${MAPS_WITH_OWN_ID[@]}"
	}
	ours check
}

@test "buildah builds from scratch by our helpers, owners included" {
	check() {
		client buildah from scratch
		assert_helpers_ran
		container=$output
		client buildah copy --quiet --chown 7:9 "$container" "$ROOTFS/bin/busybox" /bin/cat
		assert_helpers_ran
		client buildah run --network=none "$container" "${READ_MAPS[@]}"
		assert_served "${MAPS_WITH_OWN_ID[@]}"
		client buildah unshare sh -c 'stat -c %u:%g "$(buildah mount "$1")/bin/cat"' sh "$container"
		assert_served 7:9
		client buildah commit --quiet --rm "$container" "$IMAGE-built"
		assert_helpers_ran
		client podman run --rm --cgroups=disabled --network=none "$IMAGE-built" "${READ_MAPS[@]}"
		assert_served "${MAPS_WITH_OWN_ID[@]}"
	}
	ours check
}

@test "skopeo reads alice's images by our helpers" {
	check() {
		make_image
		client skopeo copy --quiet "containers-storage:$IMAGE" "dir:$TMPDIR/copied"
		assert_helpers_ran
		assert [ -s "$TMPDIR/copied/manifest.json" ]
		rm -r "$TMPDIR/copied"
	}
	ours check
}

check_runtime() {
	make_bundle /run/bundle
	client "$1" run --bundle /run/bundle "test-$1"
	assert_served "${MAPS_WITH_OWN_ID[@]}"
}

@test "crun is served by our helpers" {
	ours check_runtime crun
}

@test "runc is served by our helpers" {
	ours check_runtime runc
}

#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
#
# idmap dump --format and --from: what other tools write and take, by an ordinary user.

load ../support

setup() {
	grant_uid alice:100000:65536
	grant_gid alice:300000:65536
}

dump() {
	as alice "$IDMAP" --dump "$@"
}

@test "the plan comes out as two command lines for the helpers" {
	run --separate-stderr dump --format=newuidmap
	assert_success
	assert_equal "$output" "newuidmap PID 0 1001 1 1 100000 65536
newgidmap PID 0 1001 1 1 300000 65536"
}

@test "kernel is one kind, and has no final newline" {
	dump -u --format=kernel 0:100000:65536 >"$BATS_TEST_TMPDIR/map"
	run cat "$BATS_TEST_TMPDIR/map"
	assert_output "0 100000 65536"
	assert_equal "$(wc -c <"$BATS_TEST_TMPDIR/map")" 14
	run --separate-stderr dump --format=kernel
	assert_failure 1
	assert_equal "$output" ""
	assert_regex "$stderr" "ask for -u or -g alone"
}

@test "the grant that a plan needs is said for its owner" {
	run --separate-stderr dump -u --format=subuid 0:100000:10 10:100010:10 20:5000:1
	assert_success
	assert_equal "$output" "alice:5000:1
alice:100000:20"
	# The own ID alone needs no grant.
	run --separate-stderr dump --format=subuid
	assert_success
	assert_equal "$output" "# /etc/subuid
alice:100000:65536
# /etc/subgid
alice:300000:65536"
	run --separate-stderr dump -u --format=subuid 0:1001:2
	assert_output "alice:1001:2"
}

@test "unshare's form goes to podman's and back" {
	local maps="--map-users=0:100000:100 --map-users=100:1001:1 --map-groups=0:300000:7"
	local podman="--uidmap 0:100000:100 --uidmap 100:1001:1 --gidmap 0:300000:7"
	run --separate-stderr dump --from=unshare - --format=podman <<<"$maps"
	assert_success
	assert_equal "$output" "$podman"
	run --separate-stderr dump --from=podman - --format=unshare <<<"$podman"
	assert_success
	assert_equal "$output" "$maps"
}

@test "entries of incus are laid over the layout" {
	run --separate-stderr dump --layout=subids --from=incus - --format=newuidmap <<<"uid 1001 33"
	assert_success
	assert_equal "$output" "newuidmap PID 0 100000 33 33 1001 1 34 100034 65502
newgidmap PID 0 300000 65536"
	dump --layout=subids +u:33:1001:1 --format=incus >"$BATS_TEST_TMPDIR/incus"
	assert_equal "$(<"$BATS_TEST_TMPDIR/incus")" "uid 1001 33"
}

@test "ranges of unequal length are refused with both lengths" {
	run --separate-stderr dump --from=incus - <<<"gid 10000-110000 10000-20000"
	assert_failure 1
	assert_equal "$output" ""
	assert_regex "$stderr" "100001 IDs against 10001"
}

@test "commas in doubt are refused with both readings" {
	run --separate-stderr dump --from=unshare - <<<"--map-users=100000,0,65536"
	assert_failure 1
	assert_regex "$stderr" "^idmap: stdin:1:13: .*0:100000:65536.*100000:0:65536"
	run --separate-stderr dump -u --from=unshare-2.38 - --format=kernel <<<"--map-users=100000,0,65536"
	assert_success
	assert_equal "$output" "0 100000 65536"
}

@test "a bad number is pointed at in its file" {
	printf 'lxc.idmap = u 0 100000 10\nlxc.idmap = g 0 010 10\n' >"$BATS_TEST_TMPDIR/idmap.conf"
	chmod -R a+rX "$BATS_TEST_TMPDIR"
	cd "$BATS_TEST_TMPDIR"
	run --separate-stderr dump --from=lxc idmap.conf
	assert_failure 1
	assert_regex "$stderr" "idmap.conf:2:17: '010' has a leading zero"
}

@test "the help names every form" {
	run dump --help
	assert_success
	local form
	for form in kernel newuidmap unshare unshare-2.38 podman docker-oci lxc lxc-usernsexec \
		incus nspawn subuid words; do
		assert_output --partial " $form"
	done
}

@test "the map that unshare makes of its form is the planned one" {
	local option
	option=$(dump -u --format=unshare-2.38 0:100000:65536)
	run as alice env PATH="$HELPERS_SETUID:$PATH" unshare "$option" cat /proc/self/uid_map
	assert_success
	assert_equal "$(tr -s ' ' <<<"$output")" " 0 100000 65536"
}

@test "the maps that lxc-usernsexec makes of its form are the planned ones" {
	local options
	read -ra options < <(dump --format=lxc-usernsexec)
	run as alice env PATH="$HELPERS_SETUID:$PATH" lxc-usernsexec "${options[@]}" -- \
		cat /proc/self/uid_map /proc/self/gid_map
	assert_success
	assert_equal "$(tr -s ' ' <<<"$output")" " 0 1001 1
 1 100000 65536
 0 1001 1
 1 300000 65536"
}

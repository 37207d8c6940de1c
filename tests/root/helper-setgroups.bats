# SPDX-License-Identifier: BSD-2-Clause
# newgidmap and setgroups (CVE-2018-7169).

# bats runs functions by name, and inner shells expand what stands in single quotes.
# shellcheck disable=SC2317
load helper

@test "a map of the own gid alone denies setgroups" {
	own() {
		writes newgidmap '0 1001 1' 0 1001 1
		assert_setgroups deny
	}
	every own
	grant_gid
	every own
}

@test "a granted range leaves setgroups allowed" {
	granted() {
		writes newgidmap '0 300000 10' 0 300000 10
		assert_setgroups allow
	}
	every granted
}

@test "one granted range beside the own gid leaves setgroups allowed" {
	mixed() {
		writes newgidmap '0 1001 1,1 300000 1' 0 1001 1 1 300000 1
		assert_setgroups allow
		writes newgidmap '1 300000 1,0 1001 1' 1 300000 1 0 1001 1
		assert_setgroups allow
	}
	every mixed
}

@test "the own gid that is granted by a line leaves setgroups allowed" {
	grant_gid alice:1001:1
	own() {
		writes newgidmap '0 1001 1' 0 1001 1
		assert_setgroups allow
	}
	every own
}

@test "setgroups that is denied already stays denied, and the map is written" {
	denied() {
		spawn_userns alice
		as alice sh -c "echo deny >/proc/$TARGET/setgroups"
		run as alice "$HELPERS/newgidmap" "$TARGET" "$@"
		assert_silent_success
		assert_map gid_map "$*"
		assert_setgroups deny
	}
	every denied 0 300000 10
	every denied 0 1001 1
}

@test "newuidmap never touches setgroups" {
	uid() {
		writes newuidmap '0 1001 1' 0 1001 1
		assert_setgroups allow
		writes newuidmap '0 100000 10' 0 100000 10
		assert_setgroups allow
	}
	every uid
}

@test "a refused map of the own gid leaves setgroups allowed" {
	ours refuses newgidmap 'share outer IDs' 0 1001 1 1 1001 1
	ours refuses newgidmap 'is over 4294967295' 0 1001 4294967297
	ours refuses newgidmap 'not allowed' 0 1001 1 1 1002 1
	ours refuses newgidmap 'usage'
	every refuses newgidmap 'not allowed' 0 1001 1 1 1002 1
}

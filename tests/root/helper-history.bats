# SPDX-License-Identifier: BSD-2-Clause
# Faults that programs of this kind have had, each under its name.

load helper

@test "CVE-2016-6252: numbers of 64 bits or with a sign are not cut down to a granted one" {
	grant_uid alice:0:10
	local number
	for number in 4294967296 8589934592 18446744073709551616 -4294967296; do
		every refuses newuidmap '' 0 "$number" 1
		every refuses newuidmap '' "$number" 0 1
	done
	grant_uid alice:4294967296:65536 alice:18446744073709551616:65536 alice:-4294967296:65536
	every refuses newuidmap '' 0 0 1
}

@test "CVE-2018-7169: a user without a line can't get rid of a group by setgroups" {
	grant_gid
	dropped() {
		writes newgidmap '0 1001 1' 0 1001 1
		assert_setgroups deny
		run ! as alice nsenter -U -t "$TARGET" --preserve-credentials \
			/usr/bin/python3 -c 'import os; os.setgroups([])'
		assert_output --partial PermissionError
	}
	every dropped
}

@test "fd:N of a folder with a symlink never leads a write out of /proc" {
	local file
	mkdir /run/home/alice/fake
	chown 1001:1001 /run/home/alice/fake
	for file in uid_map gid_map setgroups; do
		echo precious >"/run/tmp/$file"
		as alice ln -s "/run/tmp/$file" "/run/home/alice/fake/$file"
	done
	fake() {
		run as alice "$HELPERS/newuidmap" fd:8 0 1001 1 8</run/home/alice/fake
		assert_failure 1
		run as alice "$HELPERS/newgidmap" fd:8 0 1001 1 8</run/home/alice/fake
		assert_failure 1
		assert_equal "$(cat /run/tmp/{uid_map,gid_map,setgroups} | sort -u)" precious
	}
	every fake
}

@test "-1 as target is not /proc/4294967295" {
	minus_one() {
		run as alice "$HELPERS/newuidmap" -1 0 100000 10
		assert_refused ''
		refute_output --partial 4294967295
	}
	ours minus_one
}

@test "a count of 0 does not grant the whole ID space" {
	grant_uid alice:0:0
	ours refuses newuidmap 'not allowed' 0 0 1
	ours refuses newuidmap 'not allowed' 0 0 4294967294
	ours refuses newuidmap 'not allowed' 0 100000 65536
	grant_uid alice:100000:0 1001:1:0
	ours refuses newuidmap 'not allowed' 0 100000 1
	ours refuses newuidmap 'not allowed' 0 1 1
}

@test "the text of the longest numbers fits its buffer" {
	grant_uid alice:4000000000:1000000
	local extents
	read -r -d '' -a extents < <(seq 0 123 | awk '{
		printf "%d %d %d\n", 4000000000 + 2000 * $1, 4000000000 + 2000 * $1, 1000 }') || true
	every_extent() {
		fresh_target
		run as alice "$HELPERS/newuidmap" "$TARGET" "${extents[@]}"
		assert_silent_success
		assert_equal "$(wc -l <"/proc/$TARGET/uid_map")" 124
	}
	every every_extent
}

@test "a missing final newline voids neither the last line nor the file" {
	printf 'alice:100000:10\nalice:100010:10' >/etc/subuid
	ours writes newuidmap '0 100000 20' 0 100000 20
	printf 'bob:100000:65536\nalice:100000:10' >/etc/subuid
	ours writes newuidmap '0 100000 10' 0 100000 10
	ours refuses newuidmap 'not allowed' 0 100010 1
}

@test "a uid as owner counts, also beside owners that are no account" {
	grant_uid nobody-knows-me:200000:10 1001:100000:10 77777:300000:10
	every writes newuidmap '0 100000 10' 0 100000 10
}

@test "the names of owners are compared as strings, an owner without account harms nobody" {
	grant_uid gone:100000:65536 alice:165536:65536
	every writes newuidmap '0 165536 10' 0 165536 10
	every refuses newuidmap 'not allowed' 0 100000 10
}

@test "4294967295 4294967295 10 does not wrap round to small IDs" {
	grant_uid alice:0:100
	every refuses newuidmap '' 4294967295 4294967295 10
	every refuses newuidmap '' 0 4294967295 10
	ours refuses newuidmap 'pass 4294967294' 4294967295 4294967295 10
}

@test "START + COUNT past 2^32 does not wrap round to small IDs" {
	grant_uid alice:4294967290:100 alice:4294967295:10 alice:1:4294967295
	ours refuses newuidmap 'not allowed' 0 5 1
	ours refuses newuidmap '' 0 4294967290 100
	ours refuses newuidmap 'not allowed' 0 4294967290 1
}

@test "a name that is another user's number does not take his lines away" {
	grant_uid 1005:100000:10
	CALLER=4242 every writes newuidmap '0 100000 10' 0 100000 10
	CALLER=dora every refuses newuidmap 'not allowed' 0 100000 10
}

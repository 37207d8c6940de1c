#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
#
# idmap who: whose an outer ID is.

load ../support

setup() {
	grant_uid '# a note' alice:100000:65536 bob:165535:10 4242:300000:65536 ghost:100000:1 \
		'DOMAIN\alice:7:3'
	grant_gid alice:300000:65536
}

# said: $stderr but for what an ordinary user can't see.
said() {
	grep -v '^idmap: not seen: ' <<<"$stderr" || true
}

# who ARG...: rows, blanks squeezed.
who() {
	run --separate-stderr as bob "$IDMAP" who --noheadings --raw "$@"
	assert_equal "$(said)" ''
}

@test "an owner is shown with file, line and inner ID of his default layout" {
	who -u 100005
	assert_success
	assert_output 'uid 100005 alice 6 /etc/subuid:2'
	assert_equal "$(as alice "$IDMAP" lookup -r 100005)" 6
}

@test "a grant ends before its start plus its count" {
	who -u 165544
	assert_output 'uid 165544 bob 10 /etc/subuid:3'
	run -1 as bob "$IDMAP" who -u 165545
}

@test "all owners of an ID are shown" {
	who -u 165535
	assert_success
	assert_output 'uid 165535 alice 65536 /etc/subuid:2
uid 165535 bob 1 /etc/subuid:3'
}

@test "the account that has the ID itself is shown as inner 0" {
	who 1001
	assert_success
	assert_output 'uid 1001 alice 0 passwd
gid 1001 alice - group'
}

@test "a group that has the ID has no inner ID" {
	who -g 2004
	assert_success
	assert_output 'gid 2004 extra - group'
}

@test "u and g limit the answer to one kind and both are the default" {
	who 300000
	assert_output 'uid 300000 4242 1 /etc/subuid:4
uid 300000 dora 1 /etc/subuid:4
gid 300000 alice 1 /etc/subgid:1'
	who -g 300000
	assert_output 'gid 300000 alice 1 /etc/subgid:1'
	who -u -g 300000
	assert_equal "${#lines[@]}" 3
}

@test "a numeric owner is the login name and the UID, and both may use the line" {
	who -u 300009
	assert_output 'uid 300009 4242 10 /etc/subuid:4
uid 300009 dora 10 /etc/subuid:4'
}

@test "an owner without an account is shown as he stands, without an inner ID" {
	who -u 100000
	assert_success
	assert_output 'uid 100000 alice 1 /etc/subuid:2
uid 100000 ghost - /etc/subuid:5'
}

@test "a login name of a directory service is one owner" {
	run --separate-stderr as bob "$IDMAP" who -u --json 8
	assert_success
	assert_equal "$(python3 -c '
import json, sys
for row in json.load(sys.stdin)["who"]:
    print(row["who"], row["inner"], row["source"])' <<<"$output")" 'DOMAIN\alice 2 /etc/subuid:6
mail 0 passwd'
}

@test "a line that grants nothing makes nobody an owner" {
	grant_uid 'alice:100000:65536 ' 'alice : 100000 : 65536' alice:100000:0
	run -1 --separate-stderr as bob "$IDMAP" who -u 100000
	assert_equal "$(said)" 'idmap: nobody may use 100000 as a user ID'
}

@test "the order is that of the question" {
	who -u 300000 7 100005 -o ID
	assert_output '300000
300000
7
7
100005'
}

@test "an ID that is nobody's makes the status 1 and is named, the others are shown" {
	run -1 --separate-stderr as bob "$IDMAP" who --noheadings --raw -u 55555 100005
	assert_output 'uid 100005 alice 6 /etc/subuid:2'
	assert_equal "$(said)" 'idmap: nobody may use 55555 as a user ID'
	run -1 --separate-stderr as bob "$IDMAP" who 4294967294
	assert_equal "$(said)" 'idmap: nobody may use 4294967294 as a user or group ID'
}

@test "JSON has numbers for IDs and null for an inner ID that is not there" {
	run --separate-stderr as bob "$IDMAP" who --json -u 100000
	assert_success
	python3 -c '
import json, sys
rows = json.loads(sys.argv[1])["who"]
assert [(r["type"], r["id"], r["inner"]) for r in rows] == [("uid", 100000, 1), ("uid", 100000, None)]
' "$output"
	run -1 --separate-stderr as bob "$IDMAP" who --json -u 55555
	python3 -c 'import json, sys; assert json.loads(sys.argv[1]) == {"who": []}' "$output"
}

@test "what is no ID is refused with the reason" {
	local word
	for word in '' x +1 0x10 010 '1 ' 4294967295 4294967296; do
		run -2 --separate-stderr as bob "$IDMAP" who -- "$word"
		[[ $stderr == "idmap: ID '$word'"* ]] || fail "$stderr"
	done
	run -2 --separate-stderr as bob "$IDMAP" who
	assert_regex "$stderr" '^idmap: no ID: whose shall be found[?]'
	run -2 --separate-stderr as bob "$IDMAP" who -o WHO,X 5
	assert_regex "$stderr" 'the columns are TYPE, ID, WHO, INNER and SOURCE'
}

@test "a file that is not there grants nothing" {
	rm /etc/subgid
	who 1001
	assert_success
	assert_line 'uid 1001 alice 0 passwd'
}

@test "a file that all may write is refused by name" {
	chmod 666 /etc/subuid
	run -1 --separate-stderr as bob "$IDMAP" who -u 100000
	assert_regex "$stderr" '^idmap: /etc/subuid: writable by everybody'
	run -0 as bob "$IDMAP" who -g 300000
	chmod 644 /etc/subuid
}

@test "of a directory service without its plugin it is said that the file counts" {
	echo 'subid: sss' >>/etc/nsswitch.conf
	run -0 --separate-stderr as bob "$IDMAP" who -u 100000
	sed -i /^subid/d /etc/nsswitch.conf
	assert_regex "$stderr" '^idmap: libsubid_sss.so is not found: /etc/subuid counts'
}

@test "live namespaces that map the ID are shown with the inner ID, below who may" {
	local ns
	spawn_userns alice
	"$IDMAP" "$TARGET" u:5:100000:10 g:0:300000:5
	ns=$(stat -Lc %i "/proc/$TARGET/ns/user")
	run -0 --separate-stderr "$IDMAP" who -u --noheadings --raw 100009
	assert_output "uid 100009 alice 10 /etc/subuid:2
uid 100009 user:[$ns] 14 /proc/$TARGET/uid_map"
	run -0 --separate-stderr "$IDMAP" who -g --noheadings --raw -o WHO,INNER 300000
	assert_line "user:[$ns] 0"
	run -0 --separate-stderr "$IDMAP" who --noheadings --raw 100010
	refute_output --partial "$ns"
	who -u 100009
	assert_output 'uid 100009 alice 10 /etc/subuid:2'
	assert_regex "$stderr" 'not seen: processes that may not be asked for their namespace: [1-9]'
}

@test "an ID that is in use but that nobody may use is nobody's" {
	spawn_userns alice
	"$IDMAP" "$TARGET" 0:900000:10
	run -1 --separate-stderr "$IDMAP" who -u --noheadings --raw -o INNER 900003
	assert_output 3
	assert_regex "$stderr" 'nobody may use 900003'
}

@test "IDs come from stdin too, one a line, and a bad one is named by its line" {
	run -0 --separate-stderr as bob "$IDMAP" who --raw -u - < <(printf '1001\n100000\n')
	assert_line 'uid 1001 alice 0 passwd'
	assert_line --partial 'uid 100000 alice 1 /etc/subuid:'
	run -1 --separate-stderr as bob "$IDMAP" who - < <(printf '1001\nalice\n')
	assert_equal "$output" ''
	assert_regex "$stderr" "^idmap: stdin:2: 'alice' "
}

@test "a name is no ID, and the way to its number is said" {
	run -2 --separate-stderr as bob "$IDMAP" who alice
	assert_regex "$stderr" "^idmap: ID 'alice': names are not taken: give the number .id -u alice."
}

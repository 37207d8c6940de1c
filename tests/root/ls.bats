#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
#
# idmap ls: forests of namespaces are grown, and the list must say what was grown.

load ../support

teardown() {
	kill_targets
	if [ -n "${FOREST-}" ]; then
		kill -KILL "$FOREST"
		wait "$FOREST" || true
		while pgrep -x forest >/dev/null; do sleep 0.01; done
	fi 2>/dev/null
	umount -q "$TMPDIR"/forest.{a\ b,covered,covered} 2>/dev/null || true
	rm -rf "$TMPDIR"/forest.*
}

# grow: a forest as stdin says (see forest.c); $FOREST is its PID.
grow() {
	cat >"$TMPDIR/forest.spec"
	: >"$TMPDIR/forest.built"
	"$IDMAP_BUILDDIR/tests/root/forest" <"$TMPDIR/forest.spec" >"$TMPDIR/forest.built" 3>&- &
	FOREST=$!
	local tries
	for ((tries = 0; tries < 1000; tries++)); do
		! grep -q ready "$TMPDIR/forest.built" || return 0
		kill -0 "$FOREST" || break
		sleep 0.01
	done
	fail "the forest did not grow"
}

# ns NAME: the inode of what was grown; pid NAME: its first process.
ns() {
	awk -v name="$1" '$1 == name { print $2 }' "$TMPDIR/forest.built"
}

pid() {
	awk -v name="$1" '$1 == name { print $3 }' "$TMPDIR/forest.built"
}

# pair NAME NAME: both inodes in order.
pair() {
	printf '%s\n' "$(ns "$1")" "$(ns "$2")" | sort -n | paste -sd ' '
}

# assert_forest: the list and the maps are what was grown, all of it, and nothing else.
assert_forest() {
	"$IDMAP" ls --json >"$TMPDIR/forest.list"
	"$IDMAP" ls --maps --json >"$TMPDIR/forest.maps"
	run -0 "$IDMAP_SRCDIR/tests/root/forest-expect" "$TMPDIR"/forest.{spec,built,list,maps}
}

# findings ARG...: what the audit finds, FINDING TYPE RANGES IDS NS... a line, sorted.
findings() {
	local status=0
	"$IDMAP" ls --overlaps --json "$@" >"$TMPDIR/forest.found" || status=$?
	jq -r '.findings[] | [.finding, .type, .ranges, .ids, ([.ns, .other_ns // empty] | sort)[]] | join(" ")' \
		"$TMPDIR/forest.found" | sort
	return "$status"
}

@test "a machine without namespaces has the one we are in" {
	run -0 --separate-stderr "$IDMAP" ls --raw --noheadings -o DEPTH,PARENT,UID_EXTENTS,UIDS,SETGROUPS
	assert_output --regexp '^0 -? 1 4294967295 allow$'
	assert_equal "$stderr" ''
	run -0 "$IDMAP" ls --overlaps
	assert_output ''
}

@test "flat, nested, unwritten and half-written namespaces are listed as they are" {
	grow <<-END
		a - 0 1 0:100000:65536 0:200000:65536
		b - 1001 3 0:300000:10,20:300020:5 0:400000:1
		a1 a 0 2 0:0:1000 0:0:65536
		a2 a 7 1 5:1000:64536 0:0:10
		a21 a2 5 4 5:5:1 5:5:1
		none - 0 1 - -
		half - 1002 1 0:500000:7 -
	END
	assert_forest
}

@test "parents whose processes all ended are listed, with their maps" {
	grow <<-END
		dead - 1001 0 0:100000:65536,65536:1001:1 0:200000:65536
		child dead 0 0 0:10:1000 0:20:1000
		grandchild child 0 2 0:5:10 0:5:20
		deep grandchild 0 0 3:4:1 3:4:1
		deeper deep 3 1 - -
	END
	assert_forest
}

@test "what only a descriptor holds, and has no child, is not seen" {
	grow <<-END
		alone - 0 0 0:100000:10 0:100000:10
	END
	run -0 "$IDMAP" ls --raw --noheadings -o DEPTH
	assert_output 0
}

@test "what only a bind mount holds is listed with its mount and parents" {
	grow <<-END
		dead - 0 0 0:100000:65536 0:100000:65536
		held dead 5 1 0:10:1000 0:20:1000
	END
	touch "$TMPDIR/forest.a b" "$TMPDIR/forest.covered"
	mount --bind "/proc/$(pid held)/ns/user" "$TMPDIR/forest.a b"
	mount --bind "/proc/$(pid held)/ns/user" "$TMPDIR/forest.covered"
	mount --bind /dev/null "$TMPDIR/forest.covered"
	kill -KILL "$FOREST"
	wait "$FOREST" || true
	until [ ! -e "/proc/$(pid held)" ]; do sleep 0.01; done
	run -0 --separate-stderr "$IDMAP" ls --raw --noheadings \
		-o NS,PARENT,OWNER,NPROCS,PID,COMMAND,UIDS,MOUNT
	assert_line --index 1 --regexp "^$(ns dead) [0-9]+ 0 0 -? -? 65536 -?\$"
	assert_line --index 2 --regexp \
		"^$(ns held) $(ns dead) 100005 0 -? -? 1000 $TMPDIR/forest\.a.x20b\$"
	assert_regex "$stderr" 'not seen: bind mounts .*: 1$'
	unset FOREST
}

@test "340 extents are listed" {
	local map
	map=$(for ((i = 0; i < 340; i++)); do printf '%d:%d:1,' "$((3 * i))" "$((5000 - 2 * i))"; done)
	grow <<<"many - 0 1 ${map%,} ${map%,}"
	assert_forest
	run -0 "$IDMAP" ls --maps --raw --noheadings -u
	assert_equal "${#lines[@]}" 341
}

@test "namespaces nested as deep as the kernel allows are listed, with and without processes" {
	local i parent=-
	for ((i = 0; i < 33; i++)); do
		echo "n$i $parent 0 $((i % 3)) 0:$((i == 0 ? 100000 : 0)):65536 0:0:$((70000 - i))"
		parent=n$i
	done >"$TMPDIR/forest.lines"
	grow <"$TMPDIR/forest.lines"
	assert_forest
	[ "$(jq '[.namespaces[].depth] | max' "$TMPDIR/forest.list")" -eq 33 ]
}

@test "a tree hangs children below their parents" {
	grow <<-END
		a - 0 1 0:100000:65536 0:100000:65536
		a1 a 0 1 - -
	END
	run -0 "$IDMAP" ls --tree --json
	assert_equal "$(jq -c '.namespaces[] | [.. | objects | select(has("ns")) | .ns]' <<<"$output")" \
		"[$(stat -Lc %i /proc/self/ns/user),$(ns a),$(ns a1)]"
	run -0 env LC_ALL=C.UTF-8 "$IDMAP" ls --tree --noheadings -o NS
	assert_line --index 1 "└─$(ns a)"
	assert_line --index 2 "  └─$(ns a1)"
}

@test "bytes of a command reach no terminal as they are" {
	local evil
	evil=$(printf 'x\033[2J')
	cp /bin/sleep "$TMPDIR/forest.$evil"
	unshare -U "$TMPDIR/forest.$evil" infinity &
	TARGETS+=("$!")
	until [ "$(cat "/proc/$!/comm")" != bash ] && [ "$(cat "/proc/$!/comm")" != unshare ]; do
		sleep 0.01
	done
	for shape in "" --raw --json --tree --graph "--svg -"; do
		# shellcheck disable=SC2086 # options
		run -0 "$IDMAP" ls $shape
		refute_output --partial $'\033'
		assert_output --partial '[2J'
	done
}

@test "siblings that share outer IDs are found, each pair once, with the shared ranges" {
	grant_uid root:1:4294967000
	grant_gid root:1:4294967000
	grow <<-END
		a - 0 1 0:100000:65536 0:100000:10
		b - 0 1 0:165000:10,10:165010:10,50:100000:1 0:100010:10
		c - 0 1 0:200000:10 0:200000:10
		a1 a 0 1 0:0:10 0:0:5
		a2 a 0 1 0:5:10 0:5:5
		b1 b 0 1 0:0:10,10:10:10,20:50:1 0:0:5
	END
	run -1 findings
	assert_output - <<-END
		overlap uid 100000,165000-165019 21 $(pair a b)
		overlap uid 100005-100009 5 $(pair a1 a2)
	END
	run -0 findings -g
	assert_output ''
	run -1 "$IDMAP" ls --overlaps --raw --noheadings -o PID,OTHER_PID,COMMAND,OTHER
	assert_line --regexp "^($(pid a) $(pid b)|$(pid b) $(pid a)) forest forest\$"
}

@test "IDs that are granted to nobody, to others, or belong to accounts are found" {
	grant_uid alice:100000:1000 1002:200000:1000
	grant_gid alice:100000:1000
	grow <<-END
		good - 1001 1 0:1001:1,1:100000:1000 0:1001:1,1:100000:10
		stale - 1001 1 0:200000:10 -
		both - 1001 1 0:99990:20 -
		bob - 1002 1 0:200500:10,10:1002:1 -
		theirs - 1001 1 0:1002:1,1:1005:2 -
		nested good 0 1 0:0:1 -
		roots - 0 1 0:200990:10 -
	END
	run -1 findings -u
	assert_output - <<-END
		account uid 1002,1005-1006 3 $(ns theirs)
		outside uid 1002,1005-1006 3 $(ns theirs)
		outside uid 99990-99999 10 $(ns both)
		overlap uid 100000-100009 10 $(pair good both)
		stale uid 200000-200009 10 $(ns stale)
	END
	run -1 "$IDMAP" ls --overlaps --json
	assert_equal "$(jq -r '.findings[] | select(.finding == "account") | .other' <<<"$output")" bob
	run -0 findings -g
}

@test "an audit without readable grants is none" {
	grow <<<'a - 0 1 0:100000:10 -'
	grant_uid root:100000:10
	chmod 666 /etc/subuid
	run -1 --separate-stderr "$IDMAP" ls --overlaps
	assert_regex "$stderr" '^idmap: uid_maps were not compared with the grants: /etc/subuid: '
	chmod 644 /etc/subuid
	run -0 "$IDMAP" ls --overlaps
	echo 'subid: sss' >>/etc/nsswitch.conf
	run -0 --separate-stderr "$IDMAP" ls --overlaps
	assert_regex "$stderr" '^idmap: libsubid_sss.so is not found: /etc/subuid counts'
	sed -i '/^subid:/d' /etc/nsswitch.conf
}

@test "an ordinary user sees what is his, and is told how much he may not see" {
	grant_uid alice:100000:65536
	grant_gid alice:100000:65536
	grow <<-END
		theirs - 0 3 0:300000:10 -
	END
	spawn_userns alice
	# shellcheck disable=SC2153 # spawn_userns sets it
	"$IDMAP" "$TARGET" 0:100000:10
	run -0 --separate-stderr as alice "$IDMAP" ls --raw --noheadings -o NS,OWNER,USER,PID,UIDS
	assert_output --regexp "$(stat -Lc %i "/proc/$TARGET/ns/user") 1001 alice $TARGET 10\$"
	refute_output --partial "$(ns theirs)"
	assert_regex "$stderr" 'not seen: processes that may not be asked for their namespace: [1-9][0-9]* \(root may\)'
	as alice "$IDMAP" ls --json >"$TMPDIR/forest.list"
	[ "$(jq '.unseen[0].denied' "$TMPDIR/forest.list")" -ge 3 ]
	run -0 as alice "$IDMAP" ls --overlaps
	for shape in --tree --maps --graph "--svg -"; do
		# shellcheck disable=SC2086 # options
		run -0 as alice "$IDMAP" ls $shape
	done
}

@test "an ordinary user reads the maps of his own dead parents" {
	spawn become alice unshare -Ur sh -c 'unshare -U sleep infinity & exec sleep 1'
	until run -0 --separate-stderr as alice "$IDMAP" ls --raw --noheadings -o DEPTH,NPROCS,UIDS &&
		[[ $output == *$'\n'"1 0 1"* ]]; do
		sleep 0.05
	done
	assert_line --index 2 '2 1 0'
	pkill -KILL -u 1001 sleep
}

@test "hidepid is said" {
	mount -o remount,hidepid=2 /proc
	run -0 --separate-stderr as alice "$IDMAP" ls
	assert_regex "$stderr" 'mounted with hidepid'
	mount -o remount,hidepid=0 /proc
	run -0 --separate-stderr as alice "$IDMAP" ls
	refute_regex "$stderr" 'hidepid'
}

@test "a drawing has a row for each namespace, with its IDs where they lie" {
	grow <<-END
		a - 0 1 0:100000:65536 0:100000:1
		b - 0 1 0:165536:65536 -
		a1 a 0 1 0:0:32768 -
	END
	run -0 env COLUMNS=80 LC_ALL=C "$IDMAP" ls --graph -u
	assert_line --index 0 --regexp '^outer user IDs.* 100000 .* 165536'
	assert_equal "${#lines[@]}" 5
	assert_line --index 2 --regexp "^  $(ns a) root forest +#+[+]?\$"
	assert_line --index 3 --regexp "^    $(ns a1) 100000 forest +#+[+]?\$"
	assert_line --index 4 --regexp "^  $(ns b) root forest {20,}[#+]#+\$"
	run -0 env COLUMNS=80 LC_ALL=C.UTF-8 "$IDMAP" ls --graph
	assert_output --partial █
	run -0 "$IDMAP" ls --svg "$TMPDIR/forest.svg"
	assert_output ''
	run -0 python3 -c '
import sys, xml.etree.ElementTree as tree
root = tree.parse(sys.argv[1]).getroot()
svg = "{http://www.w3.org/2000/svg}"
print(root.tag == svg + "svg", [t.text for t in root.iter(svg + "title")])' "$TMPDIR/forest.svg"
	assert_output --regexp '^True '
	assert_output --partial '100000-165535 (65536)'
	assert_output --partial '100000-132767 (32768)'
	run -1 --separate-stderr "$IDMAP" ls --svg /nowhere/x
	assert_regex "$stderr" '/nowhere/x: No such file'
	run -1 "$IDMAP" ls --svg /dev/full
}

@test "what is asked wrongly is refused with what would work" {
	run -2 --separate-stderr "$IDMAP" ls -o NOTHING
	assert_regex "$stderr" 'the columns are NS, PARENT, .* and MOUNT, each at most once'
	run -2 --separate-stderr "$IDMAP" ls --tree --maps
	assert_regex "$stderr" 'only one can be shown'
	run -2 --separate-stderr "$IDMAP" ls --json --raw
	assert_regex "$stderr" '--json and --raw are two shapes'
	run -2 --separate-stderr "$IDMAP" ls --graph -o NS
	assert_regex "$stderr" '-o is for tables, and --graph prints none'
	run -2 --separate-stderr "$IDMAP" ls 1
	assert_regex "$stderr" "'1': ls takes no argument"
	run -2 "$IDMAP" ls --nonsense
	run -0 "$IDMAP" ls --help
	assert_line --partial 'idmap ls'
}

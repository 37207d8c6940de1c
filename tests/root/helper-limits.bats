# SPDX-License-Identifier: BSD-2-Clause
# Limits of a map, and overlaps: found and named before anything is touched.

load helper

# one_id_extents N: N extents of one ID, in short numbers, that do not continue each other.
one_id_extents() {
	seq 0 $(($1 - 1)) | awk '{ print $1, 5000 + 2 * $1, 1 }'
}

# text_of BYTES: extents whose text, without a final newline, is BYTES long (4090..4096).
# 315 lines "iii oooooo 1\n" are 4095 bytes; each four-digit inner ID adds one.
text_of() {
	seq 0 314 | awk -v longer=$(($1 - 4094)) \
		'{ print ($1 < longer ? 1000 + 2 * $1 : 100 + 2 * $1), 100000 + 3 * $1, 1 }'
}

# writes_all PROGRAM LIST: as writes(), all extents of LIST stand in the map.
writes_all() {
	local extents
	fresh_target
	read -r -d '' -a extents <<<"$2" || true
	run as alice "$HELPERS/$1" "$TARGET" "${extents[@]}"
	assert_silent_success
	awk '{ print $1, $2, $3 }' "/proc/$TARGET/uid_map" | diff - <(sort -n <<<"$2")
}

# refuses_all PROGRAM REGEXP LIST: as refuses().
refuses_all() {
	local extents
	read -r -d '' -a extents <<<"$3" || true
	refuses "$1" "$2" "${extents[@]}"
}

@test "340 extents of short numbers are written" {
	grant_uid alice:5000:1000
	every writes_all newuidmap "$(one_id_extents 340)"
}

@test "341 extents are refused, the limit is named and nothing is touched" {
	grant_uid alice:5000:1000
	grant_gid alice:5000:1000
	every refuses_all newuidmap '' "$(one_id_extents 341)"
	ours refuses_all newuidmap '341 extents: a map holds at most 340' "$(one_id_extents 341)"
	ours refuses_all newgidmap '341 extents: a map holds at most 340' "$(one_id_extents 341)"
}

@test "a text of 4095 bytes is written" {
	assert_equal "$(text_of 4095 | head -c -1 | wc -c)" 4095
	ours writes_all newuidmap "$(text_of 4095)"
}

@test "a text of 4096 bytes is refused, the limit is named and nothing is touched" {
	every refuses_all newuidmap '' "$(text_of 4096)"
	ours refuses_all newuidmap '4096 bytes of text: at most 4095 .* 314 extents' "$(text_of 4096)"
	grant_gid alice:100000:65536
	ours refuses_all newgidmap '4096 bytes of text: at most 4095 .* 314 extents' "$(text_of 4096)"
}

@test "1000 neighbours, over the limit as they stand, are written merged" {
	local extents
	read -r -d '' -a extents < <(seq 0 999 | shuf --random-source=/etc/passwd |
		awk '{ print $1, 100000 + $1, 1 }') || true
	ours writes newuidmap '0 100000 1000' "${extents[@]}"
}

@test "neighbours within the limits are left as they are" {
	every writes newuidmap '0 100000 1,1 100001 1' 0 100000 1 1 100001 1
}

@test "an overlap of inner IDs is refused and both extents named" {
	every refuses newuidmap '' 0 100000 10 9 100100 1
	ours refuses newuidmap 'extents 0 100000 10 and 9 100100 1 share inner IDs' \
		0 100000 10 9 100100 1
	ours refuses newgidmap 'extents 5 300000 10 and 10 300100 10 share inner IDs' \
		10 300100 10 30 300200 1 5 300000 10
}

@test "an overlap of outer IDs is refused and both extents named" {
	every refuses newuidmap '' 0 100000 10 20 100009 1
	ours refuses newuidmap 'extents 0 100000 10 and 20 100009 1 share outer IDs' \
		0 100000 10 20 100009 1
	ours refuses newgidmap 'extents 0 1001 1 and 1 1001 1 share outer IDs' 0 1001 1 1 1001 1
}

@test "the same extent twice is refused" {
	every refuses newuidmap '' 0 100000 10 0 100000 10
	ours refuses newuidmap 'share inner IDs' 0 100000 10 0 100000 10
}

@test "an overlap among 345 extents is found before the limit is passed or a map touched" {
	every refuses_all newuidmap '' "$(seq 0 344 | awk '{ print $1, 100000, 1 }')"
}

# SPDX-License-Identifier: BSD-2-Clause
# What may happen to a target, or to a helper, at any moment of a run: thousands of tries, in which
# nothing waits for anything. IDMAP_TRIES=N sets how many, which CI does longer.

# bats runs functions by name.
# shellcheck disable=SC2317
load helper

# Between the check of the target and the write of its map the grants are read: other people's lines
# make that the longest part of a run.
setup_file() {
	seq 1 50000 | awk '{ print "other" $1 ":" 1000000 + $1 ":1" }' >"$BATS_FILE_TMPDIR/others"
	cp /etc/login.defs /etc/nsswitch.conf "$BATS_FILE_TMPDIR"
}

TRIES=${IDMAP_TRIES:-1500}

# race WHAT TRIES: attack-race.c
race() {
	race_of() {
		cat "$BATS_FILE_TMPDIR/others" >>/etc/subuid
		cat "$BATS_FILE_TMPDIR/others" >>/etc/subgid
		run --separate-stderr "$IDMAP_BUILDDIR/tests/root/attack-race" \
			"$1" "$HELPERS" "$2"
		echo "# ${HELPERS##*/}: ${lines[-1]}" >&3
		assert_success
		assert_line --regexp "^$1: [0-9]+ tries.*, 0 faults"
		[[ ! $stderr =~ [^[:print:][:space:]] ]]
	}
	ours race_of "$@"
}

@test "a PID used anew by a process of another group between check and write gets no map" {
	race reuse "$TRIES"
}

@test "a pidfd whose PID is used anew between check and write leads to no other process" {
	race pidfd $((TRIES / 3))
}

@test "stopped while the PID is used anew it writes the map of the process that it checked, or none" {
	race stop $((TRIES / 3))
}

@test "a target that becomes a setuid program gets no map" {
	race exec 150
}

@test "any signal leaves a whole map or none, and no core" {
	race signal 384
}

# SPDX-License-Identifier: BSD-2-Clause
# What the helpers take as arguments, and how they are started.

# bats runs functions by name, and inner shells expand what stands in single quotes.
# shellcheck disable=SC2016,SC2317
load helper

@test "one triple is written" {
	every writes newuidmap '0 100000 65536' 0 100000 65536
	every writes newgidmap '0 300000 65536' 0 300000 65536
}

@test "up to five extents stand in the map in the order of the arguments" {
	every writes newuidmap '10 100010 1,0 100000 5,20 100020 2' \
		10 100010 1 0 100000 5 20 100020 2
	every writes newgidmap '10 300010 1,0 300000 5' 10 300010 1 0 300000 5
}

@test "no argument at all exits exactly 1 with the usage" {
	no_argument() {
		for program in newuidmap newgidmap; do
			run as alice sh -c "$HELPERS/$program"
			assert_refused '[Uu]sage'
		done
	}
	every no_argument
}

@test "a PID without a triple is a usage error and touches nothing" {
	ours refuses newuidmap '^newuidmap: usage: newuidmap PID\|fd:N INNER OUTER COUNT'
	ours refuses newgidmap '^newgidmap: usage: newgidmap PID\|fd:N INNER OUTER COUNT'
}

@test "an incomplete triple is a usage error" {
	every refuses newuidmap '[Uu]sage' 0
	every refuses newuidmap '[Uu]sage' 0 100000
	every refuses newuidmap '[Uu]sage' 0 100000 1 1
	every refuses newgidmap '[Uu]sage' 0 300000 1 1 300001
}

@test "there are no options" {
	ours refuses newuidmap '' --help 0 100000
	no_option() {
		run as alice "$HELPERS/newuidmap" --help
		assert_failure 1
	}
	ours no_option
}

@test "a number is digits only without a leading zero, and the message says which is not" {
	local number
	for number in 0x10 010 00 +1 -1 ' 1' '1 ' $'1\n' 1x x ''; do
		ours refuses newuidmap 'newuidmap: inner ".*(digits only|leading zero|is empty)' \
			"$number" 100000 1
	done
	for number in 0x186a0 0100000 +100000 ' 100000' '100000 '; do
		ours refuses newuidmap 'newuidmap: outer ".*(digits only|leading zero)' \
			0 "$number" 1
		ours refuses newgidmap 'newgidmap: count ".*(digits only|leading zero)' \
			0 300000 "$number"
	done
}

@test "a number past 32 bits is refused and the bound is named" {
	local number
	for number in 4294967296 4294967297 18446744073709551616 18446744073709551617 \
		99999999999999999999999999; do
		ours refuses newuidmap "inner \"$number\" is over 4294967295" "$number" 100000 1
		ours refuses newuidmap "outer \"$number\" is over 4294967295" 0 "$number" 1
		ours refuses newgidmap "count \"$number\" is over 4294967295" 0 300000 "$number"
	done
}

@test "4294967295 is no ID on either side" {
	every refuses newuidmap '' 4294967295 100000 1
	every refuses newuidmap '' 0 4294967295 1
	ours refuses newuidmap 'pass 4294967294' 4294967295 100000 1
	ours refuses newuidmap 'pass 4294967294' 0 4294967295 1
}

@test "a count of 0 is refused" {
	every refuses newuidmap '' 0 100000 0
	ours refuses newgidmap 'extent 0 300000 0: count is 0' 0 300000 0
}

@test "an extent that passes the last ID is refused and the side is named" {
	ours refuses newuidmap 'extent 4294967290 100000 10: inner IDs pass 4294967294' 4294967290 100000 10
	ours refuses newuidmap 'extent 0 4294967290 10: outer IDs pass 4294967294' 0 4294967290 10
	ours refuses newuidmap 'extent 1 1 4294967295: inner IDs pass 4294967294' 1 1 4294967295
	every refuses newuidmap '' 4294967290 100000 10
	every refuses newuidmap '' 0 4294967290 10
}

@test "a refused range is named with its ends exclusive" {
	every refuses newuidmap '^newuidmap: uid range \[5-15\) -> \[200000-200010\) not allowed' \
		5 200000 10
	every refuses newgidmap '^newgidmap: gid range \[5-15\) -> \[100000-100010\) not allowed' \
		5 100000 10
}

@test "a refused range comes with the file and the line that would grant it" {
	ours refuses newuidmap '/etc/subuid .*alice.* 165536\.\.165537: add alice:165536:2' \
		0 165530 8
	ours refuses newgidmap '/etc/subgid .*alice.* 365536\.\.365537: add alice:365536:2' \
		0 365530 8
}

@test "the name by which it is called makes no difference" {
	other_name() {
		local name
		for name in newgidmap /usr/bin/newuidmap ''; do
			spawn_userns alice
			run as alice bash -c 'exec -a "$0" "$@"' "$name" \
				"$HELPERS/newuidmap" "$TARGET" 0 100000 10
			assert_silent_success
			assert_map uid_map '0 100000 10'
			assert_map gid_map ''
		done
	}
	ours other_name
}

@test "an empty argument list is a usage error" {
	empty_list() {
		run as alice /usr/bin/python3 -c '
import ctypes, sys
libc = ctypes.CDLL(None)
empty = (ctypes.c_char_p * 1)(None)
libc.execve(sys.argv[1].encode(), empty, empty)' "$HELPERS/newuidmap"
		assert_refused '[Uu]sage'
	}
	every empty_list
}

@test "an empty environment, a removed working folder and inherited descriptors do no harm" {
	bare() {
		spawn_userns alice
		run as alice sh -c '
			cd "$(mktemp -d)" && rmdir "$PWD"
			exec env -i "$@" 3</ 4</ 5</dev/null 6</dev/null 7</proc 8</proc 9</' \
			sh "$HELPERS/newuidmap" "$TARGET" 0 100000 10
		assert_silent_success
		assert_map uid_map '0 100000 10'
	}
	every bare
}

@test "closed standard descriptors do no harm" {
	closed() {
		spawn_userns alice
		run as alice sh -c 'exec "$@" 0<&- 1>&- 2>&-' sh \
			"$HELPERS/newuidmap" "$TARGET" 0 100000 10
		assert_silent_success
		assert_map uid_map '0 100000 10'
	}
	every closed
}

# With privilege libc opens them before we do.
@test "closed standard descriptors do no harm without privilege either" {
	install -m 755 "$HELPERS_SETUID/newuidmap" /run/tmp/bare
	spawn_userns alice
	run as alice sh -c 'exec "$@" 0<&- 1>&- 2>&-' sh /run/tmp/bare "$TARGET" 0 1001 1
	assert_silent_success
	assert_map uid_map '0 1001 1'
}

@test "a refusal with closed standard descriptors writes its message nowhere" {
	closed() {
		spawn_userns alice
		run as alice sh -c 'exec "$@" 0<&- 1>&- 2>&-' sh \
			"$HELPERS/newgidmap" "$TARGET" 0 100000 10
		assert_failure 1
		assert_untouched
	}
	every closed
}

@test "blocked and ignored signals do no harm" {
	blocked() {
		spawn_userns alice
		run as alice /usr/bin/python3 -c '
import os, signal, sys
signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
for number in (signal.SIGPIPE, signal.SIGCHLD, signal.SIGTERM):
    signal.signal(number, signal.SIG_IGN)
os.execv(sys.argv[1], sys.argv[1:])' "$HELPERS/newuidmap" "$TARGET" 0 100000 10
		assert_silent_success
		assert_map uid_map '0 100000 10'
	}
	every blocked
}

@test "both helpers run at the same time" {
	side_by_side() {
		local uid gid
		for _ in 1 2 3 4 5; do
			spawn_userns alice
			(become alice "$HELPERS/newuidmap" "$TARGET" 0 100000 65536) &
			uid=$!
			(become alice "$HELPERS/newgidmap" "$TARGET" 0 300000 65536) &
			gid=$!
			wait "$uid"
			wait "$gid"
			assert_map uid_map '0 100000 65536'
			assert_map gid_map '0 300000 65536'
		done
	}
	every side_by_side
}

@test "a full disk behind stdout and stderr does no harm" {
	full() {
		spawn_userns alice
		as alice "$HELPERS/newuidmap" "$TARGET" 0 100000 10 >/dev/full 2>&1
		assert_map uid_map '0 100000 10'
	}
	every full
}

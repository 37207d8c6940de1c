# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
#
# support: what every .bats file loads. tests/in-private describes the accounts and the folders.
#
#	load ../support
#
# Sets $IDMAP, $HELPERS_SETUID, $HELPERS_FILECAPS, $SYSTEM_HELPERS. A file that has a teardown() of
# its own calls kill_targets there.

BATS_LIB_PATH=${BATS_LIB_PATH:+$BATS_LIB_PATH:}/usr/lib/bats:/usr/share/bats:/usr/lib
bats_require_minimum_version 1.5.0
bats_load_library bats-support
bats_load_library bats-assert

: "${IDMAP=${IDMAP_BINDIR:-${IDMAP_BUILDDIR:-.}}/idmap}"
: "${HELPERS_SETUID=${IDMAP_BUILDDIR:-.}}"
: "${HELPERS_FILECAPS=${IDMAP_BUILDDIR:-.}}"
SYSTEM_HELPERS=/usr/bin
export IDMAP HELPERS_SETUID HELPERS_FILECAPS SYSTEM_HELPERS

# become USER CMD [ARG]...: turn this (sub)shell into CMD, run by USER with his groups and without
# capabilities; `become alice CMD &` makes $! the PID of CMD. Who is not root runs it himself.
become() {
	local user=$1 passwd uid gid
	shift
	[ "$EUID" -eq 0 ] || exec "$@"
	# Not getent, which takes the login name 4242 for a number; no loop, which bats makes slow.
	read -r -d '' passwd </etc/passwd || true
	[[ $'\n'$passwd =~ $'\n'"$user":[^:]*:([0-9]+):([0-9]+):[^:]*:([^:]*): ]] ||
		fail "no account $user"
	uid=${BASH_REMATCH[1]} gid=${BASH_REMATCH[2]}
	export HOME=${BASH_REMATCH[3]} USER=$user LOGNAME=$user XDG_RUNTIME_DIR=/run/user/$uid
	# With a +, setpriv can't take 4242 for a login name.
	exec setpriv --reuid "+$uid" --regid "+$gid" --init-groups --inh-caps=-all -- "$@"
}

# as USER CMD [ARG]...: the same, and come back with the status of CMD.
as() {
	(become "$@")
}

# ours CMD [ARG]...: CMD once for each folder that has both of our helpers, which is $HELPERS then:
# setuid root, with file capabilities.
ours() {
	for HELPERS in "$HELPERS_SETUID" "$HELPERS_FILECAPS"; do
		[ -n "$HELPERS" ] || continue
		echo "# with $HELPERS"
		"$@"
	done
}

TARGETS=()

# spawn CMD [ARG]...: start CMD, which must become sleep(1); its PID is in $TARGET.
spawn() {
	"$@" </dev/null >/dev/null 2>&1 3>&- &
	TARGET=$!
	TARGETS+=("$TARGET")
	local comm tries
	for ((tries = 0; tries < 500; tries++)); do
		read -r comm <"/proc/$TARGET/comm" || break
		[ "$comm" != sleep ] || return 0
		sleep 0.01
	done
	fail "did not start: $*"
}

# spawn_userns USER: a process of USER sleeps in a fresh user namespace; its PID is in $TARGET.
spawn_userns() {
	spawn become "$1" unshare -U sleep infinity
}

# kill_targets: end what spawn_userns started.
kill_targets() {
	local pid
	for pid in "${TARGETS[@]}"; do
		kill -KILL "$pid" 2>/dev/null
		wait "$pid" 2>/dev/null
	done
	TARGETS=()
}

teardown() {
	kill_targets
}

# grant_uid LINE..., grant_gid LINE...: the lines of /etc/subuid, /etc/subgid; none: empty.
grant_uid() {
	printf '%s' "${@/%/$'\n'}" >/etc/subuid
}

grant_gid() {
	printf '%s' "${@/%/$'\n'}" >/etc/subgid
}

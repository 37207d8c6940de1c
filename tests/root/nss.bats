# SPDX-License-Identifier: BSD-2-Clause
# Grants of a directory service: what the helpers and idmap make of its plugin's answers, and what a
# plugin can't do. /etc/subuid and /etc/subgid grant others, to show that they never count.

# bats runs functions by name, and inner shells expand what stands in single quotes.
# shellcheck disable=SC2016,SC2030,SC2031,SC2034
load helper
load ../directory

setup_file() {
	cp /etc/login.defs /etc/nsswitch.conf "$BATS_FILE_TMPDIR"
	install_plugins
}

setup() {
	[ "$EUID" -eq 0 ] || skip "only root may set up users and their grants"
	rm -rf /etc/subuid /etc/subgid
	cp "$BATS_FILE_TMPDIR"/{login.defs,nsswitch.conf} /etc
	grant_uid alice:500000:65536
	grant_gid alice:500000:65536
	service directory
	withdraw
	offers alice.uid 'range 100000 65536'
	offers alice.gid 'range 300000 65536'
}

# plugin_refuses REGEXP: neither what the service grants nor the own ID is written, for this reason.
plugin_refuses() {
	ours refuses newuidmap "^newuidmap: libsubid_[^ ]*\.so $1" 0 100000 1
	ours refuses newuidmap "^newuidmap: libsubid_[^ ]*\.so $1" 0 500000 1
	ours refuses newuidmap "^newuidmap: libsubid_[^ ]*\.so $1" 0 1001 1
	run -1 --separate-stderr as alice "$IDMAP" --dump -u
	assert_regex "$stderr" "^idmap: libsubid_[^ ]*\.so $1"
	assert_output ''
}

# nothing_granted: the service answers, and grants nothing.
nothing_granted() {
	ours refuses newuidmap 'not allowed' 0 100000 1
	ours refuses newuidmap 'not allowed' 0 0 1
	ours refuses newuidmap 'not allowed' 0 4294967294 1
	ours refuses newuidmap 'not allowed' 0 500000 1
	ours writes newuidmap '0 1001 1' 0 1001 1
}

# file_counts PROGRAM ARG...: PROGRAM writes, and says that the file counts.
file_counts() {
	fresh_target
	run as alice "$HELPERS/$1" "$TARGET" "${@:2}"
	assert_success
	assert_output --regexp "^$1: libsubid_[^ ]*\.so is not found: /etc/sub${1:3:3} counts$"
}

# Answers

@test "the ranges of a service are granted, its user IDs and its group IDs" {
	ours writes newuidmap '0 1001 1,1 100000 65536' 0 1001 1 1 100000 65536
	ours writes newgidmap '0 300000 65536' 0 300000 65536
	ours refuses newuidmap 'not allowed' 0 300000 1
	ours refuses newgidmap 'not allowed' 0 100000 1
	ours refuses newuidmap 'not allowed' 0 100000 65537
	ours refuses newuidmap 'not allowed' 0 99999 1
}

@test "several ranges of a service stitch, in whatever order they come" {
	offers alice.uid 'range 200000 5' 'range 100010 5' 'range 100000 10' 'range 100012 8'
	ours writes newuidmap '0 100000 20,20 200000 5' 0 100000 20 20 200000 5
	ours refuses newuidmap 'not allowed' 0 100000 21
}

@test "the range that FreeIPA begins with is granted and planned, above 2147483647 as it is" {
	offers alice.uid 'range 2147483648 65536'
	offers alice.gid 'range 2147483648 65536'
	ours writes newuidmap '0 2147483648 65536' 0 2147483648 65536
	ours writes newgidmap '0 2147483648 65536' 0 2147483648 65536
	HELPERS=$HELPERS_FILECAPS
	PATH=$HELPERS:$PATH run as alice "$IDMAP" exec -- cat /proc/self/uid_map
	assert_success
	assert_equal "$(tr -s ' ' <<<"$output")" $' 0 1001 1\n 1 2147483648 65536'
}

@test "where a service is asked the files never count" {
	ours refuses newuidmap 'no line of the service directory gives alice \(uid 1001\) the IDs 500000\.\.500000' \
		0 500000 1
	ours refuses newgidmap 'no line of the service directory' 0 500000 1
	withdraw
	ours refuses newuidmap '^newuidmap: libsubid_directory.so' 0 500000 1
}

@test "the range of another user of the service is not granted" {
	offers bob.uid 'range 700000 10'
	ours refuses newuidmap 'not allowed' 0 700000 1
	CALLER=bob ours writes newuidmap '0 700000 10' 0 700000 10
}

@test "a service answers for a login name as it stands, with a backslash or an at sign" {
	local name
	for name in 'DOMAIN\alice' alice@example.org first.last 4242; do
		offers "$name.uid" 'range 800000 10'
		CALLER=$name ours writes newuidmap '0 800000 10' 0 800000 10
	done
	CALLER=dora ours refuses newuidmap 'libsubid_directory.so' 0 800000 10
}

@test "a user whom the service doesn't know is refused" {
	rm "$DIRECTORY/alice.uid"
	ours refuses newuidmap '^newuidmap: libsubid_directory.so knows no such user, or has no ranges' 0 100000 1
	ours refuses newuidmap 'libsubid_directory.so' 0 1001 1
	run -1 --separate-stderr as alice "$IDMAP" --dump -u
	assert_equal "${stderr%%:*}" idmap
	assert_regex "$stderr" 'service directory grants alice no user IDs: .*ipa subid-generate'
}

@test "a service that can't be reached is a refusal" {
	offers alice.uid 'range 100000 65536' 'status 2'
	plugin_refuses "can't reach its service: see that it runs"
}

@test "an error status, and one that nobody knows, is a refusal" {
	local status
	for status in 3 4 99 255 256 -1 0x7fffffff; do
		offers alice.uid 'range 100000 65536' "status $status"
		plugin_refuses 'gave no answer but an error'
	done
}

@test "a range that passes the last ID, has no ID, or numbers of 64 bits grants nothing" {
	local range
	for range in '4294967295 1' '4294967290 100' '100000 4294967295' '100000 4294967296' \
		'4294967296 5' '4295067296 65536' '100000 0' '0 0' '100000 -1' '-1 5' '-100000 200000' \
		'18446744073709551615 2' '9223372036854775808 1' '100000 18446744073709551615'; do
		offers alice.uid "range $range"
		nothing_granted
	done
}

@test "a void range does no harm to those beside it" {
	offers alice.uid 'range 100000 0' 'range 200000 10' 'range -1 -1'
	ours writes newuidmap '0 200000 10' 0 200000 10
	ours refuses newuidmap 'not allowed' 0 100000 1
}

@test "a negative number of ranges is a refusal" {
	offers alice.uid 'range 100000 65536' 'number -3'
	plugin_refuses 'gave no answer but an error'
}

@test "an answer without ranges grants nothing" {
	offers alice.uid 'number 0'
	nothing_granted
	offers alice.uid 'number 0' null
	nothing_granted
}

@test "a number of ranges without a list is a refusal" {
	offers alice.uid null 'number 5'
	plugin_refuses 'crashed or was killed'
}

# Behaviour

@test "a plugin that crashes, aborts or exits is a refusal" {
	local act
	for act in crash abort 'exit 1' '_exit 1' '_exit 99' '_exit 255' '_exit 210'; do
		offers alice.uid 'range 100000 65536' "$act"
		plugin_refuses 'crashed or was killed'
	done
}

@test "a plugin that exits as if all were well is a refusal" {
	local act
	for act in 'exit 0' '_exit 0'; do
		offers alice.uid 'range 100000 65536' "$act"
		plugin_refuses 'crashed or was killed'
	done
}

@test "a plugin that exits as if it were absent has the files count, and no more" {
	offers alice.uid '_exit 201'
	ours file_counts newuidmap 0 500000 10
	ours refuses newuidmap 'not allowed' 0 100000 1
}

# times_out BEHAVIOUR...: at once for each behaviour, by a user of its own, and each install.
times_out() {
	local who=(bob carol dora) i=0 behaviour helper out=() pids=()
	for behaviour; do
		offers "${who[i]}.uid" 'range 100000 65536' "$behaviour"
		for HELPERS in "$HELPERS_SETUID" "$HELPERS_FILECAPS"; do
			spawn_userns "${who[i]}"
			out+=("$TARGET")
			as "${who[i]}" "$HELPERS/newuidmap" "$TARGET" 0 100000 1 \
				>"/run/tmp/$TARGET" 2>&1 3>&- &
			pids+=($!)
		done
		i=$((i + 1))
	done
	for i in "${!pids[@]}"; do
		status=0
		wait "${pids[i]}" || status=$?
		assert_equal "$status" 1
		TARGET=${out[i]}
		assert_equal "$(<"/run/tmp/$TARGET")" \
			"newuidmap: libsubid_directory.so gave no answer within 10 seconds"
		assert_untouched
	done
}

@test "a plugin that hangs, answers without end or leaves the pipe to another has 10 seconds" {
	times_out hang drip grandchild
	[ "$SECONDS" -lt 60 ]
}

@test "an answer of a megabyte is a refusal, one byte less is read to its end" {
	# "alice:100000:1" and a newline are 15 bytes, 69905 times 1048575.
	offers alice.uid 'range 100000 1' 'repeat 69904' 'range 200000 1'
	ours writes newuidmap '0 200000 1,1 100000 1' 0 200000 1 1 100000 1
	offers alice.uid 'range 100000 1' 'repeat 69904' 'range 2000000 1'
	plugin_refuses 'answered with more than a megabyte'
	offers alice.uid 'range 100000 1' 'repeat 300000'
	plugin_refuses 'answered with more than a megabyte'
}

@test "what a plugin prints is not seen, and it has no input" {
	offers alice.uid 'range 100000 65536' print
	ours writes newuidmap '0 100000 10' 0 100000 10
	run -0 --separate-stderr as alice "$IDMAP" --dump --noheadings -u
	assert_equal "$stderr" ''
	assert_equal "$(grep -c . <<<"$output")" 2
}

@test "a plugin that closes all descriptors is a refusal" {
	offers alice.uid 'range 100000 65536' close
	plugin_refuses 'crashed or was killed'
}

@test "a plugin that kills the helper gets nothing written" {
	offers alice.uid 'range 100000 65536' kill
	killed() {
		fresh_target
		run as alice "$HELPERS/newuidmap" "$TARGET" 0 100000 10
		assert_failure 137
		assert_untouched
	}
	ours killed
}

@test "a plugin can start no program, in whose place the caller could answer" {
	offers alice.uid program
	ours refuses newuidmap 'not allowed' 0 100000 65536
}

@test "a caller that ignores SIGCHLD, or blocks all signals, is served the same" {
	takes_signals() {
		spawn_userns alice
		run as alice bash -c "trap '' CHLD; $HELPERS/newuidmap $TARGET 0 100000 10"
		assert_silent_success
		spawn_userns alice
		run as alice /usr/bin/python3 -c 'import os, signal, sys
signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
os.execv(sys.argv[1], sys.argv[1:])' "$HELPERS/newuidmap" "$TARGET" 0 100000 10
		assert_silent_success
		assert_map uid_map '0 100000 10'
	}
	ours takes_signals
}

# Loading

# loads_not NAME: libsubid_NAME.so is there, can't be loaded, and the files don't count either.
loads_not() {
	service "$1"
	plugin_refuses "can't be loaded"
}

# cached NAME...: libsubid_NAME.so is in the cache of ld.so, which lists sound ones alone.
cached() {
	local name
	for name; do
		cp "$PLUGINS/libsubid_directory.so" "$PLUGINS/libsubid_$name.so"
	done
	ldconfig -X
}

@test "what is no shared object is a refusal" {
	local name
	cached text empty cut folder
	echo 'alice:100000:65536' >"$PLUGINS/libsubid_text.so"
	: >"$PLUGINS/libsubid_empty.so"
	truncate -s 2000 "$PLUGINS/libsubid_cut.so"
	rm "$PLUGINS/libsubid_folder.so"
	mkdir "$PLUGINS/libsubid_folder.so"
	for name in text empty folder; do
		loads_not "$name"
	done
	service cut
	plugin_refuses "(can't be loaded|crashed or was killed)"
	rm -r "$PLUGINS"/libsubid_{text,empty,cut,folder}.so
}

@test "a plugin that lacks a library is a refusal" {
	gcc -shared -o "$PLUGINS/libmissing.so" -x c /dev/null
	gcc -shared -o "$PLUGINS/libsubid_depends.so" -x c /dev/null -L"$PLUGINS" -Wl,--no-as-needed \
		-lmissing
	rm "$PLUGINS/libmissing.so"
	ldconfig -X
	loads_not depends
}

@test "a plugin that has no function to ask is a refusal" {
	service lacking
	plugin_refuses 'lacks the function'
	run -1 "$IDMAP" who 500000
	assert_output --partial 'lacks the function'
}

@test "where no such plugin is found the files count and that is said" {
	local name
	cached dangling foreign secret
	chmod 600 "$PLUGINS/libsubid_secret.so"
	# ld.so passes by what it may not read, and what is for another machine: bytes 18 and 19 are e_machine, 243 is RISC-V.
	printf '\xf3\x00' | dd of="$PLUGINS/libsubid_foreign.so" bs=1 seek=18 conv=notrunc status=none
	ln -sf nowhere.so "$PLUGINS/libsubid_dangling.so"
	for name in nothing dangling foreign secret .. "$(printf '%0100d' 0)"; do
		service "$name"
		ours file_counts newuidmap 0 500000 10
		ours file_counts newgidmap 0 500000 10
		ours refuses newuidmap 'not allowed' 0 100000 1
	done
}

@test "a name with a slash loads nothing" {
	local name
	cp "$PLUGINS/libsubid_directory.so" /run/tmp
	for name in ../directory x/../directory /run/lib/directory ./directory \
		"../../../../../../../../../run/tmp/libsubid_directory"; do
		loads_not "$name"
	done
}

# Misuse

# collect: note what libsubid_mischief.so reports in /run/tmp/report.
collect() {
	rm -f /run/tmp/collector
	: >/run/tmp/report
	/usr/bin/python3 -c '
import socket
reports = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
reports.bind("\0idmap-mischief")
print("ready", flush=True)
while True:
    with open("/run/tmp/report", "ab", 0) as out:
        out.write(reports.recv(65536) + b"\n")' 3>&- >/run/tmp/collector &
	TARGETS+=("$!")
	until [ -s /run/tmp/collector ]; do sleep 0.02; done
}

make_bait() {
	install -m 666 /dev/null /run/tmp/mischief
	[ -p /run/tmp/fifo ] || mkfifo -m 666 /run/tmp/fifo
	rm -f /run/tmp/new
	install -d -m 777 /run/tmp/empty
	install -m 4755 /bin/cat "$PLUGINS/cat-setuid"
	install -m 755 /bin/cat "$PLUGINS/cat-capable"
	setcap cap_dac_override=ep "$PLUGINS/cat-capable"
}

# Both rounds came to their end, and nothing was let. The numbers of the parent's descriptors may be
# seen where the kernel leaves it dumpable (idmap; with file capabilities), but none be opened.
assert_all_refused() {
	cat /run/tmp/report
	assert_equal "$(grep -c '^end$' /run/tmp/report)" 2
	assert_equal "$(sed -n '1p' /run/tmp/report)" loaded
	assert_equal "$(grep -c '^asked$' /run/tmp/report)" 1
	run grep -vE ': refused |^list .*: DONE$|^(loaded|asked|end|variables:|descriptors:|state:|Uid:|Cap)' \
		/run/tmp/report
	assert_output ''
	[ "$(grep -c ': refused ' /run/tmp/report)" -ge 80 ]
}

assert_nothing_held() {
	assert_equal "$(sort -u <(grep ^descriptors: /run/tmp/report))" 'descriptors: 0 1 2 3'
	assert_equal "$(sort -u <(grep ^state: /run/tmp/report))" \
		'state: uid 1001 dumpable 0 no_new_privs 1 death 9'
	assert_equal "$(sort -u <(grep ^Uid: /run/tmp/report))" $'Uid:\t1001\t1001\t1001\t1001'
	assert_equal "$(sort -u <(grep -E '^Cap(Inh|Prm|Eff|Amb):' /run/tmp/report | cut -f 2))" \
		0000000000000000
}

@test "a plugin can neither regain privilege, change a file, write a map, run a program, nor reach into the helper" {
	service mischief
	make_bait
	collect
	mischief() {
		: >/run/tmp/report
		spawn_userns alice
		run as alice "$HELPERS/newuidmap" "$TARGET" 0 100000 65536
		assert_silent_success
		assert_map uid_map '0 100000 65536'
		assert_map gid_map ''
		assert_setgroups allow
		assert_all_refused
		assert_nothing_held
		assert_equal "$(sort -u <(grep ^variables: /run/tmp/report))" 'variables: none'
		: >/run/tmp/report
		run as alice "$HELPERS/newgidmap" "$TARGET" 0 300000 65536
		assert_silent_success
		assert_map gid_map '0 300000 65536'
		assert_all_refused
		assert_nothing_held
	}
	ours mischief
	[ ! -s /run/tmp/mischief ]
}

@test "a plugin can do no more in the child of idmap, run by a user or by root" {
	service mischief
	make_bait
	collect
	run -0 as alice "$IDMAP" --dump -u --noheadings
	assert_line --regexp 'service mischief$'
	assert_all_refused
	assert_nothing_held
	: >/run/tmp/report
	run -0 "$IDMAP" --dump -u --noheadings
	assert_equal "$(grep -c '^end$' /run/tmp/report)" 2
	run grep -E '^(capset|ambient|chroot|uid_map|gid_map|attach|seize|write|new|cut|remove|rename|link|symlink|program).*DONE$' /run/tmp/report
	assert_output ''
}

# It would be his choice then where his grants come from.
@test "a caller who limits descriptors or memory does not have the files count" {
	service absent
	limited() {
		local limit
		for limit in --nofile=32 --as=1073741824; do
			spawn_userns alice
			run as alice prlimit "$limit" "$HELPERS/newuidmap" "$TARGET" 0 500000 1
			assert_refused "^newuidmap: libsubid_absent.so can't be loaded"
			assert_map uid_map ''
		done
	}
	ours limited
}

# The tool

@test "idmap plans, writes, executes and looks up from the ranges of the service" {
	offers alice.uid 'range 100000 1000' 'range 200000 500'
	run -0 --separate-stderr as alice "$IDMAP" --dump --raw --noheadings
	assert_equal "$stderr" ''
	assert_output "$(printf '%s\n' 'uid 0 1001 1 own\x20uid' \
		'uid 1-1000 100000-100999 1000 service\x20directory' \
		'uid 1001-1500 200000-200499 500 service\x20directory' \
		'gid 0 1001 1 own\x20gid' 'gid 1-65536 300000-365535 65536 service\x20directory')"
	served() {
		spawn_userns alice
		PATH=$HELPERS:$PATH run as alice "$IDMAP" "$TARGET"
		assert_silent_success
		assert_map uid_map '0 1001 1,1 100000 1000,1001 200000 500'
		assert_map gid_map '0 1001 1,1 300000 65536'
		run -0 as alice "$IDMAP" verify "$TARGET"
		kill_targets || true
		PATH=$HELPERS:$PATH run as alice "$IDMAP" exec --auto=200 -- cat /proc/self/uid_map
		assert_success
		assert_regex "$(tr -s ' ' <<<"$output")" '^ 0 [12]00[0-9]00 200$'
	}
	ours served
	run -0 as alice "$IDMAP" lookup -u 1001
	assert_output 200000
}

@test "idmap refuses what the service does not grant, and says where to have it granted" {
	run -1 --separate-stderr as alice "$IDMAP" write -u 1 0:500000:10
	[[ $stderr != *'add to /etc'* ]]
	spawn_userns alice
	run -1 --separate-stderr as alice "$IDMAP" write -u "$TARGET" 0:500000:10
	assert_regex "$stderr" 'is not granted to alice'
	assert_regex "$stderr" 'add to service directory: alice:500000:10'
	run -1 --separate-stderr as alice "$IDMAP" --dump -u --size 70000
	assert_regex "$stderr" 'let service directory grant alice 4463 more IDs'
}

@test "idmap says of a void range of the service what is wrong with it" {
	offers alice.uid 'range 100000 0'
	run -1 --separate-stderr as alice "$IDMAP" --dump -u
	assert_regex "$stderr" 'service directory:1 names alice but grants nothing \(COUNT is 0\)'
	run -1 as alice "$IDMAP" check
	assert_line --regexp '^service directory \(subuid\):1:[0-9]+: error: .*\[zero-count\]'
	assert_line --regexp '^service directory \(subgid\):1:1: warning: alice has nothing in service directory \(subuid\)'
}

@test "getsubids lists what the service grants" {
	local getsubids=$IDMAP_BUILDDIR/getsubids
	offers alice.uid 'range 100000 1000' 'range 200000 500'
	run -0 --separate-stderr "$getsubids" alice
	assert_output $'0: alice 100000 1000\n1: alice 200000 500'
	assert_equal "$stderr" ''
	run -0 "$getsubids" -g alice
	assert_output '0: alice 300000 65536'
	run -1 --separate-stderr "$getsubids" bob
	assert_equal "$stderr" 'getsubids: bob has no ranges in service directory'
	offers bob.uid 'status 2'
	run -2 --separate-stderr "$getsubids" bob
	assert_regex "$stderr" "^getsubids: libsubid_directory.so can't reach its service"
}

@test "who asks the service whose an ID is, once for each ID" {
	offers 100005.uid 'owner 1001' 'owner 1002' 'owner 77777'
	offers 100006.uid 'owner 1001'
	run -0 --separate-stderr as alice "$IDMAP" who -u --raw --noheadings 100005 100006 1002
	assert_output "$(printf '%s\n' 'uid 100005 alice 6 service\x20directory' \
		'uid 100005 bob - service\x20directory' 'uid 100005 77777 - service\x20directory' \
		'uid 100006 alice 7 service\x20directory' 'uid 1002 bob 0 passwd')"
	offers 4242.gid 'owner 4242'
	run -0 as alice "$IDMAP" who -g --raw --noheadings 4242
	assert_line 'gid 4242 dora - service\x20directory'
	run -1 as alice "$IDMAP" who -u 123456789
	assert_output --partial 'nobody may use 123456789'
}

@test "who takes a negative number of owners for no answer" {
	offers 100005.uid 'owner 1001' 'number -1'
	run -1 --separate-stderr as alice "$IDMAP" who -u --raw --noheadings 100005
	assert_output ''
	assert_regex "$stderr" 'libsubid_directory.so gave no answer'
}

@test "who says so of a service that does not tell whose an ID is, as SSSD does not" {
	offers 100005.uid 'status 3'
	offers 1001.uid 'status 3'
	run -1 --separate-stderr as alice "$IDMAP" who -u --raw --noheadings 1001 100005
	assert_output 'uid 1001 alice 0 passwd'
	assert_regex "$stderr" '^idmap: service directory does not say whose an ID is: libsubid_directory.so gave no answer'
	assert_regex "$stderr" 'nobody that is known may use 100005'
}

@test "ls --overlaps compares maps with what the service grants their owners" {
	spawn_userns alice
	"$IDMAP" "$TARGET" 0:100000:10 20:600000:5
	run -1 --separate-stderr "$IDMAP" ls --overlaps -u --raw --noheadings
	assert_line --regexp '^outside uid 600000-600004 5 '
	refute_line --partial 100000
	offers alice.uid 'status 2'
	run -1 --separate-stderr "$IDMAP" ls --overlaps -u
	assert_regex "$stderr" "uid_maps were not compared with the grants: libsubid_directory.so can't reach"
}

# doctor_says STATE REGEXP: of the IDs of alice.
doctor_says() {
	run as alice env PATH="$HELPERS_SETUID:$PATH" "$IDMAP" doctor
	assert_line --regexp "^$1 +subuid +$2"
}

@test "doctor names the service, and of each way to fail the reason and the fix" {
	doctor_says ok '65536 IDs: 100000\.\.165535 +service directory'
	assert_success
	assert_line --regexp '^ok +nsswitch +subid: directory, which is asked in the place of the files'
	local line
	while IFS='|' read -r line reason fix; do
		offers alice.uid "$line"
		doctor_says problem "$reason"
		assert_failure 1
		assert_line --regexp "^subuid: fix: .*$fix"
		refute_line --partial usermod
	done <<-'END'
		number 0|alice has no range there, or is not known|ipa subid-generate
		range 5 0|range 1 of alice grants nothing: COUNT is 0|ipa subid-generate
		status 1|alice has no range there, or is not known|ipa subid-generate
		status 2|libsubid_directory.so can't reach its service|systemctl start sssd
		status 3|libsubid_directory.so gave no answer but an error|/var/log/sssd
		crash|libsubid_directory.so crashed or was killed|tell those who made it
		_exit 207|libsubid_directory.so was not loaded: a privilege|Linux 5.9
	END
	offers alice.uid 'range 100000 1' 'repeat 300000'
	doctor_says problem 'libsubid_directory.so answered with more than a megabyte'
	cached bad
	: >"$PLUGINS/libsubid_bad.so"
	service bad
	doctor_says problem "libsubid_bad.so can't be loaded"
	service lacking
	doctor_says problem 'libsubid_lacking.so lacks the function'
	assert_line --partial 'it needs shadow_subid_list_owner_ranges()'
	service nothing
	run as alice "$IDMAP" doctor
	assert_line --regexp '^warning +nsswitch +subid: nothing, but there is no libsubid_nothing.so: the files count'
	assert_line --regexp '^nsswitch: fix: install the package that has libsubid_nothing.so'
}

@test "check says that the service is asked, and looks at what it grants the caller" {
	offers alice.uid 'range 2147483648 65536' 'range 700000 1' 'range 700000 1'
	run -0 --separate-stderr as alice "$IDMAP" check
	assert_line '/etc/subuid: warning: /etc/nsswitch.conf says subid: directory: the helpers ask that service and never this file [not-asked]'
	assert_line --regexp '^service directory \(subuid\):1:7: note: .*\[above-2-31\]'
	assert_line --regexp '^service directory \(subuid\):3:[0-9]+: warning: .*\[duplicate\]'
	offers alice.uid crash
	run -1 as alice "$IDMAP" check
	assert_line --regexp '^service directory \(subuid\): error: libsubid_directory.so crashed or was killed: it grants nothing'
}

@test "what is asked changes no signal of the command, and prints nothing twice" {
	PATH=$HELPERS_SETUID:$PATH
	offers alice.uid 'range 100000 65536' print
	local signals=(grep SigIgn /proc/self/status)
	run -0 as alice bash -c "trap '' CHLD; $IDMAP exec -- ${signals[*]}"
	assert_output "$(trap '' CHLD; "${signals[@]}")"
	run -0 as alice "$IDMAP" exec -- "${signals[@]}"
	assert_output "$("${signals[@]}")"
	as alice "$IDMAP" who -u 1001 1002 100005 500000 >/run/tmp/out 2>&3 || true
	run sort /run/tmp/out
	assert_equal "$output" "$(sort -u /run/tmp/out)"
}

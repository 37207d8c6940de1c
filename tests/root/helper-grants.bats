# SPDX-License-Identifier: BSD-2-Clause
# Which outer IDs the helpers let through: lines, owners, own IDs, files.

# bats runs functions by name, and inner shells expand what stands in single quotes.
# shellcheck disable=SC2030,SC2031,SC2034
load helper

# lines_grant TEXT: with TEXT as /etc/subuid alice may use 100000..100009.
lines_grant() {
	printf %b "$1" >/etc/subuid
	writes newuidmap '0 100000 10' 0 100000 10
}

# lines_grant_nothing TEXT: ... may use none of it.
lines_grant_nothing() {
	printf %b "$1" >/etc/subuid
	refuses newuidmap '^newuidmap: uid range \[0-1\) -> \[100000-100001\) not allowed' \
		0 100000 1
	refuses newuidmap '' 0 8 1
}

@test "a line grants by login name" {
	every lines_grant 'alice:100000:65536\n'
}

@test "a line grants by the number of the uid" {
	every lines_grant '1001:100000:65536\n'
}

@test "a line grants exactly its range" {
	every lines_grant 'alice:100000:10\n'
	every refuses newuidmap 'not allowed' 0 100000 11
	every refuses newuidmap 'not allowed' 0 99999 2
	every refuses newuidmap 'not allowed' 0 100010 1
}

@test "adjacent and overlapping lines stitch" {
	grant_uid alice:100000:10 alice:100020:10 alice:100010:10 alice:100025:15
	every writes newuidmap '0 100000 40' 0 100000 40
	every refuses newuidmap 'not allowed' 0 100000 41
}

@test "lines by name and by number stitch" {
	grant_uid alice:100000:10 1001:100010:10
	every writes newuidmap '0 100000 20' 0 100000 20
}

@test "lines that leave a gap do not stitch" {
	grant_uid alice:100000:10 alice:100011:10
	every refuses newuidmap 'not allowed' 0 100000 20
	ours refuses newuidmap 'IDs 100010\.\.100010: add alice:100010:1' 0 100000 20
}

@test "one extent that is not granted refuses the whole map" {
	every refuses newuidmap '\[10-20\) -> \[200000-200010\) not allowed' \
		0 100000 10 10 200000 10 20 100010 10
}

@test "the line of another user grants nothing" {
	every lines_grant_nothing 'bob:100000:65536\n1002:100000:65536\n'
}

@test "the own uid with a count of 1 needs no line" {
	grant_uid
	every writes newuidmap '0 1001 1' 0 1001 1
	every writes newuidmap '77 1001 1' 77 1001 1
}

@test "the own uid with a count of 2 needs a line" {
	grant_uid
	every refuses newuidmap '\[0-2\) -> \[1001-1003\) not allowed' 0 1001 2
	every refuses newuidmap 'not allowed' 0 1002 1
}

@test "the own uid and a grant go together" {
	every writes newuidmap '0 1001 1,1 100000 65536' 0 1001 1 1 100000 65536
}

@test "the own gid is the real gid, not the number of the uid" {
	grant_gid
	CALLER=carol every writes newgidmap '0 2003 1' 0 2003 1
	CALLER=carol every refuses newgidmap 'not allowed' 0 1003 1
	CALLER=carol every refuses newgidmap 'not allowed' 0 2004 1
}

@test "subgid is keyed by user, by name and by uid, never by group" {
	grant_gid carol:300000:10
	CALLER=carol every writes newgidmap '0 300000 10' 0 300000 10
	grant_gid 1003:300000:10
	CALLER=carol every writes newgidmap '0 300000 10' 0 300000 10
	grant_gid 2003:300000:10 extra:300000:10 2004:300000:10
	CALLER=carol every refuses newgidmap 'not allowed' 0 300000 10
}

@test "each helper reads its own file alone" {
	every refuses newuidmap 'not allowed' 0 300000 1
	every refuses newgidmap 'not allowed' 0 100000 1
}

# as_root: root in his own right: a target of root, called by root.
as_root() {
	CALLER=root "$@"
}

@test "root needs lines of his own" {
	every as_root refuses newuidmap 'uid range \[0-10\) -> \[100000-100010\) not allowed' \
		0 100000 10
	every as_root refuses newgidmap 'gid range \[0-10\) -> \[300000-300010\) not allowed' \
		0 300000 10
	grant_uid root:100000:10
	grant_gid root:300000:10
	every as_root writes newuidmap '0 100000 10' 0 100000 10
	every as_root writes newgidmap '0 300000 10' 0 300000 10
}

@test "root maps his own 0 without a line" {
	every as_root writes newuidmap '0 0 1' 0 0 1
	every as_root writes newgidmap '0 0 1' 0 0 1
}

@test "a grant that begins at 0 is written for root" {
	grant_uid root:0:65536
	grant_gid root:0:65536
	every as_root writes newuidmap '0 0 65536' 0 0 65536
	every as_root writes newgidmap '0 0 65536' 0 0 65536
}

@test "a login name with a backslash, an at sign or a dot is all before the first colon" {
	local name
	for name in 'DOMAIN\alice' alice@example.org first.last; do
		printf '%s\n' "$name:100000:10" >/etc/subuid
		CALLER=$name every writes newuidmap '0 100000 10' 0 100000 10
		every refuses newuidmap 'not allowed' 0 100000 10
	done
}

@test "a login name that is the number of another user's uid counts for both" {
	grant_uid 4242:100000:10
	CALLER=4242 every writes newuidmap '0 100000 10' 0 100000 10
	CALLER=dora every writes newuidmap '0 100000 10' 0 100000 10
	every refuses newuidmap 'not allowed' 0 100000 10
}

@test "an owner that is only like the name or the number grants nothing" {
	local owner
	for owner in alic alicex Alice ALICE ' alice' 'alice ' 'alice\t' 'al*' '*' \
		10010 100 +1001 ' 1001' '1001 ' 01001 0x3e9 4294968297 -4294966295; do
		every lines_grant_nothing "$owner:100000:65536\n"
	done
}

@test "a comment grants nothing and lines around it count" {
	every lines_grant_nothing '#alice:100000:65536\n# alice:100000:65536\n'
	every lines_grant '# note\n\nalice:100000:65536\n\n# note\n'
}

@test "a line with a comment behind it grants nothing" {
	every lines_grant_nothing 'alice:100000:65536 # note\n'
}

@test "a line with a trailing blank grants nothing" {
	every lines_grant_nothing 'alice:100000:65536 \n'
	every lines_grant_nothing 'alice:100000:65536\t\n'
	every lines_grant_nothing 'alice:100000 :65536\n'
}

@test "a line that ends in a carriage return grants nothing" {
	every lines_grant_nothing 'alice:100000:65536\r\n'
}

@test "blanks around the colons grant nothing" {
	every lines_grant_nothing 'alice : 100000 : 65536\n'
}

@test "blanks before START and before COUNT are fine" {
	every lines_grant 'alice: 100000:\t65536\n'
}

@test "a line of four fields, of two or with an empty one grants nothing" {
	ours lines_grant_nothing 'alice:100000:65536:x\n'
	ours lines_grant_nothing 'alice:100000:65536:\n'
	every lines_grant_nothing 'alice:100000\n'
	every lines_grant_nothing 'alice::65536\nalice:100000:\n'
	every lines_grant_nothing ':100000:65536\n'
	every lines_grant_nothing 'alice\n'
}

@test "a range written with a dash grants nothing" {
	every lines_grant_nothing 'alice:100000-165535\nalice:100000-165535:65536\n'
}

@test "a line of 1024 bytes or more grants nothing, one byte less grants" {
	local blanks
	blanks=$(printf '%*s' 1005 '')
	ours lines_grant "alice:100000:${blanks}65536\n"
	ours lines_grant_nothing "alice:100000: ${blanks}65536\n"
	ours lines_grant_nothing "alice:100000:${blanks}${blanks}65536\n"
}

@test "what stands behind 1024 bytes of a line is no line of its own" {
	local filler
	filler=$(printf '%*s' 1023 '' | tr ' ' x)
	every lines_grant_nothing "${filler}alice:100000:65536\n"
	every lines_grant_nothing "x:${filler:2}alice:100000:65536\n"
}

@test "a count past the last ID grants nothing" {
	ours lines_grant_nothing 'alice:100000:4294867297\n'
	ours lines_grant_nothing 'alice:100000:4294967295\n'
	ours lines_grant_nothing 'alice:100000:4294867296\n'
	ours lines_grant 'alice:100000:4294867295\n'
}

@test "numbers of more than 32 bits grant nothing" {
	every lines_grant_nothing 'alice:4295067296:65536\n'
	every lines_grant_nothing 'alice:18446744073709651616:65536\n'
	ours lines_grant_nothing 'alice:100000:4294967297\n'
	ours lines_grant_nothing 'alice:100000:18446744073709551617\n'
}

@test "a negative number grants nothing" {
	every lines_grant_nothing 'alice:100000:-1\nalice:-1:100000\nalice:-100000:200000\n'
}

@test "a plus, hex and a leading zero make a line void" {
	ours lines_grant_nothing 'alice:+100000:65536\nalice:100000:+65536\n'
	ours lines_grant_nothing 'alice:0x186a0:65536\nalice:100000:0x10000\n'
	ours lines_grant_nothing 'alice:0100000:65536\nalice:100000:010\nalice:0303240:10\n'
}

@test "a line with a NUL byte grants nothing" {
	ours lines_grant_nothing 'alice:100000:65536\0\n'
	ours lines_grant_nothing 'ali\0ce:100000:65536\nalice\0:100000:65536\n'
}

@test "void lines do no harm to the lines around them" {
	every lines_grant 'alice:x:1\nalice:100000:5\nalice:100005:5:\n1001:100005:5\n:::\n'
}

@test "an empty file grants nothing and says so" {
	: >/etc/subuid
	every refuses newuidmap 'not allowed' 0 100000 1
}

# file_refused REGEXP: nothing is granted, and the message says what is wrong with the file.
file_refused() {
	ours refuses newuidmap "^newuidmap: /etc/subuid: $1" 0 100000 1
	ours refuses newuidmap "^newuidmap: /etc/subuid: $1" 0 1001 1
}

@test "a missing file is named with the reason" {
	rm /etc/subuid
	file_refused 'No such file'
}

@test "a file that is a symlink is refused with the reason" {
	mv /etc/subuid /etc/subuid.real
	ln -s subuid.real /etc/subuid
	every refuses newuidmap '' 0 100000 1
	file_refused 'a symbolic link'
}

@test "a file that is a FIFO is refused with the reason and does not hang" {
	rm /etc/subuid
	mkfifo /etc/subuid
	file_refused 'not a regular file'
}

@test "a folder or a device in the place of the file is refused with the reason" {
	rm /etc/subuid
	mkdir /etc/subuid
	file_refused 'not a regular file'
	rmdir /etc/subuid
	mknod /etc/subuid c 1 5
	file_refused 'not a regular file'
}

@test "a file that everybody may write is refused with the reason" {
	chmod 646 /etc/subuid
	file_refused 'writable by everybody'
}

@test "a file that the program may not read is refused with the reason" {
	chmod 600 /etc/subuid
	HELPERS=$HELPERS_FILECAPS
	refuses newuidmap '/etc/subuid: Permission denied' 0 100000 1
	HELPERS=$HELPERS_SETUID
	writes newuidmap '0 100000 1' 0 100000 1
}

@test "subid: files, a blank line, none or no nsswitch.conf mean the files" {
	local line
	for line in 'subid: files' 'subid:files' 'subid:' 'subid: ' 'passwd: files' \
		'#subid: sss' 'subid: files sss'; do
		printf 'passwd: files\n%s\n' "$line" >/etc/nsswitch.conf
		ours writes newuidmap '0 100000 10' 0 100000 10
	done
	rm /etc/nsswitch.conf
	ours writes newuidmap '0 100000 10' 0 100000 10
}

# says_absent PROGRAM ARG...: PROGRAM writes, and says on stderr that it took the file.
says_absent() {
	fresh_target
	run as alice "$HELPERS/$1" "$TARGET" "${@:2}"
	assert_success
	assert_output "$1: libsubid_sss.so is not found: /etc/sub${1:3:3} counts"
}

@test "where the plugin of a service is not there the files count, and that is said" {
	local line
	for line in 'subid: sss' 'subid:	sss files' 'SUBID: sss' 'subid: sss files'; do
		printf 'passwd: files\n%s\n' "$line" >/etc/nsswitch.conf
		ours says_absent newuidmap 0 100000 10
		ours says_absent newgidmap 0 300000 10
		ours refuses newuidmap '/etc/subuid counts.*not allowed' 0 1 10
	done
}

#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-2-Clause
#
# What bash, zsh and fish offer at the tab key. bash and zsh complete a line typed at a terminal.

load ../support

COMPLETIONS=$IDMAP_SRCDIR/etc/completions
VERBS=(write dump exec check lookup verify ls who doctor)

setup_file() {
	local program folder=$BATS_FILE_TMPDIR/bin
	chmod 755 "$BATS_RUN_TMPDIR" "$BATS_FILE_TMPDIR"
	mkdir "$folder" "$BATS_FILE_TMPDIR/zsh" "$BATS_FILE_TMPDIR/typed"
	chmod 777 "$BATS_FILE_TMPDIR/typed"
	for program in idmap newuidmap newgidmap getsubids; do
		install -m 755 "$IDMAP_BUILDDIR/$program" "$folder"
	done
	cp -r "$COMPLETIONS" "$BATS_FILE_TMPDIR"
	for program in newuidmap newgidmap getsubids; do
		ln -s idmap.fish "$BATS_FILE_TMPDIR/completions/fish/$program.fish"
	done
	write_bash_start "$BATS_FILE_TMPDIR/plain.bash"
	write_bash_start "$BATS_FILE_TMPDIR/package.bash" /usr/share/bash-completion/bash_completion
	write_zsh_start
}

setup() {
	PATH=$BATS_FILE_TMPDIR/bin:$PATH
	cd "$BATS_TEST_TMPDIR" || return
	chmod 755 .
	touch file-a file-b
}

# ^G hands over the line, as completed so far.
write_bash_start() {
	cat >"$1" <<-END
		PS1=
		${2:+source $2}
		source $BATS_FILE_TMPDIR/completions/bash/idmap
		hand_over() { printf '%s\n' "\$READLINE_LINE" >"\$TYPED"; }
		bind -x '"\C-g": hand_over'
	END
}

# The tab key inserts all that is offered.
write_zsh_start() {
	cat >"$BATS_FILE_TMPDIR/zsh/.zshrc" <<-END
		PS1=
		fpath=($BATS_FILE_TMPDIR/completions/zsh \$fpath)
		autoload -U compinit
		compinit -u -d $BATS_FILE_TMPDIR/zsh/dump
		zstyle ':completion:*' completer _all_matches _complete
		zstyle ':completion:*' insert true
		hand_over() { print -r -- "\$BUFFER" >"\$TYPED" }
		zle -N hand_over
		bindkey -e
		bindkey '^G' hand_over
	END
	ZDOTDIR=$BATS_FILE_TMPDIR/zsh zsh -d -i -c :
	zsh -f -c "zcompile $BATS_FILE_TMPDIR/zsh/dump"
}

# at_terminal KEYS SHELL [ARG]...: type KEYS, and print the line that comes of it.
at_terminal() {
	local keys=$1
	shift
	export TYPED=$BATS_FILE_TMPDIR/typed/line
	rm -f "$TYPED"
	printf '%s\a\001\vexit\n' "$keys" |
		as "${CALLER-alice}" timeout 60 script -qec "$(printf '%q ' "$@")" /dev/null >screen 2>&1
	[ -e "$TYPED" ] || cat screen
	cat "$TYPED"
}

# SHELL-completes LINE: LINE with all in its place that the shell offers for its last word.
bash-completes() {
	at_terminal "$1"$'\e*' bash --noprofile --rcfile "$BATS_FILE_TMPDIR/plain.bash" -i
}

bash-package-completes() {
	at_terminal "$1"$'\e*' bash --noprofile --rcfile "$BATS_FILE_TMPDIR/package.bash" -i
}

zsh-completes() {
	ZDOTDIR=$BATS_FILE_TMPDIR/zsh at_terminal "$1"$'\t' zsh -d -i
}

fish-completes() {
	local words
	words=$(as "${CALLER-alice}" fish --no-config -c \
		"set fish_complete_path $BATS_FILE_TMPDIR/completions/fish; complete -C \$argv[1]" \
		-- "$1" 2>&1 | cut -f 1)
	printf '%s\n' "${1% *} ${words//$'\n'/ }"
}

# offers LINE WORD...: each shell offers these for the last word of LINE, and nothing else.
offers() {
	local shell line=$1
	shift
	for shell in bash zsh fish; do
		offers_in "$shell" "$line" "$@"
	done
}

# In any order. What all offers begin with stands in front of the first only where the shell leaves it
# alone, as after = in bash; zsh takes , and = back when the next key is a blank.
offers_in() {
	local shell=$1 line=$2 lead offered expected
	shift 2
	offered=$("$shell-completes" "$line")
	[ "$offered" != "$line" ] || offered="${line% *} "
	[ "$shell" != zsh ] || offered=${offered%[,=]}
	lead=${line##* }
	lead=${lead%"${lead##*=}"}
	offered=${offered#"${line% *} "}
	offered=$(tr ' ' '\n' <<<"${offered//"$lead"/}" | sed '/^$/d' | sort)
	expected=$(printf '%s\n' "$@" | sed '/^$/d' | sort)
	assert_equal "$shell: $line: $offered" "$shell: $line: $expected"
}

# The options that VERB's help lists.
options_of() {
	"$IDMAP" "$1" --help | sed -nE 's/^ {2,6}(-.*)$/\1/p' | sed 's/  .*//' |
		grep -oE '(^|, )--?[a-z-]+' | sed 's/^, //'
}

@test "each_shell_offers_the_options_of_each_verb_and_no_others" {
	local verb options
	for verb in "${VERBS[@]}"; do
		mapfile -t options < <(options_of "$verb")
		[ "${#options[@]}" -gt 4 ]
		offers "idmap $verb -" "${options[@]}"
	done
}

@test "getsubids_has_one_option" {
	run "$IDMAP_BUILDDIR/getsubids"
	assert_line 'Usage: getsubids [-g] OWNER'
	offers "getsubids -" -g
}

@test "verbs_and_options_stand_in_the_first_place" {
	offers "idmap help " "${VERBS[@]}" help version
	offers "idmap ver" verify version
	offers "idmap -" -h --help -V --version --dump
	offers "idmap help dump d" ''
}

@test "write_and_dump_need_no_name_of_a_verb" {
	offers "idmap 1 --verb" --verbose
	offers "idmap 1 --parent" ''
	offers "idmap --dump --fo" --format
}

@test "bash_offers_the_same_with_the_package_bash_completion" {
	offers_in bash-package "idmap w" who write
	offers_in bash-package "idmap dump --fo" --format
	offers_in bash-package "idmap dump --layout=k" keep-id
	offers_in bash-package "idmap ls --maps -o N" NS
	offers_in bash-package "idmap check fi" file-a file-b
	offers_in bash-package "getsubids -g dor" dora
}

# words_in TEXT BEGIN: the words behind BEGIN in the message TEXT, up to a semicolon or its line's end.
words_in() {
	sed -nE "s/.*$2 ([^;]*).*/\1/p" <<<"$1" | sed -E 's/, each at most.*//; s/,? and |, |,/ /g; s/\.$//'
}

@test "words_that_an_option_takes_are_those_it_accepts" {
	local verb words
	for verb in dump exec; do
		run -2 "$IDMAP" "$verb" --layout '?'
		# shellcheck disable=SC2046
		offers "idmap $verb --layout " $(words_in "$output" 'not one of')
	done
	offers "idmap dump --layout=k" keep-id
	offers "idmap dump --layout=x" ''
	offers "idmap exec --setgroups " allow deny
	for words in allow deny; do
		run "$IDMAP" exec --layout self --setgroups "$words" -- true
		assert_not_equal "$status" 2
	done
	run -0 "$IDMAP" dump --help
	# shellcheck disable=SC2046
	offers "idmap dump --format " $(words_in "$output" '^FORM is one of')
	offers "idmap dump --from ne" newuidmap
	offers "idmap check --rule ze" zero-count
	offers "idmap check --rule x --no-rule=ze" zero-count
	offers "idmap dump --size " ''
	offers "idmap dump --name " ''
}

@test "columns_are_those_of_each_table" {
	local verb
	for verb in "dump 0:0:1" "lookup 0:0:1 1" "who 0" doctor ls "ls --maps" "ls --overlaps"; do
		# shellcheck disable=SC2086
		run -2 "$IDMAP" $verb -o '?'
		# shellcheck disable=SC2046
		offers "idmap $verb -o " $(words_in "$output" 'the columns are')
	done
	offers "idmap ls -o NS,PA" NS,PARENT
	offers "idmap ls --maps --output=TYPE,NS,I" TYPE,NS,INNER
	offers "idmap ls -o NS,N" NS,NPROCS
}

@test "users_are_offered_where_an_option_takes_one" {
	offers "idmap dump --user fir" first.last
	offers "idmap verify 1 --user=fir" first.last
	offers "idmap check --allow-shared car" carol
	offers "idmap check --allow-shared bob,fir" bob,first.last
	offers "getsubids dor" dora
	offers "getsubids -g dor" dora
	offers_in bash "getsubids DOM" 'DOMAIN\\alice'
	offers_in zsh "getsubids DOM" 'DOMAIN\\alice'
}

@test "files_are_offered_where_one_is_taken" {
	offers "idmap check fi" file-a file-b
	offers "idmap check file-a file-b fi" file-a file-b
	offers "idmap dump --from lxc fi" file-a file-b
	offers "idmap dump --parent fi" file-a file-b
	offers "idmap ls --svg=fi" file-a file-b
	offers "idmap write file-" ''
	offers "idmap who file-" ''
}

# spawn_numbered USER PID: that process sleeps in a user namespace of USER's, and later ones have PIDs of
# other beginnings.
spawn_numbered() {
	echo $(($2 - 1)) >/proc/sys/kernel/ns_last_pid
	spawn_userns "$1"
	assert_equal "$TARGET" "$2"
}

@test "processes_are_the_callers_own" {
	local line
	spawn_numbered alice 19999
	spawn_numbered bob 29999
	for line in "idmap " "idmap lookup --pid " "idmap dump --parent " "idmap dump --layout root " \
		"newgidmap "; do
		offers "${line}1999" 19999
	done
	offers "idmap 2999" ''
	CALLER=bob offers "idmap 2999" 29999
	CALLER=root offers "idmap 2999" 29999
	offers "idmap dump 1 1999" ''
	offers "newuidmap 1 1999" ''
	offers "idmap dump fd:" ''
}

@test "the_command_of_exec_is_completed_as_if_it_stood_alone" {
	local shell
	offers "idmap exec " --
	offers "idmap exec --auto " --
	offers "idmap exec -- getsubi" getsubids
	offers "idmap exec --pid --mount 0:0:1 -- cat fi" file-a file-b
	for shell in bash-package zsh fish; do
		offers_in "$shell" "idmap exec --auto -- idmap dump --lay" --layout
	done
}

# other_idmap TEXT: an idmap whose every answer is TEXT comes first in PATH.
other_idmap() {
	mkdir -p other
	printf '#!/bin/sh\ncat <<"END"\n%s\nEND\n' "$1" >other/idmap
	chmod 755 other/idmap
	PATH=$PWD/other:$PATH
}

@test "another_version_is_completed_by_its_own_help" {
	other_idmap 'Usage: idmap VERB

  frob     do what this one does not
  dump     show a map

  -z, --zeal N           be so eager
      --[broken
  -'
	offers "idmap f" frob
	offers "idmap frob --ze" --zeal
	offers "idmap dump --zeal " ''
	offers "idmap dump -o " ''
	offers "idmap dump --from " ''
	other_idmap 'nothing that looks like a help'
	offers "idmap wri" ''
	offers "idmap dump --lay" ''
}

# The programs that completing LINE in a shell runs, itself aside; on stderr, what it complains of.
# shellcheck disable=SC2016
bash-runs() {
	traced bash --norc --noprofile -c 'source "$1" && COMP_LINE=$2 COMP_POINT=${#2} &&
		read -ra COMP_WORDS <<<"$2" && COMP_CWORD=${#COMP_WORDS[@]} && _idmap idmap "" ""' \
		- "$BATS_FILE_TMPDIR/completions/bash/idmap" "$1"
}

zsh-runs() {
	printf '%s\t\001\vexit\n' "$1" >keys
	ZDOTDIR=$BATS_FILE_TMPDIR/zsh traced script -qec 'zsh -d -i' /dev/null <keys
}

fish-runs() {
	traced fish --no-config -c \
		"set fish_complete_path $BATS_FILE_TMPDIR/completions/fish; complete -C \$argv[1]" -- "$1"
}

traced() {
	timeout 60 strace -f -z -qq -e trace=execve -e signal=none -o trace "$@" >screen 2>errors
	sed -nE 's/.*execve\("([^"]*)".* = 0$/\1/p' trace | grep -vE '/(bash|zsh|fish|script|sh|strace)$' | sort -u
}

@test "nothing_but_idmap_is_run_and_nothing_is_complained_of" {
	local line shell
	for line in "idmap " "idmap dump -" "idmap dump --user " "idmap dump --parent " "idmap ls -o "; do
		for shell in bash zsh fish; do
			run "$shell-runs" "$line"
			assert_equal "$shell: $line: $output" "$shell: $line: $BATS_FILE_TMPDIR/bin/idmap"
			assert_equal "$(<errors)" ''
			run grep -E '_[a-z_]+:[0-9]+: |not found' screen
			assert_equal "$shell: $line: $output" "$shell: $line: "
		done
	done
}

@test "without_idmap_nothing_is_offered_or_complained_of" {
	local shell
	PATH=/usr/bin:/bin
	for shell in bash zsh fish; do
		run "$shell-runs" "idmap dump --"
		assert_equal "$shell: $output$(<errors)" "$shell: "
	done
}

@test "make_install_puts_them_where_each_shell_looks" {
	local root=$BATS_TEST_TMPDIR/root program bash zsh fish
	env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL make -s -C "$IDMAP_BUILDDIR" install-data DESTDIR="$root"
	bash=$(find "$root" -path '*/share/bash-completion')
	zsh=$(find "$root" -path '*/share/zsh/site-functions')
	fish=$(find "$root" -path '*/share/fish/vendor_completions.d')
	for program in idmap newuidmap newgidmap getsubids; do
		run -0 bash --norc --noprofile -c "XDG_DATA_DIRS=${bash%/*}
			source /usr/share/bash-completion/bash_completion
			_completion_loader $program; complete -p $program"
		assert_output --regexp "^complete -F _idmap[a-z_]* $program\$"
		run -0 zsh -f -c "fpath=($zsh \$fpath); autoload -U compinit; compinit -u -D
			print \$_comps[$program]"
		assert_output _idmap
		[ -e "$fish/$program.fish" ]
	done
}

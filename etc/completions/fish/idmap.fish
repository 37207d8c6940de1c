# SPDX-License-Identifier: BSD-2-Clause
#
# Completion for fish: of idmap, newuidmap, newgidmap and getsubids. As in the one for bash, no verb,
# option, form, rule or column stands here: they are read from --help of the very idmap that is on the
# command line, and nothing else is run.

# HELP-LINE...: what is defined there, a line "NAME OPERAND TEXT" each, with tabs between. OPERAND is
# " X" if X has to follow NAME, "[=X]" if it may.
function __idmap_defined
    while set -q argv[1]
        set -l line $argv[1]
        set -e argv[1]
        set -l found (string match -r '^  ([a-z][a-z0-9-]*) +(.*)$' -- $line)
        and printf '%s\t\t%s\n' $found[2] $found[3]
        set found (string match -r '^ {2,6}(-.*?)(?:  +(.*))?$' -- $line)
        or continue
        # The text may stand on the next line.
        set -q found[3]; or set -a found (string trim -- $argv[1])
        set -l items (string split ', ' -- $found[2])
        set -l operand (string replace -r '^[^ \[]*' '' -- $items[-1])
        for item in $items
            printf '%s\t%s\t%s\n' (string replace -r '[ \[].*' '' -- $item) "$operand" "$found[3]"
        end
    end
end

# Of such lines, in $argv, those whose NAME begins so, without OPERAND.
function __idmap_names
    string match -r "^$argv[1].*" -- $argv[2..] | string replace -r '\t.*\t' '\t'
end

# Processes that the caller may look into: his own, and root's are all but those of the kernel.
function __idmap_processes
    for process in (string match -r '^/proc/[0-9]+$' -- /proc/*)
        test -e $process/exe; or continue
        set -l name
        read name <$process/comm 2>/dev/null
        printf '%s\t%s\n' (string replace /proc/ '' $process) \
            (string replace -ra '[^[:print:]]' '?' -- "$name")
    end
end

function __idmap_users
    string replace -r ':.*' '' </etc/passwd
end

# LIST WORD...: LIST, which may end in the beginning of a word, with one more WORD.
function __idmap_list
    set -l lead (string replace -r '[^,]*$' '' -- $argv[1])
    for word in $argv[2..]
        string match -q "*,$word,*" -- ",$lead"; or printf '%s\n' $lead$word
    end
end

# The columns on a line of $help that names no option, or one that is in $words; the latter first.
function __idmap_columns --no-scope-shadowing
    set -l columns
    for line in $help
        set -l found (string match -r '[A-Z_]{2,}(?:,[A-Z_]{2,})+' -- $line)
        or continue
        set -l mode (string match -r 'with (--[a-z]+)' -- $line)
        and not contains -- $mode[2] $words
        or set columns (string split , -- $found)
    end
    printf '%s\n' $columns
end

# OPTION OPERAND VALUE: what may stand behind OPTION, whose help calls it OPERAND, where VALUE is.
function __idmap_values --no-scope-shadowing
    switch "$argv[1]:$argv[2]"
        case '--layout:*'
            printf '%s\n' root keep-id subids self
        case '--setgroups:*'
            printf '%s\n' allow deny
        case '--user:*'
            __idmap_users
        case '--allow-shared:*'
            __idmap_list $argv[3] (__idmap_users)
        case '--rule:*' '--no-rule:*'
            __idmap_names '[a-z]' $defined
        case '*:LIST'
            __idmap_list $argv[3] (__idmap_columns)
        case '*:FORM'
            string match -r '^FORM is one of .*' -- $help |
                string replace -r '^FORM is one of (.*)\.$' '$1' | string split ', '
        case '*:*PID*'
            __idmap_processes
    end
    string match -q '*FILE*' -- $argv[2]; and set files yes
end

# What stands on the command line without an option, by the lines "Usage:" of the help.
function __idmap_operands --no-scope-shadowing
    set -l usage (string match -r '^(?:Usage:|       idmap).*' -- $help)
    if string match -q '* -- *' $usage
        printf '%s\n' --
    else if string match -q '*PID*' $usage
        test -n "$operand"; or __idmap_processes
    else if string match -q '*FILE*' $usage
        set files yes
    end
end

# OPTION: the words that have to follow it, by its line in $defined.
function __idmap_operand --no-scope-shadowing
    for line in $defined
        set -l fields (string split \t -- $line)
        test "$fields[1]" = "$argv[1]"
        and string match -q ' *' -- $fields[2]
        and string split -n ' ' -- $fields[2]
    end
end

# COMMAND behind exec's --, as if it stood alone.
function __idmap_command
    complete -C (string replace -r '^.*?\s--\s+' '' -- (commandline -cp))
end

# Behind the verb: $words are those between it and $current.
function __idmap_behind --no-scope-shadowing
    set -l option
    set -l pending
    set -l operand
    for word in $words
        if set -q pending[1]
            set -e pending[1]
        else if test "$word" = --
            test $verb = exec; and __idmap_command
            return
        else if string match -q -- '-*' $word
            set option $word
            set pending (__idmap_operand $word)
        else if string match -qr '^fd:|^[^:]*$' -- $word
            set operand $word
        end
    end
    set -l joined (string match -r '^(--[^=]*)=(.*)' -- $current)
    if set -q pending[1]
        __idmap_values $option $pending[1] $current
    else if set -q joined[1]
        __idmap_values $joined[2] "$(__idmap_operand $joined[2])" $joined[3] |
            string replace -r -- '^' $joined[2]=
    else if string match -q -- '-*' $current
        __idmap_names - $defined
    else
        __idmap_operands
    end
end

# The first word: a verb, or a process that write is for.
function __idmap_first --no-scope-shadowing
    if string match -q -- '-*' $current
        __idmap_names - $defined
        printf '%s\n' --dump
    else
        __idmap_names '[a-z]' $defined
        __idmap_processes
    end
end

# Print the words that may stand where the cursor is. Status 0 if a file may, too.
function __idmap_complete
    set -l files
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    set -l tool (string replace -r '^~/' "$HOME/" -- $words[1])
    set -e words[1]
    command -q $tool; or return 1
    set -l help (command $tool --help 2>/dev/null </dev/null)
    set -l defined (__idmap_defined $help)
    if not set -q words[1]
        __idmap_first
        return 1
    end
    set -l verbs (__idmap_names '[a-z]' $defined | string replace -r '\t.*' '')
    set -l verb write
    if contains -- $words[1] $verbs
        set verb $words[1]
        set -e words[1]
    else if contains -- --dump $words
        set verb dump
    end
    switch $verb
        case help
            set -q words[1]; or __idmap_names '[a-z]' $defined
        case version
        case '*'
            set help (command $tool $verb --help 2>/dev/null </dev/null)
            set defined (__idmap_defined $help)
            __idmap_behind
    end
    test -n "$files"
end

complete -c idmap -f -a '(__idmap_complete)'
complete -c idmap -n '__idmap_complete >/dev/null' -F

for program in newuidmap newgidmap
    complete -c $program -f
    complete -c $program -n 'test (count (commandline -opc)) -eq 1' -a '(__idmap_processes)'
end

complete -c getsubids -f -a '(__idmap_users)'
complete -c getsubids -s g -d 'group IDs'

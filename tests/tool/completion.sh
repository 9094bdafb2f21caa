#!/bin/bash
# What the shells complete, each asked in its own way, and whether --help and the manual show the options that the
# programs complete and take.
#
#   completion.sh SOURCE_ROOT REDLOCK [REDLOCK_LAB]
set -u
root=$1
shift
programs=$(realpath "$@")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
mkdir bin
# shellcheck disable=SC2086 # a list
ln -s $programs bin
PATH=$work/bin:$PATH
touch report.html jobs.txt
bad=0

# same WHAT WANTED FOUND
same()
{
    if [ "$2" != "$3" ]; then
        printf '%s gives\n%s\nnot\n%s\n' "$1" "$3" "$2"
        bad=1
    fi
}

# Lines, and what they complete to, separated by blanks. Each ends with the word to complete, which may be empty.
cases=(
    'redlock unl' 'unlock'
    'redlock help ext' 'extend'
    'redlock help mas' 'masters'
    'redlock mas' ''
    'redlock lock k --profile ' 'classic guarded'
    'redlock lock k -f j' 'jobs.txt'
    'redlock lock k -w ' '0 forever'
    'redlock lock k --fen' '--fence'
    'redlock latch a' 'arrive await'
    'redlock latch arrive ' ''
    'redlock latch await n --gen' '--generation'
    'redlock lock 10.0.0.1:7 --tok' '--token-file'
    'redlock check rep' 'report.html'
    'redlock run k ' '--'
    'redlock run -k k --on-busy ' 'fail skip'
    'redlock run k --nod' '--node --node-timeout --nodes --nodes-file'
    'redlock status ' ''
    'redlock ls --sort ' 'hold name wait'
    'redlock to' 'top'
    'redlock l' 'latch lock ls'
    'redlock ben' ''
)
if [ $# -gt 1 ]; then
    cases+=(
        'redlock-lab eng' 'engine'
        'redlock-lab bench --scenario h' 'hammer herd hold hung1 hung2'
        'redlock-lab bench --acquire ' 'fifo queue spin'
        'redlock-lab bench --dur' '--duration'
        'redlock-lab failover --html r' 'report.html'
        'redlock-lab failover kill-' 'kill-1 kill-2 kill-3 kill-all kill-lagging kill-leader'
    )
fi

# --- bash

# shellcheck source=/dev/null
. "$root/tools/completion/redlock.bash"

# Splits as readline does: "=" and ":" are words of their own.
in_bash()
{
    local line=$1 word

    COMP_WORDS=()
    for word in $line; do
        mapfile -t -O "${#COMP_WORDS[@]}" COMP_WORDS < <(sed -E 's/([=:])/\n\1\n/g' <<<"$word" | sed '/^$/d')
        [[ $word == *= ]] && [[ $line == *"$word" ]] && COMP_WORDS+=('')
    done
    [[ $line == *' ' ]] && COMP_WORDS+=('')
    COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
    COMPREPLY=()
    _redlock
}

sorted()
{
    printf '%s\n' "$@" | LC_ALL=C sort -u | sed '/^$/d' | paste -sd ' '
}

for ((i = 0; i < ${#cases[@]}; i += 2)); do
    in_bash "${cases[i]}"
    same "bash: '${cases[i]}'" "${cases[i + 1]}" "$(sorted "${COMPREPLY[@]}")"
done
# Readline replaces what stands behind the last "=".
in_bash 'redlock lock k --profile=gua'
same 'bash: --profile=gua' guarded "${COMPREPLY[*]}"
in_bash 'redlock lock k --token-file=rep'
same 'bash: --token-file=rep' report.html "${COMPREPLY[*]}"
in_bash 'redlock run --nodes a:1 --key job:1 realpat'
same 'bash: the command' realpath "$(sorted "${COMPREPLY[@]}")"
in_bash 'redlock run job -t 5s -- cat rep'
same 'bash: its arguments' report.html "${COMPREPLY[*]}"

# --- zsh and fish, where they are installed

if command -v zsh >/dev/null; then
    for ((i = 0; i < ${#cases[@]}; i += 2)); do
        # shellcheck disable=SC2016
        found=$(zsh -f -c '
            words=(${=1}); [[ $1 == *" " ]] && words+=("")
            CURRENT=$#words PREFIX=$words[-1]
            compadd() { while [[ $1 != -- ]]; do shift; done; shift; print -l -- "$@" }
            _files() { print -l -- ${PREFIX}*(N) }
            . $2' zsh "${cases[i]}" "$root/tools/completion/_redlock")
        same "zsh: '${cases[i]}'" "${cases[i + 1]}" "$(sorted "$found")"
    done
fi
if command -v fish >/dev/null; then
    for program in $programs; do
        cp "$root/tools/completion/redlock.fish" "bin/${program##*/}.fish"
    done
    for ((i = 0; i < ${#cases[@]}; i += 2)); do
        # shellcheck disable=SC2016
        found=$(HOME=$work fish --no-config -c 'source $argv[1]; complete -C $argv[2]' \
            "bin/${cases[i]%% *}.fish" "${cases[i]}" | cut -f 1)
        same "fish: '${cases[i]}'" "${cases[i + 1]}" "$(sorted "$found")"
    done
fi

# --- The tables, --help and the manual

for program in $programs; do
    program=${program##*/}
    for command in $("$program" __complete '' | grep -v -- '^--'); do
        [ "$command" = help ] && continue
        options=$("$program" __complete "$command" -- | grep '^--' | LC_ALL=C sort)
        "$program" "$command" --help >help
        page=$root/tools/man/$program-$command.1
        [ -e "$page" ] || page=$root/tools/man/$program.1
        for option in $options; do
            [ "$option" = --help ] && continue
            grep -qE -- "$option([^a-z-]|$)" help || { echo "$command --help does not show $option"; bad=1; }
            grep -qE -- "Fl (. , )?$(printf %s "${option#-}")( |$)" "$page" ||
                { echo "${page##*/} does not explain $option of $command"; bad=1; }
        done
        # What --help leaves to a topic is explained there.
        while read -r option; do
            "$program" help masters | grep -qE -- "^  (-., )?$option( |$)" ||
                { echo "$command --help leaves $option to 'help masters', which does not explain it"; bad=1; }
        done < <(sed -n "/help masters' explains the rest/,/^\$/p" help | grep -oE -- '--[a-z-]+')
        # What --help explains is taken.
        while read -r option; do
            grep -qx -- "$option" <<<"$options" ||
                { echo "$command does not know $option, which its --help shows"; bad=1; }
        done < <(sed -nE 's/^  (-., )?(--[a-z-]+).*/\2/p' help)
        cat help >>every-help
    done
    "$program" help >>every-help
done
# The pages speak of no option that no --help shows.
for page in "$root"/tools/man/redlock*.1; do
    [ $# -gt 1 ] || [[ $page != */redlock-lab* ]] || continue
    while read -r option; do
        grep -qE -- "$option([^a-z-]|$)" every-help || { echo "${page##*/} speaks of $option, which no --help shows"; bad=1; }
    done < <(grep -oE '(Fl|,) (. , )?-[a-z][a-z-]+' "$page" | sed 's/.* -/--/' | sort -u)
done
exit $bad

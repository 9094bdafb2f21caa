# bash completion for redlock(1) and redlock-lab(1).
# The program itself knows what can stand where: 'PROGRAM __complete WORD...'.

_redlock()
{
    local -a words=() first=() answer
    local word i joined=0 last file=0

    # "=" and ":" are words of their own in COMP_WORDS: put together what was written together. first[] has where each
    # word begins there.
    for ((i = 0; i <= COMP_CWORD; i++)); do
        word=${COMP_WORDS[i]}
        if ((i > 1)) && { ((joined)) || [[ $word == [=:]* ]]; } && [[ $word != '' || $joined == 1 ]]; then
            words[${#words[@]} - 1]+=$word
        else
            words+=("$word")
            first+=("$i")
        fi
        joined=0
        [[ $word == *[=:] ]] && joined=1
    done

    COMPREPLY=()
    mapfile -t answer < <("${words[0]}" __complete "${words[@]:1}" 2>/dev/null)
    last=${words[${#words[@]} - 1]}
    case ${answer[0]-} in
    :command\ *)
        i=${first[${answer[0]#:command }]}
        if declare -F _command_offset >/dev/null; then
            _command_offset "$i"
        elif ((i == COMP_CWORD)); then
            mapfile -t COMPREPLY < <(compgen -c -- "$last")
        else
            mapfile -t COMPREPLY < <(compgen -f -- "${COMP_WORDS[COMP_CWORD]}")
        fi
        return
        ;;
    :file)
        [[ $last == --*=* ]] && last=${last#*=}
        mapfile -t COMPREPLY < <(compgen -f -- "$last")
        compopt -o filenames 2>/dev/null
        file=1
        ;;
    *)
        COMPREPLY=("${answer[@]}")
        ;;
    esac
    # Only what stands behind the last "=" or ":" is replaced.
    if ((!file)) && [[ $last == *[=:]* ]]; then
        word=${last%"${last##*[=:]}"}
        COMPREPLY=("${COMPREPLY[@]#"$word"}")
    fi
    [[ ${#COMPREPLY[@]} == 1 && ${COMPREPLY[0]} == *= ]] && compopt -o nospace 2>/dev/null
    return 0
}

complete -F _redlock redlock redlock-lab

# bash completion for redlock(1)

# The command that "redlock run" is to start: completed as if it stood alone. Fails while the words are options.
_redlock_command()
{
    local i word

    for ((i = 2; i <= COMP_CWORD; i++)); do
        word=${COMP_WORDS[i]}
        case $word in
        --) i=$((i + 1)) ;;
        --no-renew | --fence | --fenced | --foreground | --status | --verbose | --quiet | --json-log | --json | -v | -q) continue ;;
        --*=*) continue ;;
        -*) i=$((i + 1)) && continue ;;
        esac
        if ((i <= COMP_CWORD)) && declare -F _command_offset >/dev/null; then
            _command_offset "$i"
        elif ((i == COMP_CWORD)); then
            mapfile -t COMPREPLY < <(compgen -c -- "$word")
        else
            mapfile -t COMPREPLY < <(compgen -f -- "${COMP_WORDS[COMP_CWORD]}")
        fi
        return 0
    done
    return 1
}

_redlock()
{
    local word=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}
    local masters='--node --nodes --nodes-file --password-file --quorum --prefix --max-ttl --node-timeout --json'
    local durations='100ms 500ms 1s 5s 10s 30s 1m' command=${COMP_WORDS[1]} words

    COMPREPLY=()
    case $previous in
    --wait) words="0 $durations forever" ;;
    --ttl | --min-validity | --max-ttl | --node-timeout | --kill-after | --kill-margin | --at-least) words=$durations ;;
    --on-busy) words='fail skip' ;;
    --on-lost) words='term kill signal= exec= ignore' ;;
    --nodes-file | --password-file | --token-file | --lock-file | --metrics-file)
        mapfile -t COMPREPLY < <(compgen -f -- "$word")
        return
        ;;
    --profile) words='guarded classic' ;;
    --node | --nodes | --quorum | --prefix | --key | --busy-exit-code) return ;;
    esac
    if [[ -z $words ]]; then
        if ((COMP_CWORD == 1)); then
            words='run lock extend unlock check break status nodes demo bench failover --help --version'
        elif [[ $command == run ]] && _redlock_command; then
            return
        elif [[ $word == -* ]]; then
            case $command in
            run)
                words="--key --ttl --wait --on-busy --busy-exit-code --on-lost --kill-after --kill-margin --no-renew
                    --fence --lock-file --metrics-file --foreground --status --verbose --quiet --json-log --profile
                    $masters"
                ;;
            lock) words="--ttl --wait --min-validity --fenced --token-file --profile --quiet $masters" ;;
            extend) words="--ttl --profile --quiet $masters" ;;
            unlock) words="--token-file --profile --quiet $masters" ;;
            check) words='--at-least --json --quiet' ;;
            break) words="--yes --profile $masters" ;;
            status) words="--verbose --profile $masters" ;;
            nodes) words="--new-deployment --yes --force $masters" ;;
            demo) words='--fast --node --nodes --node-timeout' ;;
            bench | failover)
                words=$(redlock "$command" --help 2>/dev/null | grep -oE -- '--[a-z][a-z-]*' | sort -u)
                ;;
            esac
            words="$words --help"
        elif [[ $command == failover ]]; then
            words=$(redlock failover --list 2>/dev/null | sed 's/^ *//; s/ .*//')
        elif [[ $command == check || $command == extend ]]; then
            mapfile -t COMPREPLY < <(compgen -f -- "$word")
            return
        fi
    fi
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
}

complete -F _redlock redlock

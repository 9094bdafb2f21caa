# fish completion for redlock(1), and under the name of redlock-lab.fish for redlock-lab(1).
# The program itself knows what can stand where: 'PROGRAM __complete WORD...'.

function __redlock_complete
    set -l words (commandline -opc) (commandline -ct)
    set -l last $words[-1]
    set -l answer ($words[1] __complete $words[2..-1] 2>/dev/null)

    switch "$answer[1]"
        case ':command *'
            set -l offset (string replace ':command ' '' -- $answer[1])
            complete -C (string join ' ' -- (string escape -- $words[(math $offset + 1)..-2]) $last)
        case ':file'
            if string match -q -- '--*=*' $last
                set -l option (string replace -r '=.*' '=' -- $last)
                for path in (__fish_complete_path (string replace -r '^[^=]*=' '' -- $last))
                    echo $option$path
                end
            else
                __fish_complete_path $last
            end
        case '*'
            printf '%s\n' $answer
    end
end

complete -c (string replace .fish '' (status basename)) -f -a '(__redlock_complete)'

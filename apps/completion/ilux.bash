# Completion of ilux in bash: the program itself says which words may follow (apps/manual/completions.hpp).
_ilux() {
    local line=${COMP_LINE:0:COMP_POINT} current rest one IFS=$' \t\n'
    local -a words
    read -ra words <<<"$line"
    [[ $line == *[[:space:]] ]] && words+=("")
    current=${words[-1]}
    # bash takes : and = for ends of words, and replaces only what stands behind the last of them.
    rest=${current##*[:=]}
    COMPREPLY=()
    while IFS= read -r one; do
        case $one in
            :files) compopt -o filenames 2>/dev/null; mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen -f -- "$rest") ;;
            :folders) compopt -o filenames 2>/dev/null; mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen -d -- "$rest") ;;
            :nospace) compopt -o nospace 2>/dev/null ;;
            *) one=${one%%$'\t'*}; COMPREPLY+=("${one:${#current}-${#rest}}") ;;
        esac
    done < <("${words[0]/#\~/$HOME}" --complete "${words[@]:1}" 2>/dev/null)
}
complete -F _ilux ilux

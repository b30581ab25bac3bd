# What the scripts of the guide share; they source it. Everything is written in a folder of its own.
#     ILUX        the program; without: the launcher of this checkout, which builds it first
#     GUIDE_OUT   the folder; without: a new one under /tmp
set -euo pipefail
shopt -s inherit_errexit
called_from=$PWD
program=$(realpath "${ILUX:-"$(dirname "${BASH_SOURCE[0]}")/../../ilux"}")
mkdir -p "${GUIDE_OUT:=$(mktemp -d)}"
cd "$GUIDE_OUT"

# bring PATH...: makes data known by their last name here. What is no path, as gallery:NAME, stays what it is.
bring() {
    local path
    for path; do
        if [[ $path != gallery:* ]]; then
            path=$(cd "$called_from" && realpath -e "$path")
            ln -sfn "$path" "$(basename "$path")"
        fi
        basename "$path"
    done
}

# step NAME ARGUMENT...: shows `ilux ARGUMENT...` and runs it. A system that is not solved (3, 4) is a result; any other exit
# code ends the script with it.
step() {
    local name=$1 code=0
    shift
    printf '== %s\n$ ilux %s\n' "$name" "$*"
    "$program" "$@" 2>&1 || code=$?
    if ((code != 0)); then echo "exit code $code"; fi
    if ((code != 0 && code != 3 && code != 4)); then exit "$code"; fi
}
trap 'echo "== end"; echo "files are in $GUIDE_OUT"' EXIT

# shellcheck shell=sh
# For the `run` scripts of groups, which source it in the folder of the repository with `script` set
# to their own path. It has what the parts of a group need before they run, and the list of parts. A
# part is a branch of the script's `case` that begins a line: `name) ## what it does`.
# Variables are used, and set, by the scripts; CARGO is a command with its options.
# shellcheck disable=SC2034,SC2086,SC2154

# The suites here are our own: no command that a part starts asks whether they may do what they do.
export SANDBOX_TRUST=1
CARGO=${CARGO:-cargo}
sandbox=target/release/sandbox
# The folder with other people's files, of which parts say what they read.
shared=$(realpath -ms "${SHARED:-../shared}")

# need WHAT...: builds `sandbox`, installs the `browser`, or what else setup.sh has a word for.
need() {
    for what; do
        case $what in
            sandbox) $CARGO build --release --bin sandbox ;;
            browser) ./setup.sh ;;
            *) ./setup.sh "$what" ;;
        esac
    done
}

# The parts of the group, one a line.
list() {
    sed -n 's/^\([a-z-]*\)) ## /  \1\t/p' "$script" | expand -t 16
}

# other NAME: what is said instead of running a part: the list for `help`, and an error otherwise.
other() {
    if [ "$1" = help ]; then
        list
        exit 0
    fi
    {
        if [ -n "$1" ]; then
            echo "${script#"$PWD"/}: there is no part \"$1\"; the parts are:"
        else
            echo "${script#"$PWD"/}: name one of the parts:"
        fi
        list
    } >&2
    exit 2
}

# one_part WORD...: refuses more words than one, of which the others would be passed over.
one_part() {
    [ $# -le 1 ] || other "$*"
}

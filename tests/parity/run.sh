#!/bin/sh
# Sets us beside BrowserGym and WebArena, on pages that both see from one recording, and beside
# BrowserGym on sites of which each has a copy.
#
#   SHARED=FOLDER tests/parity/run.sh compare target/release/sandbox [pages|sites] [TASK...]   # looks, acts, compares by lines
#   SHARED=FOLDER tests/parity/run.sh bench target/release/sandbox                             # how long looking takes
#   SHARED=FOLDER tests/parity/run.sh episodes target/release/sandbox [town]                   # how long episodes take
#
# FOLDER has datasets/browsergym/data and captures/. What is made on the way is in target/parity.
set -eu

: "${SHARED:?is not set: call \`make interop ONLY=parity SHARED=<folder with datasets/ and captures/>\`}"
what=${1:?usage: run.sh compare|bench|episodes SANDBOX}
sandbox=$(realpath "${2:?usage: run.sh compare|bench|episodes SANDBOX}")
shift 2
shared=$(realpath "$SHARED")
here=$(dirname "$(realpath "$0")")
root=$(dirname "$(dirname "$here")")
target=${CARGO_TARGET_DIR:-$root/target}
venv=$target/parity-venv
work=$target/parity

# WebArena pins whole frameworks of machine learning; nothing of what is compared needs them.
"$root/tests/venv.sh" "$venv" "$here/requirements.txt" "$here/alone.txt"
rm -rf "$work"
mkdir -p "$work"
cd "$root"
case $what in
    compare)
        set -- parity.py "$sandbox" "$shared/datasets/browsergym/data" snapshots/demo.wacz "$work" "$@"
        ;;
    bench)
        cargo build --quiet --release --workspace --example observe
        set -- bench.py "$sandbox" "$target/release/examples/observe" "$(find "$shared/captures" -name iana.warc.gz)" "$work"
        ;;
    episodes)
        set -- episodes.py "$sandbox" "$work" "$@"
        ;;
esac
program=$1
shift
exec "$venv/bin/python" -B -W ignore "$here/$program" "$@"

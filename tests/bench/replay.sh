#!/bin/sh
# Measures the gateway beside pywb and mitmproxy: one archive, one client, one run. Prints Markdown
# tables; every figure is also in target/bench/results.json. Everything listens on loopback and is
# stopped at the end.
#
#   tests/bench/replay.sh SANDBOX [--check] [--runs N] [--only replay,record,size,unrecorded]
set -eu

sandbox=$(realpath "${1:?usage: replay.sh SANDBOX [options]}")
shift
here=$(dirname "$(realpath "$0")")
root=$(dirname "$(dirname "$here")")
venv=$root/target/bench-venv

"$root/tests/venv.sh" "$venv" "$here/requirements.txt"
cargo build --quiet --release --manifest-path "$root/Cargo.toml" -p load

exec python3 -B "$here/bench.py" --sandbox "$sandbox" --load "$root/target/release/load" --venv "$venv" \
    --work "$root/target/bench" "$@"

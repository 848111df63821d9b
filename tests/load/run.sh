#!/bin/sh
# Measures the gateway under load and attack beside mitmproxy, one scenario after the other, and
# prints a Markdown table; every figure is also in target/load/results.json. Everything is on
# loopback and is stopped at the end.
#
#   tests/load/run.sh target/release/sandbox [--only idle,slow,...] [--seconds N]
set -eu

sandbox=$(realpath "${1:?usage: run.sh SANDBOX [options]}")
shift
here=$(dirname "$(realpath "$0")")
root=$(dirname "$(dirname "$here")")
venv=$root/target/bench-venv

"$root/tests/venv.sh" "$venv" "$root/tests/bench/requirements.txt"
cargo build --quiet --release --manifest-path "$root/Cargo.toml" -p load

PYTHONPATH="$root/tests/bench" exec python3 -B "$here/load.py" --sandbox "$sandbox" \
    --load "$root/target/release/load" --venv "$venv" --work "$root/target/load" "$@"

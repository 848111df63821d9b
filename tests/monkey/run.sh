#!/bin/sh
# The monkey in all worlds. Usage: run.sh SANDBOX EPISODES
set -eu

sandbox=$(realpath "${1:?usage: run.sh SANDBOX EPISODES}")
episodes=${2:-64}
here=$(dirname "$(realpath "$0")")
root=$(dirname "$(dirname "$here")")
target=${CARGO_TARGET_DIR:-$root/target}
venv=$target/miniwob-venv

"$root/tests/venv.sh" "$venv" "$root/tests/miniwob/requirements.txt"
rm -rf "$target/monkey"
exec "$venv/bin/python" -B "$here/run.py" "$sandbox" "$target/monkey" "$episodes"

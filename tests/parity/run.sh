#!/bin/sh
# Looks at pages with BrowserGym and with us, acts on them in both, and compares line by line.
#
#   SHARED=FOLDER tests/parity/run.sh target/release/sandbox [TASK...]
#
# FOLDER has datasets/browsergym/data; its pages are recorded from a server on loopback, and both browsers see the
# recording. So do they see the start pages of the demo suite. Everything is in target/parity.
set -eu

: "${SHARED:?is not set: call \`make parity SHARED=<folder with datasets/>\`}"
sandbox=$(realpath "${1:?usage: run.sh SANDBOX [TASK...]}")
shift
pages=$(realpath "$SHARED/datasets/browsergym/data")
here=$(dirname "$(realpath "$0")")
root=$(dirname "$(dirname "$here")")
target=${CARGO_TARGET_DIR:-$root/target}
venv=$target/parity-venv
work=$target/parity

if [ ! -f "$venv/.ready" ] || ! cmp -s "$here/requirements.txt" "$venv/.ready"; then
    echo "parity: installing BrowserGym into $venv" >&2
    python3 -m venv --clear "$venv"
    "$venv/bin/pip" install --quiet --disable-pip-version-check --requirement "$here/requirements.txt"
    cp "$here/requirements.txt" "$venv/.ready"
fi
rm -rf "$work"
mkdir -p "$work"
exec "$venv/bin/python" -B -W ignore "$here/parity.py" "$sandbox" "$pages" "$root/snapshots/demo.wacz" "$work" "$@"

#!/bin/sh
# Compares the snapshot formats with the reference tools in Python: what they read, how they key, whether they accept and
# replay what we write. Usage: tests/conformance/run.sh CAPTURES [CARGO-PROFILE-ARGUMENTS...]
set -eu

captures=$(cd "${1:?usage: tests/conformance/run.sh CAPTURES}" && pwd)
shift
here=$(cd "$(dirname "$0")" && pwd)
cd "$here/../.."
target=$PWD/${CARGO_TARGET_DIR:-target}
venv=$target/conformance-venv
work=$target/conformance

if [ ! -f "$venv/.ready" ] || ! cmp -s "$here/requirements.txt" "$venv/.ready"; then
    echo "== installing the reference tools into $venv"
    python3 -m venv --clear "$venv"
    "$venv/bin/pip" install --quiet --disable-pip-version-check --requirement "$here/requirements.txt"
    cp "$here/requirements.txt" "$venv/.ready"
fi
rm -rf "$work"
mkdir -p "$work"

echo "== asking warcio, surt and pywb"
"$venv/bin/python" -W ignore "$here/count_records.py" "$captures" >"$work/counts.json" 2>"$work/warcio.log"
"$venv/bin/python" -W ignore "$here/keys.py" >"$work/keys.jsonl"

echo "== reading and writing the captures"
SANDBOX_CAPTURES=$captures SANDBOX_CONFORMANCE=$work cargo test -q "$@" -p snapshots --test captures
SANDBOX_CAPTURES=$captures cargo test -q "$@" -p gateway --test captures

echo "== having what we wrote judged"
"$venv/bin/python" -W ignore "$here/judge.py" "$work"/written/*.wacz "$work"/replay/made.wacz
"$venv/bin/python" -W ignore "$here/compare_index.py" "$work"/written/*.wacz "$work"/replay/made.wacz

echo "== replaying a recording with pywb"
"$venv/bin/python" -W ignore "$here/replay_with_pywb.py" "$venv/bin" "$work/replay"
echo "conformance: all good"

#!/bin/sh
# MiniWoB++ on our own browser: every task of its package is started, and solved where a rule is
# written for it (solver.py), twice. Usage: run.sh SANDBOX [SEED]
#
# Fails where fewer tasks than AT_LEAST earn their reward, a task does not start, or the two runs
# differ. What is made is in target/miniwob.
set -eu

AT_LEAST=${AT_LEAST:-120}
sandbox=$(realpath "${1:?usage: run.sh SANDBOX [SEED]}")
seed=${2:-7}
here=$(dirname "$(realpath "$0")")
root=$(dirname "$(dirname "$here")")
target=${CARGO_TARGET_DIR:-$root/target}
venv=$target/miniwob-venv
work=$target/miniwob

"$root/tests/venv.sh" "$venv" "$here/requirements.txt"
rm -rf "$work"
mkdir -p "$work"
html=$("$venv/bin/python" -c 'import importlib.util as util; print(util.find_spec("miniwob").submodule_search_locations[0] + "/html")')
"$sandbox" tasks import miniwob "$html" --output "$work/suite" --seed "$seed"
cd "$root"
"$sandbox" run "$work/suite" --agent "program:python3 -B tests/miniwob/solver.py" --repeat 2 --workers 2 --check --output "$work/run"
exec "$venv/bin/python" -B "$here/count.py" "$work/run" "$AT_LEAST"

#!/bin/sh
# The main job on the demo web: an agent that does nothing once, then the oracle twice.
# Usage: play.sh SANDBOX
set -eu
sandbox=$1
out=target/demo
rm -rf "$out"

echo "== What doing nothing earns"
"$sandbox" run tasks/demo --agent noop --workers 2 --output "$out/noop"
echo
echo "== The oracle, every task twice, from the frozen demo web"
"$sandbox" run tasks/demo --agent oracle --repeat 2 --workers 2 --check --output "$out/oracle"

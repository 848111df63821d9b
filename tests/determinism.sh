#!/bin/sh
# 25 repeats of the demo suite: one fingerprint, or the first difference and exit code 1.
# Usage: determinism.sh SANDBOX [REPEATS]
set -eu
sandbox=$1
repeats=${2:-25}
out=target/determinism
rm -rf "$out"
"$sandbox" run tasks/demo --agent oracle --repeat "$repeats" --workers 2 --check --out "$out"

#!/bin/sh
# Runs on a Slurm cluster of three nodes on this machine; see check.py, which gets the other words.
# Usage: run.sh SANDBOX [--repeat N] [--town-repeat N] [--only NAME]
set -eu
cd "$(dirname "$0")/../.."
if [ "$(id -u)" -ne 0 ]; then
    echo "slurm: controller, nodes and mount namespaces need root; run this as root" >&2
    exit 3
fi
./setup.sh slurm
exec python3 -B tests/slurm/check.py "$@"

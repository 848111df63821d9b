#!/bin/sh
# Runs on a Slurm cluster of three nodes on this machine; see check.py, which gets the other words.
# Usage: run.sh SANDBOX [--repeat N] [--town-repeat N] [--only NAME]
set -eu
cd "$(dirname "$0")/../.."

missing=""
for program in sbatch slurmctld slurmd; do
    command -v $program >/dev/null 2>&1 || missing="slurm-wlm"
done
command -v munged >/dev/null 2>&1 || missing="$missing munge"
if [ -n "$missing" ] || [ "$(id -u)" -ne 0 ]; then
    install="apt-get install -y --no-install-recommends slurm-wlm munge"
    if [ "$(id -u)" -ne 0 ]; then
        echo "slurm: controller, nodes and mount namespaces need root. Run this as root${missing:+, after: $install}" >&2
        exit 3
    fi
    echo "slurm: installing $missing"
    export DEBIAN_FRONTEND=noninteractive
    apt-get update -qq
    $install -qq >/dev/null
fi
exec python3 -B tests/slurm/check.py "$@"

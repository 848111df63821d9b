#!/bin/sh
# Manifests of runs on Kubernetes, and what their pods run, in containers on this machine; see
# check.py. Usage: run.sh SANDBOX [IMAGE]
#
# Without IMAGE, the published image's recipe is built with SANDBOX in it, which must then run on
# Debian 12. Installs `kubectl` where it is missing.
set -eu
cd "$(dirname "$0")/../.."
sandbox=$(realpath "${1:?usage: run.sh SANDBOX [IMAGE]}")
image=${2:-}
target=$(realpath "${CARGO_TARGET_DIR:-target}")
work=$target/kubernetes

if ! command -v kubectl >/dev/null 2>&1; then
    echo "kubernetes: installing kubernetes-client"
    apt-get update -qq
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends kubernetes-client >/dev/null
fi
mkdir -p "$work"
if [ -z "$image" ]; then
    recipe=$work/images/sandbox
    rm -rf "$work/images"
    mkdir -p "$recipe/demo/tasks" "$recipe/demo/snapshots"
    cp images/base.sh "$work/images"
    cp packaging/image/Dockerfile "$sandbox" "$recipe"
    cp -r tasks/demo "$recipe/demo/tasks"
    cp snapshots/demo.wacz "$recipe/demo/snapshots"
    "$sandbox" build --images "$work/images" sandbox
    image=sandbox/sandbox:1
fi
cargo build --quiet -p object-server
exec python3 -B tests/kubernetes/check.py "$sandbox" "$image" "$work/runs" "$target/debug/object-server"

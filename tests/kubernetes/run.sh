#!/bin/sh
# Manifests of runs on Kubernetes, and what their pods run, in containers on this machine; see
# check.py. Usage: run.sh SANDBOX [IMAGE]
#
# Builds the images of two sites, and of an engine that runs in a container. Without IMAGE, the
# published image's recipe is built with SANDBOX in it, which must then run on Debian 12.
set -eu
cd "$(dirname "$0")/../.."
sandbox=$(realpath "${1:?usage: run.sh SANDBOX [IMAGE]}")
image=${2:-}
target=$(realpath "${CARGO_TARGET_DIR:-target}")
work=$target/kubernetes

./setup.sh kubernetes
rm -rf "$work/images"
mkdir -p "$work/images"
cp images/base.sh "$work/images"
cp -r tests/kubernetes/engine "$work/images"
"$sandbox" images build --images "$work/images" engine
"$sandbox" images build map wiki
if [ -z "$image" ]; then
    recipe=$work/images/sandbox
    mkdir -p "$recipe/demo/tasks" "$recipe/demo/snapshots"
    cp packaging/image/Dockerfile "$sandbox" "$recipe"
    cp -r tasks/demo "$recipe/demo/tasks"
    cp snapshots/demo.wacz "$recipe/demo/snapshots"
    "$sandbox" images build --images "$work/images" sandbox
    image=sandbox/sandbox:1
fi
cargo build --quiet -p object-server
exec python3 -B tests/kubernetes/check.py "$sandbox" "$image" "$work/runs" "$target/debug/object-server" sandbox/engine:1

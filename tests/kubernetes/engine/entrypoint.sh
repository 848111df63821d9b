#!/bin/sh
# Prepares control groups of version 2 for containers in a container: a group with processes in it
# cannot hand its controllers on.
set -eu
groups=/sys/fs/cgroup
if [ -f "$groups/cgroup.controllers" ]; then
    mkdir -p "$groups/init"
    xargs -rn1 <"$groups/cgroup.procs" >"$groups/init/cgroup.procs" 2>/dev/null || true
    sed 's/ / +/g; s/^/+/' "$groups/cgroup.controllers" >"$groups/cgroup.subtree_control"
fi
exec "$@"

#!/bin/sh
# Large snapshots: 1,000,000 records in one archive, and in 20 and 200 WACZ files with a collection;
# 5,000,000 records (1,000,000 pages) in 200 files; and how long a recording of 1 GB takes to become
# a snapshot, on one core and on all. Usage: scale.sh CARGO
set -eu
cargo=$1
work=target/bench-scale
trap 'rm -rf "$work"' EXIT
rm -rf "$work"
mkdir -p "$work/temporary"
export TMPDIR="$PWD/$work/temporary"

$cargo build --quiet --release -p gateway --example replay_speed -p snapshots --example finish_speed
replay=target/release/examples/replay_speed
finish=target/release/examples/finish_speed

echo "== finishing a recording"
taskset -c 0 "$finish" "$work/finish" 10000 100
"$finish" "$work/finish" 10000 100
echo "== one archive of 1,000,000 records"
"$replay" make "$work/one" 500000
"$replay" index "$work/one"
"$replay" serve "$work/one"
rm -rf "$work/one"
for files in 20 200; do
    echo "== the same records in $files WACZ files"
    "$replay" make "$work/same" 500000 "$files"
    "$replay" index "$work/same"
    "$replay" serve "$work/same"
    rm -rf "$work/same"
done
echo "== 5,000,000 records in 200 WACZ files"
"$replay" make "$work/many" 2500000 200
"$replay" index "$work/many"
"$replay" serve "$work/many"

#!/bin/sh
# Measures searches among many recorded pages: makes snapshots of invented pages through our own
# writer, indexes them, asks 2,000 queries of nine kinds in a process of its own, asks SQLite FTS5 a
# 23rd of them, and indexes one snapshot more. A million pages take 8 GB on disk, and half an hour.
#
#   tests/bench/search.sh [PAGES]
set -eu

pages=${1:-1000000}
root=$(dirname "$(dirname "$(dirname "$(realpath "$0")")")")
folder=$root/target/bench-search
cargo build --quiet --release --manifest-path "$root/Cargo.toml" -p search --example million
rm -rf "$folder"
for what in record index ask peer add; do
    "$root/target/release/examples/million" "$folder" "$pages" "$what"
done
rm -rf "$folder"

#!/bin/sh
# Runs each fuzz target for a while. Usage: fuzz.sh FOLDER-WITH-CARGO-FUZZ SECONDS
set -eu
PATH="$1:$PATH"
seconds=$2
# Without a sanitizer libFuzzer runs on the stable toolchain; what is looked for is panics, hangs and memory.
cargo fuzz build -s none --fuzz-dir fuzz
for target in warc arc wacz index har http coding; do
    echo "== $target"
    mkdir -p "fuzz/corpus/$target"
    cargo fuzz run -s none --fuzz-dir fuzz "$target" "fuzz/corpus/$target" "fuzz/seeds/$target" -- \
        -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -max_len=65536 -print_final_stats=1
done

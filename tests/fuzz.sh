#!/bin/sh
# Runs every fuzz target for a while, as many at once as there are processors. Usage: fuzz.sh
# FOLDER-WITH-CARGO-FUZZ SECONDS What a target printed is in target/fuzz/<target>.log; of one that
# fails it is shown.
set -eu
PATH="$1:$PATH"
export SECONDS_EACH="$2"
mkdir -p target/fuzz
# Without a sanitizer libFuzzer runs on the stable toolchain; what is looked for is panics, hangs
# and memory.
cargo fuzz build -s none --fuzz-dir fuzz/libfuzzer
cargo fuzz list --fuzz-dir fuzz/libfuzzer | xargs -P "$(nproc)" -I TARGET sh -euc '
    target=$1
    log=target/fuzz/$target.log
    mkdir -p "fuzz/corpus/$target"
    if cargo fuzz run -s none --fuzz-dir fuzz/libfuzzer "$target" "fuzz/corpus/$target" "fuzz/seeds/$target" -- \
        -max_total_time="$SECONDS_EACH" -timeout=10 -rss_limit_mb=2048 -max_len=65536 -print_final_stats=1 >"$log" 2>&1
    then
        echo "$target: $(sed -n "s/^stat::number_of_executed_units: *//p" "$log") inputs, nothing found"
    else
        cat "$log"
        echo "$target: failed; the input is named above" >&2
        exit 255
    fi
' sh TARGET

#!/bin/sh
# Records two benchmarks' tasks on two hundred shops of an origin on loopback, stops the origin, and
# plays them: with their solutions, and with an agent that wanders. Then agents fill in what they
# miss, round by round, and the wanderer plays again. Prints what came of each step.
#
#     tests/internet/run.sh SANDBOX [TASKS]    # TASKS of each benchmark; 40 by default
set -eu
sandbox=$(realpath "${1:?usage: run.sh SANDBOX [TASKS]}")
count=${2:-40}
cd "$(dirname "$0")/../.."
cargo build --quiet --release --bin origin
origin=$PWD/target/release/origin
work=$PWD/target/internet
rm -rf "$work"
mkdir -p "$work"
cd "$work"
export SANDBOX_DATA="$work/data"

server=
trap '[ -z "$server" ] || kill "$server" 2>/dev/null || true' EXIT INT TERM
start_origin() {
    mkfifo ready
    "$origin" >ready &
    server=$!
    while read -r what value; do
        [ "$what" != http ] || plain=${value#http://}
        [ "$what" != ca ] || break
    done <ready
    rm ready
}
stop_origin() {
    kill "$server"
    wait "$server" || true
    server=
}
# say WHAT COMMAND...: how long it took.
say() {
    what=$1
    shift
    began=$(date +%s)
    "$@" >"$what.log" 2>&1 || { tail -20 "$what.log" >&2; echo "internet: $what failed" >&2; exit 1; }
    printf '%-28s %5s s\n' "$what" $(($(date +%s) - began))
}
# play SUITE AGENT NAME: passed, and misses an episode.
play() {
    "$sandbox" run "$1" --agent "$2" --max-steps 12 --workers 2 --json -o "runs/$3" >"$3.json" 2>"$3.log" || true
    python3 - "$3" <<'END'
import json, sys
summary = json.load(open(sys.argv[1] + ".json"))
requests = summary["requests"]
total = sum(requests.values())
print(f"{sys.argv[1]:28} {summary['passed']} of {summary['episodes']} passed, {requests['miss']} misses of {total} requests"
      f" ({requests['miss'] / max(1, summary['episodes']):.2f} an episode), {summary['errors']} errors")
END
}

"$origin" --write-tasks tasks --count "$count"
for suite in assistantbench mind2web-live; do
    "$sandbox" tasks import "$suite" "$(ls tasks/$suite.json*)" --clock 2026-11-26T12:00:00Z -o "$suite" >/dev/null
    for task in "$suite"/*.yaml; do
        solution=tasks/solutions/${task##*/}
        [ ! -f "$solution" ] || cat "$solution" >>"$task"
    done
    sed -i 's/^  snapshots: \[\]/  snapshots: [web.wacz]/' "$suite/suite.yaml"
    grep -q web.wacz "$suite/suite.yaml" || sed -i 's/^world:/world:\n  snapshots: [web.wacz]/' "$suite/suite.yaml"
done

start_origin
live="--connect-to :80:$plain --delay 0"
for suite in assistantbench mind2web-live; do
    say "golden-$suite" "$sandbox" record --suite "$suite" --depth 0 -o "$suite/golden.wacz" $live
    say "record-$suite" "$sandbox" record --suite "$suite" --pages 10 $live
done
stop_origin
for suite in assistantbench mind2web-live; do
    "$sandbox" snapshot coverage "$suite" | tail -4 | sed "s/^/$suite /"
    play "$suite" oracle "$suite-oracle"
    cp -r "$suite" "$suite-golden"
    mv "$suite-golden/golden.wacz" "$suite-golden/web.wacz"
    play "$suite-golden" random "$suite-random-golden"
    play "$suite" random "$suite-random"
done
start_origin
live="--connect-to :80:$plain"
for suite in assistantbench mind2web-live; do
    say "fill-$suite" "$sandbox" record --suite "$suite" --agent random --rounds 3 $live -- --max-steps 12 --workers 2
    grep '^round' "fill-$suite.log" | sed "s/^/$suite /"
done
stop_origin
for suite in assistantbench mind2web-live; do
    play "$suite" random "$suite-random-filled"
    play "$suite" oracle "$suite-oracle-filled"
done

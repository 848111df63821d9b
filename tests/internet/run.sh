#!/bin/sh
# Records two benchmarks' tasks on two hundred shops of an origin on loopback, stops the origin, and
# plays them: with their solutions, and with an agent that wanders. Then agents fill in what they
# miss, round by round, and the wanderer plays again. Recordings of real webs are part of the same
# web, under their own hosts, and are recorded as a suite of their own. Prints what came of each
# step.
#
#     tests/internet/run.sh SANDBOX [TASKS [CAPTURE...]]    # TASKS of each benchmark; 40 by default
set -eu
sandbox=$(realpath "${1:?usage: run.sh SANDBOX [TASKS [CAPTURE...]]}")
count=${2:-40}
rounds=${ROUNDS:-3}
[ $# -lt 2 ] || shift
shift
captures= files=
for file; do
    file=$(realpath "$file")
    files="$files $file"
    captures="$captures --capture $file"
done
work=internet
. "$(dirname "$0")/origin.sh"

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
# shellcheck disable=SC2086 # a list of files
[ -z "$files" ] || write_captures_suite $files

start_origin
live="$live --delay 0"
[ -z "$files" ] || say record-real "$sandbox" record --suite real --depth 0 $live
for suite in assistantbench mind2web-live; do
    say "golden-$suite" "$sandbox" record --suite "$suite" --depth 0 -o "$suite/golden.wacz" $live
    say "record-$suite" "$sandbox" record --suite "$suite" --pages 10 --learn $live
done
stop_origin
[ -z "$files" ] || play real oracle real-oracle
for suite in assistantbench mind2web-live; do
    "$sandbox" snapshot coverage "$suite" | tail -4 | sed "s/^/$suite /"
    play "$suite" oracle "$suite-oracle"
    cp -r "$suite" "$suite-golden"
    mv "$suite-golden/golden.wacz" "$suite-golden/web.wacz"
    play "$suite-golden" random "$suite-random-golden"
    play "$suite" random "$suite-random"
done
start_origin
for suite in assistantbench mind2web-live; do
    say "fill-$suite" "$sandbox" record --suite "$suite" --agent random --rounds "$rounds" $live -- --max-steps 12 --workers 2
    grep '^round' "fill-$suite.log" | sed "s/^/$suite /"
done
stop_origin
for suite in assistantbench mind2web-live; do
    play "$suite" random "$suite-random-filled"
    play "$suite" oracle "$suite-oracle-filled"
done

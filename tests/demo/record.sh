#!/bin/sh
# Records the demo web, served by its origin on loopback, into snapshots/demo.wacz: what a crawl
# finds, and what the solutions of the demo suite do, from start to end.
# Usage: record.sh SANDBOX
set -eu
sandbox=$1
work=target/record-demo
rm -rf "$work"
mkdir -p "$work" snapshots
cargo build --release --quiet --bin origin

mkfifo "$work/ready"
target/release/origin --listen 127.0.0.1:0 --tls-listen 127.0.0.1:0 --ca-dir "$work/ca" >"$work/ready" &
origin=$!
trap 'kill "$origin" 2>/dev/null || true' EXIT
plain="" tls="" ca=""
# The origin prints one line per listener once it answers, then the path of its certificate.
while [ -z "$plain" ] || [ -z "$tls" ] || [ -z "$ca" ]; do
    read -r what value
    case $what in
    http) plain=${value#http://} ;;
    https) tls=${value#https://} ;;
    ca) ca=$value ;;
    esac
done <"$work/ready"

live="--connect-to :80:$plain --connect-to :443:$tls --upstream-ca $ca --delay 0"
"$sandbox" record $(grep -v '^#' tests/origin/urls.txt) $live \
    --depth 1 --pages 600 --title "The demo web" -o "$work/crawl.wacz"
cp -r tasks/demo "$work/suite"
sed -i 's#\[.*demo.wacz\]#[../solutions.wacz]#' "$work/suite/suite.yaml"
"$sandbox" record --suite "$work/suite" --agent oracle --rounds 1 --pages 1 $live \
    -o "$work/solutions.wacz"
"$sandbox" snapshot merge "$work/crawl.wacz" "$work/solutions.wacz" -o "$work/demo.wacz"
"$sandbox" snapshot verify "$work/demo.wacz"
mv "$work/demo.wacz" snapshots/demo.wacz

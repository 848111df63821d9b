#!/bin/sh
# Records the demo web, served by its origin on loopback, into snapshots/demo.wacz.
# Usage: record-demo.sh SANDBOX
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

"$sandbox" record $(grep -v '^#' tests/origin/urls.txt) \
    --connect-to ":80:$plain" --connect-to ":443:$tls" --upstream-ca "$ca" \
    --depth 1 --pages 600 --delay 0 --title "The demo web" -o "$work/demo.wacz"
"$sandbox" snapshot verify "$work/demo.wacz"
mv "$work/demo.wacz" snapshots/demo.wacz

#!/bin/sh
# Installs a program of crates.io into target/tools/bin where it is missing. Usage: tool.sh NAME
# VERSION. CARGO is the command of Cargo (cargo). Needs the network once.
set -eu
name=${1:?usage: tool.sh NAME VERSION}
version=${2:?usage: tool.sh NAME VERSION}
cd "$(dirname "$0")/.."
[ ! -x "target/tools/bin/$name" ] || exit 0
# shellcheck disable=SC2086 # a command with its options
exec ${CARGO:-cargo} install --quiet --debug --locked --root "$PWD/target/tools" "$name@$version"

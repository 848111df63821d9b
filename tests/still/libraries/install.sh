#!/bin/sh
# Installs the libraries into target/still-libraries, and bundles those that need it.
set -e
here=$(cd "$(dirname "$0")" && pwd)
target=$here/../../../target/still-libraries
mkdir -p "$target"
cd "$target"
# Nothing is installed again until the versions change.
if ! cmp -s "$here/package-lock.json" installed.json; then
    cp "$here/package.json" "$here/package-lock.json" .
    npm ci --ignore-scripts --no-audit --no-fund --loglevel error
    cp package-lock.json installed.json
fi
node "$here/build.mjs" "$here/bundles" built

#!/bin/sh
# Installs what `make demo` and `make test` need and the machine lacks: Chromium and its driver.
# Says what it installs; without root it prints the command to run instead. Does nothing when all is there.
set -eu

missing=""
command -v chromium >/dev/null 2>&1 || command -v google-chrome >/dev/null 2>&1 || missing="$missing chromium"
command -v chromedriver >/dev/null 2>&1 || missing="$missing chromium-driver"
command -v cc >/dev/null 2>&1 || missing="$missing gcc libc6-dev"
fc-list 2>/dev/null | grep -q DejaVuSans.ttf || missing="$missing fonts-dejavu-core"
# The conformance checks and benchmarks run other people's programs in a Python virtual environment.
[ "${1:-}" != python ] || python3 -c 'import ensurepip, venv' 2>/dev/null || missing="$missing python3-venv"

[ -n "$missing" ] || exit 0

install="apt-get install -y --no-install-recommends$missing"
if ! command -v apt-get >/dev/null 2>&1; then
    echo "setup: missing:$missing (names of the Debian packages). Install them with your system's package manager." >&2
    exit 3
fi
if [ "$(id -u)" -ne 0 ]; then
    echo "setup: missing:$missing. Run this, then try again:" >&2
    echo "    sudo apt-get update && sudo $install" >&2
    exit 3
fi
echo "setup: installing$missing"
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
$install -qq >/dev/null

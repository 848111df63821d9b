#!/bin/bash
# Starts RT on Starlet under the site's clock; /tmp holds sessions and compiled pages, /state the database.
set -eu
umask 000
[ -n "$(ls -A /state 2>/dev/null)" ] || cp -R /seed/. /state/
mkdir -p /tmp/rt
[ -d /tmp/rt/mason ] || cp -R /var/cache/sandbox-mason /tmp/rt/mason
. /usr/share/sandbox/clock.sh
export HOME=/tmp LD_PRELOAD="$SITE_CLOCK_LIBRARY"
exec plackup -E deployment -s Starlet --host 0.0.0.0 --port 8000 --max-workers 2 --max-reqs-per-child 100000 /usr/share/sandbox/site.psgi

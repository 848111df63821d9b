#!/bin/sh
# Nothing changes here, so there is no state to prepare: only the clock, for which libfaketime reads the site's file anew.
if [ -n "${SITE_CLOCK_FILE:-}" ]; then
    export TZ=UTC LD_PRELOAD="$(echo /usr/lib/*/faketime/libfaketimeMT.so.1)" FAKETIME_TIMESTAMP_FILE="$SITE_CLOCK_FILE" \
        FAKETIME_NO_CACHE=1 DONT_FAKE_MONOTONIC=1
fi
exec kiwix-serve --port 8000 --blockexternal /data/wiki.zim

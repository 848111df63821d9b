# Sourced: names the library that shows a program the site's clock, if there is one.
export TZ=UTC SITE_CLOCK_LIBRARY=
if [ -n "${SITE_CLOCK_FILE:-}" ]; then
    export FAKETIME_TIMESTAMP_FILE="$SITE_CLOCK_FILE" FAKETIME_NO_CACHE=1 DONT_FAKE_MONOTONIC=1
    SITE_CLOCK_LIBRARY=/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1
fi

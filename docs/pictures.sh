#!/bin/sh
# Makes the pictures of the documentation anew: the report of the demo suite and one of its
# episodes, in light and dark, 1400 and 390 pixels wide.
#
#     docs/pictures.sh SANDBOX
#
# Needs Chromium's headless shell and pngquant.
set -eu
sandbox=$(realpath "$1")
docs=$(dirname "$(realpath "$0")")
pictures=$docs/src/pictures
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT INT TERM
cd "$work"
"$sandbox" demo --data "$work/data" -o "$work/run" >/dev/null
"$sandbox" trace "$work/run" >/dev/null

# shot NAME FILE: the four pictures of a page.
shot() {
    # 0 and 1 are Chromium's numbers of the dark and the light colour scheme.
    for scheme in dark-0 light-1; do
        for size in 1400,900 390,844; do
            picture=$pictures/$1-${scheme%-*}-${size%,*}.png
            timeout 60 chromium-headless-shell --no-sandbox --hide-scrollbars --force-device-scale-factor=1 \
                --blink-settings=preferredColorScheme="${scheme#*-}" --window-size="$size" \
                --screenshot="$picture" "file://$2" 2>/dev/null
            pngquant --force --ext .png "$picture"
        done
    done
}
shot report "$work/run/report.html"
shot trace "$work/run/episodes/first-class-fare-1/trace.html#step=6&panel=network&scope=episode"
ls -l "$pictures"

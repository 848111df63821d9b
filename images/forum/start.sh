#!/bin/sh
# Serves the forum on the state that is there, or on the golden one where there is none.
set -eu
umask 000
[ -n "$(ls -A /state)" ] || cp -R /seed/. /state/
exec forum serve /state/forum.sqlite3

#!/bin/sh
# Starts from the golden state when there is none yet; the server takes this shell's place.
umask 000
[ -e /state/db.sqlite3 ] || cp -R /seed/. /state/
cd /srv/site
exec /opt/v/bin/python serve.py

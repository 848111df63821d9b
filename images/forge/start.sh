#!/bin/sh
# Starts from the golden state when there is none yet; the server takes this shell's place.
umask 000
[ -e /state/pagure.sqlite ] || cp -R /seed/. /state/
export HOME=/tmp PAGURE_CONFIG=/srv/site/pagure.cfg
cd /srv/site
exec python3 -B -W ignore serve.py

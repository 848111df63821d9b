#!/bin/sh
# Starts the magazine; the state is copied from the seed where there is none.
set -eu
umask 000
[ -n "$(ls -A /state 2>/dev/null)" ] || cp -R /seed/. /state/
cd /srv/site
exec /opt/venv/bin/gunicorn -b 0.0.0.0:8000 --workers 1 --threads 4 --worker-tmp-dir /dev/shm --no-control-socket --umask 0 --log-level warning wsgi

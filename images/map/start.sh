#!/bin/sh
# Starts the map. It keeps no state.
umask 000
cd /srv/app
exec /opt/venv/bin/gunicorn -b 0.0.0.0:8000 --workers 1 --threads 4 --worker-tmp-dir /dev/shm --no-control-socket --umask 0 --log-level warning wsgi:application

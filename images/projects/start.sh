#!/bin/bash
# Starts Redmine on Puma under the site's clock.
set -eu
umask 000
[ -n "$(ls -A /state 2>/dev/null)" ] || cp -R /seed/. /state/
mkdir -p /tmp/redmine/tmp /tmp/redmine/log /tmp/redmine/public /state/files
cd /usr/share/redmine
export HOME=/tmp RAILS_ENV=production X_DEBIAN_SITEID=default TZ=UTC
exec puma -b tcp://0.0.0.0:8000 -t 1:4 -e production --no-config config.ru

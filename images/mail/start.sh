#!/bin/bash
# Starts Dovecot and Roundcube on PHP's own server; ends when either ends.
set -u
umask 000
[ -n "$(ls -A /state 2>/dev/null)" ] || cp -R /seed/. /state/
mkdir -p /tmp/roundcube /tmp/dovecot
# Dovecot wants names for its user and group: the system looks them up here.
mkdir -p /tmp/extrausers
id -un >/dev/null 2>&1 || echo "site:x:$(id -u):$(id -g)::/tmp:/bin/false" > /tmp/extrausers/passwd
id -gn >/dev/null 2>&1 || echo "site:x:$(id -g):" > /tmp/extrausers/group
sed "s/@USER@/$(id -un)/; s/@GROUP@/$(id -gn)/; s/@UID@/$(id -u)/; s/@GID@/$(id -g)/" \
    /etc/dovecot/dovecot.conf > /tmp/dovecot.conf
. /usr/share/sandbox/clock.sh
dovecot -F -c /tmp/dovecot.conf &
LD_PRELOAD="$SITE_CLOCK_LIBRARY" PHP_CLI_SERVER_WORKERS=4 php -q -d opcache.enable_cli=1 -d disable_functions=uniqid \
    -d auto_prepend_file=/usr/share/sandbox/frozen.php -d session.save_path=/state/sessions \
    -d upload_max_filesize=10M -d post_max_size=12M -d upload_tmp_dir=/tmp \
    -S 0.0.0.0:8000 -t /var/lib/roundcube/public_html &
trap 'kill $(jobs -p) 2>/dev/null; exit 0' TERM INT
wait -n
kill $(jobs -p) 2>/dev/null
exit 1

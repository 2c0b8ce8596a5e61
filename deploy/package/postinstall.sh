#!/bin/sh
# After an installation or an upgrade, of a .deb and of an .rpm. Nothing is started that did not run.
set -e

if [ "$1" = configure ] && [ -n "$2" ]; then # Debian: $2 is the version before
  upgrade=yes
elif [ "$1" = 2 ]; then # Red Hat: the number of versions
  upgrade=yes
else
  upgrade=
fi

getent group countersign >/dev/null || groupadd --system countersign
if ! getent passwd countersign >/dev/null; then
  useradd --system --gid countersign --home-dir /var/lib/countersign --no-create-home \
    --shell /usr/sbin/nologin --comment Countersign countersign
fi

install -d -m 755 /var/lib/countersign
for service in store addon; do
  if [ ! -e "/var/lib/countersign/$service" ]; then
    install -d -m 700 -o countersign -g countersign "/var/lib/countersign/$service"
  fi
  file=/etc/countersign/$service.toml # may contain the password of a database
  if [ -e "$file" ] && [ "$(stat -c %U:%G "$file")" = root:root ]; then
    chgrp countersign "$file"
    chmod 640 "$file"
  fi
done

if [ -d /run/systemd/system ]; then
  systemctl daemon-reload
  [ -z "$upgrade" ] || systemctl try-restart countersign-store.service countersign-addon.service || true
fi

if [ -z "$upgrade" ]; then
  cat <<'TEXT'
Countersign is installed and not started. Start what you need here:
  systemctl enable --now countersign-store    the store, on 127.0.0.1:8080
  systemctl enable --now countersign-addon    the addon, on 127.0.0.1:8081
Settings are in /etc/countersign, data in /var/lib/countersign.
Run commands as the services' user: sudo -u countersign countersign store --help
TEXT
fi

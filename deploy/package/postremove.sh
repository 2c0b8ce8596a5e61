#!/bin/sh
# After a removal or an upgrade, of a .deb and of an .rpm. The data stays: it has the only key to its secrets.
set -e

case $1 in
remove | purge | 0) ;;
*) exit 0 ;;
esac
if [ -d /run/systemd/system ]; then
  systemctl daemon-reload
fi
for service in store addon; do
  if [ -n "$(ls -A "/var/lib/countersign/$service" 2>/dev/null)" ]; then
    echo "The data stays in /var/lib/countersign/$service, and belongs to the user countersign."
  fi
done

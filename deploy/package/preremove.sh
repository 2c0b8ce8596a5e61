#!/bin/sh
# Before a removal or an upgrade, of a .deb and of an .rpm. An upgrade restarts services after it.
set -e

case $1 in
upgrade | failed-upgrade | deconfigure | 1) exit 0 ;;
esac
if [ -d /run/systemd/system ]; then
  systemctl disable --now countersign-store.service countersign-addon.service || true
fi

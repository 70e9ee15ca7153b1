#!/bin/sh
# The command of the Debian package. Its defaults are those of hostplane.service, so that an administrator reaches the gateway that
# systemd runs; variables and options override them. A sandbox is of its user, and keeps the defaults of any other installation.
isSandbox=no
for argument in "$@"; do
  [ "$argument" != --sandbox ] || isSandbox=yes
done
if [ "$isSandbox" = no ]; then
  # systemd sets both in the unit.
  export STATE_DIRECTORY="${STATE_DIRECTORY:-/var/lib/hostplane}"
  export RUNTIME_DIRECTORY="${RUNTIME_DIRECTORY:-/run/hostplane}"
  # A user who may not look for the file gets an error, not the defaults of a gateway without a file.
  if [ -e /etc/hostplane/hostplane.yaml ] || [ ! -x /etc/hostplane ]; then
    export HOSTPLANE_CONFIG="${HOSTPLANE_CONFIG:-/etc/hostplane/hostplane.yaml}"
  fi
  # HOSTPLANE_STORE with its password. Node does not override variables that are set.
  if [ -r /etc/hostplane/environment ]; then
    exec /usr/lib/hostplane/node --env-file=/etc/hostplane/environment /usr/lib/hostplane/bin/hostplane.js "$@"
  fi
fi
exec /usr/lib/hostplane/node /usr/lib/hostplane/bin/hostplane.js "$@"

#!/usr/bin/env bash
# A libvirt daemon of an unprivileged user, for tests that need a real one. See ../README.md.
usage() {
  cat <<'TEXT'
usage: libvirt.sh COMMAND

  prepare      install missing packages on this host (apt)
  up           create the directory and start the daemon; does nothing if it is up
  socket       print the path of its socket
  uri          print its URI
  virsh ARGS   run virsh on it
  pid          print its process id; exit code 1 if it is down
  stop         stop the daemon gracefully; VMs keep running
  kill         kill it
  start        start it again
  destroy      kill the daemon and all VMs, and delete the directory

environment (default)
  LIBVIRT_DIR (/tmp/hostplane-libvirt)  directory of all files; at most 60 characters, because of unix sockets
  LIBVIRT_OWNER_PID ()                  destroy the lab when this process ends

The daemon may write to LIBVIRT_DIR/pools. It runs as the calling user, or as nobody if that is root.
TEXT
}
set -euo pipefail

lab=libvirt
source "$(dirname "$(readlink -f "$0")")/../lab.sh"
socket=$dir/run/libvirt/libvirt-sock
uri="qemu:///session?socket=$socket"

prepare() { install_missing libvirt-daemon-system libvirt-clients qemu-system-x86 qemu-utils xorriso libnbd-bin; }

# Checks that a process was started for this directory.
owned() { [ -n "$1" ] && tr '\0' '\n' 2>/dev/null <"/proc/$1/cmdline" | grep -qF -- "$dir/"; }

pid() {
  local pid
  pid=$(cat "$dir/libvirtd.pid" 2>/dev/null) && owned "$pid" && echo "$pid"
}

start() {
  local command=(env "HOME=$dir" "XDG_RUNTIME_DIR=$dir/run" "XDG_CONFIG_HOME=$dir/config" "XDG_CACHE_HOME=$dir/cache"
    "XDG_DATA_HOME=$dir/data" /usr/sbin/libvirtd --pid-file "$dir/libvirtd.pid")
  ! pid >/dev/null || return 0
  [ "$(id -u)" != 0 ] || command=(setpriv --reuid=nobody --regid=nogroup --clear-groups "${command[@]}")
  local daemon=
  for _ in $(seq 600); do
    # Starts it again if the lock of its pid file still belonged to the killed one.
    if [ -z "$daemon" ] || ! kill -0 "$daemon" 2>/dev/null; then
      setsid "${command[@]}" </dev/null >>"$dir/libvirtd.log" 2>&1 &
      daemon=$!
    fi
    ! virsh -c "$uri" uri >/dev/null 2>&1 || return 0
    sleep 0.05
  done
  tail -n 20 "$dir/libvirtd.log" >&2
  die "the daemon does not start"
}

# end SIGNAL PID
end() {
  kill "-$1" "$2" 2>/dev/null || true
  while owned "$2"; do sleep 0.02; done
}

stop() { local daemon; daemon=$(pid) || return 0; end TERM "$daemon"; }
kill_daemon() { local daemon; daemon=$(pid) || return 0; end KILL "$daemon"; }

up() {
  [ ${#dir} -le 60 ] || die "the path is longer than 60 characters"
  { [ -x /usr/sbin/libvirtd ] && command -v xorrisofs && command -v nbdcopy; } >/dev/null || prepare
  mkdir -p "$dir"/{run,config,cache,data,pools}
  chmod 700 "$dir/run"
  [ "$(id -u)" != 0 ] || chown -R nobody:nogroup "$dir"
  start
  watch_owner "$dir"
}

# VMs survive the daemon, which finds them again through these files.
destroy() {
  local file
  kill_daemon
  for file in "$dir"/run/libvirt/qemu/run/*.pid; do
    ! owned "$(cat "$file" 2>/dev/null)" || end KILL "$(cat "$file")"
  done
  rm -rf "$dir"
}

command=${1:-}
shift || true
case $command in
  prepare | up | start | stop | pid | destroy) "$command" ;;
  kill) kill_daemon ;;
  socket) echo "$socket" ;;
  uri) echo "$uri" ;;
  virsh) exec virsh -c "$uri" "$@" ;;
  *) usage; exit 2 ;;
esac

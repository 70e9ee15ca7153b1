#!/usr/bin/env bash
# A Podman for tests that need a real one, separate from any other. See ../README.md.
usage() {
  cat <<'TEXT'
usage: podman.sh COMMAND

  prepare      install missing packages on this host (apt)
  up           create the directory and start the service; does nothing if it is up
  socket       print the path of its socket
  run ARGS     run podman on the same store
  pid          print the service's process id; exit code 1 if it is down
  events-log   print the path of the event log
  stop         stop the service gracefully; containers keep running
  kill         kill it
  start        start it again
  destroy      stop everything and delete the directory

environment (default)
  PODMAN_DIR (/tmp/hostplane-podman)  directory of all files; at most 60 characters, because of unix sockets
  PODMAN_OWNER_PID ()                 destroy the lab when this process ends
  PODMAN_NETWORK (own)                `host` shares this host's network, for builds that download

It needs root and no network. It has its own namespaces for processes, mounts and networks, and what it creates there is gone
with them. There is one image, localhost/lab/busybox:1.
TEXT
}
set -euo pipefail

lab=podman
source "$(dirname "$(readlink -f "$0")")/../lab.sh"
socket=$dir/podman.sock
network=(--net)
[ "${PODMAN_NETWORK:-own}" != host ] || network=()
export CONTAINERS_CONF=$dir/conf/containers.conf CONTAINERS_STORAGE_CONF=$dir/conf/storage.conf
export CONTAINERS_REGISTRIES_CONF=$dir/conf/registries.conf XDG_RUNTIME_DIR=
unset CONTAINER_HOST

prepare() { install_missing podman runc conmon netavark catatonit iptables busybox-static curl; }

# Everything is written before podman's first run: its database keeps the first settings and refuses others later.
write_conf() {
  local nofile nproc pidmax
  mkdir -p "$dir"/conf/networks "$dir"/state/{root,runroot,tmp,copytmp}
  # Where the kernel does not allow raising a limit, podman's defaults would be refused; podman lowers the process limit
  # to pid_max.
  nofile=$(ulimit -Hn)
  [ "$nofile" != unlimited ] || nofile=1048576
  pidmax=$(cat /proc/sys/kernel/pid_max)
  nproc=$(ulimit -Hu)
  { [ "$nproc" != unlimited ] && [ "$nproc" -le "$pidmax" ]; } || nproc=$pidmax
  # crun does not start containers if cgroup v1 and v2 are mixed, as in many CI machines; there is no systemd.
  cat >"$CONTAINERS_CONF" <<TEXT
[containers]
log_driver = "k8s-file"
default_ulimits = ["nofile=$nofile:$nofile", "nproc=$nproc:$nproc"]
[engine]
runtime = "runc"
cgroup_manager = "cgroupfs"
events_logger = "file"
tmp_dir = "$dir/state/tmp"
volume_path = "$dir/state/root/volumes"
image_copy_tmp_dir = "$dir/state/copytmp"
[network]
network_backend = "netavark"
network_config_dir = "$dir/conf/networks"
TEXT
  cat >"$CONTAINERS_STORAGE_CONF" <<TEXT
[storage]
driver = "overlay"
graphroot = "$dir/state/root"
runroot = "$dir/state/runroot"
TEXT
  printf 'unqualified-search-registries = []\nshort-name-mode = "disabled"\n' >"$CONTAINERS_REGISTRIES_CONF"
}

# Checks that a process was started for this directory.
owned() { [ -n "$1" ] && tr '\0' '\n' 2>/dev/null <"/proc/$1/cmdline" | grep -qF -- "$dir/"; }

# Prints the first process of the namespaces, which ends all others with it.
inner() { cat "$dir/inner.pid" 2>/dev/null; }

inside() { nsenter --target "$(inner)" --pid --mount "${network[@]}" -- "$@"; }

make_namespaces() {
  local outer inner
  # The network and mount state of containers is in /run.
  setsid unshare --pid --fork --kill-child --mount "${network[@]}" --mount-proc -- \
    sh -c 'mount -t tmpfs tmpfs /run && { ip link set lo up || true; } && exec catatonit -P -- "$0"' "$dir/" </dev/null >>"$dir/inner.log" 2>&1 &
  outer=$!
  for _ in $(seq 100); do
    inner=$(cat "/proc/$outer/task/$outer/children" 2>/dev/null | tr -d ' ')
    if [ -n "$inner" ] && grep -qa catatonit "/proc/$inner/cmdline" 2>/dev/null; then
      echo "$inner" >"$dir/inner.pid"
      return 0
    fi
    sleep 0.02
  done
  cat "$dir/inner.log" >&2
  die "cannot create namespaces"
}

answers() { curl -sf -m 10 --unix-socket "$socket" http://podman/v4.0.0/libpod/_ping >/dev/null 2>&1; }

pid() {
  local process
  for process in $(pgrep -f "podman.*system service.*$socket"); do
    # nsenter has the same command line until it has become podman.
    if [ "$(readlink "/proc/$process/exe")" = "$(readlink -f "$(command -v podman)")" ] && owned "$process/"; then
      echo "$process"
      return 0
    fi
  done
  return 1
}

start() {
  ! answers || return 0
  rm -f "$socket"
  setsid bash "$self" inside podman --log-level=warn system service --time=0 "unix://$socket" </dev/null >>"$dir/service.log" 2>&1 &
  for _ in $(seq 200); do
    ! answers || return 0
    sleep 0.05
  done
  tail -n 20 "$dir/service.log" >&2
  die "the service does not start"
}

# end SIGNAL
end() {
  local process
  process=$(pid) || return 0
  kill "-$1" "$process" 2>/dev/null || true
  while [ -d "/proc/$process" ] && owned "$process"; do sleep 0.02; done
}

make_image() {
  local root=$dir/image program
  ! inside podman image exists localhost/lab/busybox:1 || return 0
  mkdir -p "$root"/{bin,etc,tmp}
  cp "$(command -v busybox)" "$root/bin/busybox"
  for program in sh sleep echo cat yes head tr seq date printf kill true false test usleep; do
    ln -sf busybox "$root/bin/$program"
  done
  tar -C "$root" --sort=name --mtime=@0 --owner=0 --group=0 -cf "$dir/image.tar" .
  inside podman import -q --change 'CMD ["/bin/sh"]' --change 'ENV PATH=/bin' --change 'LABEL lab.role=base' \
    "$dir/image.tar" localhost/lab/busybox:1 >/dev/null
}

up() {
  [ ${#dir} -le 60 ] || die "the path is longer than 60 characters"
  { command -v podman && command -v runc && command -v catatonit && command -v busybox; } >/dev/null || prepare
  mkdir -p "$dir"
  [ -f "$CONTAINERS_CONF" ] || write_conf
  { [ -n "$(inner)" ] && [ -d "/proc/$(inner)" ]; } || make_namespaces
  start
  make_image
  watch_owner "$dir"
}

# Podman leaves the cgroups of pods in hierarchies without a controller.
remove_cgroups() {
  local id parent
  [ -f "$dir/pods" ] || return 0
  while read -r id; do
    for parent in /sys/fs/cgroup/libpod_parent /sys/fs/cgroup/*/libpod_parent; do
      [ ! -d "$parent/$id" ] || find "$parent/$id" -depth -type d -exec rmdir {} + 2>/dev/null || true
    done
  done < <(grep -x '[0-9a-f]\{64\}' "$dir/pods")
  # These are shared, and stay while others use them.
  for parent in /sys/fs/cgroup/libpod_parent /sys/fs/cgroup/*/libpod_parent; do
    rmdir "$parent/conmon" "$parent" 2>/dev/null || true
  done
}

run() {
  if [ "${1:-} ${2:-}" = "pod create" ]; then
    inside podman "$@" | tee -a "$dir/pods"
  else
    inside podman "$@"
  fi
}

destroy() {
  local first
  first=$(inner) || true
  if owned "$first"; then
    timeout 60 nsenter --target "$first" --pid --mount "${network[@]}" -- podman pod rm -f -t 0 -a >/dev/null 2>&1 || true
    timeout 60 nsenter --target "$first" --pid --mount "${network[@]}" -- podman rm -f -t 0 -a >/dev/null 2>&1 || true
    kill -KILL "$first" 2>/dev/null || true
    while owned "$first"; do sleep 0.02; done
  fi
  remove_cgroups
  rm -rf "$dir" || { sleep 1; rm -rf "$dir"; }
}

command=${1:-}
shift || true
case $command in
  prepare | up | start | pid | destroy) "$command" ;;
  inside | run) "$command" "$@" ;;
  stop) end TERM ;;
  kill) end KILL ;;
  socket) echo "$socket" ;;
  events-log) echo "$dir/state/tmp/events/events.log" ;;
  *) usage; exit 2 ;;
esac

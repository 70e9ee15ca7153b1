#!/usr/bin/env bash
# A machine that is a container with systemd, cloud-init, containerd and a kubelet. See ../../README.md.
usage() {
  cat <<'TEXT'
usage: machine.sh COMMAND

  lan                    create the network: a bridge in a separate network namespace
  in-lan COMMAND...      run a command in that namespace
  up NAME NUMBER IMAGE   start a machine with NUMBER as the last part of its address, from an image's directory.
                         $KUBELAB_DIR/seeds/NAME has user-data and meta-data for cloud-init, reporting.cfg with its
                         settings, and in lacking-file and lacking-image what to remove from the machine's image
  run NAME COMMAND...    run a command in a machine
  off NAME               cut a machine's power; its disk stays
  reboot NAME            start a machine again with its disk
  down NAME              kill a machine and delete its disk
  list                   print the names of existing machines
  destroy                kill all machines, and delete the network and the directory

environment (default)
  KUBELAB_DIR (/tmp/hostplane-kubelab)  directory of all files
  KUBELAB_PREFIX (10.77.0)              first three parts of addresses; .1 is the lab's own
  KUBELAB_OWNER_PID ()                  destroy the lab when this process ends
TEXT
}
set -euo pipefail

source "$(dirname "$(readlink -f "$0")")/machine-network.sh"
init=$(dirname "$self")/machine-init.sh
controllers=(cpu cpuacct cpuset memory devices freezer blkio pids systemd unified)

# The first process of the machine's namespaces; empty when it is off.
init_pid() {
  local starter pid
  starter=$(cat "$dir/machines/$1/starter.pid" 2>/dev/null) || return 0
  pid=$(tr -d ' ' 2>/dev/null <"/proc/$starter/task/$starter/children") || return 0
  [ -n "$pid" ] && tr '\0' '\n' 2>/dev/null <"/proc/$pid/environ" | grep -qxF "KUBELAB_MACHINE=$prefix-$1" || return 0
  echo "$pid"
}

make_cgroups() {
  local controller cpuset=/sys/fs/cgroup/cpuset
  for controller in "${controllers[@]}"; do
    mkdir -p "/sys/fs/cgroup/$controller/$prefix-$1"
  done
  cat $cpuset/cpuset.cpus >"$cpuset/$prefix-$1/cpuset.cpus"
  cat $cpuset/cpuset.mems >"$cpuset/$prefix-$1/cpuset.mems"
}

# make_disk NAME IMAGE: the root is an overlay. /var is not, because containerd's overlays cannot have their upper layer
# on one. What containerd has unpacked is never written again, so all machines share it through hard links; its
# databases are copied.
make_disk() {
  local disk=$dir/machines/$1 store=var/lib/containerd
  mkdir -p "$disk"/{upper,work,root,var}
  tar -C "$2" --exclude="./$store" -c ./var | tar -C "$disk" -x
  cp -al "$2/$store" "$disk/var/lib/"
  find "$disk/$store" -name '*.db' -exec cp --remove-destination {} {}.own \; -exec mv {}.own {} \;
  mkdir -p "$disk/var/lib/cloud/seed/nocloud"
  cp "$dir/seeds/$1"/{user-data,meta-data} "$disk/var/lib/cloud/seed/nocloud/"
  mkdir -p "$disk/upper/etc/cloud/cloud.cfg.d"
  cp "$dir/seeds/$1/reporting.cfg" "$disk/upper/etc/cloud/cloud.cfg.d/95-reporting.cfg"
  spoil_disk "$disk" "$(cat "$dir/seeds/$1/lacking-file")" "$(cat "$dir/seeds/$1/lacking-image")"
  printf '%s\n' "$2" >"$disk/image"
}

# spoil_disk DISK FILE IMAGE
spoil_disk() {
  if [ -n "$2" ]; then
    mkdir -p "$1/upper/$(dirname "$2")"
    # A whiteout, which hides a file of a lower layer.
    mknod "$1/upper/$2" c 0 0
  fi
  if [ -n "$3" ]; then
    mkdir -p "$1/upper/etc/systemd/system/containerd.service.d"
    printf '[Service]\nExecStartPost=/usr/bin/ctr --namespace k8s.io images remove --sync %s\n' "$3" \
      >"$1/upper/etc/systemd/system/containerd.service.d/lacking.conf"
  fi
}

# A kubelet resolves its own name before it registers its node. The lab has no name server; its refusal comes at once.
write_names() {
  local etc=$dir/machines/$1/upper/etc
  mkdir -p "$etc"
  printf '%s\n' '127.0.0.1 localhost' "$addresses.$2 $1" >"$etc/hosts"
  echo "nameserver $addresses.1" >"$etc/resolv.conf"
}

plug_in() {
  local name=$1 number=$2
  ip netns add "$prefix-$name"
  ip -n "$lan" link add "m$number" type veth peer name eth0 netns "$prefix-$name"
  ip -n "$lan" link set "m$number" master br0 up
  ip -n "$prefix-$name" link set lo up
  ip -n "$prefix-$name" addr add "$addresses.$number/24" dev eth0
  ip -n "$prefix-$name" link set eth0 up
  ip -n "$prefix-$name" route add default via "$addresses.1"
}

power_on() {
  local name=$1 disk=$dir/machines/$1
  # Everything started below belongs to the machine's cgroups.
  KUBELAB_DISK=$disk KUBELAB_IMAGE=$(cat "$disk/image") KUBELAB_MACHINE=$prefix-$name KUBELAB_HOSTNAME=$name \
    setsid bash -c '
      for controller in "${@:2}"; do
        echo $$ >"/sys/fs/cgroup/$controller/$KUBELAB_MACHINE/cgroup.procs"
      done
      exec nice -n 10 ip netns exec "$KUBELAB_MACHINE" \
        unshare --mount --pid --ipc --uts --cgroup --fork --propagation private "$1"
    ' machine "$init" "${controllers[@]}" </dev/null >>"$disk/console.log" 2>&1 &
  echo $! >"$disk/starter.pid"
  for _ in $(seq 100); do
    [ -z "$(init_pid "$name")" ] || return 0
    sleep 0.1
  done
  die "$name does not start: $(tail -n 5 "$disk/console.log")"
}

power_off() {
  local pid starter
  pid=$(init_pid "$1")
  [ -n "$pid" ] || return 0
  starter=$(cat "$dir/machines/$1/starter.pid")
  kill -KILL "$pid"
  while [ -d "/proc/$starter" ] && [ "$(init_pid "$1")" = "$pid" ]; do sleep 0.1; done
}

unplug() {
  local number
  number=$(cat "$dir/machines/$1/number" 2>/dev/null) || return 0
  ip -n "$lan" link del "m$number" 2>/dev/null || true
  ip netns del "$prefix-$1" 2>/dev/null || true
}

# Processes of a killed machine leave their cgroups a little later.
remove_cgroups() {
  local controller cgroup
  for controller in "${controllers[@]}"; do
    cgroup=/sys/fs/cgroup/$controller/$prefix-$1
    for _ in $(seq 100); do
      [ -d "$cgroup" ] || break
      find "$cgroup" -depth -type d -exec rmdir {} + 2>/dev/null || sleep 0.1
    done
    [ ! -d "$cgroup" ] || say "$cgroup cannot be removed"
  done
}

up() {
  local name=$1 number=$2 image=$3
  [ ! -e "$dir/machines/$name" ] || die "$name exists"
  lan
  make_disk "$name" "$image"
  echo "$number" >"$dir/machines/$name/number"
  write_names "$name" "$number"
  plug_in "$name" "$number"
  make_cgroups "$name"
  power_on "$name"
}

run() {
  local pid
  pid=$(init_pid "$1")
  [ -n "$pid" ] || die "$1 is off"
  exec nsenter -t "$pid" -m -p -i -u -n -C -r -w env -i \
    PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root TERM=dumb "${@:2}"
}

reboot() {
  power_off "$1"
  # The network namespace stays. A real machine would lose the interfaces of pods; here they go with their own
  # namespaces.
  unplug "$1"
  remove_cgroups "$1"
  plug_in "$1" "$(cat "$dir/machines/$1/number")"
  make_cgroups "$1"
  power_on "$1"
}

off() { power_off "$1"; }

down() {
  [ -e "$dir/machines/$1" ] || return 0
  power_off "$1"
  unplug "$1"
  remove_cgroups "$1"
  rm -rf "${dir:?}/machines/$1"
}

command=${1:-}
[ $# -eq 0 ] || shift
case $command in
  lan | in-lan | up | run | off | reboot | down | list | destroy) "${command//-/_}" "$@" ;;
  *) usage; exit 2 ;;
esac

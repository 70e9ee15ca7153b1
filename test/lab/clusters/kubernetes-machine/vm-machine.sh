#!/usr/bin/env bash
# A machine that is an emulated virtual machine, with the commands of machine.sh. See ../../README.md.
usage() {
  cat <<'TEXT'
usage: vm-machine.sh COMMAND

  image ARCHIVE DIR      make a disk of an image's archive (.tar.gz, with a kernel): DIR has disk.ext4, vmlinuz and initrd
  lan, in-lan, list, destroy, up, run, off, reboot, down
                         as machine.sh has them; up takes a directory that `image` has made

environment (default)
  KUBELAB_DIR, KUBELAB_PREFIX, KUBELAB_OWNER_PID   as machine.sh has them
  KUBELAB_MEMORY_MIB (3072)   KUBELAB_CPUS (2)     of a machine
  KUBELAB_ACCEL (tcg,thread=multi)                 kvm where it works
TEXT
}
set -euo pipefail
export PATH=$PATH:/usr/sbin:/sbin

source "$(dirname "$(readlink -f "$0")")/machine-network.sh"

image() {
  local archive=$1 output=$2
  [ ! -e "$output" ] || die "$output exists"
  # Not local: the trap runs after the function.
  work=$(mktemp -d "$(dirname "$output")/vm-image.XXXXXX")
  trap 'rm -rf "$work"' EXIT
  mkdir "$work"/{root,image}
  tar -C "$work/root" -xzf "$archive" --numeric-owner --xattrs --xattrs-include='*'
  cp "$work"/root/boot/vmlinuz-* "$work/image/vmlinuz"
  cp "$work"/root/boot/initrd.img-* "$work/image/initrd"
  truncate -s 8G "$work/image/disk.ext4"
  mkfs.ext4 -q -F -E lazy_itable_init=1,root_owner=0:0 -d "$work/root" "$work/image/disk.ext4"
  mv "$work/image" "$output"
}

# Locally administered, and different for each number.
mac_of() { printf '52:54:00:4b:4c:%02x' "$1"; }

# make_disk NAME NUMBER IMAGE: a copy with what a deployment by MAAS puts there, written without mounting it.
make_disk() {
  local name=$1 number=$2 image=$3 files=$dir/machines/$1/files
  mkdir -p "$files"
  cp --sparse=always "$image/disk.ext4" "$dir/machines/$name/disk.ext4"
  cp "$dir/seeds/$name"/{user-data,meta-data,reporting.cfg} "$files/"
  cat >"$files/network-config" <<YAML
version: 2
ethernets:
  eth0:
    match: {macaddress: "$(mac_of "$number")"}
    set-name: eth0
    addresses: [$addresses.$number/24]
    routes: [{to: default, via: $addresses.1}]
    nameservers: {addresses: [$addresses.1]}
YAML
  printf '%s\n' '127.0.0.1 localhost' "$addresses.$number $name" >"$files/hosts"
  echo 'datasource_list: [NoCloud]' >"$files/datasource.cfg"
  cp "$dir/key.pub" "$files/authorized_keys"
  chmod 600 "$files/authorized_keys"
  {
    printf 'mkdir %s\n' /var/lib/cloud /var/lib/cloud/seed /var/lib/cloud/seed/nocloud /root/.ssh
    write_file /var/lib/cloud/seed/nocloud user-data meta-data network-config
    write_file /etc/cloud/cloud.cfg.d datasource.cfg reporting.cfg
    write_file /root/.ssh authorized_keys
    echo 'rm /etc/hosts'
    write_file /etc hosts
    spoil_disk "$name"
  } >"$files/commands"
  debugfs -w -f "$files/commands" "$dir/machines/$name/disk.ext4" >"$files/log" 2>&1
  # It never fails itself.
  [ "$(grep -c '^Allocated inode' "$files/log")" = "$(grep -c '^write ' "$files/commands")" ] ||
    die "the disk of $name cannot be written: $(cat "$files/log")"
}

# write_file DIRECTORY FILE...: commands of debugfs, which creates files in its current directory only
write_file() {
  local file
  echo "cd $1"
  for file in "${@:2}"; do
    echo "write $files/$file $file"
  done
}

spoil_disk() {
  local file image
  file=$(cat "$dir/seeds/$1/lacking-file")
  image=$(cat "$dir/seeds/$1/lacking-image")
  [ -z "$file" ] || echo "rm /$file"
  if [ -n "$image" ]; then
    printf '[Service]\nExecStartPost=/usr/bin/ctr --namespace k8s.io images remove --sync %s\n' "$image" >"$files/lacking.conf"
    printf 'mkdir %s\n' /etc/systemd/system/containerd.service.d
    write_file /etc/systemd/system/containerd.service.d lacking.conf
  fi
}

# A process id is believed only if that process emulates this machine.
emulator_pid() {
  local pid
  pid=$(cat "$dir/machines/$1/pid" 2>/dev/null) && [ -n "$pid" ] &&
    tr '\0' '\n' 2>/dev/null <"/proc/$pid/cmdline" | grep -qxF "guest=$prefix-$1" && echo "$pid" || true
}

power_on() {
  local name=$1 machine=$dir/machines/$1 number image
  number=$(cat "$machine/number")
  image=$(cat "$machine/image")
  ip -n "$lan" link del "m$number" 2>/dev/null || true
  ip -n "$lan" tuntap add "m$number" mode tap
  ip -n "$lan" link set "m$number" master br0 up
  in_lan_quietly nice -n 10 qemu-system-x86_64 -name "guest=$prefix-$name" -pidfile "$machine/pid" -daemonize \
    -machine q35 -accel "${KUBELAB_ACCEL:-tcg,thread=multi}" -cpu max,-pku -smp "${KUBELAB_CPUS:-2}" \
    -m "${KUBELAB_MEMORY_MIB:-3072}" -nodefaults -no-user-config -display none -serial "file:$machine/console.log" \
    -kernel "$image/vmlinuz" -initrd "$image/initrd" \
    -append "root=/dev/vda rw console=ttyS0 net.ifnames=0 panic=1 mitigations=off tsc=unstable random.trust_cpu=on" \
    -drive "if=none,id=root,file=$machine/disk.ext4,format=raw,cache=unsafe" -device virtio-blk-pci,drive=root \
    -device virtio-rng-pci -netdev "tap,id=net,ifname=m$number,script=no,downscript=no" \
    -device "virtio-net-pci,netdev=net,mac=$(mac_of "$number"),romfile="
}

in_lan_quietly() { (in_lan "$@" </dev/null >"$dir/emulator.log" 2>&1) || die "$(cat "$dir/emulator.log")"; }

power_off() {
  local pid
  pid=$(emulator_pid "$1")
  [ -n "$pid" ] || return 0
  kill -KILL "$pid"
  while [ -n "$(emulator_pid "$1")" ]; do sleep 0.1; done
}

up() {
  local name=$1 number=$2 image=$3
  [ ! -e "$dir/machines/$name" ] || die "$name exists"
  lan
  [ -e "$dir/key" ] || ssh-keygen -q -t ed25519 -N '' -C hostplane-lab -f "$dir/key"
  mkdir -p "$dir/machines/$name"
  echo "$number" >"$dir/machines/$name/number"
  echo "$image" >"$dir/machines/$name/image"
  make_disk "$name" "$number" "$image"
  power_on "$name"
}

run() {
  local name=$1
  [ -n "$(emulator_pid "$name")" ] || die "$name is off"
  in_lan ssh -q -i "$dir/key" -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -o ConnectTimeout=20 \
    "root@$addresses.$(cat "$dir/machines/$name/number")" "$(printf '%q ' "${@:2}")"
}

reboot() {
  power_off "$1"
  power_on "$1"
}

off() { power_off "$1"; }

down() {
  [ -e "$dir/machines/$1" ] || return 0
  power_off "$1"
  ip -n "$lan" link del "m$(cat "$dir/machines/$1/number")" 2>/dev/null || true
  rm -rf "${dir:?}/machines/$1"
}

command=${1:-}
[ $# -eq 0 ] || shift
case $command in
  image | lan | in-lan | up | run | off | reboot | down | list | destroy) "${command//-/_}" "$@" ;;
  *) usage; exit 2 ;;
esac

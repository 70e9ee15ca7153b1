#!/usr/bin/env bash
# A disposable Debian machine with device-mapper, for tests that need real LVM. See ../README.md.
usage() {
  cat <<'TEXT'
usage: vm.sh COMMAND

  prepare      install missing packages on this host (apt) and build the machine's image; cached afterwards
  up           boot the machine and wait until it responds; does nothing if it is up
  run CMD...   run a shell command line in the machine, in /repo; its exit code is the command's
  ssh          open a shell in the machine
  status       print whether it is up, its process id, ssh port and memory; exit code 1 if it is down
  log          print the console
  down         power the machine off; the data disks stay
  destroy      power it off and delete its data disks
  clean        destroy it and delete the cached images and compiled modules

environment (default)
  VM_NAME (lab)            machines with different names can run in parallel
  VM_DISKS (2G 2G 2G 2G)   sizes of the data disks: /dev/vdb.., /dev/disk/by-id/virtio-disk1..
  VM_FORWARDS ()           "18080:8080 ..." forwards 127.0.0.1:18080 of this host to port 8080 of the machine
  VM_SHARE (state)         host directory that is /share in the machine, writable there
  VM_MEMORY_MIB (640)      VM_CPUS (2)   VM_ACCEL (tcg; kvm where it works)
  VM_BOOT_TIMEOUT (120)    seconds from start to ssh
  VM_OWNER_PID ()          destroy the machine when this process ends
  VM_HOME (/var/lib/hostplane-lab)   images, disks and state
TEXT
}
set -euo pipefail

self=$(readlink -f "${BASH_SOURCE[0]}")
repo=$(readlink -f "$(dirname "$self")/../../..")
home=${VM_HOME:-/var/lib/hostplane-lab}
name=${VM_NAME:-lab}
state=$home/machines/$name
share=${VM_SHARE:-$state/share}
# Without a limit, the emulator's cache of translated code grows to a gigabyte.
accel=${VM_ACCEL:-tcg,thread=multi,tb-size=128}
# V8 protects its code with memory protection keys if available; an emulated processor drops its TLB at each change of
# them.
cpu=${VM_CPU:-max,-pku}
packages=(lvm2 thin-provisioning-tools udev kmod e2fsprogs xfsprogs openssh-server iproute2 procps busybox-static
  libstdc++6 libatomic1 ca-certificates restic)

say() { echo "vm $name: $*" >&2; }
die() { say "$*"; exit 1; }
millis() { date +%s%3N; }

# --- the image -------------------------------------------------------------------------------------------

node_binary() { readlink -f "$repo/node_modules/.bin/node"; }

# Every change of this file, of the release or of Node creates a new image.
image_dir() {
  [ -x "$(node_binary)" ] || die "no node_modules/.bin/node in $repo: run npm ci first"
  echo "$home/images/$({ cat "$self"; release; "$(node_binary)" --version; } | sha256sum | cut -c1-12)"
}
release() { (. /etc/os-release && echo "$VERSION_CODENAME"); }

install_host_packages() {
  local missing=()
  command -v qemu-system-x86_64 >/dev/null || missing+=(qemu-system-x86)
  command -v mmdebstrap >/dev/null || missing+=(mmdebstrap)
  command -v ssh-keygen >/dev/null || missing+=(openssh-client)
  command -v mkfs.ext4 >/dev/null || missing+=(e2fsprogs)
  command -v mount >/dev/null || missing+=(mount)
  [ ${#missing[@]} -eq 0 ] || apt_install "${missing[@]}"
  # Debian 12 has it in qemu-system-common, later releases in a separate package.
  file_server >/dev/null || apt_install virtiofsd
}

apt_install() {
  say "installing $*"
  apt-get update -qq -o DPkg::Lock::Timeout=600 || true
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
    -o DPkg::Lock::Timeout=600 "$@" >/dev/null
}

file_server() {
  local path
  for path in /usr/libexec/virtiofsd /usr/lib/qemu/virtiofsd; do
    if [ -x "$path" ]; then echo "$path"; return 0; fi
  done
  return 1
}

# The sources of this host's own apt for its release, as sources.list lines.
apt_sources() {
  apt-get indextargets --format '$(RELEASE) $(REPO_URI) $(COMPONENT)' 'Created-By: Packages' |
    awk -v r="$(release)" '$3 == "main" && ($1 == r || $1 == r "-updates" || $1 == r "-security") \
      { print "deb " $2 " " $1 " main" }' | sort -u
}

build_rootfs() {
  local root=$1 sources
  mapfile -t sources < <(apt_sources)
  [ ${#sources[@]} -gt 0 ] || die "apt knows no Debian archive for $(release)"
  mmdebstrap --quiet --variant=minbase --include="$(IFS=,; echo "${packages[*]}")" \
    --aptopt='Apt::Install-Recommends "false"' \
    --dpkgopt='path-exclude=/usr/share/man/*' --dpkgopt='path-exclude=/usr/share/doc/*' \
    --dpkgopt='path-exclude=/usr/share/locale/*' \
    "$(release)" "$root" "${sources[@]}" >"$root.log" 2>&1 || { tail -n 20 "$root.log" >&2; die "mmdebstrap failed"; }
}

# The kernel package is unpacked, not installed: its scripts would spend minutes on an initramfs.
add_kernel() {
  local root=$1 build=$2 package
  package=$(apt-cache depends linux-image-cloud-amd64 | awk '/Depends: linux-image-/ { print $2; exit }')
  [ -n "$package" ] || die "apt knows no linux-image-cloud-amd64"
  mkdir "$build/kernel"
  (cd "$build/kernel" && { apt-get download -qq "$package" || { apt-get update -qq && apt-get download -qq "$package"; }; }) 2>"$root.log" ||
    { cat "$root.log" >&2; die "cannot download $package"; }
  dpkg -x "$build"/kernel/*.deb "$build/kernel/x"
  cp -a "$build/kernel/x/lib/modules" "$root/lib/"
  mv "$build"/kernel/x/boot/vmlinuz-* "$build/vmlinuz"
  rm -r "$build/kernel"
  chroot "$root" depmod "$(ls "$root/lib/modules")"
}

add_guest_files() {
  local root=$1 build=$2
  install -m755 "$(node_binary)" "$root/usr/local/bin/node"
  install -d -m700 "$root/root/.ssh"
  ssh-keygen -q -t ed25519 -N '' -C hostplane-lab -f "$build/key"
  install -m600 "$build/key.pub" "$root/root/.ssh/authorized_keys"
  rm -f "$root"/etc/ssh/ssh_host_*
  ssh-keygen -q -t ed25519 -N '' -f "$root/etc/ssh/ssh_host_ed25519_key"
  cat >"$root/etc/ssh/sshd_config" <<'FILE'
HostKey /etc/ssh/ssh_host_ed25519_key
PermitRootLogin prohibit-password
PasswordAuthentication no
UseDNS no
MaxSessions 100
MaxStartups 100
SetEnv PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 NODE_COMPILE_CACHE=/compiled "NODE_OPTIONS=--require=/repo/test/preload/own-modules.ts --require=/repo/test/preload/bundled-packages.ts"
FILE
  echo '/dev/vda / ext4 defaults 0 0' >"$root/etc/fstab"
  echo 'nameserver 10.0.2.3' >"$root/etc/resolv.conf"
  cat >"$root/etc/inittab" <<'FILE'
::sysinit:/sbin/lab-boot
::respawn:/usr/sbin/sshd -D -e
ttyS0::respawn:/bin/busybox sh -l
FILE
  # busybox init instead of systemd: it boots in seconds under emulation.
  cat >"$root/sbin/lab-boot" <<'FILE'
#!/bin/sh
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mkdir -p /dev/pts /dev/shm
mount -t devpts -o gid=5,mode=620 devpts /dev/pts
mount -t tmpfs tmpfs /dev/shm
mount -t tmpfs -o mode=755 tmpfs /run
mount -t tmpfs -o mode=1777 tmpfs /tmp
mkdir -p /run/lock/lvm /run/lvm /run/sshd /run/udev
modprobe -a -q virtio_net virtiofs loop dm_mod dm_thin_pool dm_snapshot dm_mirror dm_raid
/lib/systemd/systemd-udevd --daemon
udevadm trigger --action=add --subsystem-match=block --subsystem-match=misc
hostname "$(sed -n 's/.*lab_name=\([^ ]*\).*/\1/p' /proc/cmdline)"
echo "127.0.0.1 localhost $(hostname)" >/etc/hosts
ip link set lo up
for nic in /sys/class/net/e*; do ip link set "${nic##*/}" up; ip addr add 10.0.2.15/24 dev "${nic##*/}"; done
ip route add default via 10.0.2.2
mkdir -p /host /repo /share /compiled
mount -t virtiofs host /host && mount --bind /host/repo /repo && mount --bind /host/share /share && mount --bind /host/compiled /compiled
udevadm settle -t 20
echo "LAB-BOOTED $(cut -d' ' -f1 /proc/uptime)"
FILE
  chmod 755 "$root/sbin/lab-boot"
}

# Debian's kernel has virtio as modules, which the root disk needs first; busybox does the rest.
build_initrd() {
  local root=$1 build=$2 tree=$2/initrd-tree module modules
  mkdir -p "$tree"/{bin,dev,proc,root,modules}
  cp "$root/bin/busybox" "$tree/bin/busybox"
  modules=$(for module in virtio_pci virtio_blk ext4; do
    chroot "$root" modprobe -S "$(ls "$root/lib/modules")" -D "$module"
  done | awk '$1 == "insmod" && !seen[$2]++ { print $2 }')
  {
    echo '#!/bin/busybox sh'
    echo '/bin/busybox mount -t devtmpfs dev /dev'
    for module in $modules; do
      cp "$root$module" "$tree/modules/"
      echo "/bin/busybox insmod /modules/${module##*/}"
    done
    echo 'until [ -b /dev/vda ]; do /bin/busybox usleep 20000; done'
    echo '/bin/busybox mount -t ext4 -o noatime /dev/vda /root'
    echo '/bin/busybox mount -o move /dev /root/dev'
    echo 'exec /bin/busybox switch_root /root /bin/busybox init'
  } >"$tree/init"
  chmod 755 "$tree/init"
  (cd "$tree" && find . | "$root/bin/busybox" cpio -o -H newc 2>/dev/null | gzip -1) >"$build/initrd"
  rm -r "$tree"
}

prepare() {
  [ "$(uname -m)" = x86_64 ] || die "made for x86_64 only"
  local image build started
  started=$(millis)
  image=$(image_dir)
  mkdir -p "$home/images"
  chmod 755 "$home" "$home/images"
  exec 8>"$home/prepare.lock"
  flock 8
  install_host_packages 8>&-
  if [ ! -d "$image" ]; then
    say "building the image (about a minute)"
    build=$home/images/build
    rm -rf "$build"
    mkdir "$build"
    build_rootfs "$build/root"
    add_kernel "$build/root" "$build"
    add_guest_files "$build/root" "$build"
    build_initrd "$build/root" "$build"
    truncate -s 2G "$build/root.ext4"
    mkfs.ext4 -q -F -O ^has_journal,^metadata_csum -E lazy_itable_init=1,root_owner=0:0 -d "$build/root" "$build/root.ext4"
    rm -rf "$build/root"
    mv "$build" "$image"
    # Images of earlier versions; an emulator that still runs on one keeps it open.
    find "$home/images" -mindepth 1 -maxdepth 1 -mtime +7 -exec rm -rf {} +
    say "prepared in $(($(millis) - started)) ms"
  fi
  exec 8>&-
}

# --- the machine -----------------------------------------------------------------------------------------

# A process id counts only if that process is this machine's emulator.
running() {
  local pid
  pid=$(cat "$state/pid" 2>/dev/null) && [ -n "$pid" ] &&
    tr '\0' '\n' 2>/dev/null <"/proc/$pid/cmdline" | grep -qxF "guest=hostplane-lab-$name,debug-threads=off"
}

guest_ssh() {
  ssh -o LogLevel=ERROR -i "$state/key" -p "$(cat "$state/ssh-port")" -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null \
    -o ConnectTimeout=10 -o ControlPath="$state/ssh.sock" "$@"
}

# One virtiofsd serves the repository, the share and Node's compile cache, which all machines use: most programs spend most of
# their time on imports, and a gateway's take 6 s with the cache and the bundle for tests, 14 s without. It sees them through
# its own mounts, so that the repository is read-only even for root in the machine. It ends with the emulator.
start_file_server() {
  local server tenth
  server=$(file_server)
  rm -f "$state/files.sock"
  mkdir -p "$state/files" "$home/compiled"
  setsid unshare --mount bash -c '
    set -e
    mount -t tmpfs -o mode=755 tmpfs "$1"
    mkdir "$1/repo" "$1/share" "$1/compiled"
    mount --bind "$2" "$1/repo"
    mount -o remount,bind,ro "$1/repo"
    mount --bind "$3" "$1/share"
    mount --bind "$6" "$1/compiled"
    case $4 in
      /usr/lib/qemu/*) exec "$4" --socket-path="$5" -o source="$1" -o cache=auto -o sandbox=chroot ;;
      *) exec "$4" --socket-path "$5" --shared-dir "$1" --cache auto --sandbox chroot ;;
    esac' files "$state/files" "$repo" "$share" "$server" "$state/files.sock" "$home/compiled" >"$state/files.log" 2>&1 </dev/null &
  echo $! >"$state/files.pid"
  for tenth in {1..50}; do [ -S "$state/files.sock" ] && return 0; sleep 0.1; done
  cat "$state/files.log" >&2
  return 1
}

start_emulator() {
  local image=$1 port=$2 args=() size number=0 disk forward network memory=${VM_MEMORY_MIB:-640}
  for size in ${VM_DISKS-2G 2G 2G 2G}; do
    number=$((number + 1))
    disk=$state/disk$number.raw
    [ -e "$disk" ] || truncate -s "$size" "$disk"
    args+=(-drive "if=none,id=disk$number,file=$disk,format=raw,cache=unsafe,discard=unmap"
      -device "virtio-blk-pci,drive=disk$number,serial=disk$number")
  done
  network=user,id=net,restrict=off,hostfwd=tcp:127.0.0.1:$port-:22
  for forward in ${VM_FORWARDS:-}; do
    network+=,hostfwd=tcp:127.0.0.1:${forward%%:*}-:${forward##*:}
  done
  # snapshot=on: writes to the root go to an unnamed file in TMPDIR and are gone at the end.
  TMPDIR=$state qemu-system-x86_64 -name "guest=hostplane-lab-$name,debug-threads=off" -pidfile "$state/pid" \
    -daemonize -machine q35,memory-backend=memory -accel "$accel" -cpu "$cpu" -smp "${VM_CPUS:-2}" -m "$memory" \
    -nodefaults -no-user-config -no-reboot -display none -serial "file:$state/console.log" \
    -kernel "$image/vmlinuz" -initrd "$image/initrd" \
    -append "console=ttyS0 quiet panic=1 mitigations=off nokaslr audit=0 random.trust_cpu=on tsc=unstable lab_name=$name" \
    -drive "if=none,id=root,file=$image/root.ext4,format=raw,snapshot=on,cache=unsafe" \
    -device virtio-blk-pci,drive=root,serial=root -device virtio-rng-pci \
    -netdev "$network" -device virtio-net-pci,netdev=net,romfile= \
    -object "memory-backend-memfd,id=memory,size=${memory}M,share=on" \
    -chardev "socket,id=files,path=$state/files.sock" -device vhost-user-fs-pci,chardev=files,tag=host,queue-size=1024 \
    "${args[@]}" >"$state/emulator.log" 2>&1 </dev/null
}

# Succeeds once sshd responds; fails when the emulator has ended or the time is over.
wait_for_boot() {
  local deadline=$(($(millis) + ${VM_BOOT_TIMEOUT:-120} * 1000))
  while running && [ "$(millis)" -lt "$deadline" ]; do
    # Waits for the console's message first: each refused handshake costs the emulated processors a second.
    if grep -q LAB-BOOTED "$state/console.log" &&
      guest_ssh -f -N -M -o ControlPersist=yes root@127.0.0.1 >/dev/null 2>&1 </dev/null; then
      return 0
    fi
    sleep 0.1
  done
  return 1
}

up() {
  local image attempt booting
  image=$(image_dir)
  [ -d "$image" ] && command -v qemu-system-x86_64 >/dev/null || prepare
  touch "$image"
  mkdir -p "$state" "$share"
  exec 9<"$state"
  flock 9
  if running; then
    say "is up"
  else
    # Two tries, because the port may be in use, and an emulated boot has been seen to fail.
    for attempt in 1 2; do
      booting=$(millis)
      stop 9>&-
      rm -f "$state"/*.log
      touch "$state/console.log"
      cp -p "$image/key" "$state/key"
      # Below the kernel's range for outgoing connections, so that only another listener can conflict.
      echo $((20000 + RANDOM % 12000)) >"$state/ssh-port"
      if start_file_server 9>&- && start_emulator "$image" "$(cat "$state/ssh-port")" 9>&-; then
        watch_owner 9>&-
        if wait_for_boot 9>&-; then break; fi
      fi
      tail -n 20 "$state"/*.log >&2
      if [ "$attempt" = 2 ]; then stop 9>&-; die "does not boot"; fi
    done
    say "up after $(($(millis) - booting)) ms, ssh port $(cat "$state/ssh-port")"
  fi
  exec 9>&-
}

# Destroys the machine when its test is killed and cannot clean up. Ends with the emulator.
watch_owner() {
  [ -n "${VM_OWNER_PID:-}" ] || return 0
  setsid bash -c '
    while [ -d "/proc/$1" ] && [ -d "/proc/$2" ]; do sleep 1; done
    [ ! -d "/proc/$2" ] || VM_OWNER_PID= exec bash "$3" destroy
  ' watch "$VM_OWNER_PID" "$(cat "$state/pid")" "$self" >/dev/null 2>&1 </dev/null &
}

stop() {
  local pid tenth
  if running; then
    pid=$(cat "$state/pid")
    guest_ssh -o ConnectTimeout=3 root@127.0.0.1 'sync; busybox poweroff -f' >/dev/null 2>&1 </dev/null &
    for tenth in {1..50}; do running || break; sleep 0.1; done
    if running; then kill "$pid" 2>/dev/null || true; fi
    for tenth in {1..50}; do running || break; sleep 0.1; done
    if running; then kill -KILL "$pid" 2>/dev/null || true; sleep 0.2; fi
  fi
  if [ -S "$state/ssh.sock" ]; then ssh -q -o ControlPath="$state/ssh.sock" -O exit root@127.0.0.1 >/dev/null 2>&1 || true; fi
  # Left over when the emulator was never started.
  pid=$(cat "$state/files.pid" 2>/dev/null || true)
  if [ -n "$pid" ] && tr '\0' '\n' 2>/dev/null <"/proc/$pid/cmdline" | grep -qF "$state/files.sock"; then
    kill "$pid" 2>/dev/null || true
  fi
  rm -f "$state/pid" "$state/ssh.sock" "$state/files.pid" "$state/files.sock"
}

down() {
  [ -d "$state" ] || return 0
  exec 9<"$state"
  flock 9
  stop 9>&-
  if [ "${1:-}" = and-forget ]; then rm -rf "$state"; fi
  exec 9>&-
}

destroy() { down and-forget; }

status() {
  running || { echo "down"; return 1; }
  local pid
  pid=$(cat "$state/pid")
  echo "up pid=$pid ssh=127.0.0.1:$(cat "$state/ssh-port") rssMiB=$(awk '/VmRSS/ { print int($2 / 1024) }' "/proc/$pid/status")"
}

command=${1:-}
shift || true
case $command in
  prepare | up | run | ssh | down | destroy | clean) [ "$(id -u)" = 0 ] || die "must run as root" ;;
esac
case $command in
  prepare | up | status | down | destroy) "$command" ;;
  run | ssh)
    running || die "is down: vm.sh up"
    if [ "$command" = ssh ]; then guest_ssh -t root@127.0.0.1; else guest_ssh root@127.0.0.1 "cd /repo && $*"; fi
    ;;
  log) cat "$state/console.log" ;;
  clean) destroy; rm -rf "$home/images" "$home/compiled" ;;
  *) usage; exit 2 ;;
esac

#!/bin/bash
# The first process of a machine's namespaces: it mounts the machine's file systems and becomes systemd.
set -euo pipefail
disk=$KUBELAB_DISK
root=$disk/root

mount --make-rprivate /
mount -t overlay overlay -o "lowerdir=$KUBELAB_IMAGE,upperdir=$disk/upper,workdir=$disk/work" "$root"
mount --bind "$disk/var" "$root/var"
mount -t proc proc "$root/proc"
mount -t sysfs sysfs "$root/sys"
mount -t tmpfs -o mode=755 tmpfs "$root/run"
mount -t tmpfs -o mode=1777 tmpfs "$root/tmp"

mount -t tmpfs -o mode=755,size=64m tmpfs "$root/dev"
for device in "null 1 3" "zero 1 5" "full 1 7" "random 1 8" "urandom 1 9" "tty 5 0" "kmsg 1 11"; do
  read -r name major minor <<<"$device"
  mknod -m 666 "$root/dev/$name" c "$major" "$minor"
done
mkdir "$root"/dev/{pts,shm,mqueue}
mount -t devpts -o newinstance,ptmxmode=0666,mode=620,gid=5 devpts "$root/dev/pts"
mount -t tmpfs -o mode=1777 tmpfs "$root/dev/shm"
mount -t mqueue mqueue "$root/dev/mqueue"
ln -s pts/ptmx "$root/dev/ptmx"
ln -s /proc/self/fd "$root/dev/fd"
for number in 0 1 2; do
  names=(stdin stdout stderr)
  ln -s "fd/$number" "$root/dev/${names[$number]}"
done
touch "$root/dev/console"
mount --bind "$disk/console.log" "$root/dev/console"

# The controllers of cgroup v1, starting at this namespace's root.
mount -t tmpfs -o mode=755 tmpfs "$root/sys/fs/cgroup"
for controller in cpu cpuacct cpuset memory devices freezer blkio pids; do
  mkdir "$root/sys/fs/cgroup/$controller"
  mount -t cgroup -o "$controller" cgroup "$root/sys/fs/cgroup/$controller"
done
mkdir "$root"/sys/fs/cgroup/{systemd,unified}
mount -t cgroup -o none,name=systemd cgroup "$root/sys/fs/cgroup/systemd"
mount -t cgroup2 cgroup2 "$root/sys/fs/cgroup/unified"

# The host's settings must not be changed. A kubelet checks three of them, so it sees the values that it would write.
# Network settings belong to the machine.
settings=$root/run/sysctl
mkdir -p "$settings"
for setting in vm/overcommit_memory=1 kernel/panic=10 kernel/panic_on_oops=1; do
  echo "${setting#*=}" >"$settings/$(basename "${setting%=*}")"
done
mount --bind "$root/proc/sys" "$root/proc/sys"
mount --bind "$root/proc/sys/net" "$root/proc/sys/net"
for setting in vm/overcommit_memory kernel/panic kernel/panic_on_oops; do
  mount --bind "$settings/$(basename "$setting")" "$root/proc/sys/$setting"
done
mount -o remount,bind,ro "$root/proc/sys"
# The user data turns swap off; this keeps it from affecting the host.
echo 'Filename Type Size Used Priority' >"$root/run/no-swaps"
mount --bind "$root/run/no-swaps" "$root/proc/swaps"

hostname "$KUBELAB_HOSTNAME"
mkdir -p "$disk/upper/etc"
cd "$root"
echo "$KUBELAB_HOSTNAME" >etc/hostname
pivot_root . mnt
umount -l /mnt
exec env -i container=hostplane-lab KUBELAB_MACHINE="$KUBELAB_MACHINE" PATH=/usr/sbin:/usr/bin:/sbin:/bin \
  /lib/systemd/systemd --log-target=console --log-level=notice --show-status=1 </dev/null >/dev/console 2>&1

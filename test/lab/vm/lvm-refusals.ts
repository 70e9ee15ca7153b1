/** A command that LVM refuses, and the steps that lead to its state from the previous refusal. */
export interface Refusal {
  readonly name: string;
  /** Shell lines that must all succeed first. */
  readonly given?: string;
  readonly argv: readonly string[];
  readonly exitCode: number;
  /** Expected text on stderr. */
  readonly stderr: RegExp;
}

/** Sizes of the disks that the refusals below need. */
export const refusalDisks = ["512M", "256M", "256M", "256M"] as const;

// Leaves an ext4 superblock in the extents that the next volume gets.
const staleFilesystem =
  "lvcreate -q -y -n stale -L 64m vg0; mkfs.ext4 -q /dev/vg0/stale; lvremove -q -y vg0/stale";

/**
 * Refusals that need device-mapper, in the order in which they must run on an empty machine. The text of a question is part of a
 * refusal: stdin is closed, so LVM answers no by itself and exits with 5.
 */
export const refusals: readonly Refusal[] = [
  {
    name: "create over a stale filesystem, without --yes",
    given: `vgcreate -q vg0 /dev/vdb; ${staleFilesystem}`,
    argv: ["lvcreate", "-n", "fresh", "-L", "64m", "vg0"],
    exitCode: 5,
    stderr: /ext4 signature detected on \/dev\/vg0\/fresh.*\n.*Aborted wiping of ext4/,
  },
  {
    name: "create under a name that exists",
    given: "lvcreate -q -y -n data -L 64m vg0",
    argv: ["lvcreate", "-n", "data", "-L", "64m", "vg0"],
    exitCode: 5,
    stderr: /Logical Volume "data" already exists in volume group "vg0"/,
  },
  {
    name: "create more than is free",
    argv: ["lvcreate", "-y", "-n", "big", "-L", "100g", "vg0"],
    exitCode: 5,
    stderr: /has insufficient free space \(\d+ extents\): 25600 required/,
  },
  {
    name: "extend beyond what is free",
    argv: ["lvextend", "-L", "+100g", "vg0/data"],
    exitCode: 5,
    stderr: /Insufficient free space: 25600 extents needed, but only \d+ available/,
  },
  {
    name: "shrink an active volume without --yes",
    argv: ["lvresize", "-L", "32m", "vg0/data"],
    exitCode: 5,
    stderr: /Do you really want to reduce vg0\/data\?(.|\n)*NOT reduced/,
  },
  {
    name: "remove an active volume without --yes",
    argv: ["lvremove", "vg0/data"],
    exitCode: 5,
    stderr: /Do you really want to remove active logical volume vg0\/data\?(.|\n)*not removed/,
  },
  {
    name: "deactivate a mounted volume",
    given: "mkfs.ext4 -q /dev/vg0/data; mkdir -p /mnt/data; mount /dev/vg0/data /mnt/data",
    argv: ["lvchange", "-an", "vg0/data"],
    exitCode: 5,
    stderr: /Logical volume vg0\/data contains a filesystem in use/,
  },
  {
    name: "remove a mounted volume",
    argv: ["lvremove", "-y", "vg0/data"],
    exitCode: 5,
    stderr: /Logical volume vg0\/data contains a filesystem in use/,
  },
  {
    name: "deactivate a group with a mounted volume",
    argv: ["vgchange", "-an", "vg0"],
    exitCode: 5,
    stderr: /Can't deactivate volume group "vg0" with 1 open logical volume/,
  },
  {
    name: "deactivate a volume that a process holds open",
    // The shell's redirection of descriptor 3 keeps the device open until the process ends.
    given: "umount /mnt/data; sleep 600 3</dev/vg0/data >/dev/null 2>&1 & echo $! >/run/holder; sleep 1",
    argv: ["lvchange", "-an", "vg0/data"],
    exitCode: 5,
    stderr: /Logical volume vg0\/data in use/,
  },
  {
    name: "remove a volume that a process holds open",
    argv: ["lvremove", "-y", "vg0/data"],
    exitCode: 5,
    stderr: /Logical volume vg0\/data in use/,
  },
  {
    name: "remove an origin with a snapshot, without --yes",
    given: "kill $(cat /run/holder); sleep 1; lvcreate -q -s -n snap -L 8m vg0/data",
    argv: ["lvremove", "vg0/data"],
    exitCode: 5,
    stderr: /Do you really want to remove active origin logical volume vg0\/data with 1 snapshot/,
  },
  {
    name: "deactivate a snapshot whose origin is active",
    argv: ["lvchange", "-an", "vg0/snap"],
    exitCode: 5,
    stderr: /Change of snapshot vg0\/snap will also change its origin vg0\/data/,
  },
  {
    name: "take a snapshot of a volume that does not exist",
    argv: ["lvcreate", "-s", "-n", "other", "-L", "8m", "vg0/absent"],
    exitCode: 5,
    stderr: /Snapshot origin LV absent not found in Volume group vg0/,
  },
  {
    name: "merge a snapshot that overflowed",
    given: "dd if=/dev/urandom of=/dev/vg0/data bs=1M count=20 conv=fsync status=none",
    argv: ["lvconvert", "--merge", "vg0/snap"],
    exitCode: 5,
    stderr: /Unable to merge invalidated snapshot LV vg0\/snap/,
  },
  {
    name: "create a thin volume without its pool",
    argv: ["lvcreate", "-y", "-n", "thin", "-V", "1g", "--thinpool", "absent", "vg0"],
    exitCode: 5,
    stderr: /Pool absent not found in Volume group vg0/,
  },
  {
    name: "remove an active thin volume without --yes",
    given:
      "lvremove -q -y vg0/data; lvcreate -q --errorwhenfull y -n pool -L 32m -T vg0; lvcreate -q -n thin -V 1g -T vg0/pool",
    argv: ["lvremove", "vg0/thin"],
    exitCode: 5,
    stderr: /Do you really want to remove active logical volume vg0\/thin\?/,
  },
  {
    name: "remove a pool with a thin volume, without --yes",
    argv: ["lvremove", "vg0/pool"],
    exitCode: 5,
    stderr: /Removing pool vg0\/pool will remove 1 dependent volume/,
  },
  {
    name: "create in a pool that is out of data space",
    given: "dd if=/dev/urandom of=/dev/vg0/thin bs=1M count=64 oflag=direct status=none && exit 1; true",
    argv: ["lvcreate", "-y", "-n", "second", "-V", "64m", "--thinpool", "pool", "vg0"],
    exitCode: 5,
    stderr: /WARNING: Thin pool vg0\/pool is out of data space\.\n.*Cannot create new thin volume/,
  },
  {
    name: "take a snapshot in a pool that is out of data space",
    argv: ["lvcreate", "-s", "-n", "second", "vg0/thin"],
    exitCode: 5,
    stderr: /WARNING: Thin pool vg0\/pool is out of data space\.\n.*Cannot create new thin volume/,
  },
  {
    name: "work in a group that another command has locked, without waiting",
    given: "flock -x /run/lock/lvm/V_vg0 sleep 4 >/dev/null 2>&1 & sleep 1",
    argv: ["lvcreate", "--config", "global/wait_for_locks=0", "-y", "-n", "late", "-L", "8m", "vg0"],
    exitCode: 5,
    stderr: /Can't get lock for vg0/,
  },
  {
    name: "work in an exported group",
    given: "sleep 4; vgchange -q -an vg0; vgexport -q vg0",
    argv: ["lvcreate", "-y", "-n", "late", "-L", "8m", "vg0"],
    exitCode: 5,
    stderr: /Volume group vg0 is exported/,
  },
  {
    name: "create in a group with a missing disk",
    given:
      "vgcreate -q vg1 /dev/vdc /dev/vdd; lvcreate -q -y -n span -L 400m vg1; lvchange -an vg1/span; " +
      "basename $(readlink -f /sys/block/vdd/device) >/sys/bus/virtio/drivers/virtio_blk/unbind",
    argv: ["lvcreate", "-y", "-n", "late", "-L", "8m", "vg1"],
    exitCode: 5,
    stderr: /Cannot change VG vg1 while PVs are missing/,
  },
  {
    name: "activate a volume with a missing part",
    argv: ["lvchange", "-ay", "vg1/span"],
    exitCode: 5,
    stderr: /Refusing activation of partial LV vg1\/span/,
  },
];

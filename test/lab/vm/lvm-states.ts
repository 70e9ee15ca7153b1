/** A state of LVM whose report is recorded, reached from the previous state. */
export interface LvmState {
  /** Name of its file, without `vm-` and `.txt`. */
  readonly name: string;
  /** Shell lines that must all succeed first. */
  readonly given?: string;
  /** Whether internal volumes are reported as well. */
  readonly all?: boolean;
}

const removeGroup = "vgremove -q -y vg0";

/** States that need device-mapper, on disks of `refusalDisks`, in the order in which they must be created. */
export const lvmStates: readonly LvmState[] = [
  {
    name: "linear",
    given:
      "vgcreate -q vg0 /dev/vdb; lvcreate -q -y -n active -L 64m --addtag a --addtag b=1 vg0; " +
      "lvcreate -q -y -n inactive -L 32m vg0; lvchange -an vg0/inactive",
  },
  { name: "mounted", given: "mkfs.ext4 -q /dev/vg0/active; mount /dev/vg0/active /mnt" },
  {
    name: "suspended",
    given: "umount /mnt; dmsetup suspend vg0-active",
  },
  {
    name: "snapshot",
    given: `dmsetup resume vg0-active; lvcreate -q -s -n snap -L 8m vg0/active; lvcreate -q -s -n other -L 32m vg0/active`,
  },
  {
    name: "snapshot-overflowed",
    given: "dd if=/dev/urandom of=/dev/vg0/active bs=1M count=20 conv=fsync status=none",
  },
  { name: "snapshot-inactive", given: "lvchange -an vg0/active" },
  {
    name: "thin",
    given:
      `${removeGroup}; vgcreate -q vg0 /dev/vdb; lvcreate -q --errorwhenfull y -n pool -L 64m -T vg0; ` +
      "lvcreate -q -n thin -V 1g -T vg0/pool; lvcreate -q -s -n thinsnap vg0/thin; " +
      "dd if=/dev/urandom of=/dev/vg0/thin bs=1M count=10 conv=fsync status=none",
  },
  { name: "thin-all", all: true },
  {
    name: "thin-full",
    given: "dd if=/dev/urandom of=/dev/vg0/thin bs=1M count=100 oflag=direct status=none && exit 1; true",
  },
  { name: "thin-inactive", given: "lvchange -an vg0/thin; lvchange -an vg0/pool" },
  {
    name: "raid1",
    given: `${removeGroup}; vgcreate -q vg0 /dev/vdc /dev/vdd; lvcreate -q -y --type raid1 -m1 --nosync -n mirrored -L 32m vg0`,
  },
  { name: "raid1-all", all: true },
  {
    name: "exported",
    given:
      "vgcreate -q vg1 /dev/vdb; lvcreate -q -y -n away -L 32m vg1; vgchange -q -an vg1; vgexport -q vg1",
  },
  {
    name: "missing-pv",
    given:
      "lvcreate -q -y -n whole -L 32m vg0 /dev/vdc; lvcreate -q -y -n span -L 250m vg0; lvchange -an vg0/span; " +
      "basename $(readlink -f /sys/block/vdd/device) >/sys/bus/virtio/drivers/virtio_blk/unbind",
  },
];

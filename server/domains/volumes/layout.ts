import type { PhysicalVolume } from "../../../adapters/lvm/device-adapter.ts";

/** How a new thick volume is laid out on the devices of its group. */
export interface Layout {
  /** Number of different devices that each part of the volume takes equal space on. */
  readonly deviceCount: number;
  /** Number of them whose space counts for the size of the volume; the others hold copies or parity. */
  readonly dataCount: number;
  /** Whether LVM also allocates metadata beside the data on each device. */
  readonly hasMetadata: boolean;
  /** Number of logs of a volume of type `mirror`, an extent each. */
  readonly logCount: number;
  /** Whether each image has checksums. */
  readonly hasIntegrity: boolean;
}

/** Metadata of an image: a superblock of 4 KiB and a bitmap of at most 2^21 regions. It takes whole extents. */
const mostMetadataBytes = 512n << 10n;

/** Checksums of an image: 4 MiB for each 500 MiB of the volume, and at most 64 MiB for a journal. */
const integrity = { partBytes: 500n << 20n, bytesPerPart: 4n << 20n, journalBytes: 64n << 20n };

/**
 * Reads a layout from options of lvcreate in their long form (`createOptionsOf`), with the defaults of lvcreate(8) and lvmraid(7).
 */
export function layoutFrom(options: readonly string[]): Layout {
  const wordAfter = (name: string) => {
    const at = options.lastIndexOf(`--${name}`);
    return at === -1 ? undefined : options[at + 1];
  };
  const countOf = (name: string, usual: number) => Number(wordAfter(name) ?? usual);
  const type = wordAfter("type") ?? typeWithout(countOf("stripes", 1), countOf("mirrors", 0));
  const plain = {
    hasMetadata: type.startsWith("raid") && type !== "raid0",
    logCount: type === "mirror" ? (logCounts[wordAfter("mirrorlog") ?? "disk"] ?? 1) : 0,
    hasIntegrity: wordAfter("raidintegrity") === "y",
  };
  const copies = countOf("mirrors", 1) + 1;
  switch (/^raid(?:\d0|\d)|^\w+/.exec(type)?.[0]) {
    case "raid1":
      return { ...plain, deviceCount: copies, dataCount: 1 };
    case "mirror":
    case "raid10": {
      const dataCount = countOf("stripes", type === "raid10" ? 2 : 1);
      return { ...plain, deviceCount: dataCount * copies, dataCount };
    }
    case "raid4":
    case "raid5":
    case "raid6": {
      const parityCount = type.startsWith("raid6") ? 2 : 1;
      const dataCount = countOf("stripes", parityCount + 1);
      return { ...plain, deviceCount: dataCount + parityCount, dataCount };
    }
    default: {
      const dataCount = countOf("stripes", type.startsWith("raid0") ? 2 : 1);
      return { ...plain, deviceCount: dataCount, dataCount };
    }
  }
}

const logCounts: Readonly<Record<string, number>> = { core: 0, disk: 1, mirrored: 2 };

/** Returns the type that lvcreate chooses if none is given. */
function typeWithout(stripes: number, mirrors: number): string {
  if (mirrors > 0) {
    return stripes > 1 ? "raid10" : "raid1";
  }
  return stripes > 1 ? "striped" : "linear";
}

/**
 * Returns the size of the largest volume that fits on devices, in bytes. LVM may find space for a smaller one only if the free space
 * of a device is in many parts, which this does not consider.
 * @param freeBytesOf the free bytes of a device
 */
export function largestVolumeBytes(
  devices: readonly PhysicalVolume[],
  extentSizeBytes: bigint,
  layout: Layout,
  freeBytesOf: (device: PhysicalVolume) => bigint,
): bigint {
  const extents = (bytes: bigint) => (bytes + extentSizeBytes - 1n) / extentSizeBytes;
  const rows = allocatedRows(
    devices.map((device) => freeBytesOf(device) / extentSizeBytes),
    layout.deviceCount,
  );
  const otherRows = (layout.hasMetadata ? extents(mostMetadataBytes) : 0n) + BigInt(layout.logCount);
  const dataRows = rows > otherRows ? rows - otherRows : 0n;
  const sizeBytes = dataRows * BigInt(layout.dataCount) * extentSizeBytes;
  if (!layout.hasIntegrity) {
    return sizeBytes;
  }
  const { partBytes, bytesPerPart, journalBytes } = integrity;
  const checksumRows = extents((sizeBytes / partBytes + 1n) * bytesPerPart + journalBytes);
  return (
    (dataRows > checksumRows ? dataRows - checksumRows : 0n) * BigInt(layout.dataCount) * extentSizeBytes
  );
}

/**
 * Returns how many extents LVM allocates on each of `deviceCount` devices at the same time: it takes those with the most free space
 * until one of them is full, and then chooses again.
 */
function allocatedRows(freeExtents: readonly bigint[], deviceCount: number): bigint {
  let free = [...freeExtents];
  let rows = 0n;
  for (;;) {
    free = free
      .filter((extents) => extents > 0n)
      .sort((one, other) => (one < other ? 1 : one > other ? -1 : 0));
    const least = free[deviceCount - 1];
    if (least === undefined) {
      return rows;
    }
    rows += least;
    free = free.map((extents, index) => (index < deviceCount ? extents - least : extents));
  }
}

import type { DeviceFacts, PhysicalVolume } from "../device-adapter.ts";
import { physicalVolumeObstacle } from "../devices.ts";

/** A block device that exists only in a sandbox. */
export interface SandboxDevice {
  readonly path: string;
  readonly sizeBytes: bigint;
  /** Why it must not be added to a volume group, e.g. `it contains ext4`. */
  readonly obstacle?: string;
}

/** Devices in memory, with the space that volumes use on those in groups. */
export interface SandboxDevices {
  addDevice(device: SandboxDevice): void;
  facts(path: string): DeviceFacts;
  physicalVolumes(): readonly PhysicalVolume[];
  /** Makes the device a physical volume of this group. */
  join(path: string, volumeGroupName: string, extentSizeBytes: bigint): void;
  /** Removes a device from its group; it stays a physical volume. */
  leave(path: string): void;
  /** Removes the LVM label from a device. */
  free(path: string): void;
  setAllocatable(path: string, allocatable: boolean): void;
  /**
   * Allocates space for a volume on allocatable devices of a group.
   * @param stripes number of devices that each get an equal share; with 1, any device with free space is used
   * @returns false, with nothing allocated, if there is not enough space
   */
  allocate(volumeGroupName: string, volumeUuid: string, bytes: bigint, stripes: number): boolean;
  /** Returns the devices that contain a volume, sorted. */
  pathsOf(volumeUuid: string): readonly string[];
  /** Frees all space of a volume. */
  release(volumeUuid: string): void;
  /** Moves all data of a device to others. @returns false, with nothing moved, if they have too little space */
  moveAway(path: string): boolean;
}

interface Segment {
  readonly volumeUuid: string;
  readonly path: string;
  readonly bytes: bigint;
}

/** Space at the start of each device that LVM reserves for its metadata. */
const metadataBytes = 1n << 20n;

/** Creates a set of devices. Nothing in it is random. */
export function createSandboxDevices(): SandboxDevices {
  let devices: readonly (SandboxDevice & { readonly minor: number })[] = [];
  let marked: readonly PhysicalVolume[] = [];
  /** By the UUID of their volume. */
  const segments = new Map<string, readonly Segment[]>();
  /** By path. */
  const used = new Map<string, bigint>();
  let createdMarks = 0;

  const usedBytes = (path: string) => used.get(path) ?? 0n;

  /** Replaces the segments of a volume. */
  function setSegments(volumeUuid: string, after: readonly Segment[]): void {
    for (const { path, bytes } of segments.get(volumeUuid) ?? []) {
      used.set(path, usedBytes(path) - bytes);
    }
    for (const { path, bytes } of after) {
      used.set(path, usedBytes(path) + bytes);
    }
    segments.set(volumeUuid, after);
  }

  function physicalVolumes(): PhysicalVolume[] {
    return marked.map((one) => ({ ...one, usedBytes: usedBytes(one.path) }));
  }

  /** Finds space of this size on the allocatable devices of a group. */
  function room(
    volumeGroupName: string | undefined,
    volumeUuid: string,
    bytes: bigint,
  ): Segment[] | undefined {
    const taken: Segment[] = [];
    let left = bytes;
    for (const one of physicalVolumes()) {
      const free = one.sizeBytes - one.usedBytes;
      const part = free < left ? free : left;
      if (one.volumeGroupName === volumeGroupName && one.allocatable && part > 0n) {
        taken.push({ volumeUuid, path: one.path, bytes: part });
        left -= part;
      }
    }
    return left === 0n ? taken : undefined;
  }

  /** Finds the same space on each of `stripes` devices: those with the most free space, until one is full, then others. */
  function stripedRoom(
    volumeGroupName: string,
    volumeUuid: string,
    bytes: bigint,
    stripes: number,
  ): Segment[] | undefined {
    const taken: Segment[] = [];
    const free = new Map(
      physicalVolumes()
        .filter((one) => one.volumeGroupName === volumeGroupName && one.allocatable)
        .map((one) => [one.path, one.sizeBytes - one.usedBytes]),
    );
    let left = bytes / BigInt(stripes);
    while (left > 0n) {
      const roomiest = [...free].sort(([, one], [, other]) => Number(other - one)).slice(0, stripes);
      const least = roomiest.length < stripes ? 0n : (roomiest.at(-1)?.[1] ?? 0n);
      if (least === 0n) {
        return undefined;
      }
      const part = least < left ? least : left;
      for (const [path, freeBytes] of roomiest) {
        taken.push({ volumeUuid, path, bytes: part });
        free.set(path, freeBytes - part);
      }
      left -= part;
    }
    return taken;
  }

  function alter(path: string, change: Partial<PhysicalVolume>): void {
    marked = marked.map((one) => (one.path === path ? { ...one, ...change } : one));
  }

  return {
    addDevice(device) {
      devices = [...devices, { ...device, minor: devices.length }];
    },
    facts(path) {
      const found = devices.find((one) => one.path === path);
      if (found === undefined) {
        const obstacles = ["it does not exist"];
        return { path, node: undefined, device: undefined, sizeBytes: 0n, obstacles };
      }
      const isMarked = marked.some((one) => one.path === path);
      return {
        path,
        node: path,
        device: { major: 252, minor: found.minor },
        sizeBytes: found.sizeBytes,
        obstacles: [
          ...(found.obstacle === undefined ? [] : [found.obstacle]),
          ...(isMarked ? [physicalVolumeObstacle] : []),
        ],
      };
    },
    physicalVolumes,
    join(path, volumeGroupName, extentSizeBytes) {
      const found = devices.find((one) => one.path === path);
      createdMarks += 1;
      marked = [
        ...marked,
        {
          path,
          uuid: `sandbox-device-${createdMarks}`,
          volumeGroupName,
          sizeBytes: (((found?.sizeBytes ?? 0n) - metadataBytes) / extentSizeBytes) * extentSizeBytes,
          usedBytes: 0n,
          allocatable: true,
          missing: false,
          device: { major: 252, minor: found?.minor ?? 0 },
        },
      ];
    },
    leave: (path) => alter(path, { volumeGroupName: undefined }),
    free(path) {
      marked = marked.filter((one) => one.path !== path);
    },
    setAllocatable: (path, allocatable) => alter(path, { allocatable }),
    allocate(volumeGroupName, volumeUuid, bytes, stripes) {
      const taken =
        stripes === 1
          ? room(volumeGroupName, volumeUuid, bytes)
          : stripedRoom(volumeGroupName, volumeUuid, bytes, stripes);
      setSegments(volumeUuid, [...(segments.get(volumeUuid) ?? []), ...(taken ?? [])]);
      return taken !== undefined;
    },
    pathsOf: (volumeUuid) => [...new Set((segments.get(volumeUuid) ?? []).map(({ path }) => path))].sort(),
    release(volumeUuid) {
      setSegments(volumeUuid, []);
      segments.delete(volumeUuid);
    },
    moveAway(path) {
      const before = [...segments];
      const group = marked.find((one) => one.path === path);
      alter(path, { allocatable: false });
      const moving = before.flatMap(([, all]) => all.filter((one) => one.path === path));
      for (const segment of moving) {
        const { volumeUuid, bytes } = segment;
        const taken = room(group?.volumeGroupName, volumeUuid, bytes);
        if (taken === undefined) {
          for (const [uuid, all] of before) {
            setSegments(uuid, all);
          }
          break;
        }
        const others = (segments.get(volumeUuid) ?? []).filter((one) => one !== segment);
        setSegments(volumeUuid, [...others, ...taken]);
      }
      alter(path, { allocatable: group?.allocatable ?? true });
      return usedBytes(path) === 0n;
    },
  };
}

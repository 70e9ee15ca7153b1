import type { LvmState, VolumeGroup } from "../../../../adapters/lvm/adapter.ts";
import { type DeviceClass, resolveClass } from "../device-class.ts";

/** A volume group or thin pool that device classes allocate from. */
export interface ClassStore {
  /** `vg0`, or `vg0/pool0`. */
  readonly name: string;
  readonly volumeGroup: string;
  readonly thinPool: string | undefined;
  readonly deviceClasses: readonly DeviceClass[];
}

/** Size and free space of a store, and its free share in percent. */
export interface StoreSpace {
  readonly sizeBytes: bigint;
  readonly freeBytes: bigint;
  readonly freePercent: number;
}

/** Returns each store of the device classes once. */
export function storesOf(deviceClasses: readonly DeviceClass[]): ClassStore[] {
  const nameOf = ({ volumeGroup, thinPool }: DeviceClass) =>
    thinPool === undefined ? volumeGroup : `${volumeGroup}/${thinPool}`;
  return [...Map.groupBy(deviceClasses, nameOf)].flatMap(([name, classes]) =>
    classes.slice(0, 1).map(({ volumeGroup, thinPool }) => ({
      name,
      volumeGroup,
      thinPool,
      deviceClasses: classes,
    })),
  );
}

/** A space that can run full. */
export interface SpacePart {
  /** Whether it is the metadata space of a thin pool. */
  readonly isMetadata: boolean;
  /** Undefined if LVM reports no usage, for example for an inactive pool. */
  readonly space: StoreSpace | undefined;
}

/**
 * Returns the spaces of a store: one of a volume group, two of a thin pool, where they count written data, not volume sizes. None if
 * the store is gone.
 */
export function spacesOf({ deviceClasses }: ClassStore, state: LvmState): SpacePart[] {
  const [deviceClass] = deviceClasses;
  const resolved = deviceClass === undefined ? undefined : resolveClass(deviceClass, state);
  if (resolved === undefined) {
    return [];
  }
  const { group, pool } = resolved;
  return pool === undefined
    ? [{ isMetadata: false, space: groupSpace(group) }]
    : [
        { isMetadata: false, space: usedSpace(pool.sizeBytes, pool.dataPercent) },
        { isMetadata: true, space: usedSpace(pool.metadataSizeBytes ?? 0n, pool.metadataPercent) },
      ];
}

function groupSpace({ sizeBytes, freeBytes }: VolumeGroup): StoreSpace {
  const freePercent = sizeBytes === 0n ? 0 : Number((freeBytes * 10_000n) / sizeBytes) / 100;
  return { sizeBytes, freeBytes, freePercent };
}

function usedSpace(sizeBytes: bigint, usedPercent: number | undefined): StoreSpace | undefined {
  if (usedPercent === undefined) {
    return undefined;
  }
  const freePercent = Math.max(0, 100 - usedPercent);
  const freeBytes = (sizeBytes * BigInt(Math.round(freePercent * 100))) / 10_000n;
  return { sizeBytes, freeBytes, freePercent };
}

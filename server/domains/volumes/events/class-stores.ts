import type { LogicalVolume, LvmState, VolumeGroup } from "../../../../adapters/lvm/adapter.ts";
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

/**
 * Returns the space of a store, or "gone". For a thin pool this counts written data, not volume sizes, and `freePercent` also
 * considers the metadata, since either can run full. Undefined if LVM reports no usage, for example for an inactive pool.
 */
export function spaceOf({ deviceClasses }: ClassStore, state: LvmState): StoreSpace | "gone" | undefined {
  const [deviceClass] = deviceClasses;
  const resolved = deviceClass === undefined ? undefined : resolveClass(deviceClass, state);
  if (resolved === undefined) {
    return "gone";
  }
  return resolved.pool === undefined ? groupSpace(resolved.group) : poolSpace(resolved.pool);
}

function groupSpace({ sizeBytes, freeBytes }: VolumeGroup): StoreSpace {
  const freePercent = sizeBytes === 0n ? 0 : Number((freeBytes * 10_000n) / sizeBytes) / 100;
  return { sizeBytes, freeBytes, freePercent };
}

function poolSpace({ sizeBytes, dataPercent, metadataPercent }: LogicalVolume): StoreSpace | undefined {
  if (dataPercent === undefined) {
    return undefined;
  }
  const freeShare = (usedPercent: number) => Math.max(0, 100 - usedPercent);
  const freeBytes = (sizeBytes * BigInt(Math.round(freeShare(dataPercent) * 100))) / 10_000n;
  const freePercent = Math.min(freeShare(dataPercent), freeShare(metadataPercent ?? 0));
  return { sizeBytes, freeBytes, freePercent };
}

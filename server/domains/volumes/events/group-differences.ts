import type { LvmState } from "../../../../adapters/lvm/adapter.ts";
import { limitCrossings } from "../../../events/limit-crossings.ts";
import type { DeviceClass } from "../device-class.ts";
import { type ClassStore, spacesOf, storesOf } from "./class-stores.ts";
import type { ObservedGroup, ObservedVolumes } from "./observed-volumes.ts";

/** A change of a volume group, or of the thin pool of a device class. */
export interface GroupDifference {
  readonly type: "volumeGroup.gone" | "volumeGroup.back" | "volumeGroup.low" | "volumeGroup.enough";
  readonly volumeGroup: string;
  /** Set if the pool changed. */
  readonly thinPool: string | undefined;
  /** Names of the device classes that use it. */
  readonly deviceClasses: readonly string[];
  /** As last known. */
  readonly freeBytes: string;
  readonly sizeBytes: string;
  /** Whether the sizes are those of the pool's metadata space; absent: they are not. */
  readonly isMetadata?: boolean;
}

/** Percentage points above the limit that a low store must have free to count as enough again. */
const hysteresisPercent = 2;

type Observed = Omit<ObservedVolumes, "low">;

/**
 * Returns the groups that are gone or back, and the thin pools of device classes that are gone from or back in an existing
 * group. A group that was never seen before counts as back only if a device class uses it.
 */
export function presenceDifferences(
  before: Observed,
  after: Observed,
  deviceClasses: readonly DeviceClass[],
): GroupDifference[] {
  const stores = storesOf(deviceClasses);
  const isThere = ({ groups }: Observed, name: string) =>
    groups.some((group) => group.name === name && !group.isAway);
  const classesOn = (name: string) =>
    deviceClasses.filter(({ volumeGroup }) => volumeGroup === name).map((one) => one.name);
  const difference = (type: GroupDifference["type"], { name, freeBytes, sizeBytes }: ObservedGroup) => {
    const facts = { freeBytes, sizeBytes, deviceClasses: classesOn(name) };
    return { type, volumeGroup: name, thinPool: undefined, ...facts };
  };
  const gone = before.groups.filter(({ name, isAway }) => !isAway && !isThere(after, name));
  const back = after.groups.filter(({ uuid, name, isAway }) => {
    const isAwaited = classesOn(name).length > 0 || before.groups.some((group) => group.uuid === uuid);
    return !isAway && isAwaited && !isThere(before, name);
  });
  return [
    ...gone.map((group) => difference("volumeGroup.gone", group)),
    ...back.map((group) => difference("volumeGroup.back", group)),
    ...stores.flatMap((store) => poolPresence(before, after, store)),
  ];
}

/** Returns the change of a store's pool. A pool that goes or returns with its whole group is not reported separately. */
function poolPresence(before: Observed, after: Observed, store: ClassStore): GroupDifference[] {
  const { volumeGroup, thinPool, deviceClasses } = store;
  const poolIn = ({ volumes }: Observed) =>
    volumes.find(
      ({ groupName, name, kind }) => groupName === volumeGroup && name === thinPool && kind === "thinPool",
    );
  const isKnown = ({ groups }: Observed) => groups.some(({ name }) => name === volumeGroup);
  const [poolBefore, poolAfter] = [poolIn(before), poolIn(after)];
  const pool = poolBefore ?? poolAfter;
  const isSame = (poolBefore === undefined) === (poolAfter === undefined);
  if (thinPool === undefined || pool === undefined || isSame || !isKnown(before) || !isKnown(after)) {
    return [];
  }
  const type = poolAfter === undefined ? "volumeGroup.gone" : "volumeGroup.back";
  const names = deviceClasses.map(({ name }) => name);
  return [{ type, volumeGroup, thinPool, deviceClasses: names, freeBytes: "0", sizeBytes: pool.sizeBytes }];
}

/**
 * Returns the stores that became low on space or have enough again, and the names of all spaces that are low now.
 */
export function spaceDifferences(
  low: readonly string[],
  state: LvmState,
  deviceClasses: readonly DeviceClass[],
  lowSpacePercent: number,
): { readonly differences: GroupDifference[]; readonly low: string[] } {
  const stores = storesOf(deviceClasses).flatMap((store) =>
    spacesOf(store, state).map((part) => ({ store, ...part })),
  );
  const { crossings, beyond } = limitCrossings(low, stores, {
    keyOf: ({ store, isMetadata }) => (isMetadata ? `${store.name} metadata` : store.name),
    isBeyond: ({ space }, wasLow) =>
      space && space.freePercent < lowSpacePercent + (wasLow ? hysteresisPercent : 0),
  });
  const differences = crossings.map(
    ({ resource: { store, space, isMetadata }, isBeyond }): GroupDifference => ({
      type: isBeyond ? "volumeGroup.low" : "volumeGroup.enough",
      volumeGroup: store.volumeGroup,
      thinPool: store.thinPool,
      deviceClasses: store.deviceClasses.map(({ name }) => name),
      freeBytes: String(space?.freeBytes ?? 0n),
      sizeBytes: String(space?.sizeBytes ?? 0n),
      isMetadata,
    }),
  );
  return { differences, low: beyond };
}

import type { LvmAdapter, LvmStep } from "../../../../adapters/lvm/adapter.ts";
import { type Attribution, createOwnChangeLog } from "../../../events/own-change-log.ts";
import type { VolumeDifference } from "./volume-differences.ts";

/** A change by this gateway. */
export interface OwnChange {
  readonly volumeGroup: string;
  /** Names of the changed volumes, before and after. */
  readonly names: readonly string[];
  readonly types: readonly VolumeDifference["type"][];
}

/** Distinguishes this gateway's changes of volumes from changes by others. */
export interface OwnChanges extends Attribution<VolumeDifference, OwnChange> {
  /** LVM adapter; changes made through it count as the gateway's own. */
  readonly lvm: LvmAdapter;
}

/** Differences that each step causes. While lvcreate or lvremove runs, a read may show an intermediate state of the volume. */
const typesOf: Readonly<Record<LvmStep["kind"], readonly VolumeDifference["type"][]>> = {
  create: ["volume.created", "volume.changed"],
  snapshot: ["volume.created", "volume.changed"],
  // A read that comes after both the creation and the renaming shows a volume created under its final name.
  rename: ["volume.created", "volume.changed"],
  createThinPool: ["volume.created", "volume.changed"],
  resizeMetadata: ["volume.changed"],
  resize: ["volume.resized"],
  changeTags: ["volume.changed"],
  // The snapshot disappears from the state, and its origin may get another size.
  merge: ["volume.changed", "volume.resized", "volume.removed"],
  resumeMerge: ["volume.changed", "volume.resized"],
  activate: ["volume.changed"],
  deactivate: ["volume.changed"],
  remove: ["volume.changed", "volume.removed"],
  removeThinPool: ["volume.changed", "volume.removed"],
};

/** @param lvm the adapter to wrap; a change made directly by it counts as a change by others */
export function createOwnChanges(lvm: LvmAdapter): OwnChanges {
  const log = createOwnChangeLog<OwnChange>(() => lvm.read());
  return {
    lvm: { ...lvm, run: (step) => log.during(changeOf(step), () => lvm.run(step)) },
    find({ type, volume, before }, readAtMs) {
      // Snapshots change with their origin when it is renamed, removed or activated.
      const about = [volume.name, volume.originName, before?.originName];
      const fits = ({ volumeGroup, names, types }: OwnChange) =>
        volumeGroup === volume.groupName &&
        types.includes(type) &&
        about.some((name) => name !== undefined && name !== null && names.includes(name));
      return log.find(fits, readAtMs);
    },
    forget: log.forget,
  };
}

function changeOf(step: LvmStep): OwnChange {
  return {
    volumeGroup: step.volumeGroupName,
    names: step.kind === "rename" ? [step.name, step.newName] : [step.name],
    types: typesOf[step.kind],
  };
}

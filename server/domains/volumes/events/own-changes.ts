import type { LvmAdapter, LvmStep } from "../../../../adapters/lvm/adapter.ts";
import { createOwnChangeLog } from "../../../events/own-change-log.ts";
import type { VolumeDifference } from "./volume-differences.ts";

/** A change that this gateway makes. */
export interface OwnChange {
  readonly volumeGroup: string;
  /** Volumes it is about, by the names before and after. */
  readonly names: readonly string[];
  readonly types: readonly VolumeDifference["type"][];
}

/** Tells this gateway's own changes of volumes from those of others. */
export interface OwnChanges {
  /** LVM, whose changes by this adapter are known as own ones. */
  readonly lvm: LvmAdapter;
  /**
   * The change that a difference comes from, as far as that is known.
   * @param readAtMs when the read began that shows the difference (performance.now())
   */
  find(difference: VolumeDifference, readAtMs: number): OwnChange | undefined;
  /** Forgets changes of which all is told by a state whose read began at that time (performance.now()). */
  forget(readAtMs: number): void;
}

/** What each step does to its volume. While lvcreate or lvremove runs, the volume may be seen in between. */
const typesOf: Readonly<Record<LvmStep["kind"], readonly VolumeDifference["type"][]>> = {
  create: ["volume.created", "volume.changed"],
  snapshot: ["volume.created", "volume.changed"],
  // Who looks only after two steps sees a volume made under its last name.
  rename: ["volume.created", "volume.changed"],
  resize: ["volume.resized"],
  changeTags: ["volume.changed"],
  activate: ["volume.changed"],
  deactivate: ["volume.changed"],
  remove: ["volume.changed", "volume.removed"],
};

export function createOwnChanges(lvm: LvmAdapter): OwnChanges {
  const log = createOwnChangeLog<OwnChange>(() => lvm.read());
  return {
    lvm: { ...lvm, run: (step) => log.during(changeOf(step), () => lvm.run(step)) },
    find({ type, volume, before }, readAtMs) {
      // Snapshots follow their origin when it is renamed, removed, or gets its device.
      const about = [volume.name, volume.originName, before?.originName];
      const fits = ({ volumeGroup, names, types }: OwnChange) =>
        volumeGroup === volume.groupName &&
        types.includes(type) &&
        about.some((name) => name !== undefined && name !== null && names.includes(name));
      return log.find(fits, readAtMs);
    },
    forget: (readAtMs) => log.forget(readAtMs),
  };
}

function changeOf(step: LvmStep): OwnChange {
  return {
    volumeGroup: step.volumeGroupName,
    names: step.kind === "rename" ? [step.name, step.newName] : [step.name],
    types: typesOf[step.kind],
  };
}

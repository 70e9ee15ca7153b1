import { AsyncLocalStorage } from "node:async_hooks";
import type { LvmAdapter, LvmStep } from "../../../../adapters/lvm/adapter.ts";
import type { VolumeDifference } from "./volume-differences.ts";

/** A change that this gateway makes, from its beginning until its effect is told. */
export interface OwnChange {
  readonly volumeGroup: string;
  /** Volumes it is about, by the names before and after. */
  readonly names: readonly string[];
  readonly types: readonly VolumeDifference["type"][];
  /** When the read began by which all its effects are seen (performance.now()); undefined until then. */
  shownAtMs: number | undefined;
}

/** Tells this gateway's own changes of volumes from those of others. */
export interface OwnChanges {
  /** LVM, whose changes by this adapter are known as own ones. */
  readonly lvm: LvmAdapter;
  /** The change that a difference comes of, as far as anybody can tell. */
  find(difference: VolumeDifference): OwnChange | undefined;
  /** Forgets changes of which all is told by a state whose read began at that time (performance.now()). */
  forget(readAtMs: number): void;
}

/** While nobody tells of changes, no more of them are remembered. */
const maxRemembered = 1000;

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
  const changes = new Set<OwnChange>();
  // What is read to tell of a change is not the work of the call that has made it.
  const outsideCalls = AsyncLocalStorage.snapshot();

  function remember(step: LvmStep): OwnChange {
    const change = {
      volumeGroup: step.volumeGroupName,
      names: step.kind === "rename" ? [step.name, step.newName] : [step.name],
      types: typesOf[step.kind],
      shownAtMs: undefined,
    };
    changes.add(change);
    const [oldest] = changes;
    if (changes.size > maxRemembered && oldest !== undefined) {
      changes.delete(oldest);
    }
    return change;
  }

  async function awaitShown(change: OwnChange): Promise<void> {
    const { readAtMs } = await lvm.read().catch(() => ({ readAtMs: performance.now() }));
    change.shownAtMs = readAtMs;
  }

  return {
    lvm: {
      ...lvm,
      async run(step) {
        const change = remember(step);
        try {
          await lvm.run(step);
        } finally {
          void outsideCalls(awaitShown, change);
        }
      },
    },
    find({ type, volume, before }) {
      return [...changes].find(
        ({ volumeGroup, names, types }) =>
          volumeGroup === volume.groupName &&
          types.includes(type) &&
          // Snapshots follow their origin when it is renamed, removed, or gets its device.
          [volume.name, volume.originName, before?.originName].some(
            (name) => name !== undefined && name !== null && names.includes(name),
          ),
      );
    },
    forget(readAtMs) {
      for (const change of changes) {
        if (change.shownAtMs !== undefined && change.shownAtMs <= readAtMs) {
          changes.delete(change);
        }
      }
    },
  };
}

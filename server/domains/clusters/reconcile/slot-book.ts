import { createLimiter } from "../../../../adapters/host/limiter.ts";
import type { FencedCluster } from "../store/fence.ts";
import type { NewSlot, SlotChange, SlotRecord } from "../store/records.ts";
import type { PassLease } from "./pass-lease.ts";
import type { Boundary, ReconcilerOptions } from "./reconciler-options.ts";

/** Changes to a slot that is in the state in which it was read. */
export type SlotFacts = Omit<SlotChange, "uid" | "from">;

/** The slots of a cluster in a pass, in sync with the store. */
export interface SlotBook {
  /** Returns the slots that are not released, oldest first. */
  all(): readonly SlotRecord[];
  /** Returns a slot; undefined when it is released. */
  get(uid: string): SlotRecord | undefined;
  /**
   * Writes a change of a slot.
   * @throws InfraError OPERATION_IN_PROGRESS when another gateway has the cluster, or a slot has changed since it was read; and
   *   as the store does
   */
  write(slot: SlotRecord, facts: SlotFacts): Promise<void>;
  /** Writes all changes or none; throws as `write`. */
  writeAll(add: readonly NewSlot[], change: readonly SlotChange[]): Promise<void>;
  /** Whether any slot has changed its state since the pass began. */
  readonly hasMoved: boolean;
}

const maxWaiting = Number.MAX_SAFE_INTEGER;

/** Creates the book of slots. @param slots as read by the claim */
export function createSlotBook(
  store: ReconcilerOptions["store"],
  fenced: FencedCluster,
  slots: readonly SlotRecord[],
  lease: PassLease,
  boundary: Boundary | undefined,
): SlotBook {
  const known = new Map(slots.map((slot) => [slot.uid, slot]));
  // Serialized, since concurrent writes would conflict in the store.
  const turns = createLimiter({ what: "writes of a cluster", maxRunning: 1, maxWaiting });
  let hasMoved = false;

  async function writeNow(add: readonly NewSlot[], change: readonly SlotChange[]): Promise<void> {
    const name = [...add.map(() => "wanted"), ...change.map(({ from, state = from }) => state)].join("+");
    await boundary?.(`before write ${name}`);
    // The store rejects writes without the lease anyway; this avoids the call.
    lease.assertHeld();
    const written = await store.run("clusters.writeSlots", { fenced, add, change });
    await boundary?.(`after write ${name}`);
    if (!written.ok) {
      lease.lose();
      return lease.assertHeld();
    }
    const live = new Map(written.slots.map((slot) => [slot.uid, slot]));
    hasMoved ||= add.length > 0 || change.some(({ from, state = from }) => state !== from);
    for (const { uid } of [...add, ...change]) {
      const slot = live.get(uid);
      if (slot === undefined) {
        known.delete(uid);
      } else {
        known.set(uid, slot);
      }
    }
  }

  return {
    all: () => [...known.values()],
    get: (uid) => known.get(uid),
    write: (slot, facts) => turns.run(() => writeNow([], [{ ...facts, uid: slot.uid, from: slot.state }])),
    writeAll: (add, change) => turns.run(() => writeNow(add, change)),
    get hasMoved() {
      return hasMoved;
    },
  };
}

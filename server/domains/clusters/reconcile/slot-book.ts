import { createLimiter } from "../../../../adapters/host/limiter.ts";
import type { FencedCluster } from "../../../store/cluster-fence.ts";
import type { NewSlot, SlotChange, SlotRecord } from "../../../store/cluster-records.ts";
import type { PassLease } from "./pass-lease.ts";
import type { Boundary, ReconcilerOptions } from "./reconciler-options.ts";

/** What is to be written of a slot that is in the state in which it was read. */
export type SlotFacts = Omit<SlotChange, "uid" | "from">;

/** The slots of a cluster in a pass, as the store has them. */
export interface SlotBook {
  /** Those that are not released, the oldest first. */
  all(): readonly SlotRecord[];
  /** Undefined when it is released. */
  get(uid: string): SlotRecord | undefined;
  /**
   * Writes what happened to a slot.
   * @throws InfraError OPERATION_IN_PROGRESS when another gateway has the cluster, or a slot is not as it was read; and as the store does
   */
  write(slot: SlotRecord, facts: SlotFacts): Promise<void>;
  /** Writes all of it or nothing; throws as `write`. */
  writeAll(add: readonly NewSlot[], change: readonly SlotChange[]): Promise<void>;
  /** Whether a slot is in another state than when the pass began. */
  readonly hasMoved: boolean;
}

const maxWaiting = Number.MAX_SAFE_INTEGER;

/** @param slots as the claim has read them */
export function createSlotBook(
  store: ReconcilerOptions["store"],
  fenced: FencedCluster,
  slots: readonly SlotRecord[],
  lease: PassLease,
  boundary: Boundary | undefined,
): SlotBook {
  const known = new Map(slots.map((slot) => [slot.uid, slot]));
  // One after the other, as they would get in each other's way in the store.
  const turns = createLimiter({ what: "writes of a cluster", maxRunning: 1, maxWaiting });
  let hasMoved = false;

  async function writeNow(add: readonly NewSlot[], change: readonly SlotChange[]): Promise<void> {
    const name = [...add.map(() => "wanted"), ...change.map(({ from, state = from }) => state)].join("+");
    await boundary?.(`before write ${name}`);
    // What is written is refused anyway when the lease is over; this way nothing is even asked.
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

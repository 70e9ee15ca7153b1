import type { Activity } from "../../../domain/domain-services.ts";
import type { Store } from "../../../store/store.ts";
import type { InventoryRow } from "../read-inventory.ts";
import { storeRows } from "./stored-rows.ts";

/** The rows of a host at a time. */
export interface HostState {
  /** ID of the host. */
  readonly id: string;
  /** The same array as long as nothing has changed. */
  readonly rows: readonly InventoryRow[];
  /** Until when they are known to be the host's. */
  readonly atMs: number;
}

/** Stores the rows of hosts, so that a hub that is started later has them although a host is silent. */
export interface StoredStates extends Activity {
  /** Stores the state of a host that was lost. */
  store(state: HostState): void;
}

export interface StoredStatesOptions {
  readonly store: Pick<Store, "run">;
  /** Returns the states of all connected hosts. */
  readonly connected: () => readonly HostState[];
  /** Called when a state cannot be stored. It is stored later, unless the host was lost. */
  readonly onFailed: (error: unknown) => void;
  /** How often what has changed is stored, for a hub that is killed. Default: 10 minutes. */
  readonly everyMs?: number;
}

/** How long a hub that stops goes on storing states: longer with a thousand hosts, whose states are ten minutes old at most. */
const closeMs = 2000;

/** Starts to store the rows of connected hosts every `everyMs`, those that have changed, until it is closed. */
export function keepStored({
  store,
  connected,
  onFailed,
  everyMs = 600_000,
}: StoredStatesOptions): StoredStates {
  /** The rows that are stored, by ID of the host. */
  const stored = new Map<string, readonly InventoryRow[]>();
  let last = Promise.resolve();
  let isStoring = false;

  /** Stores one state after the other: all hosts may be lost at once. */
  function write({ id, rows, atMs }: HostState): Promise<void> {
    last = last.then(async () => {
      if (stored.get(id) !== rows) {
        try {
          await storeRows(store, id, atMs, rows);
          stored.set(id, rows);
        } catch (error) {
          onFailed(error);
        }
      }
    });
    return last;
  }

  async function writeAll(untilMs = Number.POSITIVE_INFINITY): Promise<void> {
    const states = connected();
    const ids = new Set(states.map(({ id }) => id));
    for (const id of stored.keys()) {
      if (!ids.has(id)) {
        stored.delete(id);
      }
    }
    for (const state of states) {
      if (performance.now() < untilMs) {
        await write(state);
      }
    }
  }

  const timer = setInterval(() => {
    if (!isStoring) {
      isStoring = true;
      void writeAll().finally(() => {
        isStoring = false;
      });
    }
  }, everyMs).unref();
  return {
    store: (state) => void write(state),
    async close() {
      clearInterval(timer);
      await writeAll(performance.now() + closeMs);
      await last;
    },
  };
}

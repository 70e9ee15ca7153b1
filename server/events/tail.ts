import { backOffMs } from "../../adapters/host/back-off.ts";
import type { Store } from "../store/store.ts";
import { recordFromRow } from "./event-record.ts";
import { readPauses } from "./read-pauses.ts";
import type { RecentEvents } from "./recent-events.ts";

/** Reads new events in order and without gaps, no matter which gateway writes them. */
export interface Tail {
  /** Number of the newest event that has been read. */
  readonly headSeq: number;
  /** Highest purged event number, as of the last read. */
  readonly goneSeq: number;
  /**
   * Resolves once everything that was committed before the call has been read.
   * @throws InfraError STORE_UNAVAILABLE
   */
  refresh(): Promise<void>;
  /** Resolves once an event with a higher number has been read, or the signal is aborted. */
  beyond(seq: number, signal: AbortSignal): Promise<void>;
  /** Stops reading, and resolves once no read is in progress. */
  close(): Promise<void>;
}

/** Options of `createTail`. */
export interface TailOptions {
  readonly store: Pick<Store, "run" | "subscribe" | "isShared">;
  /** Current position of the events. */
  readonly head: { readonly headSeq: number; readonly goneSeq: number };
  /** Receives the events that are read. */
  readonly recent: RecentEvents;
  /** Poll interval of a store that others also write to: their notifications may be lost with a connection. */
  readonly pollMs: number;
  /** Called when the store cannot be read, once per outage. */
  readonly onFailed: (error: unknown) => void;
}

const batchSize = 256;

/** Memory of a record, without its payload. */
const recordBytes = 512;

/** Reads on each notification of the store, and after a failure until a read succeeds. */
export function createTail({ store, head, recent, pollMs, onFailed }: TailOptions): Tail {
  let { headSeq, goneSeq } = head;
  let isStale = false;
  let reading: Promise<void> | undefined;
  let failures = 0;
  let timer: NodeJS.Timeout | undefined;
  let isClosed = false;
  const waiting = new Set<() => void>();

  /** Reads until nothing is new. A call during a read also waits for what was committed before the call. */
  function read(): Promise<void> {
    isStale = true;
    reading ??= readWhileStale();
    return reading;
  }

  async function readWhileStale(): Promise<void> {
    try {
      while (isStale && !isClosed) {
        isStale = false;
        await readBatch();
      }
    } finally {
      reading = undefined;
    }
  }

  async function readBatch(): Promise<void> {
    const beforeSeq = headSeq;
    const batch = await store.run("events.read", { afterSeq: headSeq, limit: batchSize });
    goneSeq = batch.goneSeq;
    if (headSeq < goneSeq) {
      // Events were purged before they were read. Followers get HISTORY_GONE, since the store is read for those not in memory.
      headSeq = goneSeq;
      recent.restartAfter(goneSeq);
    }
    for (const row of batch.rows) {
      const record = recordFromRow(row);
      recent.push(record, recordBytes + row.payload_json.length);
      headSeq = record.seq;
    }
    isStale ||= batch.rows.length === batchSize;
    if (headSeq > beforeSeq) {
      for (const onRead of [...waiting]) {
        onRead();
      }
    }
  }

  async function wake(): Promise<void> {
    try {
      await read();
      failures = 0;
      schedule(store.isShared ? pollMs : undefined);
    } catch (error) {
      if (failures === 0 && !isClosed) {
        onFailed(error);
      }
      failures += 1;
      schedule(backOffMs(failures, readPauses));
    }
  }

  function schedule(ms: number | undefined): void {
    clearTimeout(timer);
    if (ms !== undefined && !isClosed) {
      timer = setTimeout(wake, ms).unref();
    }
  }

  const unsubscribe = store.subscribe("events", () => void wake());
  void wake();

  return {
    get headSeq() {
      return headSeq;
    },
    get goneSeq() {
      return goneSeq;
    },
    refresh: read,
    beyond(seq, signal) {
      return new Promise((resolve) => {
        const settle = () => {
          waiting.delete(onRead);
          signal.removeEventListener("abort", settle);
          resolve();
        };
        const onRead = () => {
          if (headSeq > seq) {
            settle();
          }
        };
        waiting.add(onRead);
        signal.addEventListener("abort", settle, { once: true });
        if (signal.aborted) {
          settle();
        }
        onRead();
      });
    },
    async close() {
      isClosed = true;
      clearTimeout(timer);
      unsubscribe();
      await reading?.catch(() => undefined);
    },
  };
}

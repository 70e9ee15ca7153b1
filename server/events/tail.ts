import { backOffMs } from "../../adapters/host/back-off.ts";
import type { Store } from "../store/store.ts";
import { recordFromRow } from "./event-record.ts";
import { readPauses } from "./read-pauses.ts";
import type { RecentEvents } from "./recent-events.ts";

/** Reads what is appended to the events, in order and without gap, whoever appends it. */
export interface Tail {
  /** Number of the newest event that has been read. */
  readonly headSeq: number;
  /** The highest number that was no longer kept when it was looked at last. */
  readonly goneSeq: number;
  /**
   * Resolves once everything has been read that was committed before the call.
   * @throws InfraError STORE_UNAVAILABLE
   */
  refresh(): Promise<void>;
  /** Resolves once an event with a higher number has been read, or the signal is aborted. */
  beyond(seq: number, signal: AbortSignal): Promise<void>;
  /** Reads no more, and resolves once nothing is being read. */
  close(): Promise<void>;
}

/** What `createTail` needs. */
export interface TailOptions {
  readonly store: Pick<Store, "run" | "subscribe" | "isShared">;
  /** Where the events stand now. */
  readonly head: { readonly headSeq: number; readonly goneSeq: number };
  /** Gets what is read. */
  readonly recent: RecentEvents;
  /** How often a store is read that others write as well: a notification of theirs may be lost with its connection. */
  readonly pollMs: number;
  /** Called when the store cannot be read, once until it can be read again. */
  readonly onFailed: (error: unknown) => void;
}

const batchSize = 256;

/** Of a record in memory, besides its payload. */
const recordBytes = 512;

/** Reads whenever the store says that there may be something new, and after a failure until it succeeds. */
export function createTail({ store, head, recent, pollMs, onFailed }: TailOptions): Tail {
  let { headSeq, goneSeq } = head;
  let isStale = false;
  let reading: Promise<void> | undefined;
  let failures = 0;
  let timer: NodeJS.Timeout | undefined;
  let isClosed = false;
  const waiting = new Set<() => void>();

  /** Reads until nothing is new; who calls it meanwhile gets what is committed before the call as well. */
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
      // Some were removed unread. Who follows is told so by the store, for they are not among the recent ones.
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

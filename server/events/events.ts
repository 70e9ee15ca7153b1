import { setTimeout as delay } from "node:timers/promises";
import { InfraError } from "../../adapters/host/infra-error.ts";
import { startPurge } from "../store/purge.ts";
import type { Store } from "../store/store.ts";
import { retryDelayMs } from "./back-off.ts";
import { cursorFrom, parseCursor } from "./cursor.ts";
import { type EventFilter, type EventRecord, isWanted, recordFromRow } from "./event-record.ts";
import { createRecentEvents } from "./recent-events.ts";
import { createTail } from "./tail.ts";

/** What happens, in the order in which it was written down. */
export interface Events {
  /** Number of the newest event that is known here. */
  readonly headSeq: number;
  /** The place behind an event, as clients keep it. */
  cursorOf(seq: number): string;
  /** @throws InfraError INVALID_FIELD, HISTORY_GONE (which names the oldest cursor), STORE_UNAVAILABLE */
  seqOf(cursor: string): Promise<number>;
  /** Number of the newest event that was written down before the call. @throws InfraError STORE_UNAVAILABLE */
  currentSeq(): Promise<number>;
  /**
   * The place before the first event that is not before a time (milliseconds of the store's clock); now, when there is none
   * yet.
   * @throws InfraError HISTORY_GONE, STORE_UNAVAILABLE
   */
  seqAtTime(atMs: number): Promise<number>;
  /**
   * The next few events after a number, in order; none when it is the newest here. While the store is away it waits, but for
   * what is new enough to be known here.
   * @throws InfraError HISTORY_GONE, and the signal's reason
   */
  after(seq: number, signal: AbortSignal): Promise<readonly EventRecord[]>;
  /**
   * All events after a number that are wanted, in order, without gap or repeat, at the pace of who reads. Waits for those to
   * come, and ends when the signal is aborted or the gateway closes.
   * @throws InfraError HISTORY_GONE
   */
  follow(afterSeq: number, filter: EventFilter, signal: AbortSignal): AsyncGenerator<EventRecord, void>;
  /** Ends what follows, and resolves once the store is not asked any more. */
  close(): Promise<void>;
}

/** What `createEvents` needs. */
export interface EventsOptions {
  readonly store: Pick<Store, "run" | "subscribe" | "isShared">;
  /** How long events are kept. */
  readonly keepMs: number;
  /** How often a shared store is read without a notification; 1 s if absent. */
  readonly pollMs?: number;
  /** Room for the newest events, from which those who lag a little are served; 4096 and 8 MiB if absent. */
  readonly recent?: { readonly maxRecords: number; readonly maxBytes: number };
  /** Called when the store cannot be read, or what is too old not be removed; both are tried again. */
  readonly onFailed: (error: unknown) => void;
}

/** What one reader who lags holds at once. */
const batchSize = 64;

const purgeSize = 500;

/**
 * Reads the events of a store, and removes those that are too old.
 * @throws InfraError STORE_UNAVAILABLE
 */
export async function createEvents(options: EventsOptions): Promise<Events> {
  const { store, keepMs, pollMs = 1000, onFailed } = options;
  const { epoch, ...head } = await store.run("events.head", undefined);
  const recent = createRecentEvents(head.headSeq, options.recent ?? { maxRecords: 4096, maxBytes: 8 << 20 });
  const tail = createTail({ store, head, recent, pollMs, onFailed });
  const closing = new AbortController();
  const purge = startPurge(async () => {
    const { count } = await store.run("events.purge", { keepMs, limit: purgeSize });
    return count === purgeSize;
  }, onFailed);

  const cursorOf = (seq: number) => cursorFrom({ epoch, seq });

  function historyGone(goneSeq: number): InfraError {
    const message =
      "events after the cursor are no longer kept; read the state anew, and go on from the cursor in the metadata or from now";
    return new InfraError("HISTORY_GONE", message, { metadata: { oldestCursor: cursorOf(goneSeq) } });
  }

  async function readStored(seq: number): Promise<readonly EventRecord[]> {
    const { rows, goneSeq } = await store.run("events.read", {
      afterSeq: seq,
      upToSeq: tail.headSeq,
      limit: batchSize,
    });
    if (seq < goneSeq) {
      throw historyGone(goneSeq);
    }
    return rows.map(recordFromRow);
  }

  async function after(seq: number, signal: AbortSignal): Promise<readonly EventRecord[]> {
    for (let failures = 0; ; failures += 1) {
      if (failures > 0) {
        await delay(retryDelayMs(failures), undefined, { signal }).catch(() => undefined);
      }
      signal.throwIfAborted();
      const known = seq >= tail.headSeq ? [] : recent.after(seq, batchSize);
      if (known !== undefined) {
        return known;
      }
      try {
        return await readStored(seq);
      } catch (error) {
        if (!(error instanceof InfraError && error.reason === "STORE_UNAVAILABLE")) {
          throw error;
        }
      }
    }
  }

  return {
    get headSeq() {
      return tail.headSeq;
    },
    cursorOf,
    async seqOf(cursor) {
      const place = parseCursor(cursor);
      await tail.refresh();
      // A number that was not given yet is of a store that was put back to an earlier state.
      if (place.epoch !== epoch || place.seq < tail.goneSeq || place.seq > tail.headSeq) {
        throw historyGone(tail.goneSeq);
      }
      return place.seq;
    },
    async currentSeq() {
      await tail.refresh();
      return tail.headSeq;
    },
    async seqAtTime(atMs) {
      const place = await store.run("events.atTime", { atMs });
      if (!place.isKept) {
        throw historyGone(place.goneSeq);
      }
      await tail.refresh();
      return place.seq;
    },
    after,
    async *follow(afterSeq, filter, signal) {
      const ending = AbortSignal.any([signal, closing.signal]);
      let seq = afterSeq;
      try {
        while (!ending.aborted) {
          const records = await after(seq, ending);
          for (const record of records) {
            seq = record.seq;
            if (isWanted(record, filter)) {
              yield record;
            }
          }
          if (records.length === 0) {
            await tail.beyond(seq, ending);
          }
        }
      } catch (error) {
        if (!ending.aborted) {
          throw error;
        }
      }
    },
    async close() {
      closing.abort();
      await Promise.all([tail.close(), purge.stop()]);
    },
  };
}

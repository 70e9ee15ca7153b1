import { setTimeout as delay } from "node:timers/promises";
import { backOffMs } from "../../adapters/host/back-off.ts";
import { hasReason, InfraError } from "../../adapters/host/infra-error.ts";
import { hostReasons } from "../../adapters/host/reasons.ts";
import { startPurge } from "../store/purge.ts";
import { storeReasons } from "../store/reasons.ts";
import type { Store } from "../store/store.ts";
import { cursorFrom, parseCursor } from "./cursor.ts";
import { type EventFilter, type EventRecord, matches, recordFromRow } from "./event-record.ts";
import { readPauses } from "./read-pauses.ts";
import { eventReasons } from "./reasons.ts";
import { createRecentEvents } from "./recent-events.ts";
import { createTail } from "./tail.ts";

/** The events of a store, in the order in which they were written. */
export interface Events {
  /** Number of the newest event known here. */
  readonly headSeq: number;
  /** Returns the position after an event as an opaque cursor. */
  cursorOf(seq: number): string;
  /** @throws InfraError INVALID_FIELD, HISTORY_GONE (which names the oldest cursor), STORE_UNAVAILABLE */
  seqOf(cursor: string): Promise<number>;
  /** Returns the number of the newest event written before the call. @throws InfraError STORE_UNAVAILABLE */
  currentSeq(): Promise<number>;
  /**
   * Returns the position before the first event at or after a time (milliseconds of the store's clock); the current position if
   * there is none yet.
   * @throws InfraError HISTORY_GONE, STORE_UNAVAILABLE
   */
  seqAtTime(atMs: number): Promise<number>;
  /**
   * Returns the next few events after a number, in order; none if it is the newest known here. During an outage of the store it
   * waits, unless the events are recent enough to be in memory.
   * @throws InfraError HISTORY_GONE, and the signal's reason
   */
  after(seq: number, signal: AbortSignal): Promise<readonly EventRecord[]>;
  /** Resolves once there is an event after a number. @throws InfraError SHUTTING_DOWN, and the signal's reason */
  beyond(seq: number, signal: AbortSignal): Promise<void>;
  /**
   * Yields all matching events after a number, in order, without gaps or repeats, at the reader's pace. Waits for new events,
   * and ends when the signal is aborted or the gateway closes.
   * @throws InfraError HISTORY_GONE
   */
  follow(afterSeq: number, filter: EventFilter, signal: AbortSignal): AsyncGenerator<EventRecord, void>;
  /**
   * Yields the matching events after a number like `follow`, up to and including the event `upToSeq`, which must exist.
   * @throws InfraError HISTORY_GONE, SHUTTING_DOWN, and the signal's reason
   */
  between(
    afterSeq: number,
    upToSeq: number,
    filter: EventFilter,
    signal: AbortSignal,
  ): AsyncGenerator<EventRecord, void>;
  /** Ends all followers, and resolves once the store is no longer used. */
  close(): Promise<void>;
}

/** Options of `createEvents`. */
export interface EventsOptions {
  readonly store: Pick<Store, "run" | "subscribe" | "isShared">;
  /** How long events are kept. */
  readonly keepMs: number;
  /** How often a shared store is polled in addition to notifications. Default: 1 s. */
  readonly pollMs?: number;
  /** Memory for the newest events, which serves readers that lag a little. Default: 4096 records and 8 MiB. */
  readonly recent?: { readonly maxRecords: number; readonly maxBytes: number };
  /** Called when reading the store or purging old events fails; both are retried. */
  readonly onFailed: (error: unknown) => void;
}

/** Maximum number of events that a lagging reader holds at a time. */
const batchSize = 64;

const purgeSize = 500;

interface Batch {
  readonly records: readonly EventRecord[];
  /** There are no other matching events up to this number. */
  readonly readSeq: number;
}

/**
 * Opens the events of a store, and purges old ones.
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
      "events after the cursor were purged; read the current state again, and resume from the cursor in the metadata or from now";
    return new InfraError(eventReasons.HISTORY_GONE, message, {
      metadata: { oldestCursor: cursorOf(goneSeq) },
    });
  }

  async function readStored(seq: number, operationId: string | undefined): Promise<Batch> {
    // Everything up to here is committed, because the tail has read it.
    const { headSeq } = tail;
    const { rows, goneSeq } = await store.run("events.read", {
      afterSeq: seq,
      upToSeq: headSeq,
      limit: batchSize,
      ...(operationId === undefined ? {} : { operationId }),
    });
    if (seq < goneSeq) {
      throw historyGone(goneSeq);
    }
    const records = rows.map(recordFromRow);
    return { records, readSeq: rows.length < batchSize ? headSeq : (records.at(-1)?.seq ?? headSeq) };
  }

  async function readNext(seq: number, signal: AbortSignal, operationId?: string): Promise<Batch> {
    for (let failures = 0; ; failures += 1) {
      if (failures > 0) {
        await delay(backOffMs(failures, readPauses), undefined, { signal }).catch(() => undefined);
      }
      signal.throwIfAborted();
      const known = seq >= tail.headSeq ? [] : recent.after(seq, batchSize);
      if (known !== undefined) {
        return { records: known, readSeq: known.at(-1)?.seq ?? seq };
      }
      try {
        return await readStored(seq, operationId);
      } catch (error) {
        if (!hasReason(error, storeReasons.STORE_UNAVAILABLE)) {
          throw error;
        }
      }
    }
  }

  async function* between(afterSeq: number, upToSeq: number, filter: EventFilter, signal: AbortSignal) {
    const ending = AbortSignal.any([signal, closing.signal]);
    let seq = afterSeq;
    while (seq < upToSeq) {
      const { records, readSeq } = await readNext(seq, ending, filter.operationId);
      for (const record of records) {
        if (record.seq > upToSeq) {
          return;
        }
        if (matches(record, filter)) {
          yield record;
        }
      }
      if (readSeq === seq) {
        await tail.beyond(seq, ending);
      }
      seq = readSeq;
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
      // A number that is not assigned yet comes from a store that was since restored to an earlier state.
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
    after: async (seq, signal) => (await readNext(seq, signal)).records,
    async beyond(seq, signal) {
      const ending = AbortSignal.any([signal, closing.signal]);
      await tail.beyond(seq, ending);
      ending.throwIfAborted();
    },
    between,
    async *follow(afterSeq, filter, signal) {
      try {
        yield* between(afterSeq, Number.POSITIVE_INFINITY, filter, signal);
      } catch (error) {
        if (!signal.aborted && !closing.signal.aborted) {
          throw error;
        }
      }
    },
    async close() {
      closing.abort(new InfraError(hostReasons.SHUTTING_DOWN, "the gateway is stopping"));
      await Promise.all([tail.close(), purge.stop()]);
    },
  };
}

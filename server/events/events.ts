import { setTimeout as delay } from "node:timers/promises";
import { backOffMs } from "../../adapters/host/back-off.ts";
import { InfraError } from "../../adapters/host/infra-error.ts";
import { startPurge } from "../store/purge.ts";
import type { Store } from "../store/store.ts";
import { cursorFrom, parseCursor } from "./cursor.ts";
import { type EventFilter, type EventRecord, isWanted, recordFromRow } from "./event-record.ts";
import { readPauses } from "./read-pauses.ts";
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
  /**
   * The events after a number that are wanted, as `follow` has them, up to and with another number, which one had.
   * @throws InfraError HISTORY_GONE, SHUTTING_DOWN, and the signal's reason
   */
  between(
    afterSeq: number,
    upToSeq: number,
    filter: EventFilter,
    signal: AbortSignal,
  ): AsyncGenerator<EventRecord, void>;
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

interface Batch {
  readonly records: readonly EventRecord[];
  /** No others that were asked for are up to there. */
  readonly readSeq: number;
}

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

  async function readStored(seq: number, operationId: string | undefined): Promise<Batch> {
    // Up to there everything is committed, for the tail has read it.
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
        if (!(error instanceof InfraError && error.reason === "STORE_UNAVAILABLE")) {
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
        if (isWanted(record, filter)) {
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
    after: async (seq, signal) => (await readNext(seq, signal)).records,
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
      closing.abort(new InfraError("SHUTTING_DOWN", "the gateway is stopping"));
      await Promise.all([tail.close(), purge.stop()]);
    },
  };
}

import type { EventRecord } from "./event-record.ts";

/** The newest events in memory, for readers that lag a little. Older ones are read from the store. */
export interface RecentEvents {
  /**
   * Adds the next event.
   * @param bytes memory that it takes
   */
  push(record: EventRecord, bytes: number): void;
  /** Returns up to `limit` events after a number; none when it is the newest, undefined when some of them are not in memory. */
  after(seq: number, limit: number): readonly EventRecord[] | undefined;
  /** Discards all events, because the next pushed event does not follow directly. */
  restartAfter(seq: number): void;
}

/** @param afterSeq number of the event before the first one that will be pushed */
export function createRecentEvents(
  afterSeq: number,
  { maxRecords, maxBytes }: { readonly maxRecords: number; readonly maxBytes: number },
): RecentEvents {
  let records: EventRecord[] = [];
  let sizes: number[] = [];
  /** Index of the oldest event; those before it are discarded. */
  let first = 0;
  let bytesKept = 0;
  /** All events with a higher number are in memory. */
  let floorSeq = afterSeq;

  function forgetOldest(): void {
    floorSeq = records[first]?.seq ?? floorSeq;
    bytesKept -= sizes[first] ?? 0;
    first += 1;
    if (first > records.length / 2) {
      records = records.slice(first);
      sizes = sizes.slice(first);
      first = 0;
    }
  }

  /** Returns the index of the first event with a higher number. */
  function indexAfter(seq: number): number {
    let low = first;
    let high = records.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((records[middle]?.seq ?? 0) <= seq) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }

  return {
    push(record, bytes) {
      records.push(record);
      sizes.push(bytes);
      bytesKept += bytes;
      while (records.length - first > maxRecords || (bytesKept > maxBytes && first < records.length)) {
        forgetOldest();
      }
    },
    after(seq, limit) {
      if (seq < floorSeq) {
        return undefined;
      }
      const index = indexAfter(seq);
      return records.slice(index, index + limit);
    },
    restartAfter(seq) {
      records = [];
      sizes = [];
      first = 0;
      bytesKept = 0;
      floorSeq = seq;
    },
  };
}

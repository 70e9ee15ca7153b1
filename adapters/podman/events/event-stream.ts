import { AsyncLocalStorage } from "node:async_hooks";
import { setTimeout as sleep } from "node:timers/promises";
import { backOffMs } from "../../host/back-off.ts";
import { createLineSplitter } from "../../host/line-splitter.ts";
import type { PodmanClient } from "../client.ts";
import { nowNs } from "../clock.ts";
import { type EventRecord, parseEvent } from "../parse/parse-event.ts";
import { secondsFromNs } from "../parse/parse-time.ts";

export interface EventStreamOptions {
  readonly client: PodmanClient;
  /** Called with each batch of records, before `onRecord` for each of them. */
  readonly onRecords: (records: readonly EventRecord[]) => void;
  /** Called once for each record, in Podman's order. `isPast`: it was recorded before the stream first connected. */
  readonly onRecord: (record: EventRecord, isPast: boolean) => void;
  /**
   * Called when the stream is connected; from now on nothing is missed. Its records are delivered after this resolves.
   */
  readonly onLive: () => Promise<void>;
  readonly onLost: () => void;
  /** Records since then may have been missed. */
  readonly onGap: (sinceNs: bigint) => void;
}

export interface EventStream {
  isLive(): boolean;
  /** Resolves once it is live for the first time: everything recorded from then on is delivered. */
  readonly started: Promise<void>;
  /** Returns the time after which all undelivered records were or will be recorded, to within a second. */
  sinceNs(): bigint;
  close(): Promise<void>;
}

// `since` excludes records of that exact time and is imprecise (a time of 19 digits is cut to some 16), and records can
// be 90 ms out of order. So the query starts a little earlier, and known records are dropped.
export const marginNs = 5_000_000_000n;
const rememberedMs = 60_000;
const rememberedCount = 4096;
const retry = { firstMs: 100, longestMs: 5_000 };

/**
 * Follows Podman's event records permanently. It continues after the last record when the connection is lost, when the
 * service is restarted, and when the log is rotated, which ends a stream that has a `since` (one without it starts over
 * with old records).
 */
export function createEventStream(options: EventStreamOptions): EventStream {
  const { client, onRecords, onRecord, onLive, onLost, onGap } = options;
  const closing = new AbortController();
  /** When records arrived, by key, in Podman's order: those of the last minute, and at least some thousand. */
  const seen = new Map<string, number>();
  const started = Promise.withResolvers<void>();
  /** The last record in Podman's order, and when it was known to be the last; no key before the first. */
  let last: { readonly key?: string; readonly timeNs: bigint; readonly atMs: number } | undefined;
  let isLive = false;
  // Its work must not be attributed to the call that created it.
  const running = AsyncLocalStorage.snapshot()(run);

  async function run(): Promise<void> {
    let failures = 0;
    while (!closing.signal.aborted) {
      try {
        await follow(() => {
          failures = 0;
        });
      } catch {
        // Reported by `onLost`; readers get the errors of their own calls.
        failures += 1;
      }
      if (isLive) {
        isLive = false;
        onLost();
      }
      const pauseMs = failures === 0 ? retry.firstMs : backOffMs(failures, retry);
      await sleep(pauseMs, undefined, { signal: closing.signal, ref: false }).catch(() => {});
    }
  }

  async function follow(onConnected: () => void): Promise<void> {
    const readSinceNs = await catchUp();
    const ending = new AbortController();
    const signal = AbortSignal.any([closing.signal, ending.signal]);
    // No earlier than `catchUp` read, since all of those records are remembered.
    const since = secondsFromNs(readSinceNs - marginNs);
    const chunks = await client.stream("GET", `events?stream=true&since=${since}`, signal);
    try {
      isLive = true;
      started.resolve();
      await onLive();
      onConnected();
      const split = createLineSplitter();
      for await (const chunk of chunks) {
        for (const record of split(chunk).flatMap(recordsOf)) {
          take(record, false);
        }
      }
    } finally {
      ending.abort();
    }
  }

  /**
   * Returns the time to read from. After the clock was set back, records after the last one have an earlier time, and
   * Podman can be queried only by time.
   */
  function sinceNs(): bigint {
    if (last === undefined) {
      return nowNs();
    }
    const thenNs = nowNs() - BigInt(Math.round((performance.now() - last.atMs) * 1e6));
    return thenNs < last.timeNs ? thenNs : last.timeNs;
  }

  /**
   * Reads the records from before the stream is connected. @returns the time from which they were read, without the
   * margin
   */
  async function catchUp(): Promise<bigint> {
    const before = last;
    const beganNs = sinceNs();
    const atMs = performance.now();
    const records = await readRecords(client, beganNs, closing.signal);
    // If the last known record is still there, so are all after it: rotation keeps the newest half of the log.
    const at = before?.key === undefined ? -1 : records.findIndex(({ key }) => key === before.key);
    if (before?.key !== undefined && at === -1) {
      onGap(beganNs);
    }
    onRecords(records);
    for (const { key } of records.slice(0, at + 1)) {
      remember(key);
    }
    last ??= { timeNs: beganNs, atMs };
    for (const record of records.slice(at + 1)) {
      take(record, before === undefined);
    }
    last = { ...last, atMs };
    return beganNs;
  }

  function remember(key: string): void {
    seen.delete(key);
    seen.set(key, performance.now());
  }

  function take(record: EventRecord, isPast: boolean): void {
    const { key, timeNs } = record;
    if (seen.has(key)) {
      return;
    }
    remember(key);
    const atMs = performance.now();
    last = { key, timeNs, atMs };
    for (const [oldest, cameAtMs] of seen) {
      if (seen.size <= rememberedCount || cameAtMs > atMs - rememberedMs) {
        break;
      }
      seen.delete(oldest);
    }
    onRecord(record, isPast);
  }

  return {
    isLive: () => isLive,
    started: started.promise,
    sinceNs,
    async close() {
      closing.abort();
      await running;
    },
  };
}

/** Reads the records that Podman still has since then, in its order, including duplicates and a few earlier ones. */
export async function readRecords(
  client: PodmanClient,
  sinceNs: bigint,
  signal?: AbortSignal,
): Promise<readonly EventRecord[]> {
  const since = secondsFromNs(sinceNs > marginNs ? sinceNs - marginNs : 0n);
  // Without an `until`: if that is in the past, Podman 4.3.1 stops before it has read its log, and returns only some of
  // the records (one of five in a test).
  const text = await client.text(`events?stream=false&since=${since}`, signal);
  return text.split("\n").flatMap(recordsOf);
}

/** Parses a line; empty if it is invalid, so that the lines after it are still read. */
function recordsOf(line: string): readonly EventRecord[] {
  try {
    return [parseEvent(line)];
  } catch {
    return [];
  }
}

import { AsyncLocalStorage } from "node:async_hooks";
import { setTimeout as sleep } from "node:timers/promises";
import { backOffMs } from "../host/back-off.ts";
import type { PodmanClient } from "./client.ts";
import { nowNs } from "./clock.ts";
import { createLineSplitter, type EventRecord, parseEvent } from "./parse-event.ts";
import { secondsFromNs } from "./parse-time.ts";

export interface EventStreamOptions {
  readonly client: PodmanClient;
  /** Told of records that have come at once, before they are told one by one. */
  readonly onRecords: (records: readonly EventRecord[]) => void;
  /** Told of each record once, in Podman's order. `isPast`: it was there before the stream was first connected. */
  readonly onRecord: (record: EventRecord, isPast: boolean) => void;
  /** The stream stands: from now on nothing is missed. What it brings is not told before this has ended. */
  readonly onLive: () => Promise<void>;
  readonly onLost: () => void;
  /** What was recorded since then may have been missed. */
  readonly onGap: (sinceNs: bigint) => void;
}

export interface EventStream {
  isLive(): boolean;
  /** Resolves once it is live for the first time: what is recorded from then on is told. */
  readonly begun: Promise<void>;
  /** What it has not told yet was recorded later than that, or will be, give or take a second. */
  sinceNs(): bigint;
  close(): Promise<void>;
}

// `since` leaves out what is of that very moment, is not exact (a time of 19 digits is cut to some 16), and records were seen
// 90 ms apart in the wrong order; so a little more is asked for, and what came before is dropped.
export const marginNs = 5_000_000_000n;
const rememberedMs = 60_000;
const rememberedCount = 4096;
const retry = { firstMs: 100, longestMs: 5_000 };

/**
 * Podman's records of what happens, kept up for good: when the connection is lost, when the service is restarted, and when the log
 * is rotated, which ends a stream that has a `since` (and has one without begin anew with old records), it goes on after the last
 * record.
 */
export function createEventStream(options: EventStreamOptions): EventStream {
  const { client, onRecords, onRecord, onLive, onLost, onGap } = options;
  const closing = new AbortController();
  /** When they came, by key, in Podman's order: those of the last minute, and some thousand more. */
  const seen = new Map<string, number>();
  const begun = Promise.withResolvers<void>();
  /** The last record in Podman's order, and when nothing was known to be recorded behind it; no key before the first. */
  let last: { readonly key?: string; readonly timeNs: bigint; readonly atMs: number } | undefined;
  let isLive = false;
  // What it brings about is nobody's call.
  const running = AsyncLocalStorage.snapshot()(run);

  async function run(): Promise<void> {
    let failures = 0;
    while (!closing.signal.aborted) {
      try {
        await follow(() => {
          failures = 0;
        });
      } catch {
        // Told by `onLost`, and to whoever reads by the calls that fail.
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
    // No earlier than what was read: of that, all is remembered.
    const since = secondsFromNs(readSinceNs - marginNs);
    const chunks = await client.stream("GET", `events?stream=true&since=${since}`, signal);
    try {
      isLive = true;
      begun.resolve();
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

  /** Where the clock was set back what comes behind the last record has an earlier time, by which alone Podman can be asked. */
  function sinceNs(): bigint {
    if (last === undefined) {
      return nowNs();
    }
    const thenNs = nowNs() - BigInt(Math.round((performance.now() - last.atMs) * 1e6));
    return thenNs < last.timeNs ? thenNs : last.timeNs;
  }

  /** What was recorded before the stream stands. @returns since when that was read, but for the margin */
  async function catchUp(): Promise<bigint> {
    const before = last;
    const beganNs = sinceNs();
    const atMs = performance.now();
    const records = await readRecords(client, beganNs, closing.signal);
    // The record that came last is there as long as those behind it are: rotation keeps the newest half of the log.
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
    begun: begun.promise,
    sinceNs,
    async close() {
      closing.abort();
      await running;
    },
  };
}

/** What Podman has recorded since then and keeps, in its order; each record as often as it is there, and a few from before. */
export async function readRecords(
  client: PodmanClient,
  sinceNs: bigint,
  signal?: AbortSignal,
): Promise<readonly EventRecord[]> {
  const since = secondsFromNs(sinceNs > marginNs ? sinceNs - marginNs : 0n);
  // Without an `until`: one that has passed has Podman 4.3.1 stop before it has read its log, often at once; one record of five came.
  const text = await client.text(`events?stream=false&since=${since}`, signal);
  return text.split("\n").flatMap(recordsOf);
}

/** None for a line that is not understood: one such must not keep those after it from being read. */
function recordsOf(line: string): readonly EventRecord[] {
  try {
    return [parseEvent(line)];
  } catch {
    return [];
  }
}

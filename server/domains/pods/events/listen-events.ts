import { setImmediate as turn } from "node:timers/promises";
import { InfraError } from "../../../../adapters/host/infra-error.ts";
import { isSettledWithin } from "../../../../adapters/host/is-settled-within.ts";
import type { Event, ListenEventsRequest } from "../../../../gen/v1alpha/api_pb.ts";
import type { VisibilityOf } from "../../../domain/visibility.ts";
import type { EventFilter, EventRecord } from "../../../events/event-record.ts";
import type { Events } from "../../../events/events.ts";
import type { Call } from "../../../rpc/call/call.ts";
import { type ListenRequest, parseListenRequest } from "./listen-request.ts";
import { podsTopic } from "./pod-events.ts";
import { matchesRktEvent, rktEventFrom } from "./rkt-events.ts";

/** Streams events of the gateway's own log in the format of v1alpha.PublicAPI. */
export type ListenEvents = (
  request: ListenEventsRequest,
  call: Pick<Call, "signal" | "caller" | "peer">,
) => AsyncGenerator<{ readonly events: Event[] }, void>;

export interface ListenEventsOptions {
  readonly events: Pick<Events, "between" | "currentSeq" | "seqAtTime" | "seqOf">;
  readonly host: string;
  readonly visibilityOf: VisibilityOf;
  /** Interval of silence after which an empty message is sent; 15 s by default. */
  readonly silenceMs?: number;
}

/** Maximum number of events in a message. */
const maxEvents = 100;

/**
 * Maximum delay between an event and its report while the gateway is watching: a pod's exit is detected 800 ms after it, or
 * 500 ms later than that if another pod's exit was just checked.
 */
const lateMs = 2_000;

/** Events are stored some time after they happen, possibly by a clock other than this host's. */
const clocksDifferMs = 60_000;

const longestTimerMs = 2 ** 31 - 1;

/**
 * Implements ListenEvents: an empty message, then past events as far as the log is kept, and new events as they happen; an
 * empty message after each silence.
 */
export function createListenEvents(options: ListenEventsOptions): ListenEvents {
  const { events, host, visibilityOf, silenceMs = 15_000 } = options;

  /** @throws InfraError STORE_UNAVAILABLE */
  async function findStart({ sinceSeconds, untilSeconds }: ListenRequest): Promise<number> {
    const isPast = untilSeconds !== undefined && msFrom(untilSeconds) <= Date.now();
    const since = sinceSeconds ?? (isPast ? 0n : undefined);
    if (since === undefined) {
      return events.currentSeq();
    }
    try {
      return await events.seqAtTime(Math.max(0, msFrom(since) - clocksDifferMs));
    } catch (error) {
      const oldest = error instanceof InfraError ? error.metadata?.oldestCursor : undefined;
      if (oldest === undefined) {
        throw error;
      }
      return events.seqOf(oldest);
    }
  }

  return async function* listenEvents({ filter }, call) {
    const listenRequest = parseListenRequest(filter);
    const { untilSeconds } = listenRequest;
    const closeAtMs = untilSeconds === undefined ? Number.POSITIVE_INFINITY : msFrom(untilSeconds) + lateMs;
    let seq = await findStart(listenRequest);
    yield { events: [] };

    const topic: EventFilter = {
      topics: [podsTopic],
      resources: [],
      get services() {
        return visibilityOf(call).services;
      },
      get bounds() {
        return visibilityOf(call).bounds;
      },
    };
    const eventsOf = (records: readonly EventRecord[]): Event[] =>
      records.flatMap((record) => {
        const rktEvent = record.host === host ? rktEventFrom(record) : undefined;
        return rktEvent !== undefined && matchesRktEvent(rktEvent, listenRequest) ? [rktEvent.event] : [];
      });

    let writtenAtMs = performance.now();
    const silenceLeftMs = () => writtenAtMs + silenceMs - performance.now();
    async function* batchesOf(records: AsyncGenerator<EventRecord, void>, timeLeftMs: () => number) {
      for await (const burst of bursts(records, timeLeftMs, silenceLeftMs)) {
        seq = burst.at(-1)?.seq ?? seq;
        const batch = eventsOf(burst);
        if (batch.length > 0 || burst.length === 0) {
          yield { events: batch };
          writtenAtMs = performance.now();
        }
      }
    }

    const closing = new AbortController();
    const signal = AbortSignal.any([call.signal, closing.signal]);
    try {
      const coming = events.between(seq, Number.POSITIVE_INFINITY, topic, signal);
      yield* batchesOf(coming, () => closeAtMs - Date.now());
      yield* batchesOf(events.between(seq, await events.currentSeq(), topic, signal), forever);
    } finally {
      closing.abort();
    }
  };
}

const forever = () => Number.POSITIVE_INFINITY;

/**
 * Groups the records that are available together, and yields an empty group after each silence. Ends with its source, or when
 * the time is up.
 */
async function* bursts(
  records: AsyncGenerator<EventRecord, void>,
  timeLeftMs: () => number,
  silenceLeftMs: () => number,
): AsyncGenerator<readonly EventRecord[], void> {
  let next = beginNext(records);
  while (timeLeftMs() > 0) {
    if (
      !(await isSettledWithin(next, Math.min(timeLeftMs(), Math.max(0, silenceLeftMs()), longestTimerMs)))
    ) {
      if (silenceLeftMs() <= 0) {
        yield [];
      }
      continue;
    }
    const burst: EventRecord[] = [];
    do {
      const { value, done } = await next;
      if (done === true) {
        if (burst.length > 0) {
          yield burst;
        }
        return;
      }
      burst.push(value);
      next = beginNext(records);
    } while (burst.length < maxEvents && (await Promise.race([next.then(isThere, isThere), turn(false)])));
    yield burst;
  }
}

const isThere = () => true;

function beginNext(records: AsyncGenerator<EventRecord, void>): Promise<IteratorResult<EventRecord, void>> {
  const next = records.next();
  // It fails when the call ends, possibly with no one awaiting it.
  next.catch(() => {});
  return next;
}

function msFrom(seconds: bigint): number {
  return Number(seconds) * 1_000;
}

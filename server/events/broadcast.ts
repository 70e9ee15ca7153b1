import { setTimeout as delay, setImmediate as turn } from "node:timers/promises";
import { backOffMs } from "../../adapters/host/back-off.ts";
import { InfraError } from "../../adapters/host/infra-error.ts";
import { hostReasons } from "../../adapters/host/reasons.ts";
import type { EventFilter, EventRecord } from "./event-record.ts";
import type { Events } from "./events.ts";
import { readPauses } from "./read-pauses.ts";
import { eventReasons } from "./reasons.ts";
import { createSubscriberGroups } from "./subscriber-groups.ts";

/** Destination of a subscriber's messages. */
export interface Sink<Message> {
  /** Writes a message immediately, after all earlier ones; false when it accepts no more. */
  write(message: Message): boolean;
}

/** A subscriber to live events. */
export interface Subscriber<Message> {
  readonly filter: EventFilter;
  readonly sink: Sink<Message>;
  /** Time of the last message written to it, in terms of `performance.now()`. */
  readonly writtenAtMs: number;
  /** Interval without messages after which it gets a heartbeat. */
  readonly silenceMs: number;
}

/** Writes each event to all matching subscribers, as one message that is encoded once. */
export interface Broadcast<Message> {
  /**
   * Writes every event after a number to a subscriber, until the signal is aborted; resolves then.
   * @returns undefined when later events were already written to others; the caller must read those first
   * @throws InfraError SUBSCRIBER_TOO_SLOW, HISTORY_GONE, SHUTTING_DOWN, and the errors of the filter
   */
  join(afterSeq: number, subscriber: Subscriber<Message>, signal: AbortSignal): Promise<void> | undefined;
}

/** Options of `createBroadcast`. */
export interface BroadcastOptions<Message> {
  readonly events: Pick<Events, "follow" | "headSeq" | "cursorOf">;
  readonly messageOf: (record: EventRecord) => Message;
  /** @param cursor position up to which all matching events are written */
  readonly heartbeatOf: (cursor: string) => Message;
  /** Before an event, the `services` of the filters are read again if the last time was this long ago. */
  readonly recheckMs: number;
}

interface Joined<Message> extends Omit<Subscriber<Message>, "writtenAtMs"> {
  readonly afterSeq: number;
  writtenAtMs: number;
  end(error: unknown): void;
}

/** Limits after which the loop yields to the rest of the gateway, so that what was written can be sent. */
const turnMs = 10;
const turnEvents = 16;

/** Interval of the check for subscribers that need a heartbeat. */
const silenceCheckMs = 500;

const everything: EventFilter = { topics: [], resources: [], services: undefined, fleetHosts: "all" };

/** Creates a broadcast that runs until `events` is closed. */
export function createBroadcast<Message>(options: BroadcastOptions<Message>): Broadcast<Message> {
  const { events, messageOf, heartbeatOf, recheckMs } = options;
  const groups = createSubscriberGroups<Joined<Message>>();
  /** Number of the last event written. */
  let position = events.headSeq;
  let recheckedAtMs = performance.now();

  function write(subscriber: Joined<Message>, message: Message, nowMs: number): void {
    if (subscriber.sink.write(message)) {
      subscriber.writtenAtMs = nowMs;
      return;
    }
    const cursor = events.cursorOf(Math.max(position, subscriber.afterSeq));
    const words = "the subscriber is too slow; resume from the cursor in the metadata";
    subscriber.end(new InfraError(eventReasons.SUBSCRIBER_TOO_SLOW, words, { metadata: { cursor } }));
  }

  function writeToAll(record: EventRecord): void {
    const nowMs = performance.now();
    if (nowMs - recheckedAtMs >= recheckMs) {
      recheckedAtMs = nowMs;
      groups.refresh((subscriber, error) => subscriber.end(error));
    }
    let shared: { readonly message: Message } | undefined;
    for (const { members } of groups.matching(record)) {
      for (const subscriber of members) {
        if (record.seq <= subscriber.afterSeq) {
          continue;
        }
        try {
          shared ??= { message: messageOf(record) };
          write(subscriber, shared.message, nowMs);
        } catch (error) {
          subscriber.end(error);
        }
      }
    }
    position = record.seq;
  }

  function writeHeartbeats(): void {
    const nowMs = performance.now();
    const messages = new Map<number, Message>();
    for (const subscriber of groups.members) {
      const seq = Math.max(position, subscriber.afterSeq);
      if (subscriber.writtenAtMs <= nowMs - subscriber.silenceMs) {
        const message = messages.get(seq) ?? heartbeatOf(events.cursorOf(seq));
        messages.set(seq, message);
        write(subscriber, message, nowMs);
      }
    }
  }

  function endAll(error: unknown): void {
    for (const subscriber of [...groups.members]) {
      subscriber.end(error);
    }
  }

  /** @returns whether to continue */
  async function writeEvents(): Promise<boolean> {
    let workedMs = 0;
    let written = 0;
    try {
      for await (const record of events.follow(position, everything, new AbortController().signal)) {
        const startedAtMs = performance.now();
        writeToAll(record);
        workedMs += performance.now() - startedAtMs;
        written += 1;
        if (workedMs > turnMs || written === turnEvents) {
          await turn();
          workedMs = 0;
          written = 0;
        }
      }
    } catch (error) {
      // Events were purged before they were read: every subscriber gets the error, and has to subscribe again.
      endAll(error);
      position = events.headSeq;
      await delay(backOffMs(1, readPauses), undefined, { ref: false });
      return true;
    }
    endAll(new InfraError(hostReasons.SHUTTING_DOWN, "the gateway is stopping"));
    return false;
  }

  async function run(): Promise<void> {
    const timer = setInterval(writeHeartbeats, silenceCheckMs).unref();
    while (await writeEvents()) {
      // Continue with the newest events.
    }
    clearInterval(timer);
  }

  void run();

  return {
    join(afterSeq, subscriber, signal) {
      if (afterSeq < position) {
        return undefined;
      }
      return new Promise((resolve, reject) => {
        const leave = () => {
          groups.delete(joined);
          signal.removeEventListener("abort", onAbort);
        };
        const onAbort = () => {
          leave();
          resolve();
        };
        const joined: Joined<Message> = {
          filter: subscriber.filter,
          sink: subscriber.sink,
          writtenAtMs: subscriber.writtenAtMs,
          silenceMs: subscriber.silenceMs,
          afterSeq,
          end(error) {
            leave();
            reject(error);
          },
        };
        groups.add(joined);
        signal.addEventListener("abort", onAbort, { once: true });
        if (signal.aborted) {
          onAbort();
        }
      });
    },
  };
}

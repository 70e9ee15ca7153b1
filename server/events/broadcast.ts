import { setTimeout as delay, setImmediate as turn } from "node:timers/promises";
import { backOffMs } from "../../adapters/host/back-off.ts";
import { InfraError } from "../../adapters/host/infra-error.ts";
import type { EventFilter, EventRecord } from "./event-record.ts";
import type { Events } from "./events.ts";
import { readPauses } from "./read-pauses.ts";
import { createSubscriberGroups } from "./subscriber-groups.ts";

/** What a subscriber is written to. */
export interface Sink<Message> {
  /** Writes behind everything that was written before, at once; false when it takes nothing more. */
  write(message: Message): boolean;
}

/** Who wants events as they come. */
export interface Subscriber<Message> {
  readonly filter: EventFilter;
  readonly sink: Sink<Message>;
  /** When the last message to it was written, by `performance.now()`. */
  readonly writtenAtMs: number;
  /** After so long a silence it gets a heartbeat. */
  readonly silenceMs: number;
}

/** Writes each event to all who want it, as one message that was made once. */
export interface Broadcast<Message> {
  /**
   * Writes every event after a number to a subscriber, until the signal is aborted. Resolves then.
   * @returns undefined when events after the number have been written to others already: they are to be read first
   * @throws InfraError SUBSCRIBER_TOO_SLOW, HISTORY_GONE, SHUTTING_DOWN, and what the filter throws
   */
  join(afterSeq: number, subscriber: Subscriber<Message>, signal: AbortSignal): Promise<void> | undefined;
}

/** What `createBroadcast` needs. */
export interface BroadcastOptions<Message> {
  readonly events: Pick<Events, "follow" | "headSeq" | "cursorOf">;
  readonly messageOf: (record: EventRecord) => Message;
  /** @param cursor up to which everything that was wanted is written */
  readonly heartbeatOf: (cursor: string) => Message;
  /** Filters are asked for their `services` again before an event if that was so long ago. */
  readonly recheckMs: number;
}

interface Joined<Message> extends Omit<Subscriber<Message>, "writtenAtMs"> {
  readonly afterSeq: number;
  writtenAtMs: number;
  end(error: unknown): void;
}

/** After so much the rest of the gateway gets its turn, and what was written can leave. */
const turnMs = 10;
const turnEvents = 16;

/** How often it is looked for subscribers to whom nothing was written. */
const silenceCheckMs = 500;

const everything: EventFilter = { topics: [], resources: [], services: undefined };

/** Broadcasts until `events` is closed. */
export function createBroadcast<Message>(options: BroadcastOptions<Message>): Broadcast<Message> {
  const { events, messageOf, heartbeatOf, recheckMs } = options;
  const groups = createSubscriberGroups<Joined<Message>>();
  /** Number of the event that was written last. */
  let position = events.headSeq;
  let recheckedAtMs = performance.now();

  function write(subscriber: Joined<Message>, message: Message, nowMs: number): void {
    if (subscriber.sink.write(message)) {
      subscriber.writtenAtMs = nowMs;
      return;
    }
    const cursor = events.cursorOf(Math.max(position, subscriber.afterSeq));
    const words =
      "the subscriber does not keep up with the events; it can go on from the cursor in the metadata";
    subscriber.end(new InfraError("SUBSCRIBER_TOO_SLOW", words, { metadata: { cursor } }));
  }

  function writeToAll(record: EventRecord): void {
    const nowMs = performance.now();
    if (nowMs - recheckedAtMs >= recheckMs) {
      recheckedAtMs = nowMs;
      groups.refresh((subscriber, error) => subscriber.end(error));
    }
    let made: { readonly message: Message } | undefined;
    for (const { members } of groups.wanting(record)) {
      for (const subscriber of members) {
        if (record.seq <= subscriber.afterSeq) {
          continue;
        }
        try {
          made ??= { message: messageOf(record) };
          write(subscriber, made.message, nowMs);
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

  /** @returns whether there is more to come */
  async function writeEvents(): Promise<boolean> {
    let workedMs = 0;
    let written = 0;
    try {
      for await (const record of events.follow(position, everything, new AbortController().signal)) {
        const begunAtMs = performance.now();
        writeToAll(record);
        workedMs += performance.now() - begunAtMs;
        written += 1;
        if (workedMs > turnMs || written === turnEvents) {
          await turn();
          workedMs = 0;
          written = 0;
        }
      }
    } catch (error) {
      // Events are gone that nobody has read: each subscriber is told, and has to begin anew.
      endAll(error);
      position = events.headSeq;
      await delay(backOffMs(1, readPauses), undefined, { ref: false });
      return true;
    }
    endAll(new InfraError("SHUTTING_DOWN", "the gateway is stopping"));
    return false;
  }

  async function run(): Promise<void> {
    const timer = setInterval(writeHeartbeats, silenceCheckMs).unref();
    while (await writeEvents()) {
      // Goes on with the newest.
    }
    clearInterval(timer);
  }

  void run();

  return {
    join(afterSeq, wanted, signal) {
      if (afterSeq < position) {
        return undefined;
      }
      return new Promise((resolve, reject) => {
        const leave = () => {
          groups.delete(subscriber);
          signal.removeEventListener("abort", onAbort);
        };
        const onAbort = () => {
          leave();
          resolve();
        };
        const subscriber: Joined<Message> = {
          filter: wanted.filter,
          sink: wanted.sink,
          writtenAtMs: wanted.writtenAtMs,
          silenceMs: wanted.silenceMs,
          afterSeq,
          end(error) {
            leave();
            reject(error);
          },
        };
        groups.add(subscriber);
        signal.addEventListener("abort", onAbort, { once: true });
        if (signal.aborted) {
          onAbort();
        }
      });
    },
  };
}

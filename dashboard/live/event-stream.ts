import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { batch, signal } from "@preact/signals";
import type { ConnectionState } from "../../client/client.ts";
import type { Event } from "../../gen/hostplane/v1/event_pb.ts";
import { client } from "../session.ts";
import { firstMessage } from "./first-message.ts";
import { gather } from "./gather.ts";
import { whileVisible } from "./while-visible.ts";

/** Whether the page hears the gateway. */
export type Connection =
  | { readonly state: "connecting" }
  /** `lostMs` tells for how long it was lost before; undefined if it was not. */
  | { readonly state: "live"; readonly lostMs?: number }
  | { readonly state: "lost"; readonly sinceMs: number; readonly retryAtMs: number }
  /** For good. */
  | { readonly state: "ended"; readonly error: unknown };

/** As many as the page of events shows. */
export const keptEvents = 500;

/** What has happened so long before the page was opened is shown as well. */
const pastMs = 3_600_000;

export const connection = signal<Connection>({ state: "connecting" });

/** Newest first: since the page was opened, and of the hour before. */
export const recentEvents = signal<readonly Event[]>([]);

/** A gateway that has stopped answering is shown as such within five seconds. */
const heartbeatMs = 2_000;
const maxSilenceMs = 4_500;

type Listener = (event: Event | "resumed") => void;
const listeners = new Set<Listener>();

/**
 * Follows everything that happens, by one stream for the whole page: a browser opens six connections to a host over
 * HTTP/1.1, and each stream takes one.
 * @returns ends it
 */
export function followEvents(): () => void {
  const openedAtMs = Date.now();
  let cursor: string | undefined;
  const gathering = gather<Event>((events) =>
    batch(() => {
      recentEvents.value = newestFirst(events, recentEvents.value);
      events.forEach(tell);
    }),
  );

  async function follow(stopSignal: AbortSignal): Promise<void> {
    try {
      // Without the past rather than not at all: what is wrong with the gateway, the stream itself finds out.
      cursor ??= await cursorOfTime(openedAtMs - pastMs, stopSignal).catch(() => undefined);
      const events = client.watchEvents({
        cursor,
        heartbeatMs,
        maxSilenceMs,
        signal: stopSignal,
        onCursor: (place) => {
          cursor = place;
        },
        onGap: () => tell("resumed"),
        onState: takeState,
      });
      for await (const event of events) {
        gathering.add(event);
      }
    } catch (error) {
      if (!stopSignal.aborted) {
        connection.value = { state: "ended", error };
      }
    }
  }

  const stop = whileVisible((stopSignal) => void follow(stopSignal));
  return () => {
    stop();
    gathering.end();
    connection.value = { state: "connecting" };
    recentEvents.value = [];
  };
}

/** Events that have come, in order, before those that are shown; as many as are kept. */
export function newestFirst(come: readonly Event[], shown: readonly Event[]): readonly Event[] {
  return [...come.toReversed(), ...shown].slice(0, keptEvents);
}

/** Calls the listener at each event, and with "resumed" when the connection is back after a loss. @returns ends it */
export function onEvent(listener: Listener): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/**
 * Where a stream begins that tells what has happened since a time.
 * @throws ConnectError as Subscribe does, e.g. HISTORY_GONE
 */
export async function cursorOfTime(atMs: number, stopSignal: AbortSignal): Promise<string | undefined> {
  const start = { case: "time" as const, value: timestampFromMs(atMs) };
  const { message } = await firstMessage((options) => client.events.subscribe({ start }, options), {
    signal: stopSignal,
  });
  return message.case === "snapshot" ? message.value.cursor : undefined;
}

function takeState(now: ConnectionState): void {
  const before = connection.value;
  if (now.state === "lost") {
    const sinceMs = before.state === "lost" ? before.sinceMs : Date.now();
    connection.value = { state: "lost", sinceMs, retryAtMs: now.retryAtMs };
  } else if (now.state === "connecting") {
    // Of one that is lost it is known already.
    connection.value = before.state === "live" ? { state: "connecting" } : before;
  } else {
    connection.value =
      before.state === "lost" ? { state: "live", lostMs: Date.now() - before.sinceMs } : { state: "live" };
    if (before.state === "lost") {
      tell("resumed");
    }
  }
}

function tell(event: Event | "resumed"): void {
  for (const listener of listeners) {
    listener(event);
  }
}

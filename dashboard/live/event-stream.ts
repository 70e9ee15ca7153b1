import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { batch, signal } from "@preact/signals";
import type { ConnectionState } from "../../client/client.ts";
import { describeError } from "../../client/describe-error.ts";
import type { Event } from "../../gen/hostplane/v1/event_pb.ts";
import { client } from "../session.ts";
import { firstMessage } from "./first-message.ts";
import { gather } from "./gather.ts";
import { whileVisible } from "./while-visible.ts";

/** State of the page's event stream. `sinceMs` is when the gateway last sent something. */
export type Connection =
  /** `sinceMs` is undefined at first, and after the page was hidden. */
  | { readonly state: "connecting"; readonly sinceMs?: number | undefined }
  /** `lostMs` is how long it was lost before; undefined if it was not. */
  | { readonly state: "live"; readonly lostMs?: number }
  | {
      readonly state: "lost";
      readonly sinceMs: number;
      readonly retryAtMs: number;
      /** Whether the hub answers, and only the host that the page shows does not. */
      readonly isHostAway: boolean;
    }
  /** Permanently. */
  | { readonly state: "ended"; readonly error: unknown };

/** As many as the events page shows. */
export const keptEvents = 500;

/** Events this long before the page was opened are shown as well. */
const pastMs = 3_600_000;

export const connection = signal<Connection>({ state: "connecting" });

/** Whether the page has been live since the login, so that it has something to show while the connection is lost. */
export const hasBeenLive = signal(false);

/** Newest first: events since the page was opened, and from the hour before. */
export const recentEvents = signal<readonly Event[]>([]);

/** With these, a gateway that stops responding is shown as lost within five seconds. */
const heartbeatMs = 2_000;
const maxSilenceMs = 4_500;

type Listener = (event: Event | "resumed") => void;
const listeners = new Set<Listener>();

/** Undefined until the gateway has sent something to the page that is shown. */
let lastWordAtMs: number | undefined;

/** Follows all events with one stream for the whole page. @returns a function that stops it */
export function followEvents(): () => void {
  const openedAtMs = Date.now();
  let cursor: string | undefined;
  const gathering = gather<Event>((events) =>
    batch(() => {
      recentEvents.value = newestFirst(events, recentEvents.value);
      events.forEach(notify);
    }),
  );

  async function follow(stopSignal: AbortSignal): Promise<void> {
    lastWordAtMs = undefined;
    try {
      // If this fails, start without past events: the stream itself reports what is wrong with the gateway.
      cursor ??= await cursorOfTime(openedAtMs - pastMs, stopSignal).catch(() => undefined);
      const events = client.watchEvents({
        cursor,
        heartbeatMs,
        maxSilenceMs,
        signal: stopSignal,
        onCursor: (place) => {
          cursor = place;
          lastWordAtMs = Date.now();
        },
        onGap: () => notify("resumed"),
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
    hasBeenLive.value = false;
    recentEvents.value = [];
  };
}

/** Returns new events, which arrive in order, followed by those already shown, up to `keptEvents`. */
export function newestFirst(come: readonly Event[], shown: readonly Event[]): readonly Event[] {
  return [...come.toReversed(), ...shown].slice(0, keptEvents);
}

/** Calls the listener for each event, and with "resumed" when a lost connection is back. @returns a function that stops it */
export function onEvent(listener: Listener): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/**
 * Returns the cursor of a stream that starts at the given time.
 * @throws ConnectError of Subscribe, e.g. HISTORY_GONE
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
    const sinceMs = before.state === "lost" ? before.sinceMs : (lastWordAtMs ?? Date.now());
    const isHostAway = describeError(now.error).reason === "HOST_UNREACHABLE";
    connection.value = { state: "lost", sinceMs, retryAtMs: now.retryAtMs, isHostAway };
  } else if (now.state === "connecting") {
    // A connection that is already shown as lost stays lost until it is live.
    connection.value = before.state === "live" ? { state: "connecting", sinceMs: lastWordAtMs } : before;
  } else {
    hasBeenLive.value = true;
    connection.value =
      before.state === "lost" ? { state: "live", lostMs: Date.now() - before.sinceMs } : { state: "live" };
    if (before.state === "lost") {
      notify("resumed");
    }
  }
}

function notify(event: Event | "resumed"): void {
  for (const listener of listeners) {
    listener(event);
  }
}

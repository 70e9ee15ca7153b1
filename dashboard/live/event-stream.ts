import { signal } from "@preact/signals";
import type { Event } from "../../gen/hostplane/v1/event_pb.ts";
import { client } from "../session.ts";

/** Whether the page hears the gateway. */
export type Connection =
  | { readonly state: "connecting" }
  | { readonly state: "live" }
  | { readonly state: "lost"; readonly sinceMs: number };

/** As many as the page of events shows. */
const keptEvents = 500;

export const connection = signal<Connection>({ state: "connecting" });

/** Newest first, since the page was opened. */
export const recentEvents = signal<readonly Event[]>([]);

type Listener = (event: Event | "resumed") => void;
const listeners = new Set<Listener>();

/**
 * Follows everything that happens, by one stream for the whole page: a browser opens six connections to a host over
 * HTTP/1.1, and each stream takes one.
 * @returns ends it
 */
export function followEvents(): () => void {
  const stop = new AbortController();
  void read(stop.signal);
  return () => {
    stop.abort();
    connection.value = { state: "connecting" };
    recentEvents.value = [];
  };
}

/** Calls the listener at each event, and with "resumed" when the connection is back after a loss. @returns ends it */
export function onEvent(listener: Listener): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

async function read(stopSignal: AbortSignal): Promise<void> {
  const events = client.watchEvents({
    signal: stopSignal,
    onState: ({ state }) => {
      const before = connection.value;
      if (state === "lost") {
        connection.value = before.state === "lost" ? before : { state, sinceMs: Date.now() };
      } else if (state === "live") {
        connection.value = { state };
        if (before.state === "lost") {
          tell("resumed");
        }
      }
    },
  });
  try {
    for await (const event of events) {
      recentEvents.value = [event, ...recentEvents.value].slice(0, keptEvents);
      tell(event);
    }
  } catch {
    // What ends it for good is the end of the login, which the session shows.
  }
}

function tell(event: Event | "resumed"): void {
  for (const listener of listeners) {
    listener(event);
  }
}

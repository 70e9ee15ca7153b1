import { type Signal, useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import type { Event } from "../../gen/hostplane/v1/event_pb.ts";
import { client } from "../session.ts";
import { cursorOfTime, newestFirst } from "./event-stream.ts";
import { gather } from "./gather.ts";
import { whileVisible } from "./while-visible.ts";

/** Events received from a stream, newest first, and the error that ended it, if any. */
export interface EventsSince {
  readonly events: readonly Event[];
  readonly error: unknown;
}

/** Follows all events since a time and from then on, with its own stream; does nothing without a time. */
export function useEventsSince(sinceMs: number | undefined): Signal<EventsSince> {
  const past = useSignal<EventsSince>({ events: [], error: undefined });
  useEffect(() => {
    past.value = { events: [], error: undefined };
    if (sinceMs === undefined || Number.isNaN(sinceMs)) {
      return undefined;
    }
    let cursor: string | undefined;
    const gathering = gather<Event>((events) => {
      past.value = { events: newestFirst(events, past.peek().events), error: undefined };
    });
    const follow = async (signal: AbortSignal) => {
      try {
        cursor ??= await cursorOfTime(sinceMs, signal);
        for await (const event of client.watchEvents({ cursor, signal })) {
          ({ cursor } = event);
          gathering.add(event);
        }
      } catch (error) {
        if (!signal.aborted) {
          past.value = { ...past.peek(), error };
        }
      }
    };
    const stop = whileVisible((signal) => void follow(signal));
    return () => {
      stop();
      gathering.end();
    };
  }, [sinceMs, past]);
  return past;
}

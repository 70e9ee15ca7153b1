import { type Signal, useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import type { Event } from "../../gen/hostplane/v1/event_pb.ts";
import { client } from "../session.ts";
import { cursorOfTime, newestFirst } from "./event-stream.ts";
import { gather } from "./gather.ts";
import { whileVisible } from "./while-visible.ts";

/** Events this long before now are shown. */
const pastMs = 24 * 3_600_000;

/** The events of a resource and of those below it, of the last 24 hours and live, newest first. */
export function useResourceEvents(
  resource: string,
): Signal<{ readonly value: readonly Event[] | undefined; readonly error: unknown }> {
  const events = useSignal<{ value: readonly Event[] | undefined; error: unknown }>({
    value: undefined,
    error: undefined,
  });
  useEffect(() => {
    events.value = { value: undefined, error: undefined };
    const gathering = gather<Event>((come) => {
      events.value = { value: newestFirst(come, events.peek().value ?? []), error: undefined };
    });
    const follow = async (signal: AbortSignal) => {
      try {
        const cursor = await cursorOfTime(Date.now() - pastMs, signal).catch(() => undefined);
        events.value = { value: [], error: undefined };
        for await (const event of client.watchEvents({ cursor, resources: [resource], signal })) {
          // On a hub, a resource of a host may have the same name.
          if (event.fleetHost === "") {
            gathering.add(event);
          }
        }
      } catch (error) {
        if (!signal.aborted) {
          events.value = { ...events.peek(), error };
        }
      }
    };
    const stop = whileVisible((signal) => void follow(signal));
    return () => {
      stop();
      gathering.end();
    };
  }, [resource, events]);
  return events;
}

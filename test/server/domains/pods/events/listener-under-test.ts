import type { Test } from "tap";
import { type Event, EventType, type ListenEventsResponse } from "../../../../../gen/v1alpha/api_pb.ts";
import { createPod, type PodEventsUnderTest } from "./pod-events-under-test.ts";

/** The filter of a request. */
export type Filter = Parameters<PodEventsUnderTest["publicApi"]["listenEvents"]>[0]["filter"];

/** A caller of ListenEvents. */
export interface Listener {
  readonly messages: readonly ListenEventsResponse[];
  events(): readonly Event[];
  /** Waits for the first message, or for a condition. @throws Error when the stream ends first */
  until(isReached?: (listener: Listener) => boolean): Promise<void>;
  /** Settles when the stream has ended. */
  readonly ended: Promise<void>;
}

/** Listens until the test ends. */
export function listen(
  t: Test,
  { publicApi }: PodEventsUnderTest,
  filter: NonNullable<Filter> = {},
): Listener {
  const leaving = new AbortController();
  t.teardown(() => leaving.abort());
  const messages: ListenEventsResponse[] = [];
  let wake = () => {};
  const ended = (async () => {
    for await (const message of publicApi.listenEvents({ filter }, { signal: leaving.signal })) {
      messages.push(message);
      wake();
    }
  })();
  ended.catch(() => {});
  const listener: Listener = {
    messages,
    events: () => messages.flatMap(({ events }) => events),
    async until(isReached = () => messages.length > 0) {
      const endedBefore = ended.then(() => {
        if (!isReached(listener)) {
          throw new Error(`the stream has ended after ${typesOf(listener.events()).join(", ")}`);
        }
      });
      endedBefore.catch(() => {});
      while (!isReached(listener)) {
        const { promise, resolve } = Promise.withResolvers<void>();
        wake = resolve;
        await Promise.race([promise, endedBefore]);
      }
    },
    ended,
  };
  return listener;
}

/** Reports whether a matching event has arrived. */
export const has = (type: EventType, from: string) => (listener: Listener) =>
  listener.events().some((event) => event.type === type && event.from === from);

const typeNames = new Map<number, string>(Object.entries(EventType).map(([name, type]) => [type, name]));
/** Summarizes events: `POD_STARTED web`. */
export const typesOf = (events: readonly Event[]) =>
  events.map(({ type, from }) => `${typeNames.get(type)} ${from}`);

export const nowSeconds = () => BigInt(Math.floor(Date.now() / 1_000));

/** Creates, runs and removes a pod. */
export function runPod({ runtime }: PodEventsUnderTest, name: string): string {
  const { id } = createPod(runtime, name);
  runtime.pods.startPod(id);
  runtime.pods.endPod(id, 3);
  runtime.pods.removePod(id, false);
  return id;
}

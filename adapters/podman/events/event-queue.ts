import type { EventPlace, RuntimeEvent } from "../adapter.ts";

/** Events that wait for one reader. */
export interface EventQueue {
  push(event: RuntimeEvent): void;
  /** Returns all waiting events, as soon as there is one; undefined once the signal is aborted. */
  take(signal: AbortSignal): Promise<readonly RuntimeEvent[] | undefined>;
}

/** Creates a queue of at most `limit` events. If its reader is too slow, all are replaced with a gap. */
export function createEventQueue(limit: number): EventQueue {
  let waiting: RuntimeEvent[] = [];
  let wake = (): void => {};

  return {
    push(event) {
      const [oldest] = waiting;
      if (oldest !== undefined && waiting.length >= limit) {
        const sinceNs = oldest.kind === "gap" ? oldest.sinceNs : oldest.timeNs;
        waiting = [gapEvent(sinceNs, event.timeNs)];
      } else {
        waiting.push(event);
      }
      wake();
    },
    async take(signal) {
      if (waiting.length === 0 && !signal.aborted) {
        const { promise, resolve } = Promise.withResolvers<void>();
        const onAbort = () => resolve();
        wake = resolve;
        signal.addEventListener("abort", onAbort, { once: true });
        await promise;
        signal.removeEventListener("abort", onAbort);
      }
      if (signal.aborted) {
        return undefined;
      }
      const taken = waiting;
      waiting = [];
      return taken;
    },
  };
}

/** Creates an event that reports possibly missing events between two times. @param end last record, if known */
export function gapEvent(sinceNs: bigint, timeNs: bigint, end?: EventPlace): RuntimeEvent {
  const place = end && { key: end.key, timeNs: end.timeNs };
  return { kind: "gap", sinceNs, timeNs, key: `${timeNs}:gap:${sinceNs}`, ...(place && { place }) };
}

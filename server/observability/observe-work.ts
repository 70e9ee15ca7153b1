import type { WorkChannel } from "../../adapters/host/observation.ts";

/** Finished work whose start was observed. */
export interface EndedWork {
  readonly durationMs: number;
  readonly failed: boolean;
}

/**
 * Calls `began` when work of the channel begins, and `ended` once for each item that was passed to `began`. Returns a function
 * that stops observing.
 */
export function observeWork<Observation extends object>(
  channel: WorkChannel<Observation>,
  began: (observation: Observation) => void,
  ended: (observation: Observation, end: EndedWork) => void,
): () => void {
  const startedAtMs = new WeakMap<object, number>();
  const onStart = (message: unknown) => {
    const observation = message as Observation;
    startedAtMs.set(observation, performance.now());
    began(observation);
  };
  const onEnd = (message: unknown) => {
    const observation = message as Observation & { readonly error?: unknown };
    const startMs = startedAtMs.get(observation);
    if (startMs !== undefined) {
      ended(observation, {
        durationMs: performance.now() - startMs,
        failed: observation.error !== undefined,
      });
    }
  };
  channel.start.subscribe(onStart);
  channel.asyncEnd.subscribe(onEnd);
  return () => {
    channel.start.unsubscribe(onStart);
    channel.asyncEnd.unsubscribe(onEnd);
  };
}

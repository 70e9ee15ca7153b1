import { infraErrorFrom } from "./errors.ts";
import { deadlinePassed } from "./guard.ts";
import { createRing } from "./ring.ts";
import type { RoutedCall } from "./routed-call.ts";

/** The calls under way: all of them end when the gateway stops, and each that has a cap when that is over. */
export interface OpenCalls {
  /** Ends the call at once if the gateway has stopped. */
  add(call: RoutedCall): void;
  delete(call: RoutedCall): void;
  count(): number;
}

/**
 * One timer stands for the caps of all calls: they are alike, so that the call which came first is the first whose cap is
 * over. A timer for each would be the dearest part of a short call.
 * @param shutdownSignal aborted when the gateway stops, with what to tell the callers
 */
export function createOpenCalls(shutdownSignal: AbortSignal): OpenCalls {
  const streams = createRing<RoutedCall>();
  const capped = createRing<RoutedCall>();
  let timer: NodeJS.Timeout | undefined;

  function arm(): void {
    const first = capped.first();
    if (timer === undefined && first?.capAtMs !== undefined) {
      timer = setTimeout(endOverdue, Math.max(first.capAtMs - performance.now(), 0)).unref();
    }
  }

  function endOverdue(): void {
    timer = undefined;
    const now = performance.now();
    for (let call = capped.first(); call !== undefined; call = capped.first()) {
      if ((call.capAtMs ?? 0) > now) {
        break;
      }
      capped.delete(call);
      call.end(deadlinePassed());
    }
    arm();
  }

  shutdownSignal.addEventListener("abort", () => {
    for (const call of [...capped, ...streams]) {
      call.end(infraErrorFrom(shutdownSignal.reason));
    }
  });
  return {
    add(call) {
      (call.capAtMs === undefined ? streams : capped).add(call);
      if (timer === undefined) {
        arm();
      }
      if (shutdownSignal.aborted) {
        call.end(infraErrorFrom(shutdownSignal.reason));
      }
    },
    delete(call) {
      (call.capAtMs === undefined ? streams : capped).delete(call);
    },
    count: () => capped.size() + streams.size(),
  };
}

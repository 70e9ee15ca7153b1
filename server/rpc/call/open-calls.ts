import type { InfraError } from "../../../adapters/host/infra-error.ts";
import { infraErrorFrom } from "../errors/connect-error.ts";
import { createRing, type RingElement } from "./ring.ts";
import { deadlinePassed } from "./until-call-ends.ts";

/** Calls in progress, of all protocols. They end when the gateway stops; a call with a cap ends when it is reached. */
export interface OpenCalls {
  /** Ends the call at once if the gateway has stopped. */
  add(call: OpenCall): void;
  delete(call: OpenCall): void;
  count(): number;
}

export interface OpenCall extends RingElement {
  /** When the gateway's own time limit is reached, on the clock of performance.now(); undefined for a stream. */
  readonly capAtMs: number | undefined;
  end(error: InfraError): void;
}

/**
 * Creates the set of open calls. One timer serves the caps of all calls: the caps are equal, so the oldest call is always the
 * first to reach its cap. One timer per call would be the most expensive part of a short call (the bench `grpc-echo`).
 * @param shutdownSignal aborted when the gateway stops, with the error for the callers
 */
export function createOpenCalls(shutdownSignal: AbortSignal): OpenCalls {
  const streams = createRing<OpenCall>();
  const capped = createRing<OpenCall>();
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

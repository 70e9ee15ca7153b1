import { InfraError } from "./infra-error.ts";
import { waitChannel } from "./observation.ts";
import { hostReasons } from "./reasons.ts";

export interface LimiterOptions {
  /** Name of the limited tasks, for the message of BUSY, e.g. `lvm commands`. */
  readonly what: string;
  /** Name of the queue for observers, from a small set; `what` by default. */
  readonly queue?: string;
  readonly maxRunning: number;
  /** Maximum number of waiting tasks; further ones are rejected. */
  readonly maxWaiting: number;
}

export interface Limiter {
  /**
   * Runs the task when a slot is free, first come, first served, and settles as the task does. `signal` cancels the
   * wait; a task that has started is not affected.
   * @throws InfraError BUSY, or CALLER_LEFT (or the signal's own InfraError) while waiting
   */
  run<T>(task: () => Promise<T>, signal?: AbortSignal): Promise<T>;
  /** Resolves once nothing runs and nothing waits. */
  idle(): Promise<void>;
}

/** Limits how many tasks run at once and how many wait for a slot. */
export function createLimiter(options: LimiterOptions): Limiter {
  const { what, queue = what, maxRunning, maxWaiting } = options;
  const waiting = new Set<() => void>();
  const idleListeners: (() => void)[] = [];
  let running = 0;

  function turn(signal: AbortSignal | undefined): Promise<void> {
    if (running < maxRunning) {
      running += 1;
      return Promise.resolve();
    }
    if (waiting.size >= maxWaiting) {
      const message = `too many ${what}: ${waiting.size} are already waiting (limits: ${maxRunning} at once, ${maxWaiting} waiting)`;
      return Promise.reject(new InfraError(hostReasons.BUSY, message, { retryAfterMs: 1000 }));
    }
    return waitChannel.tracePromise(() => wait(signal), { queue });
  }

  function wait(signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      function begin(): void {
        signal?.removeEventListener("abort", giveUp);
        resolve();
      }
      function giveUp(): void {
        waiting.delete(begin);
        reject(errorFromSignal(signal));
      }
      waiting.add(begin);
      signal?.addEventListener("abort", giveUp, { once: true });
    });
  }

  function finish(): void {
    const [next] = waiting;
    if (next !== undefined) {
      // Handed over directly, so that a newcomer cannot overtake.
      waiting.delete(next);
      next();
      return;
    }
    running -= 1;
    if (running === 0) {
      for (const listener of idleListeners.splice(0)) {
        listener();
      }
    }
  }

  return {
    async run(task, signal) {
      if (signal?.aborted === true) {
        throw errorFromSignal(signal);
      }
      await turn(signal);
      try {
        return await task();
      } finally {
        finish();
      }
    },
    idle() {
      if (running === 0) {
        return Promise.resolve();
      }
      return new Promise((resolve) => idleListeners.push(resolve));
    },
  };
}

function errorFromSignal(signal: AbortSignal | undefined): InfraError {
  if (signal?.reason instanceof InfraError) {
    return signal.reason;
  }
  return new InfraError(hostReasons.CALLER_LEFT, "The caller left while the task was waiting", {
    cause: signal?.reason,
  });
}

import { setTimeout as sleep } from "node:timers/promises";

/** The time of a sandbox. Tests step it. */
export interface Clock {
  /** Milliseconds since the epoch. */
  nowMs(): number;
  /** Resolves after this time. @throws the reason of the signal once it is aborted */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /** Calls back after this time, unless the returned function is called before. It does not keep the process running. */
  setTimer(ms: number, run: () => void): () => void;
}

export const systemClock: Clock = {
  nowMs: Date.now,
  async sleep(ms, signal) {
    await sleep(ms, undefined, { signal }).catch(() => signal?.throwIfAborted());
  },
  setTimer(ms, run) {
    const timer = setTimeout(run, ms).unref();
    return () => clearTimeout(timer);
  },
};

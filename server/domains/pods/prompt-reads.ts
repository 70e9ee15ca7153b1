import { setTimeout as sleep } from "node:timers/promises";
import type { Snapshot } from "../../../adapters/host/snapshot.ts";
import type { PodRuntime } from "../../../adapters/podman/adapter.ts";
import type { RuntimeState } from "../../../adapters/podman/runtime-state.ts";

type State = Snapshot<RuntimeState>;

/** A runtime with reads that prefer a recent state now to the newest state later. */
export interface PromptReads {
  /**
   * Reads wait for at most a second if an older state is known and `run` has changed nothing since. Podman answers no requests
   * while it waits for a container to stop: `podman pod stop -t 55` blocked `pods/json` for 54 s.
   */
  readonly prompt: PodRuntime;
  /** The runtime for callers that make changes: its reads return the newest state. */
  readonly exact: PodRuntime;
  /** Reports whether a read has just returned an older state because the runtime does not respond. */
  isLate(): boolean;
}

/** @param patienceMs how long a read waits for the newest state before it returns an older one */
export function createPromptReads(runtime: PodRuntime, patienceMs = 1_000): PromptReads {
  let last: State | undefined;
  let changedAtMs = Number.NEGATIVE_INFINITY;
  let lateReads = 0;

  async function readNewest(signal?: AbortSignal): Promise<State> {
    const snapshot = await runtime.read(signal);
    if (last === undefined || last.readAtMs < snapshot.readAtMs) {
      last = snapshot;
    }
    return snapshot;
  }

  async function readPromptly(signal?: AbortSignal): Promise<State> {
    const newest = readNewest(signal);
    const isOver = new AbortController();
    const over = sleep(patienceMs, undefined, { signal: isOver.signal });
    try {
      const first = await Promise.race([newest, over]);
      if (first !== undefined) {
        return first;
      }
    } finally {
      isOver.abort();
      over.catch(() => {});
    }
    if (last === undefined || last.readAtMs < changedAtMs) {
      return newest;
    }
    lateReads += 1;
    // A failure is reported to the readers that wait for it; this one has its result.
    newest
      .catch(() => {})
      .finally(() => {
        lateReads -= 1;
      });
    return last;
  }

  const exact: PodRuntime = {
    ...runtime,
    read: readNewest,
    async run(step, options) {
      try {
        return await runtime.run(step, options);
      } finally {
        changedAtMs = performance.now();
      }
    },
  };
  return { exact, prompt: { ...exact, read: readPromptly }, isLate: () => lateReads > 0 };
}

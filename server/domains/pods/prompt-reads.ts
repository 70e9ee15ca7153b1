import { setTimeout as sleep } from "node:timers/promises";
import type { Snapshot } from "../../../adapters/host/snapshot.ts";
import type { PodRuntime } from "../../../adapters/podman/adapter.ts";
import type { RuntimeState } from "../../../adapters/podman/runtime-state.ts";

type State = Snapshot<RuntimeState>;

/** A runtime with reads for those who would rather have an older state soon than the newest late. */
export interface PromptReads {
  /**
   * As the runtime's, but a caller waits no longer than a second where an older state is known, and nothing was changed by `run`
   * since. Podman answers nobody while it waits for a container to stop: `podman pod stop -t 55` kept `pods/json` for 54 s.
   */
  readonly prompt: PodRuntime;
  /** The runtime, for who changes what there is: reads are the newest. */
  readonly exact: PodRuntime;
  /** Whether somebody was just told an older state, since the runtime does not answer. */
  isLate(): boolean;
}

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
    // Whoever waits for it is told of its failure; this reader is not.
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

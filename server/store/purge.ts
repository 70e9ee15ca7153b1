import { setImmediate as turn } from "node:timers/promises";

export interface Purge {
  /** Resolves once no batch runs any more. */
  stop(): Promise<void>;
}

const hourMs = 3_600_000;

/**
 * Removes what is too old, now and every hour, batch by batch, so that what else the store is asked gets its turn.
 * @param removeBatch removes a few rows, and says whether there may be more
 */
export function startPurge(
  removeBatch: () => Promise<boolean>,
  onFailed: (error: unknown) => void,
  everyMs = hourMs,
): Purge {
  let isStopped = false;
  let running = run();

  async function run(): Promise<void> {
    try {
      while (!isStopped && (await removeBatch())) {
        await turn();
      }
    } catch (error) {
      onFailed(error);
    }
  }

  const timer = setInterval(() => {
    running = running.then(run);
  }, everyMs).unref();

  return {
    stop() {
      isStopped = true;
      clearInterval(timer);
      return running;
    },
  };
}

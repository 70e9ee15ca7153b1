import { setImmediate as turn } from "node:timers/promises";

export interface Purge {
  /** Resolves once no batch is running. */
  stop(): Promise<void>;
}

const hourMs = 3_600_000;

/**
 * Removes expired rows, now and every hour. It works in batches, so that other transactions can run in between.
 * @param removeBatch removes a few rows, and returns whether there may be more
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

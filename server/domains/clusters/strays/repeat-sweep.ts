import { backOffMs } from "../../../../adapters/host/back-off.ts";
import type { StrayLog, Sweep } from "./sweep.ts";

const firstRetryMs = 10_000;

/** Sweeps now and every so often, not all gateways at the same time; sooner after one that failed. */
export function repeatSweep(sweep: Sweep, everyMs: number, log: StrayLog): { close(): Promise<void> } {
  const closing = new AbortController();
  const retryMs = { firstMs: Math.min(firstRetryMs, everyMs), longestMs: everyMs };
  let failures = 0;
  let timer: NodeJS.Timeout | undefined;
  let running = run();

  async function run(): Promise<void> {
    try {
      await sweep(closing.signal);
      failures = 0;
    } catch (error) {
      failures += 1;
      if (failures === 1 && !closing.signal.aborted) {
        log.warn("the search for machines that no cluster has failed, and is tried again", error);
      }
    }
    if (!closing.signal.aborted) {
      const delayMs = failures > 0 ? backOffMs(failures, retryMs) : everyMs * (0.75 + Math.random() / 2);
      timer = setTimeout(() => {
        running = run();
      }, delayMs).unref();
    }
  }

  return {
    async close() {
      closing.abort();
      clearTimeout(timer);
      await running;
    },
  };
}

import { backOffMs } from "../../../../adapters/host/back-off.ts";
import type { ClusterSettings } from "../specs/cluster-settings.ts";
import type { StrayLog, Sweep } from "./sweep.ts";

const firstRetryMs = 10_000;

/**
 * Sweeps after `firstSweepMs` and then about every `sweepMs`, at random times so that gateways do not coincide; sooner after
 * a failure.
 */
export function repeatSweep(
  sweep: Sweep,
  { firstSweepMs, sweepMs: everyMs }: Pick<ClusterSettings, "firstSweepMs" | "sweepMs">,
  log: StrayLog,
): { close(): Promise<void> } {
  const closing = new AbortController();
  const retryMs = { firstMs: Math.min(firstRetryMs, everyMs), longestMs: everyMs };
  let failures = 0;
  let running = Promise.resolve();
  let timer = runAfter(firstSweepMs);

  function runAfter(delayMs: number): NodeJS.Timeout {
    return setTimeout(() => {
      running = run();
    }, delayMs).unref();
  }

  async function run(): Promise<void> {
    try {
      await sweep(closing.signal);
      failures = 0;
    } catch (error) {
      failures += 1;
      if (failures === 1 && !closing.signal.aborted) {
        log.warn("the search for stray machines failed; retrying", error);
      }
    }
    if (!closing.signal.aborted) {
      const delayMs = failures > 0 ? backOffMs(failures, retryMs) : everyMs * (0.75 + Math.random() / 2);
      timer = runAfter(delayMs);
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

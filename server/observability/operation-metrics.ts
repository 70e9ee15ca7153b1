import { setTimeout as sleep } from "node:timers/promises";
import { Gauge, type Registry } from "@prometheus-io/client";
import type { OperationCounts } from "../operations/operations.ts";

/**
 * Registers the number of unfinished durable operations in the store. The returned function counts them before the metrics are
 * read. If the store does not answer within `patienceMs`, no number is reported.
 */
export function createOperationMetrics(
  registry: Registry,
  countOperations: () => Promise<OperationCounts>,
  patienceMs: number,
): () => Promise<void> {
  const gauge = new Gauge({
    name: "hostplane_operations",
    help: "Durable operations of the store that are not finished, or need attention.",
    labelNames: ["state"] as const,
    registers: [registry],
  });
  return async () => {
    const answered = new AbortController();
    try {
      const late = sleep(patienceMs, undefined, { signal: answered.signal });
      const counts = await Promise.race([countOperations(), late]);
      gauge.reset();
      for (const [state, count] of Object.entries(counts ?? {})) {
        gauge.set({ state }, count);
      }
    } catch {
      // The health metric of the store reports that it is unreachable.
      gauge.reset();
    } finally {
      answered.abort();
    }
  };
}

import { setTimeout as sleep } from "node:timers/promises";
import { Gauge, type Registry } from "@prometheus-io/client";
import type { OperationCounts } from "../operations/operations.ts";

/**
 * How many durable operations the store holds that are not done with. The function it returns counts them, before the
 * metrics are read: while the store does not say within `patienceMs`, no number is told.
 */
export function createOperationMetrics(
  registry: Registry,
  countOperations: () => Promise<OperationCounts>,
  patienceMs: number,
): () => Promise<void> {
  const gauge = new Gauge({
    name: "hostplane_operations",
    help: "Durable operations of the store that have not ended, or need attention.",
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
      // The store's own health says that it is away.
      gauge.reset();
    } finally {
      answered.abort();
    }
  };
}

import { setTimeout as sleep } from "node:timers/promises";
import { Gauge, type Registry } from "@prometheus-io/client";
import type { MetricSample, MetricSource } from "../domain/metric-source.ts";

/**
 * Registers the gauges of the domains. The returned function reads the sources before the metrics are read. A source that fails or
 * does not answer within `patienceMs` has no series then: the health of its backend reports why, and an old figure would be wrong.
 */
export function createDomainMetrics(
  registry: Registry,
  sources: readonly MetricSource[],
  patienceMs: number,
): () => Promise<void> {
  const collectors = sources.map((source) => createCollector(registry, source, patienceMs));
  return async () => {
    await Promise.all(collectors.map((collect) => collect()));
  };
}

function createCollector(registry: Registry, source: MetricSource, patienceMs: number): () => Promise<void> {
  const gauges = new Map(
    source.families.map(({ name, help, labels }) => [
      name,
      new Gauge({ name, help, labelNames: labels, registers: [registry] }),
    ]),
  );

  async function read(): Promise<readonly MetricSample[]> {
    const stop = new AbortController();
    const timeout = sleep(patienceMs, [], { signal: stop.signal });
    timeout.catch(() => {});
    const reading = source.read(stop.signal);
    reading.catch(() => {});
    try {
      return await Promise.race([reading, timeout]);
    } catch {
      return [];
    } finally {
      stop.abort();
    }
  }

  return async () => {
    const samples = await read();
    for (const gauge of gauges.values()) {
      gauge.reset();
    }
    for (const { name, labels, value } of samples) {
      gauges.get(name)?.set(labels, value);
    }
  };
}

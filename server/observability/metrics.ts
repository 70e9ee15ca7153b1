import { Gauge, Registry } from "@prometheus-io/client";
import type { Backend } from "../domain/backend.ts";
import type { MetricSource } from "../domain/metric-source.ts";
import type { OperationCounts } from "../operations/operations.ts";
import { createBackendMetrics } from "./backend-metrics.ts";
import { createDomainMetrics } from "./domain-metrics.ts";
import { createHistoryMetrics, type MeasuredHistory } from "./history-metrics.ts";
import { createOperationMetrics } from "./operation-metrics.ts";
import { processMetrics } from "./process-metrics.ts";
import { createRpcMetrics, type RpcMetrics } from "./rpc-metrics.ts";
import { createStoreMetrics, type MeasuredStore } from "./store-metrics.ts";
import { observeWorkMetrics } from "./work-metrics.ts";

export interface MetricsOptions {
  readonly version: string;
  readonly isSandbox: boolean;
  readonly backends: readonly Backend[];
  /** Counts the durable operations of the store; absent if there are none. */
  readonly countOperations?: () => Promise<OperationCounts>;
  /** Gauges of the domains; absent: none. */
  readonly sources?: readonly MetricSource[];
  /** The gateway's own store; absent if there is none. */
  readonly store?: MeasuredStore;
  /** The history; absent if there is none. */
  readonly history?: MeasuredHistory;
  /** How long reading the metrics waits for a system's status, in ms. Default: 2,000. */
  readonly patienceMs?: number;
}

/** Prometheus metrics of one gateway. */
export interface Metrics {
  readonly rpc: RpcMetrics;
  /** Returns all metrics in Prometheus' text format; `contentType` is its media type. */
  text(): Promise<string>;
  readonly contentType: string;
  /** Stops counting tools, snapshots, queues, mutations and operations. */
  close(): void;
}

/** Creates the metrics of one gateway, in their own registry. */
export function createMetrics(options: MetricsOptions): Metrics {
  const registry = new Registry();
  const registers = [registry];
  new Gauge({
    name: "hostplane_build_info",
    help: "Version of the gateway, and whether it is a sandbox.",
    labelNames: ["version", "sandbox"] as const,
    registers,
  }).set({ version: options.version, sandbox: String(options.isSandbox) }, 1);
  const rpc = createRpcMetrics(registry);
  const { backends, countOperations, patienceMs = 2_000 } = options;
  const collectors = [
    createBackendMetrics(registry, backends, patienceMs),
    createDomainMetrics(registry, options.sources ?? [], patienceMs),
    ...(options.store === undefined ? [] : [createStoreMetrics(registry, options.store)]),
    ...(countOperations === undefined ? [] : [createOperationMetrics(registry, countOperations, patienceMs)]),
  ];
  if (options.history !== undefined) {
    createHistoryMetrics(registry, options.history);
  }
  const close = observeWorkMetrics(registry);
  const all = Registry.merge([registry, processMetrics()]);
  return {
    rpc,
    async text() {
      await Promise.all(collectors.map((collect) => collect()));
      return all.metrics();
    },
    contentType: all.contentType,
    close,
  };
}

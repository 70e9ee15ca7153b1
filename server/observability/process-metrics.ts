import { collectDefaultMetrics, Registry } from "@prometheus-io/client";

/** Gauges named `_total`, and metrics named after their type. promtool reports both as mistakes. */
const misnamed = [
  "nodejs_active_handles_total",
  "nodejs_active_requests_total",
  "nodejs_active_resources_total",
  "nodejs_eventloop_utilization_histogram",
  "nodejs_eventloop_utilization_summary",
];

let registry: Registry | undefined;

/**
 * Returns the metrics of this process: CPU, memory, descriptors, event loop and garbage collection. They are created once,
 * because they belong to the process rather than to a gateway, and their collection cannot be stopped.
 */
export function processMetrics(): Registry {
  if (registry === undefined) {
    registry = new Registry();
    collectDefaultMetrics({
      register: registry,
      // The library's defaults of 10 ms and 100 ms would wake an idle gateway a hundred times a second.
      eventLoopMonitoringPrecision: 100,
      eventLoopUtilizationTimeout: 1_000,
    });
    for (const name of misnamed) {
      registry.removeSingleMetric(name);
    }
  }
  return registry;
}

import { collectDefaultMetrics, Registry } from "@prometheus-io/client";

/** Gauges called a total, and metrics called after their type, which promtool takes for mistakes. */
const misnamed = [
  "nodejs_active_handles_total",
  "nodejs_active_requests_total",
  "nodejs_active_resources_total",
  "nodejs_eventloop_utilization_histogram",
  "nodejs_eventloop_utilization_summary",
];

let registry: Registry | undefined;

/**
 * CPU, memory, descriptors, event loop and garbage collection of this process. Made once: they are the process's,
 * not a gateway's, and what measures them cannot be stopped again.
 */
export function processMetrics(): Registry {
  if (registry === undefined) {
    registry = new Registry();
    collectDefaultMetrics({
      register: registry,
      // The library's 10 ms and 100 ms would wake an idle gateway a hundred times a second.
      eventLoopMonitoringPrecision: 100,
      eventLoopUtilizationTimeout: 1_000,
    });
    for (const name of misnamed) {
      registry.removeSingleMetric(name);
    }
  }
  return registry;
}

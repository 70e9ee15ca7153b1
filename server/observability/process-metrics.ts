import { collectDefaultMetrics, Registry } from "@prometheus-io/client";

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
  }
  return registry;
}

import { setTimeout as sleep } from "node:timers/promises";
import { Gauge, type Registry } from "@prometheus-io/client";
import type { Backend, BackendHealth, BackendStatus } from "../domain/backend.ts";

const healths: readonly BackendHealth[] = ["ok", "degraded", "unavailable", "unknown"];

const unknown: BackendStatus = {
  health: "unknown",
  version: undefined,
  missing: [],
  snapshotAgeMs: undefined,
};

/**
 * Registers the metrics of the systems' health. The returned function queries the systems before the metrics are read. A system
 * that does not answer within `patienceMs` is `unknown`, so that one that hangs does not hide the others.
 */
export function createBackendMetrics(
  registry: Registry,
  backends: readonly Backend[],
  patienceMs: number,
): () => Promise<void> {
  const registers = [registry];
  const info = new Gauge({
    name: "hostplane_backend_info",
    help: "A backend and its type: real, sandbox, off or notBuilt.",
    labelNames: ["domain", "system", "kind"] as const,
    registers,
  });
  const snapshotAge = new Gauge({
    name: "hostplane_snapshot_age_seconds",
    help: "Age of the state that reads are answered from.",
    labelNames: ["domain", "system"] as const,
    registers,
  });
  const healthGauge = new Gauge({
    name: "hostplane_backend_health",
    help: "1 for the backend's current health, 0 for the other values.",
    labelNames: ["domain", "system", "health"] as const,
    registers,
  });
  for (const { domain, name: system, kind } of backends) {
    info.set({ domain, system, kind }, 1);
  }
  const served = backends.filter(({ kind }) => kind === "real" || kind === "sandbox");

  async function collect(backend: Backend): Promise<void> {
    const { domain, name: system } = backend;
    const status = await statusWithin(backend, patienceMs);
    for (const health of healths) {
      healthGauge.set({ domain, system, health }, health === status.health ? 1 : 0);
    }
    if (status.snapshotAgeMs === undefined) {
      snapshotAge.remove({ domain, system });
    } else {
      snapshotAge.set({ domain, system }, status.snapshotAgeMs / 1000);
    }
  }

  return async () => {
    await Promise.all(served.map(collect));
  };
}

async function statusWithin(backend: Backend, patienceMs: number): Promise<BackendStatus> {
  const answered = new AbortController();
  try {
    return await Promise.race([backend.status(), sleep(patienceMs, unknown, { signal: answered.signal })]);
  } finally {
    answered.abort();
  }
}

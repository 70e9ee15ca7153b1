import type { Backend } from "../../../../domain/backend.ts";
import type { StoragePool } from "../storage-pool.ts";

/** Creates the storage pool's backend, as ListBackends, the health service and `hostplane doctor` report it. */
export function createStoragePoolBackend(pool: StoragePool): Backend {
  return {
    domain: "hypervisors",
    name: "storage-pool",
    kind: pool.backendKind,
    services: ["hostplane.v1.StoragePoolService"],
    async status() {
      try {
        const { value, readAtMs } = await pool.read();
        const missing = value.devices.filter((device) => device.missing);
        return {
          health: missing.length === 0 ? "ok" : "degraded",
          version: undefined,
          missing: missing.map(({ path }) => `the device ${path} of ${value.name} is missing`),
          snapshotAgeMs: performance.now() - readAtMs,
        };
      } catch (error) {
        return {
          health: "unavailable",
          version: undefined,
          missing: [error instanceof Error ? error.message : String(error)],
          snapshotAgeMs: undefined,
        };
      }
    },
    subscribe: (onChange) => pool.subscribe(onChange),
  };
}

import type { LvmAdapter } from "../../../../adapters/lvm/adapter.ts";
import type { Backend } from "../../../domain/backend.ts";
import { describeStore, resolveClass } from "../device-class.ts";
import type { Volumes } from "../volumes.ts";
import { volumeServices } from "./volume-services.ts";

/** Creates the LVM backend, as ListBackends, the health service and `hostplane doctor` report it. */
export function createLvmBackend(lvm: LvmAdapter, volumes: Volumes): Backend {
  let version: string | undefined;
  return {
    domain: "volumes",
    name: "lvm",
    kind: lvm.kind,
    services: volumeServices,
    async status() {
      version ??= await lvm.version();
      try {
        const { value, readAtMs } = await lvm.read();
        const gone = volumes.deviceClasses.filter((one) => resolveClass(one, value) === undefined);
        return {
          health: gone.length === 0 ? "ok" : "degraded",
          version,
          missing: gone.map((one) => `${describeStore(one)} of device class ${one.name} is missing`),
          snapshotAgeMs: performance.now() - readAtMs,
        };
      } catch (error) {
        return {
          health: "unavailable",
          version,
          missing: [error instanceof Error ? error.message : String(error)],
          snapshotAgeMs: undefined,
        };
      }
    },
    subscribe: (onChange) => lvm.subscribe(onChange),
  };
}

import type { LibvirtAdapter } from "../../../../adapters/libvirt/adapter.ts";
import type { Backend } from "../../../domain/backend.ts";
import type { HypervisorSettings } from "../hypervisor-settings.ts";

/**
 * Creates the libvirt backend, as ListBackends, the health service and `hostplane doctor` report it. It is degraded while a
 * storage pool of a template is missing or inactive.
 */
export function createLibvirtBackend(libvirt: LibvirtAdapter, { templates }: HypervisorSettings): Backend {
  const pools = [...new Set(templates.map(({ disk }) => disk.pool))];
  /** Last known version. */
  let version: string | undefined;
  return {
    domain: "hypervisors",
    name: "libvirt",
    kind: libvirt.kind,
    services: ["operations.v1.OperationsService"],
    async status() {
      try {
        const { value, readAtMs } = await libvirt.read();
        version = await libvirt.version();
        const isActive = (pool: string) =>
          value.pools.some(({ name, isActive }) => name === pool && isActive);
        const missing = pools
          .filter((pool) => !isActive(pool))
          .map((pool) => `the storage pool ${pool} is missing or inactive: \`virsh pool-start ${pool}\``);
        const snapshotAgeMs = performance.now() - readAtMs;
        return { health: missing.length === 0 ? "ok" : "degraded", version, missing, snapshotAgeMs };
      } catch (error) {
        const missing = [error instanceof Error ? error.message : String(error)];
        return { health: "unavailable", version, missing, snapshotAgeMs: undefined };
      }
    },
    subscribe: (onChange) => libvirt.subscribe(onChange),
  };
}

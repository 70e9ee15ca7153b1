import { oncePerObject } from "../../../../../adapters/host/once-per-object.ts";
import { bytes, type InventorySource, type Resource } from "../../../../domain/inventory-source.ts";
import { storagePoolResourceTypes } from "../../monitoring/resource-types.ts";
import type { PoolState, StoragePool } from "../storage-pool.ts";

/** The storage pool that hypervisors share. */
export function createStoragePoolResources(pool: Pick<StoragePool, "read" | "subscribe">): InventorySource {
  const resourcesOf = oncePerObject((state: PoolState): readonly Resource[] => {
    const missing = state.devices.filter((device) => device.missing).map(({ path }) => path);
    const isWhole = missing.length === 0;
    return [
      {
        name: "storagePool",
        type: "storagePool",
        title: state.name,
        state: isWhole ? "ok" : "partial",
        health: isWhole ? "ok" : "degraded",
        figures: [
          bytes("size", state.sizeBytes),
          bytes("used", state.usedBytes),
          bytes("free", state.freeBytes),
        ],
        labels: {},
        properties: { kind: state.kind },
        ...(isWhole ? {} : { reason: `LVM cannot find ${missing.join(", ")}` }),
      },
    ];
  });
  return {
    ...storagePoolResourceTypes,
    async read(signal) {
      const { value, readAtMs } = await pool.read(signal);
      return { resources: resourcesOf(value), readAtMs };
    },
    subscribe: (onChange) => pool.subscribe(onChange),
  };
}

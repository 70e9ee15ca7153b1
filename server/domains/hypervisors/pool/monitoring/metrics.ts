import type { MetricSource } from "../../../../domain/metric-source.ts";
import type { StoragePool } from "../storage-pool.ts";

const size = "hostplane_storage_pool_size_bytes";
const free = "hostplane_storage_pool_free_bytes";
const missing = "hostplane_storage_pool_devices_missing";

/** The storage pool that hypervisors share. */
export function createStoragePoolMetrics(pool: Pick<StoragePool, "read">): MetricSource {
  return {
    families: [
      { name: size, help: "Size of the storage pool.", labels: ["pool"] },
      { name: free, help: "Free space of the storage pool.", labels: ["pool"] },
      { name: missing, help: "Devices of the storage pool that cannot be found.", labels: ["pool"] },
    ],
    async read(signal) {
      const { value } = await pool.read(signal);
      const labels = { pool: value.name };
      return [
        { name: size, labels, value: Number(value.sizeBytes) },
        { name: free, labels, value: Number(value.freeBytes) },
        { name: missing, labels, value: value.devices.filter((device) => device.missing).length },
      ];
    },
  };
}

import type { FigureSource } from "../../../domain/figure-source.ts";
import { bytes, count } from "../../../domain/inventory-source.ts";
import type { Hypervisors } from "../hypervisors.ts";
import type { StoragePool } from "../pool/storage-pool.ts";

/** How many hypervisors run, and what they have of the host, as `hypervisors`. */
export function createHypervisorFigures(hypervisors: Pick<Hypervisors, "read">): FigureSource {
  return {
    domain: "hypervisors",
    services: ["operations.v1.OperationsService"],
    async read(signal) {
      const { hypervisors: all, failure } = await hypervisors.read(signal);
      if (failure !== undefined) {
        throw failure;
      }
      const running = all.filter(({ state }) => state === "running");
      const memoryMib = running.reduce((sum, each) => sum + each.memoryMib, 0);
      return [
        {
          name: "hypervisors",
          figures: [
            count("hypervisors", all.length),
            count("running", running.length),
            count(
              "running_vcpus",
              running.reduce((sum, { threadCount }) => sum + threadCount, 0),
            ),
            bytes("running_memory", BigInt(memoryMib) << 20n),
          ],
        },
      ];
    },
  };
}

/** Space of the storage pool, under the name that it has in the inventory. */
export function createStoragePoolFigures(pool: Pick<StoragePool, "read">): FigureSource {
  return {
    domain: "hypervisors",
    services: ["hostplane.v1.StoragePoolService", "operations.v1.OperationsService"],
    async read(signal) {
      const { sizeBytes, usedBytes, freeBytes } = (await pool.read(signal)).value;
      const figures = [bytes("size", sizeBytes), bytes("used", usedBytes), bytes("free", freeBytes)];
      return [{ name: "storagePool", figures }];
    },
  };
}

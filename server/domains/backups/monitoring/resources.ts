import { oncePerObject } from "../../../../adapters/host/once-per-object.ts";
import { createSnapshotCache } from "../../../../adapters/host/snapshot.ts";
import type { BackupRow } from "../../../backups/store/backups.ts";
import { resourceOf as backupResource } from "../../../backups/stored-backup-plans.ts";
import { bytes, type InventorySource, type Resource, time } from "../../../domain/inventory-source.ts";
import type { Store } from "../../../store/store.ts";
import { backupResourceTypes } from "./resource-types.ts";

const pageRows = 1000;

/** The backups of this store, newest first. */
export function createBackupResources(store: Pick<Store, "run" | "subscribe">): InventorySource {
  const cache = createSnapshotCache({
    system: "backups",
    load: async () => {
      const all: BackupRow[] = [];
      let belowSeq: number | undefined;
      do {
        const { rows, nextSeq } = await store.run("backups.list", { filters: {}, belowSeq, limit: pageRows });
        all.push(...rows);
        belowSeq = nextSeq;
      } while (belowSeq !== undefined);
      return all;
    },
  });
  let isSubscribed = false;

  /** Backups change by operations only. The subscription ends with the store. */
  function invalidateByOperations(): void {
    if (!isSubscribed) {
      isSubscribed = true;
      store.subscribe("operations", () => cache.invalidate());
    }
  }

  const resourcesOf = oncePerObject((rows: readonly BackupRow[]) => rows.map(resourceOf));
  return {
    ...backupResourceTypes,
    async read(signal) {
      invalidateByOperations();
      const { value, readAtMs } = await cache.read(signal);
      return { resources: resourcesOf(value), readAtMs };
    },
    subscribe(onChange) {
      invalidateByOperations();
      return cache.subscribe(onChange);
    },
  };
}

function resourceOf(row: BackupRow): Resource {
  const { id, name, volume, size_bytes, at, verified_at, damage, schedule, host } = row;
  return {
    name: backupResource(row),
    type: "backup",
    title: name,
    state: damage !== null ? "damaged" : verified_at === null ? "not verified" : "verified",
    health: damage === null ? "ok" : "failed",
    figures: [
      bytes("size", BigInt(size_bytes)),
      time("created", at),
      ...(verified_at === null ? [] : [time("verified", verified_at)]),
    ],
    labels: { volume, host, ...(schedule === null ? {} : { schedule }) },
    properties: { id },
    ...(damage === null ? {} : { reason: damage }),
  };
}

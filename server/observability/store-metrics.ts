import { Gauge, type Registry } from "@prometheus-io/client";

/** The store's functions that its metrics need. */
export interface MeasuredStore {
  /** Reports whether the last change could be written. */
  readonly isWritable: () => boolean;
  /** Undefined for a database on another machine. */
  readonly readDisk: (() => Promise<{ readonly freeBytes: number; readonly sizeBytes: number }>) | undefined;
  /** Returns the size of the database, in bytes. */
  readonly readSizeBytes: () => Promise<number>;
  /** Returns the time of the last scheduled copy, in ms since the epoch; undefined if there is none. Absent without a schedule. */
  readonly readNewestCopyMs?: (() => Promise<number | undefined>) | undefined;
}

/**
 * Registers whether the store can be written, how full its disk is, and how old its last copy is. The returned function updates them
 * before the metrics are read.
 */
export function createStoreMetrics(
  registry: Registry,
  { isWritable, readDisk, readSizeBytes, readNewestCopyMs }: MeasuredStore,
): () => Promise<void> {
  const registers = [registry];
  const writable = new Gauge({
    name: "hostplane_store_writable",
    help: "1 while changes can be written to the gateway's store, 0 while they cannot.",
    registers,
  });
  const free = new Gauge({
    name: "hostplane_store_disk_free_bytes",
    help: "Free space on the disk of an SQLite store.",
    registers: [],
  });
  const size = new Gauge({
    name: "hostplane_store_disk_size_bytes",
    help: "Size of the disk of an SQLite store.",
    registers: [],
  });
  const storeSize = new Gauge({
    name: "hostplane_store_size_bytes",
    help: "Size of the gateway's database.",
    registers,
  });
  const copyAge = new Gauge({
    name: "hostplane_store_backup_age_seconds",
    help: "Age of the last copy of the store that storeBackups wrote; +Inf if there is none.",
    registers: [],
  });
  if (readNewestCopyMs !== undefined) {
    registry.registerMetric(copyAge);
  }
  if (readDisk !== undefined) {
    registry.registerMetric(free);
    registry.registerMetric(size);
  }
  return async () => {
    writable.set(isWritable() ? 1 : 0);
    const sizeBytes = await readSizeBytes().catch(() => undefined);
    storeSize.reset();
    if (sizeBytes !== undefined) {
      storeSize.set(sizeBytes);
    }
    const copyMs = (await readNewestCopyMs?.()) ?? Number.NEGATIVE_INFINITY;
    copyAge.set((Date.now() - copyMs) / 1000);
    const disk = await readDisk?.().catch(() => undefined);
    if (disk !== undefined) {
      free.set(disk.freeBytes);
      size.set(disk.sizeBytes);
    }
  };
}

import { setTimeout as delay } from "node:timers/promises";
import { type Backend, type BackendStatus, createPolledStatus } from "../../../domain/backend.ts";
import { type DiskSpace, describeDisk, isFull, isNearlyFull } from "../../../store/disk-space.ts";
import type { Store } from "../../../store/store.ts";
import type { WriteHealth } from "../../../store/write-health.ts";

/** How long a status of the store is cached, and how often it is refreshed while it is watched. */
const freshMs = 1000;

/** How long to wait for the store. This is shorter than the time limits of the PostgreSQL connection. */
const patienceMs = 2000;

export interface StoreBackendOptions {
  readonly store: Pick<Store, "run" | "isShared">;
  readonly kind: "real" | "sandbox";
  /** Full names of the services that depend on it. */
  readonly services: readonly string[];
  /** Absent: whether it can be written is not known. */
  readonly writes?: Pick<WriteHealth, "failure"> | undefined;
  /** Reads how full its disk is; absent for a database on another machine. */
  readonly readDisk?: (() => Promise<DiskSpace>) | undefined;
}

/** Creates the backend entry of the gateway's own store for ListBackends, `/readyz` and the health service. */
export function createStoreBackend({
  store,
  kind,
  services,
  writes,
  readDisk,
}: StoreBackendOptions): Backend {
  async function fetchStatus(): Promise<BackendStatus> {
    const facts = { version: undefined, snapshotAgeMs: undefined };
    const timeout = new AbortController();
    const late = delay(patienceMs, "late" as const, { signal: timeout.signal });
    late.catch(() => undefined);
    try {
      const answer = await Promise.race([store.run("store.check", {}), late]);
      return answer === "late"
        ? { ...facts, health: "unavailable", missing: [`the database has not answered for ${patienceMs} ms`] }
        : { ...facts, ...(await writeStatus()) };
    } catch (error) {
      return {
        ...facts,
        health: "unavailable",
        missing: [error instanceof Error ? error.message : String(error)],
      };
    } finally {
      timeout.abort();
    }
  }

  /** Returns the write status. A store that cannot be written is unavailable, because every change is refused. */
  async function writeStatus(): Promise<Pick<BackendStatus, "health" | "missing">> {
    const disk = await readDisk?.().catch(() => undefined);
    const room = "free space on the file system of the data directory";
    const words = disk === undefined ? "" : `, its disk is ${describeDisk(disk)}: ${room}`;
    const failure = writes?.failure();
    if (failure !== undefined) {
      return {
        health: "unavailable",
        missing: [`the database cannot be written${words || `: ${failure.message}`}`],
      };
    }
    if (disk === undefined || !(isNearlyFull(disk) || isFull(disk))) {
      return { health: "ok", missing: [] };
    }
    const missing = [`the disk of the database is ${describeDisk(disk)}: ${room}`];
    return { health: isFull(disk) ? "unavailable" : "degraded", missing };
  }

  return {
    domain: "system",
    name: store.isShared ? "postgresql" : "sqlite",
    kind,
    services,
    ...createPolledStatus(fetchStatus, freshMs),
  };
}

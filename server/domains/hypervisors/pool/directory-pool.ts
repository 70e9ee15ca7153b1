import { statfs } from "node:fs/promises";
import { InfraError } from "../../../../adapters/host/infra-error.ts";
import { createSnapshotCache } from "../../../../adapters/host/snapshot.ts";
import type { PoolState, StoragePool } from "./storage-pool.ts";

export interface DirectoryPoolOptions {
  readonly directory: string;
  /** Figures are read so often while anybody watches them; 30 s unless told. */
  readonly lookEveryMs?: number;
}

/** So old figures may be when they are read. */
const maxAgeMs = 1_000;

/** A directory as a pool: as large as its file system, and neither made larger nor smaller here. */
export function createDirectoryPool({ directory, lookEveryMs = 30_000 }: DirectoryPoolOptions): StoragePool {
  const cache = createSnapshotCache<PoolState>({
    system: "storagePool",
    load: () => {
      loadedAtMs = performance.now();
      return readDirectory(directory);
    },
  });
  let loadedAtMs = Number.NEGATIVE_INFINITY;

  const refuse = async (): Promise<never> => {
    const words = `the pool is the directory ${directory}: make its file system larger or smaller`;
    throw new InfraError("POOL_FIXED", words, { resource: "storagePool" });
  };
  return {
    name: directory,
    kind: "directory",
    backendKind: "real",
    shown: (argv) => argv.join(" "),
    read(signal, sinceMs = performance.now() - maxAgeMs) {
      // Nothing announces a change.
      if (loadedAtMs < sinceMs) {
        cache.invalidate();
      }
      return cache.read(signal);
    },
    readSpares: async () => [],
    subscribe(onChange) {
      const unsubscribe = cache.subscribe(onChange);
      const timer = setInterval(() => cache.invalidate(), lookEveryMs).unref();
      return () => {
        unsubscribe();
        clearInterval(timer);
      };
    },
    planExpand: refuse,
    planShrink: refuse,
    add: refuse,
    takeBack: refuse,
    leaving: refuse,
    reserve: refuse,
    moveAway: refuse,
    abortMove: refuse,
    remove: refuse,
    putBack: refuse,
  };
}

async function readDirectory(directory: string): Promise<PoolState> {
  try {
    const { bsize, blocks, bfree, bavail } = await statfs(directory, { bigint: true });
    return {
      name: directory,
      identity: directory,
      kind: "directory",
      sizeBytes: blocks * bsize,
      usedBytes: (blocks - bfree) * bsize,
      // Less than the rest where the file system keeps some for root.
      freeBytes: bavail * bsize,
      devices: [],
      spares: [],
    };
  } catch (cause) {
    const words = `the directory ${directory} cannot be read: ${cause instanceof Error ? cause.message : String(cause)}`;
    throw new InfraError("STORAGE_POOL_NOT_FOUND", words, { resource: "storagePool", cause });
  }
}

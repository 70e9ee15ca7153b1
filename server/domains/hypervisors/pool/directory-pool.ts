import { statfs } from "node:fs/promises";
import { InfraError } from "../../../../adapters/host/infra-error.ts";
import { createSnapshotCache } from "../../../../adapters/host/snapshot.ts";
import { libvirtReasons } from "../../../../adapters/libvirt/reasons.ts";
import { hypervisorReasons } from "../reasons.ts";
import type { PoolState, StoragePool } from "./storage-pool.ts";

export interface DirectoryPoolOptions {
  readonly directory: string;
  /** Interval at which sizes are read while there are subscribers; 30 s by default. */
  readonly pollEveryMs?: number;
}

/** Maximum age of the sizes that a read returns. */
const maxAgeMs = 1_000;

/** Creates a pool from a directory. It is as large as its file system, and cannot be resized through hostplane. */
export function createDirectoryPool({ directory, pollEveryMs = 30_000 }: DirectoryPoolOptions): StoragePool {
  const cache = createSnapshotCache<PoolState>({
    system: "storagePool",
    load: () => {
      loadedAtMs = performance.now();
      return readDirectory(directory);
    },
  });
  let loadedAtMs = Number.NEGATIVE_INFINITY;

  const refuse = async (): Promise<never> => {
    const words = `the pool is the directory ${directory}: resize its file system instead`;
    throw new InfraError(hypervisorReasons.POOL_FIXED, words, { resource: "storagePool" });
  };
  return {
    name: directory,
    kind: "directory",
    backendKind: "real",
    shown: (argv) => argv.join(" "),
    read(signal, sinceMs = performance.now() - maxAgeMs) {
      // There are no notifications of changes.
      if (loadedAtMs < sinceMs) {
        cache.invalidate();
      }
      return cache.read(signal);
    },
    readSpares: async () => [],
    subscribe(onChange) {
      const unsubscribe = cache.subscribe(onChange);
      const timer = setInterval(() => cache.invalidate(), pollEveryMs).unref();
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
      // Less than size minus used if the file system reserves space for root.
      freeBytes: bavail * bsize,
      devices: [],
      spares: [],
    };
  } catch (cause) {
    const words = `the directory ${directory} cannot be read: ${cause instanceof Error ? cause.message : String(cause)}`;
    throw new InfraError(libvirtReasons.STORAGE_POOL_NOT_FOUND, words, { resource: "storagePool", cause });
  }
}

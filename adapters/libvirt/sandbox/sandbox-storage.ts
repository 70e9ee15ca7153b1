import { InfraError, invalidField } from "../../host/infra-error.ts";
import { hostReasons } from "../../host/reasons.ts";
import type { LibvirtPool } from "../adapter.ts";
import { assertLibvirtName } from "../names.ts";
import { libvirtReasons } from "../reasons.ts";

export interface SandboxStorageVolume {
  readonly name: string;
  readonly sizeBytes: bigint;
  readonly format?: "qcow2" | "raw";
}

export interface SandboxPool {
  readonly name: string;
  readonly type?: string;
  readonly targetPath?: string;
  readonly capacityBytes: bigint;
  readonly volumes?: readonly SandboxStorageVolume[];
}

export interface StoredVolume {
  readonly name: string;
  readonly path: string;
  readonly sizeBytes: bigint;
  readonly format: "qcow2" | "raw";
}

/** Storage pools in memory. Each function refuses what libvirt would refuse; nothing has changed then. */
export interface SandboxStorage {
  /** Sorted by name. */
  pools(): readonly LibvirtPool[];
  /** Sorted by name. @throws InfraError STORAGE_POOL_NOT_FOUND */
  volumesOf(pool: string): readonly StoredVolume[];
  /** @throws InfraError STORAGE_POOL_NOT_FOUND, STORAGE_VOLUME_NOT_FOUND */
  volumeIn(pool: string, name: string): StoredVolume;
  /** @throws InfraError INVALID_FIELD, STORAGE_POOL_NOT_FOUND, STORAGE_VOLUME_EXISTS, STORAGE_VOLUME_NOT_FOUND, NO_SPACE */
  addVolume(pool: string, volume: SandboxStorageVolume, backing?: string): void;
  /** Creates or replaces a volume. @throws InfraError INVALID_FIELD, STORAGE_POOL_NOT_FOUND */
  putVolume(pool: string, volume: SandboxStorageVolume): void;
  /** @throws InfraError STORAGE_POOL_NOT_FOUND, STORAGE_VOLUME_NOT_FOUND */
  removeVolume(pool: string, name: string): void;
}

/** Space that a sparse file uses in its pool. */
const emptyFileBytes = 200n * 1024n;

/** Creates the pools with their volumes. Pools are neither added nor removed later. */
export function createSandboxStorage(all: readonly SandboxPool[]): SandboxStorage {
  const pools = new Map(all.map((pool) => [pool.name, pool]));
  const volumes = new Map(all.map(({ name }) => [name, new Map<string, StoredVolume>()]));

  function volumesIn(pool: string): Map<string, StoredVolume> {
    const found = volumes.get(pool);
    if (found === undefined) {
      throw new InfraError(libvirtReasons.STORAGE_POOL_NOT_FOUND, `there is no storage pool ${pool}`);
    }
    return found;
  }

  function volumeIn(pool: string, name: string): StoredVolume {
    const found = volumesIn(pool).get(name);
    if (found === undefined) {
      throw new InfraError(
        libvirtReasons.STORAGE_VOLUME_NOT_FOUND,
        `storage pool ${pool} has no volume ${name}`,
      );
    }
    return found;
  }

  function freeBytes({ name, capacityBytes }: SandboxPool): bigint {
    const taken = [...volumesIn(name).values()].map(takenBytes);
    return taken.reduce((free, each) => free - each, capacityBytes);
  }

  function putVolume(pool: string, volume: SandboxStorageVolume): void {
    assertLibvirtName(volume.name, "name");
    const { targetPath = `/sandbox/${pool}` } = pools.get(pool) ?? {};
    const path = `${targetPath}/${volume.name}`;
    volumesIn(pool).set(volume.name, { format: "raw", ...volume, path });
  }

  for (const { name, volumes: there = [] } of all) {
    for (const volume of there) {
      putVolume(name, volume);
    }
  }

  return {
    pools: () => [...pools.values()].map((pool) => poolFacts(pool, freeBytes(pool))).toSorted(byName),
    volumesOf: (pool) => [...volumesIn(pool).values()].toSorted(byName),
    volumeIn,
    addVolume(pool, volume, backing) {
      assertLibvirtName(volume.name, "name");
      if (volumesIn(pool).has(volume.name)) {
        throw new InfraError(
          libvirtReasons.STORAGE_VOLUME_EXISTS,
          `storage pool ${pool} already has a volume ${volume.name}`,
        );
      }
      const backingBytes = backing === undefined ? 0n : volumeIn(pool, backing).sizeBytes;
      if (backingBytes > volume.sizeBytes) {
        throw invalidField("sizeBytes", `must be at least the ${backingBytes} bytes of ${backing}`);
      }
      const spec = { format: "raw", ...volume, path: "" } as const;
      const own = pools.get(pool);
      if (own !== undefined && takenBytes(spec) > freeBytes(own)) {
        throw new InfraError(hostReasons.NO_SPACE, `storage pool ${pool} has ${freeBytes(own)} bytes free`);
      }
      putVolume(pool, volume);
    },
    putVolume,
    removeVolume(pool, name) {
      volumeIn(pool, name);
      volumesIn(pool).delete(name);
    },
  };
}

/** Returns the space that a volume uses in its pool. */
export function takenBytes({ format, sizeBytes }: StoredVolume): bigint {
  return format === "raw" ? sizeBytes : emptyFileBytes;
}

function poolFacts(pool: SandboxPool, freeBytes: bigint): LibvirtPool {
  const { name, type = "dir", targetPath = `/sandbox/${name}`, capacityBytes } = pool;
  const uuid = `00000000-0000-4000-8000-${Buffer.from(name).toString("hex").padEnd(12, "0").slice(0, 12)}`;
  return { name, uuid, isActive: true, type, targetPath, capacityBytes, freeBytes };
}

function byName(a: { readonly name: string }, b: { readonly name: string }): number {
  return a.name < b.name ? -1 : 1;
}

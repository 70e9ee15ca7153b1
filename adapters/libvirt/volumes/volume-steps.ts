import { setTimeout as sleep } from "node:timers/promises";
import { hasReason, InfraError, invalidField } from "../../host/infra-error.ts";
import type { LibvirtStep } from "../adapter.ts";
import { isScratchName } from "../backup/backup-names.ts";
import type { LibvirtVolume } from "../backup-adapter.ts";
import { readDiskUses, usersOf } from "../domains/disk-uses.ts";
import { about } from "../errors.ts";
import { poolResource, poolVolumeResource } from "../names.ts";
import { libvirtReasons } from "../reasons.ts";
import type { LibvirtClient } from "../rpc/client.ts";
import type { StoragePoolRef, StorageVolRef } from "../rpc/objects.ts";
import { parsePool, parseVolume, renderVolume, type VolumeFacts } from "./storage-xml.ts";

type StepOf<Kind extends LibvirtStep["kind"]> = Extract<LibvirtStep, { readonly kind: Kind }>;

/** Looks up a volume. @throws InfraError STORAGE_POOL_NOT_FOUND, STORAGE_VOLUME_NOT_FOUND */
export async function volumeOf(client: LibvirtClient, pool: string, name: string): Promise<StorageVolRef> {
  const found = await poolOf(client, pool);
  const lookup = client.call("storageVolLookupByName", { pool: found, name });
  return (await about(poolVolumeResource(pool, name), lookup)).vol;
}

/** Reports whether a pool has a volume of this name. @throws InfraError STORAGE_POOL_NOT_FOUND */
export async function hasVolume(client: LibvirtClient, pool: string, name: string): Promise<boolean> {
  try {
    await volumeOf(client, pool, name);
    return true;
  } catch (error) {
    if (hasReason(error, libvirtReasons.STORAGE_VOLUME_NOT_FOUND)) {
      return false;
    }
    throw error;
  }
}

/** Creates a volume. In pools of files, its space is allocated as it is written to, unless `isPreallocated`. */
export function createVolume(client: LibvirtClient, step: StepOf<"createVolume">): Promise<void> {
  return about(poolVolumeResource(step.pool, step.name), create(client, step));
}

async function create(client: LibvirtClient, step: StepOf<"createVolume">): Promise<void> {
  const { name, sizeBytes, format, backingVolume, isPreallocated = false } = step;
  const pool = await poolOf(client, step.pool);
  const { type } = parsePool((await client.call("storagePoolGetXmlDesc", { pool, flags: 0 })).xml);
  const backing =
    backingVolume === undefined ? undefined : await backingOf(client, step.pool, backingVolume, sizeBytes);
  // In a logical pool, an allocation below the size would create a copy-on-write snapshot without an origin, which can
  // overflow.
  const isSparse = !isPreallocated && type !== "logical";
  const xml = renderVolume({ name, sizeBytes, format, isSparse, backing });
  try {
    await client.call("storageVolCreateXml", { pool, xml, flags: 0 });
  } catch (error) {
    // For a file created after the last refresh: `volume target path '/srv/pool/a.img' already exists`.
    if (hasReason(error, libvirtReasons.LIBVIRT_FAILED) && /already exists/.test(error.message)) {
      throw new InfraError(libvirtReasons.STORAGE_VOLUME_EXISTS, error.message, { cause: error });
    }
    throw error;
  }
}

/**
 * Checks the size of a backing volume: of one larger than the volume on top of it, a guest would see only the
 * beginning.
 */
async function backingOf(
  client: LibvirtClient,
  pool: string,
  name: string,
  sizeBytes: bigint,
): Promise<VolumeFacts> {
  const vol = await volumeOf(client, pool, name);
  const facts = parseVolume((await client.call("storageVolGetXmlDesc", { vol, flags: 0 })).xml);
  if (facts.sizeBytes > sizeBytes) {
    throw invalidField(
      "sizeBytes",
      `must be at least the ${facts.sizeBytes} bytes of ${name}, is ${sizeBytes}`,
    );
  }
  return facts;
}

/** Deletes a volume of a pool. @throws InfraError as `volumeOf` */
export async function deleteVolume(client: LibvirtClient, pool: string, name: string): Promise<void> {
  const vol = await volumeOf(client, pool, name);
  await about(poolVolumeResource(pool, name), client.call("storageVolDelete", { vol, flags: 0 }));
}

const refreshWaitMs = 30_000;
const refreshAgainMs = 200;

/**
 * Has libvirt read the content of a pool again. libvirt refuses while a volume is being created or written there, so
 * this waits.
 */
export async function refreshPool(client: LibvirtClient, name: string): Promise<void> {
  const pool = await poolOf(client, name);
  const endsAtMs = performance.now() + refreshWaitMs;
  for (;;) {
    try {
      await about(poolResource(name), client.call("storagePoolRefresh", { pool, flags: 0 }));
      return;
    } catch (error) {
      // `internal error: pool 'default' has asynchronous jobs running.`
      const isBusy =
        hasReason(error, libvirtReasons.LIBVIRT_FAILED) && /asynchronous jobs running/.test(error.message);
      if (!isBusy || performance.now() > endsAtMs) {
        throw error;
      }
      await sleep(refreshAgainMs);
    }
  }
}

/** Lists the volumes known to libvirt. Volumes added outside libvirt appear after a refresh. */
export async function listVolumes(
  client: LibvirtClient,
  poolName: string,
): Promise<readonly LibvirtVolume[]> {
  const pool = await poolOf(client, poolName);
  const listing = client.call("storagePoolListAllVolumes", { pool, needResults: true, flags: 0 });
  const { vols } = await about(poolResource(poolName), listing);
  const named = vols.filter(({ name }) => !isScratchName(name));
  const [uses, ...volumes] = await Promise.all([
    readDiskUses(client),
    ...named.map((vol) => factsOf(client, vol)),
  ]);
  return volumes
    .flat()
    .map(({ name, changedAt: _, ...facts }) => ({
      name,
      ...facts,
      users: usersOf(uses, { pool: poolName, name, path: facts.path }),
    }))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** Returns no facts if the volume has disappeared meanwhile. */
async function factsOf(client: LibvirtClient, vol: StorageVolRef) {
  try {
    return [{ name: vol.name, ...(await volumeFacts(client, vol)) }];
  } catch (error) {
    if (hasReason(error, libvirtReasons.STORAGE_VOLUME_NOT_FOUND)) {
      return [];
    }
    throw error;
  }
}

/** Reads libvirt's facts about a volume, uncached. @throws InfraError STORAGE_VOLUME_NOT_FOUND */
export async function volumeFacts(client: LibvirtClient, vol: StorageVolRef): Promise<VolumeFacts> {
  return parseVolume((await client.call("storageVolGetXmlDesc", { vol, flags: 0 })).xml);
}

async function poolOf(client: LibvirtClient, name: string): Promise<StoragePoolRef> {
  return (await about(poolResource(name), client.call("storagePoolLookupByName", { name }))).pool;
}

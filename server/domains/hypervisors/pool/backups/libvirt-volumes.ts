import { realpath } from "node:fs/promises";
import { InfraError } from "../../../../../adapters/host/infra-error.ts";
import type { LibvirtAdapter } from "../../../../../adapters/libvirt/adapter.ts";
import type { LibvirtVolume, VolumeUser } from "../../../../../adapters/libvirt/backup-adapter.ts";
import { poolResource, poolVolumeResource } from "../../../../../adapters/libvirt/names.ts";
import type { HeldVolumes, PoolVolume, PoolVolumes, VolumesHolder } from "./pool-volumes.ts";
import { withPatience } from "./with-patience.ts";

export interface LibvirtVolumesOptions {
  readonly libvirt: LibvirtAdapter;
  readonly libvirtPool: string;
  /** Where its volumes must be: another pool of libvirt is not meant. Undefined: anywhere. */
  readonly directory: string | undefined;
}

/**
 * The volumes of a directory that libvirt knows as a pool. Those that a running domain writes to are read as its guest sees
 * them, all of a domain as they were at one moment; others as they are stored.
 */
export function createLibvirtVolumes({
  libvirt,
  libvirtPool,
  directory,
}: LibvirtVolumesOptions): PoolVolumes {
  /** Libvirt is started anew by updates; nothing of what is there is lost by that. */
  const whileAway = <T>(signal: AbortSignal, act: () => Promise<T>) =>
    withPatience("LIBVIRT_UNAVAILABLE", signal, act);

  async function volumes(signal: AbortSignal): Promise<readonly LibvirtVolume[]> {
    const all = await whileAway(signal, async () => {
      await assertMeant(libvirt, libvirtPool, directory, signal);
      return libvirt.volumesOf(libvirtPool);
    });
    // Neither directories in it nor files that hold nothing, which restic does not store: `snapshot is empty`.
    return all.filter(({ format, storedBytes }) => format !== "dir" && storedBytes > 0n);
  }

  async function holdDomain(writer: VolumeUser, those: readonly LibvirtVolume[], holder: VolumesHolder) {
    const { operationId: token, signal } = holder;
    const { name, uuid } = writer;
    const disks = those.map((volume) => ({ volume, target: targetIn(volume, uuid) }));
    const atMs = Date.now();
    const request = { name, uuid, targets: disks.map(({ target }) => target), token };
    const backup = await libvirt.beginBackup(request, signal).catch((error: unknown) => {
      throw isReason(error, "DOMAIN_STATE", "DOMAIN_NOT_FOUND") ? stoppedMeanwhile(writer, error) : error;
    });
    return {
      atMs,
      volumes: disks.map(({ volume, target }) => {
        const sizeBytes = Number(backup.disks.find((disk) => disk.target === target)?.sizeBytes ?? 0n);
        return { name: volume.name, source: { content: backup.read(target, signal), sizeBytes } };
      }),
      assertGood: async () => {},
      // Also when the operation is stopped just now.
      end: () => whileAway(new AbortController().signal, () => backup.end()),
    } satisfies HeldVolumes;
  }

  function stored({ name, storedBytes }: LibvirtVolume, signal: AbortSignal): HeldVolumes {
    const content = ofSize(libvirt.readVolume(libvirtPool, name, signal), storedBytes, name);
    return {
      atMs: Date.now(),
      volumes: [{ name, source: { content, sizeBytes: Number(storedBytes) } }],
      assertGood: async () => {},
      end: async () => {},
    };
  }

  async function release({ operationId: token, signal }: VolumesHolder): Promise<void> {
    await whileAway(signal, async () => {
      for (const { name, uuid } of (await libvirt.read(signal)).value.domains) {
        await libvirt.endBackup({ name, uuid, token });
      }
    });
  }

  return {
    poolName: libvirtPool,

    async refresh(signal) {
      try {
        await whileAway(signal, () => libvirt.run({ kind: "refreshPool", pool: libvirtPool }));
      } catch (error) {
        // It does not look while somebody writes a volume by it, which may take long: then what it knows is backed up.
        if (!isReason(error, "LIBVIRT_FAILED")) {
          throw error;
        }
      }
    },

    async list({ signal }) {
      return (await volumes(signal)).map((volume) => volumeFrom(volume, libvirtPool));
    },

    async hold([first, ...others], holder) {
      const { signal } = holder;
      const all = await volumes(signal);
      const volume = all.find(({ name }) => name === first);
      if (volume === undefined) {
        throw new InfraError("STORAGE_VOLUME_NOT_FOUND", `${libvirtPool} has no volume ${first} any more`, {
          resource: poolVolumeResource(libvirtPool, first),
        });
      }
      const [writer, another] = writersOf(volume);
      if (writer === undefined) {
        return stored(volume, signal);
      }
      if (another !== undefined) {
        throw writtenByMany(volume, libvirtPool);
      }
      const alike = all.filter(
        (one) =>
          others.includes(one.name) &&
          one.name !== first &&
          writersOf(one).length === 1 &&
          writersOf(one)[0]?.uuid === writer.uuid,
      );
      return holdDomain(writer, [volume, ...alike], holder);
    },

    release,
  };
}

function volumeFrom(volume: LibvirtVolume, pool: string): PoolVolume {
  const { name, path, sizeBytes, storedBytes } = volume;
  const writers = writersOf(volume);
  return {
    name,
    identity: path,
    sizeBytes: Number(writers.length === 0 ? storedBytes : sizeBytes),
    refusal: writers.length > 1 ? writtenByMany(volume, pool) : undefined,
  };
}

/** Running domains that may write to it, each once. */
function writersOf({ users }: LibvirtVolume): VolumeUser[] {
  const writers = users.filter(({ isRunning, isReadOnly }) => isRunning && !isReadOnly);
  return writers.filter(({ uuid }, at) => writers.findIndex((one) => one.uuid === uuid) === at);
}

function targetIn({ users }: LibvirtVolume, domainUuid: string): string {
  return users.find(({ uuid, isReadOnly }) => uuid === domainUuid && !isReadOnly)?.target ?? "";
}

/** What has become longer or shorter since it was looked at was in somebody's hands. */
async function* ofSize(content: AsyncIterable<Uint8Array>, sizeBytes: bigint, name: string) {
  let doneBytes = 0n;
  for await (const piece of content) {
    doneBytes += BigInt(piece.length);
    yield piece;
  }
  if (doneBytes !== sizeBytes) {
    const words = `the volume ${name} had ${sizeBytes} bytes when it was looked at, and ${doneBytes} when it was read`;
    throw new InfraError("STORAGE_VOLUME_IN_USE", words);
  }
}

async function assertMeant(
  libvirt: LibvirtAdapter,
  libvirtPool: string,
  directory: string | undefined,
  signal: AbortSignal,
): Promise<void> {
  const { pools } = (await libvirt.read(signal)).value;
  const pool = pools.find(({ name }) => name === libvirtPool);
  const resource = poolResource(libvirtPool);
  if (pool?.isActive !== true) {
    const words = `libvirt has no active storage pool ${libvirtPool}: \`virsh pool-start ${libvirtPool}\``;
    throw new InfraError("STORAGE_POOL_NOT_FOUND", words, { resource });
  }
  const { targetPath = "" } = pool;
  if (directory !== undefined && (await realPathOf(targetPath)) !== (await realPathOf(directory))) {
    const words = `libvirt's storage pool ${libvirtPool} is ${targetPath}, and the shared storage pool is ${directory}`;
    throw new InfraError("STORAGE_POOL_NOT_FOUND", words, { resource });
  }
}

/** The path itself where nothing is there. */
function realPathOf(path: string): Promise<string> {
  return realpath(path).catch(() => path);
}

function writtenByMany(volume: LibvirtVolume, pool: string): InfraError {
  const names = writersOf(volume).map(({ name }) => name);
  const words = `the running domains ${names.join(" and ")} write to the volume ${volume.name} of ${pool}: what of it is whole, none of them knows alone`;
  return new InfraError("STORAGE_VOLUME_IN_USE", words, { resource: poolVolumeResource(pool, volume.name) });
}

function stoppedMeanwhile({ name, target }: VolumeUser, cause: unknown): InfraError {
  const words = `the domain ${name} was stopped, or lost its disk ${target}, just when it was to be backed up`;
  return new InfraError("STORAGE_VOLUME_IN_USE", words, { cause });
}

function isReason(error: unknown, ...reasons: readonly string[]): boolean {
  return error instanceof InfraError && reasons.includes(error.reason);
}

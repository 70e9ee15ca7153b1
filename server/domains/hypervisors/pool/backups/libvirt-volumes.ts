import { realpath } from "node:fs/promises";
import { hasReason, InfraError } from "../../../../../adapters/host/infra-error.ts";
import type { LibvirtAdapter } from "../../../../../adapters/libvirt/adapter.ts";
import type { LibvirtVolume, VolumeUser } from "../../../../../adapters/libvirt/backup-adapter.ts";
import { poolResource, poolVolumeResource } from "../../../../../adapters/libvirt/names.ts";
import { libvirtReasons } from "../../../../../adapters/libvirt/reasons.ts";
import type { HeldVolumes, PoolVolume, PoolVolumes, VolumesHolder } from "./pool-volumes.ts";
import { withPatience } from "./with-patience.ts";

export interface LibvirtVolumesOptions {
  readonly libvirt: LibvirtAdapter;
  readonly libvirtPool: string;
  /** Directory that the libvirt pool must have. Undefined: any. */
  readonly directory: string | undefined;
}

/**
 * Creates access to the volumes of a directory that is a libvirt pool. Volumes that a running VM writes to are read as the
 * guest sees them, all volumes of a VM as of the same point in time. Other volumes are read as they are stored.
 */
export function createLibvirtVolumes({
  libvirt,
  libvirtPool,
  directory,
}: LibvirtVolumesOptions): PoolVolumes {
  /** Updates restart libvirt, which loses no state, so calls wait until it is back. */
  const whileAway = <T>(signal: AbortSignal, act: () => Promise<T>) =>
    withPatience(libvirtReasons.LIBVIRT_UNAVAILABLE, signal, act);

  async function volumes(signal: AbortSignal): Promise<readonly LibvirtVolume[]> {
    const all = await whileAway(signal, async () => {
      await assertMeant(libvirt, libvirtPool, directory, signal);
      return libvirt.volumesOf(libvirtPool);
    });
    // Without directories, and without empty files, which restic does not store (`snapshot is empty`).
    return all.filter(({ format, storedBytes }) => format !== "dir" && storedBytes > 0n);
  }

  async function holdDomain(writer: VolumeUser, those: readonly LibvirtVolume[], holder: VolumesHolder) {
    const { operationId: token, signal } = holder;
    const { name, uuid } = writer;
    const disks = those.map((volume) => ({ volume, target: targetIn(volume, uuid) }));
    const atMs = Date.now();
    const request = { name, uuid, targets: disks.map(({ target }) => target), token };
    const backup = await libvirt.beginBackup(request, signal).catch((error: unknown) => {
      throw hasReason(error, libvirtReasons.DOMAIN_STATE, libvirtReasons.DOMAIN_NOT_FOUND)
        ? stoppedMeanwhile(writer, error)
        : error;
    });
    return {
      atMs,
      volumes: disks.map(({ volume, target }) => {
        const sizeBytes = Number(backup.disks.find((disk) => disk.target === target)?.sizeBytes ?? 0n);
        return { name: volume.name, source: { content: backup.read(target, signal), sizeBytes } };
      }),
      assertGood: async () => {},
      // With its own signal, so that it also runs when the operation is being stopped.
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
        // libvirt refuses to refresh while a volume is being uploaded, which may take long: back up the volumes it knows.
        if (!hasReason(error, libvirtReasons.LIBVIRT_FAILED)) {
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
        throw new InfraError(
          libvirtReasons.STORAGE_VOLUME_NOT_FOUND,
          `${libvirtPool} no longer has a volume ${first}`,
          {
            resource: poolVolumeResource(libvirtPool, first),
          },
        );
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

/** Returns the running VMs that may write to a volume, each once. */
function writersOf({ users }: LibvirtVolume): VolumeUser[] {
  const writers = users.filter(({ isRunning, isReadOnly }) => isRunning && !isReadOnly);
  return writers.filter(({ uuid }, at) => writers.findIndex((one) => one.uuid === uuid) === at);
}

function targetIn({ users }: LibvirtVolume, domainUuid: string): string {
  return users.find(({ uuid, isReadOnly }) => uuid === domainUuid && !isReadOnly)?.target ?? "";
}

/** Passes the content through, and fails at the end if its size has changed since the volume was listed. */
async function* ofSize(content: AsyncIterable<Uint8Array>, sizeBytes: bigint, name: string) {
  let doneBytes = 0n;
  for await (const piece of content) {
    doneBytes += BigInt(piece.length);
    yield piece;
  }
  if (doneBytes !== sizeBytes) {
    const words = `the volume ${name} had ${sizeBytes} bytes when it was listed, but ${doneBytes} when it was read`;
    throw new InfraError(libvirtReasons.STORAGE_VOLUME_IN_USE, words);
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
    throw new InfraError(libvirtReasons.STORAGE_POOL_NOT_FOUND, words, { resource });
  }
  const { targetPath = "" } = pool;
  if (directory !== undefined && (await realPathOf(targetPath)) !== (await realPathOf(directory))) {
    const words = `libvirt's storage pool ${libvirtPool} is ${targetPath}, but the shared storage pool is ${directory}`;
    throw new InfraError(libvirtReasons.STORAGE_POOL_NOT_FOUND, words, { resource });
  }
}

/** Resolves symbolic links; returns the path itself if it does not exist. */
function realPathOf(path: string): Promise<string> {
  return realpath(path).catch(() => path);
}

function writtenByMany(volume: LibvirtVolume, pool: string): InfraError {
  const names = writersOf(volume).map(({ name }) => name);
  const words = `the running VMs ${names.join(" and ")} write to the volume ${volume.name} of ${pool}: only a volume with one writer can be backed up consistently`;
  return new InfraError(libvirtReasons.STORAGE_VOLUME_IN_USE, words, {
    resource: poolVolumeResource(pool, volume.name),
  });
}

function stoppedMeanwhile({ name, target }: VolumeUser, cause: unknown): InfraError {
  const words = `the VM ${name} was stopped, or lost its disk ${target}, when its backup was to begin`;
  return new InfraError(libvirtReasons.STORAGE_VOLUME_IN_USE, words, { cause });
}

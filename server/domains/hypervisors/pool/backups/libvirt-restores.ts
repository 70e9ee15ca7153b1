import { InfraError, invalidField } from "../../../../../adapters/host/infra-error.ts";
import { hostReasons } from "../../../../../adapters/host/reasons.ts";
import type { LibvirtAdapter } from "../../../../../adapters/libvirt/adapter.ts";
import type { LibvirtVolume } from "../../../../../adapters/libvirt/backup-adapter.ts";
import { assertLibvirtName, poolVolumeResource } from "../../../../../adapters/libvirt/names.ts";
import { libvirtReasons } from "../../../../../adapters/libvirt/reasons.ts";
import type { RestoredVolumes, WantedVolume } from "./pool-volumes.ts";
import { withPatience } from "./with-patience.ts";

export interface LibvirtRestoresOptions {
  readonly libvirt: LibvirtAdapter;
  readonly libvirtPool: string;
}

/**
 * Creates restores into volumes of a libvirt pool. libvirt cannot rename volumes, so a volume has its final name from the
 * beginning. Its space is allocated first, and it is not filled while a running VM uses it.
 */
export function createLibvirtRestores({
  libvirt,
  libvirtPool: pool,
}: LibvirtRestoresOptions): RestoredVolumes {
  async function volumeOf({ name }: WantedVolume, signal: AbortSignal): Promise<LibvirtVolume | undefined> {
    const all = await withPatience(libvirtReasons.LIBVIRT_UNAVAILABLE, signal, () => libvirt.volumesOf(pool));
    return all.find((volume) => volume.name === name);
  }

  const stepOf = ({ name, sizeBytes }: WantedVolume) =>
    ({
      kind: "createVolume",
      pool,
      name,
      format: "raw",
      sizeBytes: BigInt(sizeBytes),
      isPreallocated: true,
    }) as const;

  /**
   * Reports whether a volume may have been created by an earlier attempt that was interrupted. libvirt volumes carry no mark of
   * an operation, so only a volume with exactly the expected size counts.
   * @throws InfraError STORAGE_VOLUME_IN_USE if a VM has such a volume attached, since its origin is then unclear
   */
  function isMade(volume: LibvirtVolume, { sizeBytes }: WantedVolume): boolean {
    const isLike = volume.storedBytes === BigInt(sizeBytes);
    const [user] = volume.users;
    if (isLike && user !== undefined) {
      throw inUse(pool, volume.name, `the VM ${user.name} has it attached, and its origin is unclear`);
    }
    return isLike;
  }

  return {
    assertName(name, field) {
      assertLibvirtName(name, field);
      if (name.startsWith(".hostplane-")) {
        throw invalidField(field, "must not begin with .hostplane-, which is reserved for the gateway");
      }
    },

    async assertPossible(wanted, { signal }) {
      const { pools } = (await libvirt.read(signal)).value;
      if ((await volumeOf(wanted, signal)) !== undefined) {
        throw new InfraError(
          libvirtReasons.STORAGE_VOLUME_EXISTS,
          `storage pool ${pool} already has a volume ${wanted.name}`,
          {
            resource: poolVolumeResource(pool, wanted.name),
          },
        );
      }
      const { freeBytes = 0n } = pools.find(({ name }) => name === pool) ?? {};
      if (freeBytes < BigInt(wanted.sizeBytes)) {
        const words = `not enough space for ${wanted.name} in storage pool ${pool}: free=${freeBytes}, requested=${wanted.sizeBytes}`;
        throw new InfraError(hostReasons.NO_SPACE, words, {
          resource: poolVolumeResource(pool, wanted.name),
        });
      }
    },

    async find(wanted, { signal }) {
      const volume = await volumeOf(wanted, signal);
      return volume !== undefined && isMade(volume, wanted) ? { identity: volume.path } : undefined;
    },

    async create(wanted, { signal }) {
      await libvirt.run(stepOf(wanted));
      const volume = await volumeOf(wanted, signal);
      if (volume === undefined) {
        throw gone(pool, wanted.name);
      }
      return { identity: volume.path };
    },

    async fill({ name, sizeBytes }, _made, { read, onProgress }, { signal }) {
      const source = { content: read(), sizeBytes: BigInt(sizeBytes) };
      await libvirt.writeVolume(pool, name, source, signal, (doneBytes) => onProgress(Number(doneBytes)));
    },

    publish: async () => {},
    unmark: async () => {},

    async remove(wanted, made, { signal }) {
      const volume = await volumeOf(wanted, signal);
      const isOwn = volume !== undefined && (made?.identity === volume.path || isMade(volume, wanted));
      if (!isOwn) {
        return;
      }
      // libvirt would delete it even so. A VM that is off loses nothing, because the volume was never complete.
      const user = volume.users.find(({ isRunning }) => isRunning);
      if (user !== undefined) {
        throw inUse(pool, wanted.name, `the running VM ${user.name} uses it, although it is incomplete`);
      }
      await libvirt.run({ kind: "deleteVolume", pool, name: wanted.name });
    },

    leftOf: ({ name }) => ({
      left: [
        `The volume ${name} of the storage pool ${pool} may exist; it is incomplete, and backups of the pool skip it.`,
      ],
      advice: [
        `Detach it from its VM (\`virsh domblklist\`), or delete it (\`virsh vol-delete --pool ${pool} ${name}\`), then retry the operation: until then a volume of this name is not backed up.`,
      ],
    }),

    createCommand: (wanted) => libvirt.commandOf(stepOf(wanted)),
  };
}

function inUse(pool: string, name: string, why: string): InfraError {
  return new InfraError(
    libvirtReasons.STORAGE_VOLUME_IN_USE,
    `the volume ${name} of ${pool} is in use: ${why}`,
    {
      resource: poolVolumeResource(pool, name),
    },
  );
}

function gone(pool: string, name: string): InfraError {
  return new InfraError(
    libvirtReasons.STORAGE_VOLUME_NOT_FOUND,
    `${name}, which was being created, was deleted outside hostplane`,
    {
      resource: poolVolumeResource(pool, name),
    },
  );
}

import { InfraError, invalidField } from "../../../../../adapters/host/infra-error.ts";
import { hostReasons } from "../../../../../adapters/host/reasons.ts";
import type { LibvirtAdapter } from "../../../../../adapters/libvirt/adapter.ts";
import type { LibvirtVolume } from "../../../../../adapters/libvirt/backup-adapter.ts";
import { assertLibvirtName, poolVolumeResource } from "../../../../../adapters/libvirt/names.ts";
import { libvirtReasons } from "../../../../../adapters/libvirt/reasons.ts";
import type { PoolVolumeSpec, RestoredVolumes } from "./pool-volumes.ts";
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
  async function volumeOf({ name }: PoolVolumeSpec, signal: AbortSignal): Promise<LibvirtVolume | undefined> {
    const all = await withPatience(libvirtReasons.LIBVIRT_UNAVAILABLE, signal, () => libvirt.volumesOf(pool));
    return all.find((volume) => volume.name === name);
  }

  const stepOf = ({ name, sizeBytes }: PoolVolumeSpec) =>
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
  function isCreated(volume: LibvirtVolume, { sizeBytes }: PoolVolumeSpec): boolean {
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

    async assertPossible(spec, { signal }) {
      const { pools } = (await libvirt.read(signal)).value;
      if ((await volumeOf(spec, signal)) !== undefined) {
        throw new InfraError(
          libvirtReasons.STORAGE_VOLUME_EXISTS,
          `storage pool ${pool} already has a volume ${spec.name}`,
          {
            resource: poolVolumeResource(pool, spec.name),
          },
        );
      }
      const { freeBytes = 0n } = pools.find(({ name }) => name === pool) ?? {};
      if (freeBytes < BigInt(spec.sizeBytes)) {
        const words = `not enough space for ${spec.name} in storage pool ${pool}: free=${freeBytes}, requested=${spec.sizeBytes}`;
        throw new InfraError(hostReasons.NO_SPACE, words, {
          resource: poolVolumeResource(pool, spec.name),
        });
      }
    },

    async find(spec, { signal }) {
      const volume = await volumeOf(spec, signal);
      return volume !== undefined && isCreated(volume, spec) ? { identity: volume.path } : undefined;
    },

    async create(spec, { signal }) {
      await libvirt.run(stepOf(spec));
      const volume = await volumeOf(spec, signal);
      if (volume === undefined) {
        throw gone(pool, spec.name);
      }
      return { identity: volume.path };
    },

    async fill({ name, sizeBytes }, _made, { read, onProgress }, { signal }) {
      const source = { content: read(), sizeBytes: BigInt(sizeBytes) };
      await libvirt.writeVolume(pool, name, source, signal, (doneBytes) => onProgress(Number(doneBytes)));
    },

    publish: async () => {},
    unmark: async () => {},

    async remove(spec, created, { signal }) {
      const volume = await volumeOf(spec, signal);
      const isOwn = volume !== undefined && (created?.identity === volume.path || isCreated(volume, spec));
      if (!isOwn) {
        return;
      }
      // libvirt would delete it even so. A VM that is off loses nothing, because the volume was never complete.
      const user = volume.users.find(({ isRunning }) => isRunning);
      if (user !== undefined) {
        throw inUse(pool, spec.name, `the running VM ${user.name} uses it, although it is incomplete`);
      }
      await libvirt.run({ kind: "deleteVolume", pool, name: spec.name });
    },

    leftOf: ({ name }) => ({
      left: [
        `The volume ${name} of the storage pool ${pool} may exist; it is incomplete, and backups of the pool skip it.`,
      ],
      advice: [
        `Detach it from its VM (\`virsh domblklist\`), or delete it (\`virsh vol-delete --pool ${pool} ${name}\`), then retry the operation: until then a volume of this name is not backed up.`,
      ],
    }),

    createCommand: (spec) => libvirt.commandOf(stepOf(spec)),
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

import { InfraError } from "../../../../../adapters/host/infra-error.ts";
import { hostReasons } from "../../../../../adapters/host/reasons.ts";
import type { LogicalVolume, LvmState, VolumeGroup } from "../../../../../adapters/lvm/adapter.ts";
import { devicePathOf, volumeResource } from "../../../../../adapters/lvm/names.ts";
import { lvmReasons } from "../../../../../adapters/lvm/reasons.ts";
import { isTemporary, operationTag, temporaryName } from "../../../../lvm/operation-marks.ts";
import {
  assertSameGroup,
  findCreated,
  findVolume,
  type OperationVolumes,
} from "../../../../lvm/operation-volumes.ts";
import { assertSnapshotGood, snapshotStep } from "../../../../lvm/snapshot-volume.ts";
import { poolBackupKey } from "./backup-settings.ts";
import type { PoolVolume, PoolVolumes, VolumesHolder } from "./pool-volumes.ts";
import { withPatience } from "./with-patience.ts";

export interface VolumeGroupVolumesOptions {
  readonly operationVolumes: OperationVolumes;
  readonly volumeGroup: string;
  /** Share of a thick volume that may change before its snapshot is full, in percent. */
  readonly snapshotPercent: number;
}

/** Creates access to the volumes of a volume group, each read from its own snapshot. Thin pools and snapshots are left out. */
export function createVolumeGroupVolumes(options: VolumeGroupVolumesOptions): PoolVolumes {
  const { operationVolumes, volumeGroup, snapshotPercent } = options;

  function snapshotOf(volume: LogicalVolume, group: VolumeGroup, name: string, tags: readonly string[]) {
    const { shown } = operationVolumes;
    return snapshotStep({
      ...{ volume, group, name, tags, percent: snapshotPercent },
      ...{ configKey: poolBackupKey, shown },
    });
  }

  function volumeFrom(volume: LogicalVolume, group: VolumeGroup): PoolVolume {
    const { name, uuid: identity, sizeBytes } = volume;
    const refusal = refusalOf(() => snapshotOf(volume, group, temporaryName("backup", ""), []));
    return { name, identity, sizeBytes: Number(sizeBytes), refusal };
  }

  function placeOf(volume: LogicalVolume, { identity }: Pick<VolumesHolder, "identity">) {
    const { name, thinPoolName: thinPool = null } = volume;
    return { volumeGroup, groupUuid: identity, volume: name, thinPool };
  }

  function createdBy(state: LvmState, { operationId, identity }: VolumesHolder): LogicalVolume | undefined {
    return findCreated(state, { volumeGroup, groupUuid: identity }, { operationId, is: "snapshot" });
  }

  async function release(holder: VolumesHolder): Promise<void> {
    const state = await operationVolumes.readState();
    const snapshot = createdBy(state, holder);
    if (snapshot !== undefined) {
      const origin = findVolume(state, volumeGroup, snapshot.originName ?? "") ?? snapshot;
      // udev probes a device after it was closed, and keeps it open for a moment.
      await withPatience(hostReasons.VOLUME_IN_USE, holder.signal, () =>
        operationVolumes.remove(
          placeOf(origin, holder),
          "storagePool.removeSnapshot",
          { operationId: holder.operationId, is: "snapshot" },
          holder.signal,
        ),
      );
    }
  }

  return {
    poolName: volumeGroup,
    refresh: async () => {},

    async list({ identity }) {
      const state = await operationVolumes.readState();
      const group = assertSameGroup(state, { volumeGroup, groupUuid: identity });
      return state.volumes
        .filter((volume) => volume.volumeGroupName === volumeGroup && isData(volume))
        .map((volume) => volumeFrom(volume, group))
        .toSorted((a, b) => (a.name < b.name ? -1 : 1));
    },

    async hold([name], holder) {
      const { operationId, signal } = holder;
      const volume = findVolume(await operationVolumes.readState(), volumeGroup, name);
      if (volume === undefined) {
        throw gone(volumeGroup, name);
      }
      let atMs = Date.now();
      const steps = (state: LvmState, group: VolumeGroup) => {
        const found = findVolume(state, volumeGroup, name);
        if (found?.uuid !== volume.uuid) {
          throw gone(volumeGroup, name);
        }
        atMs = Date.now();
        return [snapshotOf(found, group, temporaryName("backup", operationId), [operationTag(operationId)])];
      };
      await operationVolumes.change(placeOf(volume, holder), "storagePool.snapshot", steps, signal);
      const snapshot = createdBy(await operationVolumes.readState(), holder);
      if (snapshot === undefined) {
        throw gone(volumeGroup, name);
      }
      const device = devicePathOf(volumeGroup, snapshot.name);
      const held = { name, source: { device, sizeBytes: Number(snapshot.sizeBytes) } };
      return {
        atMs,
        volumes: [held],
        assertGood: async () =>
          assertSnapshotGood(
            await operationVolumes.readState(),
            { volumeGroup, volume: name },
            snapshot,
            poolBackupKey,
          ),
        // With its own signal, so that it also runs when the operation is being stopped.
        end: () => release({ ...holder, signal: new AbortController().signal }),
      };
    },

    release,
  };
}

/** Reports whether a volume holds data of its own, and was not created by an operation for its own use. */
function isData(volume: LogicalVolume): boolean {
  return volume.kind !== "thinPool" && volume.kind !== "snapshot" && !isTemporary(volume);
}

function refusalOf(check: () => unknown): InfraError | undefined {
  try {
    check();
    return undefined;
  } catch (error) {
    if (error instanceof InfraError) {
      return error;
    }
    throw error;
  }
}

function gone(volumeGroup: string, name: string): InfraError {
  const words = `${volumeGroup}/${name} no longer exists, or is a different volume now`;
  return new InfraError(lvmReasons.VOLUME_NOT_FOUND, words, { resource: volumeResource(volumeGroup, name) });
}

import { InfraError } from "../../../../../adapters/host/infra-error.ts";
import { hostReasons } from "../../../../../adapters/host/reasons.ts";
import type { LvmAdapter, LvmState } from "../../../../../adapters/lvm/adapter.ts";
import { assertVolumeName, devicePathOf, volumeResource } from "../../../../../adapters/lvm/names.ts";
import { roundUpToExtents } from "../../../../lvm/extents.ts";
import {
  assertNameFree,
  filledGone,
  leftOfFilled,
  marksOf,
  renameFilled,
  unmarkFilled,
} from "../../../../lvm/filled-volume.ts";
import { assertSameGroup, findCreated, type OperationVolumes } from "../../../../lvm/operation-volumes.ts";
import { assertWhole } from "../../../../lvm/volume-refusals.ts";
import type { CreatedVolume, PoolVolumeSpec, RestoredVolumes, VolumesHolder } from "./pool-volumes.ts";

export interface VolumeGroupRestoresOptions {
  readonly lvm: Pick<LvmAdapter, "commandOf">;
  readonly operationVolumes: OperationVolumes;
  readonly volumeGroup: string;
}

/** Creates restores into thick volumes, which are filled under a temporary name and renamed once they are complete. */
export function createVolumeGroupRestores({
  lvm,
  operationVolumes,
  volumeGroup,
}: VolumeGroupRestoresOptions): RestoredVolumes {
  const placeOf = ({ name }: PoolVolumeSpec, { identity }: Pick<VolumesHolder, "identity">) => ({
    volumeGroup,
    groupUuid: identity,
    volume: name,
    thinPool: null,
  });

  function createStep({ name, sizeBytes }: PoolVolumeSpec, operationId: string) {
    const volumeGroupName = volumeGroup;
    return {
      kind: "create",
      volumeGroupName,
      ...marksOf(name, operationId, "restore"),
      sizeBytes: BigInt(sizeBytes),
    } as const;
  }

  /** @throws InfraError VOLUME_GROUP_GONE, VOLUME_EXISTS, NO_SPACE */
  function assertRoom(state: LvmState, { name, sizeBytes }: PoolVolumeSpec, identity: string): void {
    const group = assertSameGroup(state, { volumeGroup, groupUuid: identity });
    assertWhole(group);
    assertNameFree(state, { volumeGroup, volume: name });
    const requiredBytes = roundUpToExtents(BigInt(sizeBytes), group.extentSizeBytes);
    if (requiredBytes > group.freeBytes) {
      const words = `not enough space for ${volumeGroup}/${name}: free=${group.freeBytes}, requested=${requiredBytes}`;
      throw new InfraError(hostReasons.NO_SPACE, words, { resource: volumeResource(volumeGroup, name) });
    }
  }

  async function find(holder: VolumesHolder): Promise<CreatedVolume | undefined> {
    const identity = { volumeGroup, groupUuid: holder.identity };
    const volume = findCreated(await operationVolumes.readState(), identity, resultOf(holder));
    return volume === undefined ? undefined : { identity: volume.uuid };
  }

  return {
    assertName: (name, field) => assertVolumeName(name, field, volumeGroup),

    async assertPossible(spec, { identity }) {
      assertRoom(await operationVolumes.readState(), spec, identity);
    },

    find: (_spec, holder) => find(holder),

    async create(spec, holder) {
      const { operationId, identity, signal } = holder;
      const steps = (state: LvmState) => {
        assertRoom(state, spec, identity);
        return [createStep(spec, operationId)];
      };
      await operationVolumes.change(placeOf(spec, holder), "storagePool.createVolume", steps, signal);
      const volume = await find(holder);
      if (volume === undefined) {
        throw filledGone({ volumeGroup, volume: spec.name });
      }
      return volume;
    },

    async fill(spec, { identity }, content, holder) {
      const group = { volumeGroup, groupUuid: holder.identity };
      const volume = findCreated(await operationVolumes.readState(), group, resultOf(holder));
      if (volume?.uuid !== identity) {
        throw filledGone({ volumeGroup, volume: spec.name });
      }
      await content.writeTo(devicePathOf(volumeGroup, volume.name));
    },

    publish(spec, { identity }, holder) {
      const place = placeOf(spec, holder);
      const { signal } = holder;
      return renameFilled({ operationVolumes, place, kind: "storagePool.renameVolume", signal }, identity);
    },

    unmark(spec, holder) {
      const place = placeOf(spec, holder);
      const { signal, operationId } = holder;
      return unmarkFilled(
        { operationVolumes, place, kind: "storagePool.changeVolumeTags", signal },
        operationId,
      );
    },

    remove: (spec, _created, holder) =>
      operationVolumes.remove(
        placeOf(spec, holder),
        "storagePool.removeVolume",
        resultOf(holder),
        holder.signal,
      ),

    leftOf: ({ name }, operationId) =>
      leftOfFilled(operationVolumes, { volumeGroup, volume: name }, operationId, "restore"),

    createCommand: (spec) => lvm.commandOf(createStep(spec, "OPERATION")),
  };
}

function resultOf({ operationId }: Pick<VolumesHolder, "operationId">) {
  return { operationId, is: "result" } as const;
}

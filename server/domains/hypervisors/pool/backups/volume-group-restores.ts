import { InfraError } from "../../../../../adapters/host/infra-error.ts";
import { hostReasons } from "../../../../../adapters/host/reasons.ts";
import type { LvmAdapter, LvmState } from "../../../../../adapters/lvm/adapter.ts";
import { assertVolumeName, devicePathOf, volumeResource } from "../../../../../adapters/lvm/names.ts";
import { roundUpToExtents } from "../../../../backups/lvm/extents.ts";
import { assertSameGroup, findMade, type MadeVolumes } from "../../../../backups/lvm/made-volumes.ts";
import {
  assertNameFree,
  leftOfRestored,
  marksOf,
  renameRestored,
  restoredGone,
  unmarkRestored,
} from "../../../../backups/lvm/restored-volume.ts";
import { assertWhole } from "../../../../backups/lvm/volume-refusals.ts";
import type { MadeVolume, RestoredVolumes, VolumesHolder, WantedVolume } from "./pool-volumes.ts";

export interface VolumeGroupRestoresOptions {
  readonly lvm: Pick<LvmAdapter, "commandOf">;
  readonly made: MadeVolumes;
  readonly volumeGroup: string;
}

/** Creates restores into thick volumes, which are filled under a temporary name and renamed once they are complete. */
export function createVolumeGroupRestores({
  lvm,
  made,
  volumeGroup,
}: VolumeGroupRestoresOptions): RestoredVolumes {
  const placeOf = ({ name }: WantedVolume, { identity }: Pick<VolumesHolder, "identity">) => ({
    volumeGroup,
    groupUuid: identity,
    volume: name,
    thinPool: null,
  });

  function createStep({ name, sizeBytes }: WantedVolume, operationId: string) {
    const volumeGroupName = volumeGroup;
    return {
      kind: "create",
      volumeGroupName,
      ...marksOf(name, operationId),
      sizeBytes: BigInt(sizeBytes),
    } as const;
  }

  /** @throws InfraError VOLUME_GROUP_GONE, VOLUME_EXISTS, NO_SPACE */
  function assertRoom(state: LvmState, { name, sizeBytes }: WantedVolume, identity: string): void {
    const group = assertSameGroup(state, { volumeGroup, groupUuid: identity });
    assertWhole(group);
    assertNameFree(state, { volumeGroup, volume: name });
    const wantedBytes = roundUpToExtents(BigInt(sizeBytes), group.extentSizeBytes);
    if (wantedBytes > group.freeBytes) {
      const words = `not enough space for ${volumeGroup}/${name}: free=${group.freeBytes}, requested=${wantedBytes}`;
      throw new InfraError(hostReasons.NO_SPACE, words, { resource: volumeResource(volumeGroup, name) });
    }
  }

  async function find(holder: VolumesHolder): Promise<MadeVolume | undefined> {
    const identity = { volumeGroup, groupUuid: holder.identity };
    const volume = findMade(await made.readState(), identity, holder.operationId);
    return volume === undefined ? undefined : { identity: volume.uuid };
  }

  return {
    assertName: (name, field) => assertVolumeName(name, field, volumeGroup),

    async assertPossible(wanted, { identity }) {
      assertRoom(await made.readState(), wanted, identity);
    },

    find: (_wanted, holder) => find(holder),

    async create(wanted, holder) {
      const { operationId, identity, signal } = holder;
      const steps = (state: LvmState) => {
        assertRoom(state, wanted, identity);
        return [createStep(wanted, operationId)];
      };
      await made.change(placeOf(wanted, holder), "storagePool.createVolume", steps, signal);
      const volume = await find(holder);
      if (volume === undefined) {
        throw restoredGone({ volumeGroup, volume: wanted.name });
      }
      return volume;
    },

    async fill(wanted, { identity }, content, holder) {
      const { operationId } = holder;
      const group = { volumeGroup, groupUuid: holder.identity };
      const volume = findMade(await made.readState(), group, operationId);
      if (volume?.uuid !== identity) {
        throw restoredGone({ volumeGroup, volume: wanted.name });
      }
      await content.writeTo(devicePathOf(volumeGroup, volume.name));
    },

    publish(wanted, { identity }, holder) {
      const place = placeOf(wanted, holder);
      const { signal } = holder;
      return renameRestored({ made, place, kind: "storagePool.renameVolume", signal }, identity);
    },

    unmark(wanted, holder) {
      const place = placeOf(wanted, holder);
      const { signal, operationId } = holder;
      return unmarkRestored({ made, place, kind: "storagePool.changeVolumeTags", signal }, operationId);
    },

    remove: (wanted, _made, holder) =>
      made.remove(placeOf(wanted, holder), "storagePool.removeVolume", holder.operationId, holder.signal),

    leftOf: ({ name }, operationId) => leftOfRestored(made, { volumeGroup, volume: name }, operationId),

    createCommand: (wanted) => lvm.commandOf(createStep(wanted, "OPERATION")),
  };
}

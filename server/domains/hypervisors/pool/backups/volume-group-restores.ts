import { InfraError } from "../../../../../adapters/host/infra-error.ts";
import type { LvmAdapter, LvmState, LvmStep } from "../../../../../adapters/lvm/adapter.ts";
import { assertVolumeName, devicePathOf, volumeResource } from "../../../../../adapters/lvm/names.ts";
import { roundUpToExtents } from "../../../../backups/lvm/extents.ts";
import {
  assertSameGroup,
  findMade,
  findVolume,
  type MadeVolumes,
} from "../../../../backups/lvm/made-volumes.ts";
import {
  operationTag,
  shownName,
  temporaryName,
  wantedNameTag,
} from "../../../../backups/lvm/operation-marks.ts";
import { assertWhole } from "../../../../backups/lvm/volume-refusals.ts";
import type { MadeVolume, RestoredVolumes, VolumesHolder, WantedVolume } from "./pool-volumes.ts";

export interface VolumeGroupRestoresOptions {
  readonly lvm: Pick<LvmAdapter, "commandOf">;
  readonly made: MadeVolumes;
  readonly volumeGroup: string;
}

/** Thick volumes, which are filled under a name that tells nobody to open them, and get their own when they are whole. */
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
    const tags = [operationTag(operationId), wantedNameTag(name)];
    const temporary = temporaryName("restore", operationId);
    const volumeGroupName = volumeGroup;
    return { kind: "create", volumeGroupName, name: temporary, sizeBytes: BigInt(sizeBytes), tags } as const;
  }

  /** @throws InfraError VOLUME_GROUP_GONE, VOLUME_EXISTS, NO_SPACE */
  function assertRoom(state: LvmState, { name, sizeBytes }: WantedVolume, identity: string): void {
    const group = assertSameGroup(state, { volumeGroup, groupUuid: identity });
    assertWhole(group);
    if (state.volumes.some((one) => one.volumeGroupName === volumeGroup && shownName(one) === name)) {
      throw alreadyThere(volumeGroup, name);
    }
    const wantedBytes = roundUpToExtents(BigInt(sizeBytes), group.extentSizeBytes);
    if (wantedBytes > group.freeBytes) {
      const words = `no room for ${volumeGroup}/${name}: free=${group.freeBytes}, requested=${wantedBytes}`;
      throw new InfraError("NO_SPACE", words, { resource: volumeResource(volumeGroup, name) });
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
        throw gone(volumeGroup, wanted.name);
      }
      return volume;
    },

    async fill(wanted, { identity }, content, holder) {
      const { operationId } = holder;
      const group = { volumeGroup, groupUuid: holder.identity };
      const volume = findMade(await made.readState(), group, operationId);
      if (volume?.uuid !== identity) {
        throw gone(volumeGroup, wanted.name);
      }
      await content.writeTo(devicePathOf(volumeGroup, volume.name));
    },

    async publish(wanted, { identity }, holder) {
      const { name } = wanted;
      const steps = (state: LvmState): readonly LvmStep[] => {
        const volume = state.volumes.find((one) => one.uuid === identity);
        if (volume === undefined) {
          throw gone(volumeGroup, name);
        }
        if (volume.name === name) {
          return [];
        }
        if (findVolume(state, volumeGroup, name) !== undefined) {
          throw alreadyThere(volumeGroup, name);
        }
        return [{ kind: "rename", volumeGroupName: volumeGroup, name: volume.name, newName: name }];
      };
      await made.change(placeOf(wanted, holder), "storagePool.renameVolume", steps, holder.signal);
    },

    async unmark(wanted, holder) {
      const { operationId, identity, signal } = holder;
      const removeTags = [operationTag(operationId), wantedNameTag(wanted.name)];
      const steps = (state: LvmState): readonly LvmStep[] => {
        const volume = findMade(state, { volumeGroup, groupUuid: identity }, operationId);
        const volumeGroupName = volumeGroup;
        return volume === undefined
          ? []
          : [{ kind: "changeTags", volumeGroupName, name: volume.name, addTags: [], removeTags }];
      };
      await made.change(placeOf(wanted, holder), "storagePool.changeVolumeTags", steps, signal);
    },

    remove: (wanted, _made, holder) =>
      made.remove(placeOf(wanted, holder), "storagePool.removeVolume", holder.operationId, holder.signal),

    leftOf({ name }, operationId) {
      const path = `${volumeGroup}/${temporaryName("restore", operationId)}`;
      return {
        left: [`The volume ${path}, which was to become ${name}, may be there; it holds no whole backup.`],
        advice: [
          `See what has it open (\`lsof /dev/${path}\`), then retry the operation; or remove it by \`lvremove ${path}\`.`,
        ],
      };
    },

    createCommand: (wanted) => lvm.commandOf(createStep(wanted, "OPERATION")),
  };
}

function alreadyThere(volumeGroup: string, name: string): InfraError {
  return new InfraError("VOLUME_EXISTS", `${volumeGroup}/${name} already exists`, {
    resource: volumeResource(volumeGroup, name),
  });
}

function gone(volumeGroup: string, name: string): InfraError {
  const words = `the volume that was to become ${volumeGroup}/${name} was removed by somebody else`;
  return new InfraError("VOLUME_NOT_FOUND", words, { resource: volumeResource(volumeGroup, name) });
}

import { InfraError } from "../../adapters/host/infra-error.ts";
import type { LvmState } from "../../adapters/lvm/adapter.ts";
import { volumeResource } from "../../adapters/lvm/names.ts";
import { lvmReasons } from "../../adapters/lvm/reasons.ts";
import { finalNameTag, operationTag, shownName, temporaryName } from "./operation-marks.ts";
import { findCreated, findVolume, type OperationVolumes, type VolumePlace } from "./operation-volumes.ts";

/** A volume that is created from a backup, and its final place. */
export interface RestoredVolume {
  readonly operationVolumes: OperationVolumes;
  readonly place: VolumePlace;
  /** Kind of the mutation, e.g. `volumes.rename`. */
  readonly kind: string;
  readonly signal: AbortSignal;
}

type Name = Pick<VolumePlace, "volumeGroup" | "volume">;

/** Returns the name and tags of a volume until it is complete; it must not be opened before. */
export function marksOf(volume: string, operationId: string) {
  return {
    name: temporaryName("restore", operationId),
    tags: [operationTag(operationId), finalNameTag(volume)],
  };
}

/** Checks that no volume has or will have the name. @throws InfraError VOLUME_EXISTS */
export function assertNameFree(state: LvmState, { volumeGroup, volume }: Name): void {
  if (state.volumes.some((one) => one.volumeGroupName === volumeGroup && shownName(one) === volume)) {
    throw alreadyThere({ volumeGroup, volume });
  }
}

/** Gives a volume its final name; it can be opened from then on. @throws InfraError VOLUME_EXISTS, VOLUME_NOT_FOUND */
export function renameRestored(
  { operationVolumes, place, kind, signal }: RestoredVolume,
  uuid: string,
): Promise<void> {
  const { volumeGroup, volume: newName } = place;
  return operationVolumes.change(
    place,
    kind,
    (state) => {
      const volume = state.volumes.find((one) => one.uuid === uuid);
      if (volume === undefined) {
        throw restoredGone(place);
      }
      if (volume.name === newName) {
        return [];
      }
      if (findVolume(state, volumeGroup, newName) !== undefined) {
        throw alreadyThere(place);
      }
      return [{ kind: "rename", volumeGroupName: volumeGroup, name: volume.name, newName }];
    },
    signal,
  );
}

/** Removes the tags of the operation, which makes it an ordinary volume. */
export function unmarkRestored(
  { operationVolumes, place, kind, signal }: RestoredVolume,
  operationId: string,
): Promise<void> {
  const { tags: removeTags } = marksOf(place.volume, operationId);
  return operationVolumes.change(
    place,
    kind,
    (state) => {
      const volume = findCreated(state, place, operationId);
      const volumeGroupName = place.volumeGroup;
      return volume === undefined
        ? []
        : [{ kind: "changeTags", volumeGroupName, name: volume.name, addTags: [], removeTags }];
    },
    signal,
  );
}

/** Describes what may be left of a volume that could not be removed, and what to do. */
export function leftOfRestored(
  { shown }: Pick<OperationVolumes, "shown">,
  { volumeGroup, volume }: Name,
  operationId: string,
) {
  const path = `${volumeGroup}/${marksOf(volume, operationId).name}`;
  return {
    left: [`The volume ${path}, the incomplete restore of ${volume}, may still exist.`],
    advice: [
      `Check what has it open (\`lsof /dev/${path}\`), then retry the operation; or remove it with \`${shown(["lvremove", path])}\`.`,
    ],
  };
}

function alreadyThere({ volumeGroup, volume }: Name): InfraError {
  return new InfraError(lvmReasons.VOLUME_EXISTS, `${volumeGroup}/${volume} already exists`, {
    resource: volumeResource(volumeGroup, volume),
  });
}

/** Returns the error for a restored volume that disappeared before it was complete. */
export function restoredGone({ volumeGroup, volume }: Name): InfraError {
  const words = `the volume that was being restored to ${volumeGroup}/${volume} was removed outside hostplane`;
  return new InfraError(lvmReasons.VOLUME_NOT_FOUND, words, {
    resource: volumeResource(volumeGroup, volume),
  });
}

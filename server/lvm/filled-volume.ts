import { InfraError } from "../../adapters/host/infra-error.ts";
import type { LvmState } from "../../adapters/lvm/adapter.ts";
import { volumeResource } from "../../adapters/lvm/names.ts";
import { lvmReasons } from "../../adapters/lvm/reasons.ts";
import { finalNameTag, operationTag, shownName, temporaryName } from "./operation-marks.ts";
import { findCreated, findVolume, type OperationVolumes, type VolumePlace } from "./operation-volumes.ts";

/** A volume that is created and filled, from a backup or another volume, and its final place. */
export interface FilledVolume {
  readonly operationVolumes: OperationVolumes;
  readonly place: VolumePlace;
  /** Kind of the mutation, e.g. `volumes.rename`. */
  readonly kind: string;
  readonly signal: AbortSignal;
}

/** How a volume is filled. */
export type Filling = "restore" | "clone";

type Name = Pick<VolumePlace, "volumeGroup" | "volume">;

/** Returns the name and tags of a volume until it is complete; it must not be opened before. */
export function marksOf(volume: string, operationId: string, filling: Filling) {
  return {
    name: temporaryName(filling, operationId),
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
export function renameFilled(
  { operationVolumes, place, kind, signal }: FilledVolume,
  uuid: string,
): Promise<void> {
  const { volumeGroup, volume: newName } = place;
  return operationVolumes.change(
    place,
    kind,
    (state) => {
      const volume = state.volumes.find((one) => one.uuid === uuid);
      if (volume === undefined) {
        throw filledGone(place);
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
export function unmarkFilled(
  { operationVolumes, place, kind, signal }: FilledVolume,
  operationId: string,
): Promise<void> {
  const removeTags = [operationTag(operationId), finalNameTag(place.volume)];
  return operationVolumes.change(
    place,
    kind,
    (state) => {
      const volume = findCreated(state, place, { operationId, is: "result" });
      const volumeGroupName = place.volumeGroup;
      return volume === undefined
        ? []
        : [{ kind: "changeTags", volumeGroupName, name: volume.name, addTags: [], removeTags }];
    },
    signal,
  );
}

/** Describes what may be left of a volume that could not be removed, and what to do. */
export function leftOfFilled(
  { shown }: Pick<OperationVolumes, "shown">,
  { volumeGroup, volume }: Name,
  operationId: string,
  filling: Filling,
) {
  const path = `${volumeGroup}/${temporaryName(filling, operationId)}`;
  return {
    left: [`The volume ${path}, the incomplete ${volume}, may still exist.`],
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

/** Returns the error for a volume that disappeared before it was complete. */
export function filledGone({ volumeGroup, volume }: Name): InfraError {
  const words = `${volumeGroup}/${volume} was removed outside hostplane before it was complete`;
  return new InfraError(lvmReasons.VOLUME_NOT_FOUND, words, {
    resource: volumeResource(volumeGroup, volume),
  });
}

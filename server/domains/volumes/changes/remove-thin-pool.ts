import { describeSize } from "../../../../adapters/host/describe-size.ts";
import type { LvmState } from "../../../../adapters/lvm/adapter.ts";
import { assertVolumeName, volumeResource } from "../../../../adapters/lvm/names.ts";
import type { DeleteThinPoolRequest } from "../../../../gen/hostplane/v1/volume_pb.ts";
import type { ShortChange } from "../../../domain/short-change.ts";
import { shownName } from "../../../lvm/operation-marks.ts";
import { isProtected } from "../../../lvm/volume-refusals.ts";
import {
  assertServedGroup,
  type PoolSpec,
  requireGroup,
  requirePool,
  targetOfPool,
} from "./thin-pool-change.ts";
import { factsOfVolume, stepOf, type VolumeChangeParts } from "./volume-change.ts";

/** volumes.removeThinPool: removes a thin pool that contains no volumes. */
export function createRemoveThinPool(
  parts: VolumeChangeParts,
): ShortChange<DeleteThinPoolRequest, PoolSpec, LvmState> {
  return {
    /** @throws InfraError INVALID_FIELD */
    parse({ name, volumeGroup }) {
      assertServedGroup(volumeGroup, parts.deviceClasses);
      assertVolumeName(name, "name", volumeGroup);
      return { volumeGroup, name };
    },

    targetOf: targetOfPool,

    /** @throws InfraError VOLUME_GROUP_GONE, VOLUME_NOT_FOUND, VOLUME_PROTECTED */
    check(spec, state) {
      const group = requireGroup(state, spec.volumeGroup);
      const pool = requirePool(state, spec);
      const { volumeGroupName, name } = pool;
      if (parts.isProtectedName(name)) {
        throw isProtected(pool, "its name matches `volumes.protect`");
      }
      const contained = state.volumes.filter(
        (one) => one.volumeGroupName === volumeGroupName && one.thinPoolName === name,
      );
      if (contained.length > 0) {
        throw isProtected(pool, `it contains ${describeNames(contained.map(shownName))}: remove them first`);
      }
      const classes = parts.deviceClasses
        .filter((one) => one.volumeGroup === volumeGroupName && one.thinPool === name)
        .map((one) => `device class ${one.name} can create no volumes until it has a pool again`);
      return {
        kind: "volumes.removeThinPool",
        resource: volumeResource(volumeGroupName, name),
        backend: group.uuid,
        plan: {
          changes: [`the thin pool ${volumeGroupName}/${name} is removed`, ...classes],
          losses: [
            `the thin pool ${volumeGroupName}/${name}, ${describeSize(pool.sizeBytes)}, without volumes`,
          ],
          facts: factsOfVolume(pool),
        },
        steps: [stepOf(parts.lvm, { kind: "removeThinPool", volumeGroupName, name })],
        pointOfNoReturn: 0,
      };
    },
  };
}

/** Number of names that a message lists. */
const shownNames = 10;

function describeNames(names: readonly string[]): string {
  const shown = [...names].sort().slice(0, shownNames).join(", ");
  return names.length > shownNames ? `${shown} and ${names.length - shownNames} more` : shown;
}

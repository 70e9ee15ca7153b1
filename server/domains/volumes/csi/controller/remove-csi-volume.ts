import { InfraError } from "../../../../../adapters/host/infra-error.ts";
import type { LvmState } from "../../../../../adapters/lvm/adapter.ts";
import { volumeGroupResource } from "../../../../../adapters/lvm/names.ts";
import { lvmReasons } from "../../../../../adapters/lvm/reasons.ts";
import type { LocatedChange } from "../../../../domain/short-change.ts";
import { isProtected } from "../../../../lvm/volume-refusals.ts";
import { createRemoveVolume } from "../../changes/remove-volume.ts";
import { targetOf } from "../../changes/volume-change.ts";
import type { DeviceClass } from "../../device-class.ts";
import { type CsiKind, csiMarksOf } from "../csi-marks.ts";
import type { CsiParts } from "../csi-parts.ts";
import { assertId, type CsiVolume, csiIdOf, findCsiVolume, groupOfId, resourceOfId } from "../csi-volume.ts";
import { assertNotRead } from "./assert-not-read.ts";

/** A volume or snapshot to remove. */
export interface RemoveCsiVolumeSpec {
  readonly id: string;
  readonly found: CsiVolume | undefined;
}

/** DeleteVolume and DeleteSnapshot: removes a volume or snapshot. Without a step if there is none, as the specification demands. */
export function createRemoveCsiVolume<Request>(
  parts: CsiParts,
  kind: CsiKind,
  field: string,
  idOf: (request: Request) => string,
): LocatedChange<Request, RemoveCsiVolumeSpec, LvmState> {
  const { deviceClasses } = parts;
  const remove = createRemoveVolume(parts);
  const removal = ({ volume, deviceClass }: CsiVolume) => ({
    name: volume.name,
    deviceClass,
    mustExist: false,
  });
  return {
    /** @throws InfraError INVALID_FIELD */
    parse(request) {
      const id = idOf(request);
      assertId(id, field);
      return { id, found: undefined };
    },
    locate: ({ id }, state) => ({ id, found: findCsiVolume(state, deviceClasses, kind, id) }),
    targetOf: ({ id, found }) =>
      found === undefined ? { resource: resourceOfId(id) } : targetOf(removal(found)),
    /** @throws InfraError VOLUME_GROUP_GONE, VOLUME_PROTECTED, VOLUME_IN_USE, CSI_PENDING */
    async check({ id }, state) {
      const found = findCsiVolume(state, deviceClasses, kind, id);
      if (found !== undefined) {
        assertNotRead(state, found);
        return remove.check(removal(found), state);
      }
      assertGone(state, deviceClasses, kind, id);
      return {
        kind: "volumes.remove",
        resource: resourceOfId(id),
        backend: "",
        plan: { changes: [], losses: [], facts: [] },
        steps: [],
        pointOfNoReturn: 0,
      };
    },
    /** @throws InfraError VOLUME_IN_USE */
    preflight: ({ found }, state) => found && remove.preflight?.(removal(found), state),
  };
}

/**
 * Checks that a volume which the driver does not see does not exist, since an orchestrator forgets one that counts as deleted.
 * @throws InfraError VOLUME_GROUP_GONE, VOLUME_PROTECTED
 */
function assertGone(state: LvmState, deviceClasses: readonly DeviceClass[], kind: CsiKind, id: string): void {
  const group = groupOfId(id);
  const isOfClass = deviceClasses.some(({ volumeGroup }) => volumeGroup === group);
  if (isOfClass && !state.volumeGroups.some(({ name }) => name === group)) {
    throw new InfraError(lvmReasons.VOLUME_GROUP_GONE, `volume group ${group} of ${id} is missing`, {
      resource: volumeGroupResource(group),
    });
  }
  const volume = state.volumes.find((each) => csiIdOf(each) === id);
  if (volume !== undefined && csiMarksOf(volume)?.kind === kind) {
    throw isProtected(volume, "the configuration no longer has a device class for it");
  }
}

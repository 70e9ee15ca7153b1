import type { LvmState } from "../../../../../adapters/lvm/adapter.ts";
import type { LocatedChange } from "../../../../domain/short-change.ts";
import { createRemoveVolume } from "../../changes/remove-volume.ts";
import { targetOf } from "../../changes/volume-change.ts";
import type { CsiKind } from "../csi-marks.ts";
import type { CsiParts } from "../csi-parts.ts";
import { assertId, type CsiVolume, findCsiVolume, resourceOfId } from "../csi-volume.ts";

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
    /** @throws InfraError VOLUME_GROUP_GONE, VOLUME_PROTECTED */
    check({ id }, state) {
      const found = findCsiVolume(state, deviceClasses, kind, id);
      return found === undefined
        ? {
            kind: "volumes.remove",
            resource: resourceOfId(id),
            backend: "",
            plan: { changes: [], losses: [], facts: [] },
            steps: [],
            pointOfNoReturn: 0,
          }
        : remove.check(removal(found), state);
    },
    /** @throws InfraError VOLUME_IN_USE */
    preflight: ({ found }, state) => found && remove.preflight?.(removal(found), state),
  };
}

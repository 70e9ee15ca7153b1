import { invalidField } from "../../../../adapters/host/infra-error.ts";
import type { LogicalVolume, LvmState } from "../../../../adapters/lvm/adapter.ts";
import {
  assertOriginName,
  assertSnapshotName,
  devicePathOf,
  volumeResource,
} from "../../../../adapters/lvm/names.ts";
import type { RenameVolumeRequest } from "../../../../gen/hostplane/v1/volume_pb.ts";
import type { ShortChange } from "../../../domain/short-change.ts";
import { assertWhole } from "../../../lvm/volume-refusals.ts";
import { assertResolved, findDeviceClass } from "../device-class.ts";
import { assertRenamable } from "../protection.ts";
import { ownerOf } from "../volume-service/volume-owner.ts";
import {
  assertChangeable,
  assertNameFree,
  assertNewName,
  factsOfVolume,
  requireVolume,
  stepOf,
  targetOf,
  type VolumeChangeParts,
  type VolumeSpec,
} from "./volume-change.ts";

export interface RenameSpec extends VolumeSpec {
  readonly newName: string;
}

/** volumes.rename: gives a volume another name. */
export function createRenameVolume(
  parts: VolumeChangeParts,
): ShortChange<RenameVolumeRequest, RenameSpec, LvmState> {
  return {
    /** @throws InfraError DEVICE_CLASS_NOT_FOUND, INVALID_FIELD, VOLUME_PROTECTED */
    parse({ name, deviceClass: className, newName }) {
      const deviceClass = findDeviceClass(parts.deviceClasses, className);
      assertChangeable(name, deviceClass);
      assertNewName(newName, "new_name", deviceClass, parts.isProtectedName);
      if (newName === name) {
        throw invalidField("new_name", "must differ from name");
      }
      return { name, deviceClass, newName };
    },

    targetOf: (spec) => ({
      ...targetOf(spec),
      sources: [volumeResource(spec.deviceClass.volumeGroup, spec.newName)],
    }),

    /** @throws InfraError VOLUME_GROUP_GONE, VOLUME_NOT_FOUND, VOLUME_PROTECTED, VOLUME_EXISTS, INVALID_FIELD */
    check({ name, deviceClass, newName }, state) {
      const resolved = assertResolved(deviceClass, state);
      const { group } = resolved;
      const volume = requireVolume(resolved, state, name);
      assertRenamable(volume, parts.isProtectedName);
      assertDeviceNames(volume, state, newName);
      assertNameFree(state, group.name, newName);
      const step = { kind: "rename", volumeGroupName: group.name, name, newName } as const;
      const paths = volume.active
        ? `, and its device ${devicePathOf(group.name, name)} to ${devicePathOf(group.name, newName)}`
        : "";
      return {
        kind: "volumes.rename",
        resource: volumeResource(group.name, name),
        backend: group.uuid,
        plan: {
          changes: [`${group.name}/${name} is renamed to ${newName}${paths}`],
          losses: describeOwnersLoss(volume),
          facts: factsOfVolume(volume),
        },
        steps: [stepOf(parts.lvm, step)],
        pointOfNoReturn: 0,
      };
    },

    /** @throws InfraError VOLUME_GROUP_GONE */
    preflight({ deviceClass }, state) {
      assertWhole(assertResolved(deviceClass, state).group);
    },
  };
}

/** Rejects a name that is too long for the internal devices of a snapshot or its origin. @throws InfraError INVALID_FIELD */
function assertDeviceNames(volume: LogicalVolume, state: LvmState, newName: string): void {
  const { volumeGroupName, name, kind } = volume;
  if (kind === "snapshot") {
    assertSnapshotName(volumeGroupName, newName, "new_name");
  }
  const isOrigin = state.volumes.some(
    (one) => one.kind === "snapshot" && one.volumeGroupName === volumeGroupName && one.originName === name,
  );
  if (isOrigin) {
    assertOriginName(volumeGroupName, newName, "new_name");
  }
}

function describeOwnersLoss(volume: LogicalVolume): string[] {
  const owners = { topolvm: "TopoLVM", csi: "the CSI driver that created it", hostplane: undefined };
  const owner = ownerOf(volume);
  const ownerName = owner && owners[owner];
  return ownerName === undefined
    ? []
    : [
        `${ownerName} can no longer find ${volume.volumeGroupName}/${volume.name}, which it knows by this name`,
      ];
}

import { InfraError } from "../../../../../adapters/host/infra-error.ts";
import type { LvmState, LvmStep } from "../../../../../adapters/lvm/adapter.ts";
import { volumeResource } from "../../../../../adapters/lvm/names.ts";
import type { CreateSnapshotRequest } from "../../../../../gen/csi/v1/csi_pb.ts";
import type { LocatedChange } from "../../../../domain/short-change.ts";
import { assertWhole } from "../../../../lvm/volume-refusals.ts";
import { createSnapshotChecks } from "../../changes/snapshot-volume.ts";
import { factsOfVolume, type VolumeChangeParts } from "../../changes/volume-change.ts";
import { assertResolved } from "../../device-class.ts";
import { createdTag, csiTags, nameDigestOf } from "../csi-marks.ts";
import type { CsiParts } from "../csi-parts.ts";
import {
  assertCsiName,
  assertId,
  type CsiVolume,
  findByName,
  logicalVolumeName,
  requireCsiVolume,
  resourceOfId,
} from "../csi-volume.ts";
import { assertParameters } from "../parameters.ts";
import { csiReasons } from "../reasons.ts";

/** A snapshot to create. */
export interface CreateCsiSnapshotSpec {
  /** Name in CSI. */
  readonly name: string;
  readonly sourceId: string;
  readonly source: CsiVolume | undefined;
}

/** CreateSnapshot: creates a read-only snapshot. The change has no step if the snapshot exists. */
export function createCreateCsiSnapshot(
  parts: CsiParts,
): LocatedChange<CreateSnapshotRequest, CreateCsiSnapshotSpec, LvmState> {
  const { deviceClasses, isProtectedName } = parts;
  const snapshots = createSnapshotChecks({ lvm: withCreationTime(parts.lvm) });

  /** Describes the snapshot for `createSnapshotChecks`. @throws InfraError VOLUME_NOT_FOUND */
  function snapshotOf({ name, sourceId }: CreateCsiSnapshotSpec, state: LvmState) {
    const { volume, deviceClass } = requireCsiVolume(state, deviceClasses, "volume", sourceId);
    const { sizeBytes } = volume;
    const nameDigest = nameDigestOf(name);
    return {
      name: logicalVolumeName("snapshot", name, deviceClass, isProtectedName),
      deviceClass,
      sourceName: volume.name,
      sizeBytes: undefined,
      tags: csiTags({ kind: "snapshot", nameDigest, sizeBytes, source: { kind: "volume", id: sourceId } }),
      readOnly: true,
    };
  }

  return {
    /** @throws InfraError INVALID_FIELD */
    parse({ name, sourceVolumeId: sourceId, parameters }) {
      assertId(sourceId, "source_volume_id");
      assertCsiName(name);
      assertParameters(parameters, []);
      return { name, sourceId, source: undefined };
    },

    /** @throws InfraError VOLUME_NOT_FOUND */
    locate(spec, state) {
      // A snapshot that exists is returned even if its source is gone.
      const isThere = findByName(state, deviceClasses, "snapshot", spec.name) !== undefined;
      const source = isThere ? undefined : requireCsiVolume(state, deviceClasses, "volume", spec.sourceId);
      return { ...spec, source };
    },

    targetOf({ name, sourceId, source }) {
      if (source === undefined) {
        return { resource: resourceOfId(sourceId) };
      }
      const { deviceClass, volume } = source;
      const { volumeGroup, thinPool } = deviceClass;
      const snapshot = logicalVolumeName("snapshot", name, deviceClass, isProtectedName);
      return {
        resource: volumeResource(volumeGroup, snapshot),
        queue: volumeResource(volumeGroup, thinPool ?? snapshot),
        sources: [volumeResource(volumeGroup, volume.name)],
      };
    },

    /** @throws InfraError VOLUME_GROUP_GONE, VOLUME_EXISTS, VOLUME_NOT_FOUND, VOLUME_PROTECTED, NO_SPACE, CSI_DIFFERS */
    check(spec, state) {
      const existing = findByName(state, deviceClasses, "snapshot", spec.name);
      if (existing === undefined) {
        return snapshots.check(snapshotOf(spec, state), state);
      }
      const { volume, marks, deviceClass } = existing;
      const resource = volumeResource(volume.volumeGroupName, volume.name);
      if (marks.source?.id !== spec.sourceId) {
        const message = `snapshot ${spec.name} exists, but of ${marks.source?.id}`;
        throw new InfraError(csiReasons.CSI_DIFFERS, message, { resource });
      }
      return {
        kind: "volumes.snapshot",
        resource,
        backend: assertResolved(deviceClass, state).group.uuid,
        plan: { changes: [], losses: [], facts: factsOfVolume(volume) },
        steps: [],
        pointOfNoReturn: 0,
      };
    },

    /** @throws InfraError VOLUME_GROUP_GONE */
    preflight(spec, state) {
      assertWhole(assertResolved(snapshotOf(spec, state).deviceClass, state).group);
    },
  };
}

/** Returns an LVM that tags new snapshots with the time. It is not in the plan, which would otherwise never be the same twice. */
function withCreationTime(lvm: VolumeChangeParts["lvm"]): VolumeChangeParts["lvm"] {
  return {
    commandOf: (step) => lvm.commandOf(step),
    run(step: LvmStep) {
      const isNew = step.kind === "snapshot";
      return lvm.run(isNew ? { ...step, tags: [...step.tags, createdTag(Date.now())] } : step);
    },
  };
}

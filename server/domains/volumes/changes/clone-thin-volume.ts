import { describeSize } from "../../../../adapters/host/describe-size.ts";
import { invalidField } from "../../../../adapters/host/infra-error.ts";
import type { LvmState } from "../../../../adapters/lvm/adapter.ts";
import { assertVolumeName } from "../../../../adapters/lvm/names.ts";
import type { CloneVolumeRequest } from "../../../../gen/hostplane/v1/volume_pb.ts";
import type { ShortChange } from "../../../domain/short-change.ts";
import { describeStore, findDeviceClass } from "../device-class.ts";
import { createSnapshotChecks, type SnapshotSpec } from "./snapshot-volume.ts";
import { assertNewName, assertTags, describeTags, type VolumeChangeParts } from "./volume-change.ts";

/**
 * Validates a CloneVolume request.
 * @throws InfraError DEVICE_CLASS_NOT_FOUND, INVALID_FIELD
 */
export function parseClone(
  parts: Pick<VolumeChangeParts, "deviceClasses" | "isProtectedName">,
  { source, name, deviceClass: className, sizeBytes, snapshotSpaceBytes, tags }: CloneVolumeRequest,
): SnapshotSpec {
  const deviceClass = findDeviceClass(parts.deviceClasses, className);
  assertVolumeName(source, "source");
  assertNewName(name, "name", deviceClass, parts.isProtectedName);
  assertTags(tags);
  for (const [field, bytes] of Object.entries({
    size_bytes: sizeBytes,
    snapshot_space_bytes: snapshotSpaceBytes,
  })) {
    if (bytes < 0n) {
      throw invalidField(field, `must be at least 0, is ${bytes}`);
    }
  }
  if (snapshotSpaceBytes > 0n && deviceClass.thinPool !== undefined) {
    const why = `clones in ${describeStore(deviceClass)} are created without copying`;
    throw invalidField("snapshot_space_bytes", `must be 0: ${why}`);
  }
  return {
    name,
    deviceClass,
    sourceName: source,
    sizeBytes: sizeBytes === 0n ? undefined : sizeBytes,
    spaceBytes: snapshotSpaceBytes === 0n ? undefined : snapshotSpaceBytes,
    tags,
    readOnly: false,
  };
}

/**
 * volumes.clone: clones a thin volume. The clone is a thin snapshot, which can be written, and does not depend on its source: it
 * stays when the source is removed.
 */
export function createCloneThinVolume(
  parts: VolumeChangeParts,
): ShortChange<CloneVolumeRequest, SnapshotSpec, LvmState> {
  const checks = createSnapshotChecks(parts);
  return {
    ...checks,
    parse: (request) => parseClone(parts, request),
    check(spec, state) {
      const mutation = checks.check(spec, state);
      const { name, sourceName, tags, deviceClass } = spec;
      const volume = state.volumes.find(
        (one) => one.volumeGroupName === deviceClass.volumeGroup && one.name === sourceName,
      );
      const size = describeSize(spec.sizeBytes ?? volume?.sizeBytes ?? 0n);
      const words = `${deviceClass.volumeGroup}/${name}, a clone of ${sourceName}, is created with ${size}${describeTags(tags)}`;
      return { ...mutation, kind: "volumes.clone", plan: { ...mutation.plan, changes: [words] } };
    },
  };
}

import { invalidField } from "../../../../adapters/host/infra-error.ts";
import type { LvmState } from "../../../../adapters/lvm/adapter.ts";
import { assertVolumeName } from "../../../../adapters/lvm/names.ts";
import type { CreateSnapshotRequest } from "../../../../gen/hostplane/v1/volume_pb.ts";
import type { ShortChange } from "../../../domain/short-change.ts";
import { describeStore, findDeviceClass } from "../device-class.ts";
import { createSnapshotChecks, type SnapshotSpec } from "./snapshot-volume.ts";
import { assertNewName, assertTags, type VolumeChangeParts } from "./volume-change.ts";

/** The snapshot that a CreateSnapshot request describes. */
export function createCreateSnapshot(
  parts: VolumeChangeParts,
): ShortChange<CreateSnapshotRequest, SnapshotSpec, LvmState> {
  return {
    /** @throws InfraError DEVICE_CLASS_NOT_FOUND, INVALID_FIELD */
    parse({ source, name, deviceClass: className, spaceBytes, readOnly, tags }) {
      const deviceClass = findDeviceClass(parts.deviceClasses, className);
      assertVolumeName(source, "source");
      assertNewName(name, "name", deviceClass, parts.isProtectedName);
      assertTags(tags);
      if (spaceBytes < 0n) {
        throw invalidField("space_bytes", `must be at least 0, is ${spaceBytes}`);
      }
      if (spaceBytes > 0n && deviceClass.thinPool !== undefined) {
        const store = describeStore(deviceClass);
        throw invalidField("space_bytes", `must be 0: snapshots in ${store} allocate space as needed`);
      }
      return {
        name,
        deviceClass,
        sourceName: source,
        sizeBytes: undefined,
        spaceBytes: spaceBytes === 0n ? undefined : spaceBytes,
        tags,
        readOnly,
      };
    },
    ...createSnapshotChecks(parts),
  };
}

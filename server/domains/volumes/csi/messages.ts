import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type {
  SnapshotSchema,
  VolumeContentSourceSchema,
  VolumeSchema,
} from "../../../../gen/csi/v1/csi_pb.ts";
import type { CsiSource } from "./csi-marks.ts";
import type { CsiVolume } from "./csi-volume.ts";
import { type TopologyParts, volumeSegments } from "./topology.ts";

/** Returns a volume as responses have it. */
export function csiVolumeMessage({ id, volume, marks, deviceClass }: CsiVolume, parts: TopologyParts) {
  return {
    volumeId: id,
    capacityBytes: volume.sizeBytes,
    ...(marks.source === undefined ? {} : { contentSource: contentSourceMessage(marks.source) }),
    accessibleTopology: [{ segments: volumeSegments(parts, deviceClass) }],
  } satisfies MessageInitShape<typeof VolumeSchema>;
}

/** Returns a snapshot as responses have it. */
export function csiSnapshotMessage({ id, volume, marks }: CsiVolume) {
  return {
    snapshotId: id,
    sourceVolumeId: marks.source?.id ?? "",
    sizeBytes: volume.sizeBytes,
    creationTime: timestampFromMs(marks.createdAtMs ?? 0),
    readyToUse: true,
  } satisfies MessageInitShape<typeof SnapshotSchema>;
}

function contentSourceMessage({ kind, id }: CsiSource): MessageInitShape<typeof VolumeContentSourceSchema> {
  return kind === "volume"
    ? { type: { case: "volume", value: { volumeId: id } } }
    : { type: { case: "snapshot", value: { snapshotId: id } } };
}

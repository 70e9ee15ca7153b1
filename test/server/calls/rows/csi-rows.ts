import { answers, gib, type Row, refuses } from "./row.ts";

const csiVolume = "sandbox-vg/orders";
/** A snapshot is named after the digest of its name in CSI. */
const csiSnapshot = "sandbox-vg/csi-snap-d618fb157a4b382e92fcd4a830c5fa8a";
const csiCapability = { mount: { fsType: "ext4" }, accessMode: { mode: "SINGLE_NODE_WRITER" } };
const csiStaging = "/sandbox/csi/staging";
const csiTarget = "/sandbox/csi/pods/orders";

/** Calls for the CSI driver, in an order in which each call finds its resources. */
export const csiRows: readonly Row[] = [
  answers("csi.v1.Identity/GetPluginInfo", {}, { name: "lvm.csi.hostplane" }),
  answers("csi.v1.Identity/GetPluginCapabilities", {}, { capabilities: [{}, {}, {}] }),
  answers("csi.v1.Identity/Probe", {}, { ready: true }),
  answers("csi.v1.Controller/ControllerGetCapabilities", {}, { capabilities: [{ rpc: {} }] }),
  refuses("csi.v1.Controller/CreateVolume", {}, "INVALID_ARGUMENT", "INVALID_FIELD", "name"),
  answers(
    "csi.v1.Controller/CreateVolume",
    { name: "orders", volumeCapabilities: [csiCapability], capacityRange: { requiredBytes: gib(1) } },
    { volume: { volumeId: csiVolume, capacityBytes: gib(1) } },
  ),
  refuses(
    "csi.v1.Controller/CreateVolume",
    { name: "orders", volumeCapabilities: [csiCapability], capacityRange: { requiredBytes: gib(3) } },
    "ALREADY_EXISTS",
    "CSI_DIFFERS",
  ),
  answers(
    "csi.v1.Controller/ValidateVolumeCapabilities",
    { volumeId: csiVolume, volumeCapabilities: [csiCapability] },
    { confirmed: { volumeCapabilities: [{}] } },
  ),
  answers("csi.v1.Controller/ListVolumes", {}, { entries: [{ volume: { volumeId: csiVolume } }] }),
  refuses("csi.v1.Controller/ListVolumes", { startingToken: "a" }, "ABORTED", "CSI_TOKEN"),
  answers(
    "csi.v1.Controller/ControllerGetVolume",
    { volumeId: csiVolume },
    { volume: { volumeId: csiVolume }, status: { volumeCondition: { message: "the volume is healthy" } } },
  ),
  answers("csi.v1.Controller/GetCapacity", {}, { maximumVolumeSize: /^\d+$/ }),
  answers(
    "csi.v1.Controller/ControllerExpandVolume",
    { volumeId: csiVolume, capacityRange: { requiredBytes: gib(2) } },
    { capacityBytes: gib(2), nodeExpansionRequired: true },
  ),
  answers(
    "csi.v1.Controller/CreateSnapshot",
    { name: "monday", sourceVolumeId: csiVolume },
    { snapshot: { snapshotId: csiSnapshot, sourceVolumeId: csiVolume, readyToUse: true } },
  ),
  answers("csi.v1.Controller/ListSnapshots", {}, { entries: [{ snapshot: { snapshotId: csiSnapshot } }] }),
  answers(
    "csi.v1.Controller/GetSnapshot",
    { snapshotId: csiSnapshot },
    { snapshot: { sourceVolumeId: csiVolume } },
  ),
  refuses("csi.v1.Controller/GetSnapshot", { snapshotId: "none" }, "NOT_FOUND", "VOLUME_NOT_FOUND"),
  answers("csi.v1.Controller/DeleteSnapshot", { snapshotId: csiSnapshot }, {}),
  refuses("csi.v1.Controller/ControllerPublishVolume", {}, "UNIMPLEMENTED", "CSI_NOT_SUPPORTED"),
  refuses("csi.v1.Controller/ControllerUnpublishVolume", {}, "UNIMPLEMENTED", "CSI_NOT_SUPPORTED"),
  refuses("csi.v1.Controller/ControllerModifyVolume", {}, "UNIMPLEMENTED", "CSI_NOT_SUPPORTED"),
  answers("csi.v1.Node/NodeGetCapabilities", {}, { capabilities: [{ rpc: {} }] }),
  answers("csi.v1.Node/NodeGetInfo", {}, { nodeId: /./, accessibleTopology: { segments: {} } }),
  answers(
    "csi.v1.Node/NodeStageVolume",
    { volumeId: csiVolume, stagingTargetPath: csiStaging, volumeCapability: csiCapability },
    {},
  ),
  refuses(
    "csi.v1.Node/NodeStageVolume",
    { volumeId: csiVolume, stagingTargetPath: "/etc/../root", volumeCapability: csiCapability },
    "INVALID_ARGUMENT",
    "INVALID_FIELD",
    "staging_target_path",
  ),
  answers(
    "csi.v1.Node/NodePublishVolume",
    {
      volumeId: csiVolume,
      stagingTargetPath: csiStaging,
      targetPath: csiTarget,
      volumeCapability: csiCapability,
    },
    {},
  ),
  answers(
    "csi.v1.Node/NodeGetVolumeStats",
    { volumeId: csiVolume, volumePath: csiTarget },
    { usage: [{ unit: "BYTES" }, { unit: "INODES" }] },
  ),
  answers(
    "csi.v1.Node/NodeExpandVolume",
    { volumeId: csiVolume, volumePath: csiTarget },
    { capacityBytes: gib(2) },
  ),
  answers("csi.v1.Node/NodeUnpublishVolume", { volumeId: csiVolume, targetPath: csiTarget }, {}),
  answers("csi.v1.Node/NodeUnstageVolume", { volumeId: csiVolume, stagingTargetPath: csiStaging }, {}),
  answers("csi.v1.Controller/DeleteVolume", { volumeId: csiVolume }, {}),
  answers("csi.v1.Controller/DeleteVolume", { volumeId: csiVolume }, {}),
];

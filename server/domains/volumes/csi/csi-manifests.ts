import type { DescService } from "@bufbuild/protobuf";
import type { Reason } from "../../../../adapters/host/define-reasons.ts";
import { lvmReasons } from "../../../../adapters/lvm/reasons.ts";
import { mountReasons } from "../../../../adapters/mounts/reasons.ts";
import { Controller, Identity, Node } from "../../../../gen/csi/v1/csi_pb.ts";
import type { ServiceManifest } from "../../../domain/define-domain.ts";
import type { MethodRule } from "../../../rpc/call/method-rule.ts";
import { csiReasons } from "./reasons.ts";

/** The contract of CSI does not say which methods change nothing. */
const read: Partial<MethodRule> = { mutation: false, role: "viewer" };
/** These may have secrets in their requests. */
const readWithSecrets: Partial<MethodRule> = { mutation: false, role: "operator" };

const { CSI_DIFFERS, CSI_PENDING, CSI_TOKEN, CSI_CAPACITY, CSI_TOPOLOGY, CSI_NOT_SUPPORTED } = csiReasons;
const { MOUNT_DIFFERS, MOUNT_FOREIGN, FILE_SYSTEM_DIFFERS } = csiReasons;
const ofMounts: readonly Reason[] = [
  CSI_PENDING,
  MOUNT_DIFFERS,
  MOUNT_FOREIGN,
  FILE_SYSTEM_DIFFERS,
  ...Object.values(mountReasons),
];

/** The services of the CSI driver, and what their methods need. */
export const csiManifests: readonly ServiceManifest[] = [
  {
    service: Identity,
    rules: ofAll(Identity, read),
    reasons: { Probe: [mountReasons.MOUNTS_UNAVAILABLE] },
  },
  {
    service: Controller,
    rules: {
      ValidateVolumeCapabilities: readWithSecrets,
      ListVolumes: read,
      GetCapacity: read,
      ControllerGetCapabilities: read,
      ListSnapshots: readWithSecrets,
      GetSnapshot: readWithSecrets,
      ControllerGetVolume: read,
    },
    reasons: {
      CreateVolume: [CSI_DIFFERS, CSI_PENDING, CSI_CAPACITY, CSI_TOPOLOGY],
      DeleteVolume: [CSI_PENDING, mountReasons.MOUNTS_UNAVAILABLE],
      CreateSnapshot: [CSI_DIFFERS, CSI_PENDING],
      DeleteSnapshot: [CSI_PENDING, mountReasons.MOUNTS_UNAVAILABLE],
      ControllerExpandVolume: [CSI_PENDING, CSI_CAPACITY, CSI_NOT_SUPPORTED],
      ControllerPublishVolume: [CSI_NOT_SUPPORTED],
      ControllerUnpublishVolume: [CSI_NOT_SUPPORTED],
      ControllerModifyVolume: [CSI_NOT_SUPPORTED],
      ValidateVolumeCapabilities: [lvmReasons.VOLUME_NOT_FOUND],
      ListVolumes: [CSI_TOKEN],
      ListSnapshots: [CSI_TOKEN],
      GetSnapshot: [lvmReasons.VOLUME_NOT_FOUND],
      ControllerGetVolume: [lvmReasons.VOLUME_NOT_FOUND],
    },
  },
  {
    service: Node,
    rules: { NodeGetVolumeStats: read, NodeGetCapabilities: read, NodeGetInfo: read },
    reasons: {
      NodeStageVolume: ofMounts,
      NodeUnstageVolume: ofMounts,
      NodePublishVolume: ofMounts,
      NodeUnpublishVolume: ofMounts,
      NodeExpandVolume: [...ofMounts, CSI_CAPACITY],
      NodeGetVolumeStats: [mountReasons.MOUNTS_UNAVAILABLE, lvmReasons.VOLUME_NOT_FOUND],
    },
  },
];

function ofAll(service: DescService, rule: Partial<MethodRule>): Record<string, Partial<MethodRule>> {
  return Object.fromEntries(service.methods.map(({ name }) => [name, rule]));
}

import type { JsonValue } from "@bufbuild/protobuf";

/** A volume that was created through CSI. */
const csiVolumeId = "sandbox-vg/orders";

const operationId = "01890a5d-ac96-774b-bcce-b302099a8057";
const volume = "sandbox-web";
const pod = "ecef1b15-6884-db8a-b33a-6796e9c42e78";
const image = "32708aa33e13cb8601678e3ffe6f522035ce3c0b8278e440299e72b1cfdcd0b9";

/** Marks a message field whose example consists of the examples of the message's own fields. */
export const fromFields = Symbol("of its fields");

/**
 * Example values of fields, by name, or by full name where they differ. They refer to the sandbox, where a reader can try them. A
 * field without an example is left out.
 */
export const exampleValues: Readonly<Record<string, JsonValue | typeof fromFields | undefined>> = {
  device_class: "sandbox-ssd",
  page_size: 20,
  tags: ["team=web"],
  cluster: "demo",
  clusterName: "demo",
  k8s_version: "1.35.4",
  control_plane_nodes: fromFields,
  worker_node_pools: fromFields,
  instanceType: "standard",
  count: 1,
  node_pool_names: ["workers"],
  node_pools: fromFields,
  pod,
  system_id: "abc123",
  topics: ["volumes", "operations"],
  role: "ROLE_OPERATOR",
  password: "correct horse battery",

  "proto.CreateLVRequest.name": "data",
  "proto.CreateLVRequest.size_gb": "1",
  "proto.RemoveLVRequest.name": "data",
  "proto.ResizeLVRequest.name": "data",
  "proto.ResizeLVRequest.size_gb": "2",
  "proto.CreateBackupRequest.backup": fromFields,
  "proto.Backup.name": "monday",
  "proto.Backup.volume_handle": volume,

  "csi.v1.CreateVolumeRequest.name": "orders",
  "csi.v1.CreateVolumeRequest.volume_capabilities": fromFields,
  "csi.v1.CreateVolumeRequest.capacity_range": fromFields,
  "csi.v1.CapacityRange.required_bytes": "1073741824",
  "csi.v1.ControllerGetVolumeRequest.volume_id": csiVolumeId,
  "csi.v1.NodeGetVolumeStatsRequest.volume_id": csiVolumeId,
  "csi.v1.NodeGetVolumeStatsRequest.volume_path":
    "/var/lib/kubelet/plugins/kubernetes.io/csi/lvm.csi.hostplane/orders/globalmount",
  "csi.v1.VolumeCapability.mount": fromFields,
  "csi.v1.VolumeCapability.access_mode": fromFields,
  "csi.v1.VolumeCapability.MountVolume.fs_type": "ext4",
  "csi.v1.VolumeCapability.AccessMode.mode": "SINGLE_NODE_WRITER",

  "services.auth.LoginRequest.username": "admin",
  "services.auth.LoginRequest.password": "correct horse battery",
  "services.auth.CheckTokenRequest.token": "the token to check",

  "hostplane.v1.GetBackupRequest.id": operationId,
  "hostplane.v1.VerifyBackupRequest.id": operationId,
  "hostplane.v1.RestoreBackupRequest.id": operationId,
  "hostplane.v1.RestoreBackupRequest.volume_name": "restored",
  "hostplane.v1.DeleteBackupRequest.id": operationId,
  "hostplane.v1.GetHistoryRequest.subjects": [`volumeGroups/sandbox-vg/volumes/${volume}`],
  "hostplane.v1.GetHistoryRequest.figures": ["size"],
  "hostplane.v1.GetOperationRequest.id": operationId,
  "hostplane.v1.WatchOperationRequest.id": operationId,
  "hostplane.v1.CancelOperationRequest.id": operationId,
  "hostplane.v1.RetryOperationRequest.id": operationId,
  "hostplane.v1.ListCommandsRequest.id": operationId,
  "hostplane.v1.ListOperationsRequest.states": ["OPERATION_STATE_ACTIVE"],
  "hostplane.v1.ListEventsRequest.rpc": "proto.LVService/RemoveLV",
  "hostplane.v1.PlanRequest.method": "proto.LVService/RemoveLV",
  "hostplane.v1.PlanRequest.json": { name: volume },
  "hostplane.v1.CreatePlanRequest.method": "proto.LVService/RemoveLV",
  "hostplane.v1.CreatePlanRequest.json": { name: volume },
  "hostplane.v1.GetPlanRequest.id": operationId,
  "hostplane.v1.DeletePlanRequest.id": operationId,
  "hostplane.v1.ApplyPlanRequest.id": operationId,
  "hostplane.v1.ApprovePlanRequest.id": operationId,
  "hostplane.v1.BreakGlassRequest.id": operationId,
  "hostplane.v1.BreakGlassRequest.reason": "the volume group is full",

  "hostplane.v1.GetVolumeRequest.name": volume,
  "hostplane.v1.CreateThinPoolRequest.name": "pool0",
  "hostplane.v1.CreateThinPoolRequest.volume_group": "sandbox-vg",
  "hostplane.v1.CreateThinPoolRequest.size_bytes": "1073741824",
  "hostplane.v1.ResizeThinPoolRequest.name": "pool0",
  "hostplane.v1.ResizeThinPoolRequest.volume_group": "sandbox-vg",
  "hostplane.v1.ResizeThinPoolRequest.size_bytes": "2147483648",
  "hostplane.v1.DeleteThinPoolRequest.name": "pool0",
  "hostplane.v1.DeleteThinPoolRequest.volume_group": "sandbox-vg",
  "hostplane.v1.CreateVolumeRequest.name": "data",
  "hostplane.v1.CreateVolumeRequest.size_bytes": "1073741824",
  "hostplane.v1.ResizeVolumeRequest.name": volume,
  "hostplane.v1.ResizeVolumeRequest.size_bytes": "3221225472",
  "hostplane.v1.DeleteVolumeRequest.name": volume,
  "hostplane.v1.CloneVolumeRequest.source": volume,
  "hostplane.v1.CloneVolumeRequest.name": "web-clone",
  "hostplane.v1.CreateSnapshotRequest.source": volume,
  "hostplane.v1.CreateSnapshotRequest.name": "before-upgrade",
  "hostplane.v1.MergeSnapshotRequest.name": "before-upgrade",
  "hostplane.v1.RenameVolumeRequest.name": volume,
  "hostplane.v1.RenameVolumeRequest.new_name": "web",
  "hostplane.v1.SetVolumeTagsRequest.name": volume,

  "hostplane.v1.CreateUserRequest.name": "alice",
  "hostplane.v1.UpdateUserRequest.name": "alice",
  "hostplane.v1.ExplainAccessRequest.actor": "user/alice",
  "hostplane.v1.ExplainAccessRequest.method": "proto.LVService/RemoveLV",
  "hostplane.v1.ExplainAccessRequest.resource": `volumeGroups/sandbox-vg/volumes/${volume}`,
  "hostplane.v1.DeleteUserRequest.name": "alice",
  "hostplane.v1.SetPasswordRequest.name": "alice",
  "hostplane.v1.ChangePasswordRequest.current_password": "correct horse battery",
  "hostplane.v1.ChangePasswordRequest.new_password": "another horse battery",
  "hostplane.v1.CreateApiTokenRequest.name": "ci",
  "hostplane.v1.CreateApiTokenRequest.services": ["proto.VGService"],
  "hostplane.v1.CreateApiTokenRequest.lifetime": "2592000s",
  "hostplane.v1.RevokeApiTokenRequest.name": "ci",

  "hostplane.v1.StopPodRequest.grace_seconds": 10,
  "hostplane.v1.KillPodRequest.signal": "SIGTERM",
  "hostplane.v1.PullImageRequest.reference": "localhost/sandbox/app:1",
  "hostplane.v1.RemoveImageRequest.image": image,
  "hostplane.v1.ArchiveCrashRequest.id": "2026-01-02T03:04:05.678901Z_sandbox",
  "hostplane.v1.ExpandStoragePoolRequest.min_bytes": "10737418240",
  "hostplane.v1.ShrinkStoragePoolRequest.max_bytes": "10737418240",

  "operations.v1.CreateHypervisorRequest.id": "sandbox-hv-2",
  "operations.v1.CreateHypervisorsRequest.ids": ["sandbox-hv-2", "sandbox-hv-3"],
  "operations.v1.DestroyHypervisorRequest.id": "sandbox-hv-2",
  "operations.v1.DestroyHypervisorsRequest.ids": ["sandbox-hv-2", "sandbox-hv-3"],
  "operations.v1.ExpandStorageRequest.min_bytes": 10_737_418,
  "operations.v1.ShrinkStorageRequest.max_bytes": 10_737_418,

  "v1alpha.ListPodsRequest.detail": true,
  "v1alpha.InspectPodRequest.id": pod,
  "v1alpha.InspectImageRequest.id": image,
  "v1alpha.GetLogsRequest.pod_id": pod,
  "v1alpha.GetLogsRequest.app_name": "sandbox-server",
  "v1alpha.GetLogsRequest.lines": 10,

  "cnct.kaas.api.CreateClusterMsg.name": "demo",
  "cnct.kaas.api.GetClusterMsg.name": "demo",
  "cnct.kaas.api.DeleteClusterMsg.name": "demo",
  "cnct.kaas.api.GetUpgradeClusterInformationMsg.name": "demo",
  "cnct.kaas.api.UpgradeClusterMsg.name": "demo",
  "cnct.kaas.api.UpgradeClusterMsg.version": "1.36.3",
  "cnct.kaas.api.MachineSpec.name": "workers",
  "cnct.kaas.api.ScaleNodePoolSpec.name": "workers",

  "grpc.health.v1.HealthCheckRequest.service": "proto.LVService",
  "grpc.reflection.v1.ServerReflectionRequest.list_services": "*",
  "grpc.reflection.v1alpha.ServerReflectionRequest.list_services": "*",
};

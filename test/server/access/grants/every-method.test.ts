import type { DescMethod, JsonObject } from "@bufbuild/protobuf";
import { test } from "tap";
import { methodPathOf } from "../../../../server/rpc/call/method-rule.ts";
import { callMethod } from "../../harness/call-method.ts";
import { readContractServices } from "../../harness/contract-services.ts";
import { rpcErrorOf } from "../../harness/rpc-error.ts";
import { startGrants } from "./grants-under-test.ts";

/**
 * What a method does for a caller whose grant has resources, written down independently of the gateway's own declarations:
 * it answers with what the caller may see (`shows`), needs a grant for all resources (`all`), or needs one for those in the
 * request. The request names resources outside of the grant.
 */
type Concern = "shows" | "all" | "admin" | JsonObject;

const outside = { name: "sandbox-web" };
const cluster = { name: "demo" };
const clusterName = { clusterName: "demo" };
const id = "ecef1b15-6884-db8a-b33a-6796e9c42e78";

const concerns: Readonly<Record<string, Concern>> = {
  "services.auth.AuthService/Login": "shows",
  "services.auth.AuthService/Logout": "shows",
  "services.auth.AuthService/CheckToken": "shows",
  "hostplane.v1.LoginService/ListProviders": "shows",
  "hostplane.v1.LoginService/BeginLogin": "shows",
  "hostplane.v1.LoginService/FinishLogin": "shows",
  "hostplane.v1.LoginService/BeginDeviceLogin": "shows",
  "hostplane.v1.LoginService/FinishDeviceLogin": "shows",
  "hostplane.v1.UserService/GetCaller": "shows",
  "hostplane.v1.UserService/ChangePassword": "shows",
  "hostplane.v1.UserService/ListUsers": "admin",
  "hostplane.v1.UserService/CreateUser": "admin",
  "hostplane.v1.UserService/UpdateUser": "admin",
  "hostplane.v1.UserService/DeleteUser": "admin",
  "hostplane.v1.UserService/SetPassword": "admin",
  "hostplane.v1.UserService/ListApiTokens": "admin",
  "hostplane.v1.UserService/CreateApiToken": "admin",
  "hostplane.v1.UserService/RevokeApiToken": "admin",
  "hostplane.v1.UserService/ExplainAccess": "admin",
  "hostplane.v1.UserService/RotateSigningKey": "admin",
  "hostplane.v1.AuditService/ListEvents": "admin",
  "hostplane.v1.MembershipService/JoinFleet": "admin",
  "hostplane.v1.MembershipService/LeaveFleet": "admin",
  "hostplane.v1.MembershipService/GetMembership": "admin",
  "hostplane.v1.EnrollmentService/Enroll": "shows",
  "hostplane.v1.EnrollmentService/RenewCertificate": "shows",
  "hostplane.v1.FleetService/ListHosts": "shows",
  "hostplane.v1.FleetService/WatchHosts": "shows",
  "hostplane.v1.FleetService/CallHosts": "shows",
  "hostplane.v1.FleetService/CreateHostToken": "admin",
  "hostplane.v1.FleetService/SetHostLabels": "admin",
  "hostplane.v1.FleetService/RemoveHost": "admin",
  "proto.LVService/CreateLV": outside,
  "proto.LVService/RemoveLV": outside,
  "proto.LVService/ResizeLV": outside,
  "proto.LVService/CreateBackup": { backup: { name: "b", volumeHandle: "sandbox-web" } },
  "proto.VGService/GetLVList": "shows",
  "proto.VGService/GetFreeBytes": {},
  "proto.VGService/Watch": "shows",
  "hostplane.v1.VolumeService/ListVolumes": "shows",
  "hostplane.v1.VolumeService/ListThinPools": "shows",
  "hostplane.v1.VolumeService/GetVolume": outside,
  "hostplane.v1.VolumeService/CreateVolume": outside,
  "hostplane.v1.VolumeService/ResizeVolume": outside,
  "hostplane.v1.VolumeService/DeleteVolume": outside,
  "hostplane.v1.VolumeService/CloneVolume": { name: "db-1", source: "sandbox-web" },
  "hostplane.v1.VolumeService/CreateSnapshot": { name: "db-1", source: "sandbox-web" },
  "hostplane.v1.VolumeService/RenameVolume": { name: "db-1", newName: "sandbox-web" },
  "hostplane.v1.VolumeService/SetVolumeTags": outside,
  "hostplane.v1.VolumeService/MergeSnapshot": outside,
  "hostplane.v1.VolumeService/CreateThinPool": { name: "pool", volumeGroup: "sandbox-vg" },
  "hostplane.v1.VolumeService/ResizeThinPool": { name: "pool", volumeGroup: "sandbox-vg" },
  "hostplane.v1.VolumeService/DeleteThinPool": { name: "pool", volumeGroup: "sandbox-vg" },
  "csi.v1.Controller/ControllerExpandVolume": "all",
  "csi.v1.Controller/ControllerGetCapabilities": "all",
  "csi.v1.Controller/ControllerGetVolume": "all",
  "csi.v1.Controller/ControllerModifyVolume": "all",
  "csi.v1.Controller/ControllerPublishVolume": "all",
  "csi.v1.Controller/ControllerUnpublishVolume": "all",
  "csi.v1.Controller/CreateSnapshot": "all",
  "csi.v1.Controller/CreateVolume": "all",
  "csi.v1.Controller/DeleteSnapshot": "all",
  "csi.v1.Controller/DeleteVolume": "all",
  "csi.v1.Controller/GetCapacity": "all",
  "csi.v1.Controller/GetSnapshot": "all",
  "csi.v1.Controller/ListSnapshots": "all",
  "csi.v1.Controller/ListVolumes": "all",
  "csi.v1.Controller/ValidateVolumeCapabilities": "all",
  "csi.v1.Identity/GetPluginCapabilities": "all",
  "csi.v1.Identity/GetPluginInfo": "all",
  "csi.v1.Identity/Probe": "all",
  "csi.v1.Node/NodeExpandVolume": "all",
  "csi.v1.Node/NodeGetCapabilities": "all",
  "csi.v1.Node/NodeGetInfo": "all",
  "csi.v1.Node/NodeGetVolumeStats": "all",
  "csi.v1.Node/NodePublishVolume": "all",
  "csi.v1.Node/NodeStageVolume": "all",
  "csi.v1.Node/NodeUnpublishVolume": "all",
  "csi.v1.Node/NodeUnstageVolume": "all",
  "operations.v1.OperationsService/ListHypervisors": "shows",
  "operations.v1.OperationsService/CreateHypervisor": { id: "sandbox-1" },
  "operations.v1.OperationsService/CreateHypervisors": { ids: ["sandbox-1", "sandbox-2"] },
  "operations.v1.OperationsService/DestroyHypervisor": { id: "sandbox-1" },
  "operations.v1.OperationsService/DestroyHypervisors": { ids: ["sandbox-1"] },
  "operations.v1.OperationsService/ExpandStorage": {},
  "operations.v1.OperationsService/ShrinkStorage": {},
  "operations.v1.OperationsService/CreateBackup": {},
  "hostplane.v1.StoragePoolService/GetStoragePool": {},
  "hostplane.v1.StoragePoolService/WatchStoragePool": {},
  "hostplane.v1.StoragePoolService/ExpandStoragePool": {},
  "hostplane.v1.StoragePoolService/ShrinkStoragePool": {},
  "hostplane.v1.StoragePoolService/BackUpStoragePool": {},
  "v1alpha.PublicAPI/GetInfo": "all",
  "v1alpha.PublicAPI/ListPods": "shows",
  "v1alpha.PublicAPI/InspectPod": { id },
  "v1alpha.PublicAPI/ListImages": "shows",
  "v1alpha.PublicAPI/InspectImage": { id },
  "v1alpha.PublicAPI/ListenEvents": "shows",
  "v1alpha.PublicAPI/GetLogs": { podId: id },
  "hostplane.v1.PodService/ListPods": "shows",
  "hostplane.v1.PodService/WatchPods": "shows",
  "hostplane.v1.PodService/ListImages": "shows",
  "hostplane.v1.PodService/StartPod": { pod: id },
  "hostplane.v1.PodService/StopPod": { pod: id },
  "hostplane.v1.PodService/KillPod": { pod: id },
  "hostplane.v1.PodService/RemovePod": { pod: id },
  "hostplane.v1.PodService/PullImage": "all",
  "hostplane.v1.PodService/RemoveImage": "all",
  "stats.StatsService/GetClusterStats": "all",
  "stats.StatsService/GetClusterResources": "all",
  "stats.StatsService/GetClusterNodes": "all",
  "stats.StatsService/GetClusterRadar": "all",
  "stats.StatsService/GetKoorCluster": "all",
  "hostplane.v1.StorageService/WatchClusterStats": "all",
  "hostplane.v1.StorageService/ListPools": "all",
  "hostplane.v1.StorageService/ListOsds": "all",
  "hostplane.v1.StorageService/ListCrashes": "all",
  "hostplane.v1.StorageService/ArchiveCrash": "all",
  "cnct.kaas.api.Cluster/CreateCluster": cluster,
  "cnct.kaas.api.Cluster/GetCluster": cluster,
  "cnct.kaas.api.Cluster/DeleteCluster": cluster,
  "cnct.kaas.api.Cluster/GetClusterList": "shows",
  "cnct.kaas.api.Cluster/GetClusterNodesStatus": clusterName,
  "cnct.kaas.api.Cluster/GetVersionInformation": "shows",
  "cnct.kaas.api.Cluster/AddNodePool": clusterName,
  "cnct.kaas.api.Cluster/DeleteNodePool": clusterName,
  "cnct.kaas.api.Cluster/ScaleNodePool": clusterName,
  "cnct.kaas.api.Cluster/GetUpgradeClusterInformation": cluster,
  "cnct.kaas.api.Cluster/UpgradeCluster": cluster,
  "hostplane.v1.ClusterService/WatchClusters": "shows",
  "hostplane.v1.ClusterService/ListMachines": { cluster: "demo" },
  "hostplane.v1.ClusterService/GetKubeconfig": { cluster: "demo" },
  "hostplane.v1.ClusterService/RotateKubeconfig": { cluster: "demo" },
  "hostplane.v1.ClusterService/ListStrays": "all",
  "hostplane.v1.ClusterService/AdoptStray": "all",
  "hostplane.v1.ClusterService/ReleaseStray": "all",
  "hostplane.v1.BackupService/ListBackups": "all",
  "hostplane.v1.BackupService/GetBackup": "all",
  "hostplane.v1.BackupService/VerifyBackup": "all",
  "hostplane.v1.BackupService/RestoreBackup": "all",
  "hostplane.v1.BackupService/DeleteBackup": "admin",
  "hostplane.v1.OperationService/GetOperation": "shows",
  "hostplane.v1.OperationService/ListOperations": "shows",
  "hostplane.v1.OperationService/WatchOperation": "shows",
  "hostplane.v1.OperationService/CancelOperation": "shows",
  "hostplane.v1.OperationService/RetryOperation": "shows",
  "hostplane.v1.OperationService/ListCommands": "shows",
  "hostplane.v1.EventService/Subscribe": "shows",
  "hostplane.v1.EventService/FollowEvents": "shows",
  "hostplane.v1.InventoryService/ListResources": "shows",
  "hostplane.v1.InventoryService/WatchResources": "shows",
  "hostplane.v1.PlanService/Plan": { method: "proto.LVService/RemoveLV", json: outside },
  "hostplane.v1.PlanService/CreatePlan": { method: "proto.LVService/RemoveLV", json: outside },
  "hostplane.v1.PlanService/GetPlan": "shows",
  "hostplane.v1.PlanService/ListPlans": "shows",
  "hostplane.v1.PlanService/DeletePlan": "shows",
  "hostplane.v1.PlanService/ApplyPlan": "shows",
  "hostplane.v1.PlanService/ApprovePlan": "shows",
  "hostplane.v1.PlanService/BreakGlass": "admin",
  "hostplane.v1.StreamService/CarryStreams": "shows",
  "hostplane.v1.StreamService/OpenStream": "shows",
  "hostplane.v1.StreamService/CloseStream": "shows",
  "hostplane.v1.SystemService/GetInfo": "shows",
  "hostplane.v1.SystemService/ListBackends": "shows",
  "hostplane.v1.HistoryService/GetHistory": "shows",
  "hostplane.v1.HistoryService/ListSubjects": "shows",
  "grpc.health.v1.Health/Check": "shows",
  "grpc.health.v1.Health/Watch": "shows",
  "grpc.health.v1.Health/List": "shows",
};

/** Wait without a message. */
const silent = new Set(["hostplane.v1.FleetService/WatchHosts"]);

test("each method does for a grant with resources what the table says", async (t) => {
  const { userWith } = await startGrants(t);
  const resources = ["volumeGroups/sandbox-vg/volumes/db-*"];
  const caller = await userWith("database", [{ role: "ROLE_OPERATOR", resources }]);
  const transport = caller.transport();
  const services = await readContractServices();
  const methods = services
    .flatMap((service): readonly DescMethod[] => service.methods)
    .filter(({ methodKind }) => methodKind !== "bidi_streaming");
  t.same(
    methods.map(methodPathOf).toSorted(),
    Object.keys(concerns).toSorted(),
    "the table has every method",
  );

  // The one that ends the session comes last.
  const ordered = methods.toSorted(
    (one, other) => Number(one.name === "Logout") - Number(other.name === "Logout"),
  );
  for (const method of ordered) {
    const path = methodPathOf(method);
    const concern = concerns[path] ?? "all";
    if (silent.has(path)) {
      continue;
    }
    const request = typeof concern === "string" ? {} : concern;
    const error = await rpcErrorOf(callMethod(transport, method, request));
    switch (concern) {
      case "shows":
        t.not(error.reason, "NOT_GRANTED", path);
        break;
      case "admin":
        t.equal(error.reason, "ROLE_REQUIRED", path);
        break;
      default:
        t.equal(error.reason, "NOT_GRANTED", path);
    }
  }
});

import { create, type DescMethod, type DescService, type JsonObject, toBinary } from "@bufbuild/protobuf";
import { createClient } from "@connectrpc/connect";
import { encodeEnvelope } from "@connectrpc/connect/protocol";
import { test } from "tap";
import { AuthService } from "../../../gen/services/auth/auth_pb.ts";
import { methodRuleOf } from "../../../server/gateway/method-rules.ts";
import { createServices } from "../../../server/gateway/services.ts";
import { createInlineRunner } from "../../../server/operations/engine/run-inline.ts";
import { methodPathOf } from "../../../server/rpc/call/method-rule.ts";
import { eventStreamMethodOf } from "../../../server/rpc/protocols/sse/event-stream-methods.ts";
import { isLongForm } from "../../long-form.ts";
import { noFleet } from "../fleet/no-fleet.ts";
import { startAppUnderTest } from "../harness/app-under-test.ts";
import { callMethod, isCallable } from "../harness/call-method.ts";
import { readContractServices } from "../harness/contract-services.ts";
import { adminPassword, startGatewayUnderTest } from "../harness/gateway-under-test.ts";
import { eventStreamProtocols, type Protocol, protocols } from "../harness/protocols.ts";
import { rpcErrorOf } from "../harness/rpc-error.ts";
import { withoutStore } from "../harness/without-store.ts";

/** Result of a call in every protocol: the (first) message as JSON, or an error. */
interface Row {
  readonly path: string;
  readonly request: JsonObject;
  readonly answer?: object;
  readonly error?: { readonly code: string; readonly reason: string; readonly fields?: readonly string[] };
}

const answers = (path: string, request: JsonObject, answer: object): Row => ({ path, request, answer });
const refuses = (path: string, request: JsonObject, code: string, reason: string, ...fields: string[]) => ({
  path,
  request,
  error: { code, reason, fields },
});

const gib = (count: number) => String(count * 2 ** 30);

const admin = { username: "admin", password: adminPassword };
const alice = { name: "alice", role: "ROLE_OPERATOR", password: "correct horse" };

/** The sandbox has the same ids at each start. */
const sandboxPod = "ecef1b15-6884-db8a-b33a-6796e9c42e78";
const sandboxImage = "32708aa33e13cb8601678e3ffe6f522035ce3c0b8278e440299e72b1cfdcd0b9";

const noOperation = "00000000-0000-4000-8000-000000000000";

const csiVolume = "sandbox-vg/orders";
/** The name of a snapshot is made up from the digest of its name in CSI. */
const csiSnapshot = "sandbox-vg/csi-snap-d618fb157a4b382e92fcd4a830c5fa8a";
const csiCapability = { mount: { fsType: "ext4" }, accessMode: { mode: "SINGLE_NODE_WRITER" } };
const csiStaging = "/sandbox/csi/staging";
const csiTarget = "/sandbox/csi/pods/orders";

/** Calls of the domains that this version serves, in an order in which each call finds its resources. */
const served: readonly Row[] = [
  answers("proto.VGService/GetLVList", {}, { volumes: [{ name: "sandbox-web", sizeGb: "2" }, {}] }),
  answers("proto.VGService/GetLVList", { deviceClass: "sandbox-ssd" }, { volumes: [{}, { sizeGb: "5" }] }),
  refuses("proto.VGService/GetLVList", { deviceClass: "hdd" }, "NOT_FOUND", "DEVICE_CLASS_NOT_FOUND"),
  answers("proto.VGService/GetFreeBytes", {}, { freeBytes: gib(8) }),
  refuses("proto.VGService/GetFreeBytes", { deviceClass: "hdd" }, "NOT_FOUND", "DEVICE_CLASS_NOT_FOUND"),
  answers(
    "proto.VGService/Watch",
    {},
    { freeBytes: gib(8), items: [{ deviceClass: "sandbox-ssd", freeBytes: gib(8) }] },
  ),
  answers(
    "proto.LVService/CreateLV",
    { name: "table", sizeGb: "1", tags: ["t"] },
    { volume: { name: "table", sizeGb: "1", devMajor: 253, tags: ["t"] } },
  ),
  refuses("proto.LVService/CreateLV", { name: "table", sizeGb: "1" }, "ALREADY_EXISTS", "VOLUME_EXISTS"),
  refuses(
    "proto.LVService/CreateLV",
    { name: "-x", sizeGb: "1" },
    "INVALID_ARGUMENT",
    "INVALID_FIELD",
    "name",
  ),
  answers(
    "hostplane.v1.VolumeService/ListVolumes",
    { name: "sandbox-web" },
    {
      volumes: [
        { name: "sandbox-web", deviceClass: "sandbox-ssd", kind: "VOLUME_KIND_LINEAR", tags: ["app=web"] },
      ],
    },
  ),
  refuses(
    "hostplane.v1.VolumeService/ListVolumes",
    { deviceClass: "hdd" },
    "NOT_FOUND",
    "DEVICE_CLASS_NOT_FOUND",
  ),
  answers("hostplane.v1.VolumeService/ListThinPools", {}, {}),
  refuses(
    "hostplane.v1.VolumeService/ListThinPools",
    { deviceClass: "hdd" },
    "NOT_FOUND",
    "DEVICE_CLASS_NOT_FOUND",
  ),
  answers(
    "hostplane.v1.VolumeService/GetVolume",
    { name: "sandbox-db" },
    {
      volume: {
        resource: "volumeGroups/sandbox-vg/volumes/sandbox-db",
        sizeBytes: gib(5),
        open: true,
        devicePath: "/dev/sandbox-vg/sandbox-db",
        physicalVolumes: ["/dev/sandbox/sandbox-vg"],
        health: "RESOURCE_HEALTH_OK",
      },
    },
  ),
  refuses("hostplane.v1.VolumeService/GetVolume", {}, "INVALID_ARGUMENT", "INVALID_FIELD", "name"),
  refuses("hostplane.v1.VolumeService/GetVolume", { name: "none" }, "NOT_FOUND", "VOLUME_NOT_FOUND"),
  answers("proto.LVService/ResizeLV", { name: "table", sizeGb: "2" }, {}),
  refuses("proto.LVService/ResizeLV", { name: "none", sizeGb: "2" }, "NOT_FOUND", "VOLUME_NOT_FOUND"),
  answers(
    "hostplane.v1.VolumeService/SetVolumeTags",
    { name: "table", tags: ["a"] },
    { volume: { name: "table", tags: ["a"] } },
  ),
  refuses(
    "hostplane.v1.VolumeService/SetVolumeTags",
    { name: "table", tags: ["a@b"] },
    "INVALID_ARGUMENT",
    "INVALID_FIELD",
    "tags[0]",
  ),
  answers(
    "hostplane.v1.VolumeService/RenameVolume",
    { name: "table", newName: "renamed" },
    { volume: { resource: "volumeGroups/sandbox-vg/volumes/renamed" } },
  ),
  refuses(
    "hostplane.v1.VolumeService/RenameVolume",
    { name: "renamed", newName: "pvmove0" },
    "INVALID_ARGUMENT",
    "INVALID_FIELD",
    "new_name",
  ),
  answers(
    "hostplane.v1.VolumeService/CreateSnapshot",
    { source: "renamed", name: "frozen", readOnly: true },
    { volume: { name: "frozen", origin: "renamed", kind: "VOLUME_KIND_SNAPSHOT", readOnly: true } },
  ),
  refuses(
    "hostplane.v1.VolumeService/CreateSnapshot",
    { source: "frozen", name: "again" },
    "FAILED_PRECONDITION",
    "VOLUME_PROTECTED",
  ),
  answers("proto.LVService/RemoveLV", { name: "frozen" }, {}),
  answers(
    "hostplane.v1.VolumeService/CreateVolume",
    { name: "blank", sizeBytes: "5000000", tags: ["t"] },
    { volume: { name: "blank", sizeBytes: "8388608", tags: ["t"] } },
  ),
  refuses(
    "hostplane.v1.VolumeService/CreateVolume",
    { name: "blank", sizeBytes: "0" },
    "INVALID_ARGUMENT",
    "INVALID_FIELD",
    "size_bytes",
  ),
  answers(
    "hostplane.v1.VolumeService/ResizeVolume",
    { name: "blank", sizeBytes: "8388609" },
    { volume: { sizeBytes: "12582912" } },
  ),
  refuses(
    "hostplane.v1.VolumeService/ResizeVolume",
    { name: "blank", sizeBytes: "16777216", resizeFileSystem: true },
    "FAILED_PRECONDITION",
    "FILE_SYSTEM_NOT_RESIZABLE",
  ),
  answers("hostplane.v1.VolumeService/CreateVolume", { name: "base", sizeBytes: "1" }, {}),
  answers(
    "hostplane.v1.VolumeService/CreateThinPool",
    { name: "pool0", volumeGroup: "sandbox-vg", sizeBytes: "8388608", tags: ["t"] },
    { thinPool: { name: "pool0", sizeBytes: "8388608", metadataSizeBytes: "4194304", tags: ["t"] } },
  ),
  refuses(
    "hostplane.v1.VolumeService/CreateThinPool",
    { name: "pool1", volumeGroup: "other", sizeBytes: "1" },
    "INVALID_ARGUMENT",
    "INVALID_FIELD",
    "volume_group",
  ),
  answers(
    "hostplane.v1.VolumeService/ResizeThinPool",
    { name: "pool0", volumeGroup: "sandbox-vg", sizeBytes: "8388609", metadataSizeBytes: "8388608" },
    { thinPool: { sizeBytes: "12582912", metadataSizeBytes: "8388608" } },
  ),
  refuses(
    "hostplane.v1.VolumeService/ResizeThinPool",
    { name: "pool0", volumeGroup: "sandbox-vg", sizeBytes: "4194304" },
    "OUT_OF_RANGE",
    "SHRINK_NOT_ALLOWED",
  ),
  answers("hostplane.v1.VolumeService/CreateSnapshot", { source: "base", name: "base-before" }, {}),
  answers(
    "hostplane.v1.VolumeService/MergeSnapshot",
    { name: "base-before" },
    { operation: { kind: "volumes.merge", resource: "volumeGroups/sandbox-vg/volumes/base" } },
  ),
  refuses(
    "hostplane.v1.VolumeService/MergeSnapshot",
    { name: "sandbox-db" },
    "FAILED_PRECONDITION",
    "NOT_A_SNAPSHOT",
  ),
  answers(
    "hostplane.v1.VolumeService/CloneVolume",
    { source: "blank", name: "blank-clone" },
    { operation: { kind: "volumes.clone", resource: "volumeGroups/sandbox-vg/volumes/blank-clone" } },
  ),
  refuses(
    "hostplane.v1.VolumeService/CloneVolume",
    { source: "blank", name: "sandbox-db" },
    "ALREADY_EXISTS",
    "VOLUME_EXISTS",
  ),
  answers("hostplane.v1.VolumeService/CreateVolume", { name: "secret", sizeBytes: "1" }, {}),
  answers(
    "hostplane.v1.VolumeService/DeleteVolume",
    { name: "secret", wipe: true },
    { operation: { kind: "volumes.wipe" } },
  ),
  refuses("hostplane.v1.VolumeService/DeleteVolume", { name: "none" }, "NOT_FOUND", "VOLUME_NOT_FOUND"),
  answers("proto.LVService/RemoveLV", { name: "renamed" }, {}),
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
  refuses("proto.LVService/RemoveLV", { name: "sandbox-db" }, "FAILED_PRECONDITION", "VOLUME_IN_USE"),
  refuses("proto.LVService/CreateBackup", {}, "INVALID_ARGUMENT", "INVALID_FIELD", "backup"),
  answers(
    "proto.LVService/CreateBackup",
    { backup: { name: "monday", volumeHandle: "none" } },
    {
      backupState: {
        name: "monday",
        state: "ERROR",
        msg: /logical volume none not found in any device class/,
      },
    },
  ),
  refuses(
    "proto.LVService/CreateLV",
    { name: "restored", sizeGb: "1", dataSource: { s3: { path: "bucket" } } },
    "INVALID_ARGUMENT",
    "INVALID_FIELD",
    "data_source.s3.endpoint",
  ),
  answers("hostplane.v1.BackupService/ListBackups", {}, {}),
  refuses(
    "hostplane.v1.BackupService/ListBackups",
    { pageToken: "?" },
    "INVALID_ARGUMENT",
    "INVALID_FIELD",
    "page_token",
  ),
  ...["GetBackup", "VerifyBackup", "RestoreBackup", "DeleteBackup"].flatMap((name) => [
    refuses(`hostplane.v1.BackupService/${name}`, {}, "INVALID_ARGUMENT", "INVALID_FIELD", "id"),
    refuses(`hostplane.v1.BackupService/${name}`, { id: noOperation }, "NOT_FOUND", "BACKUP_NOT_FOUND"),
  ]),
  answers(
    "operations.v1.OperationsService/ListHypervisors",
    {},
    {
      hypervisors: [
        { id: "sandbox-hv-1", cpu: 8, ram: 16384, state: "HYPERVISOR_STATE_AVAILABLE_TO_DESTROY" },
        { id: "sandbox-hv-2", state: "HYPERVISOR_STATE_AVAILABLE_TO_CREATE" },
        { id: "sandbox-hv-3", capabilities: ["HYPERVISOR_CAPABILITIES_STORAGE"] },
        { id: "sandbox-hv-4", gpus: [{ brand: "Sandbox Graphics", model: "SG-1" }] },
        { id: "sandbox-old-1", state: "HYPERVISOR_STATE_AVAILABLE_TO_CREATE" },
      ],
    },
  ),
  answers("operations.v1.OperationsService/CreateHypervisor", { id: "sandbox-hv-2" }, { msg: /./ }),
  answers(
    "operations.v1.OperationsService/CreateHypervisors",
    { ids: ["sandbox-hv-3"] },
    { msg: /^sandbox-hv-3: / },
  ),
  ...["Create", "Destroy"].flatMap((verb) => [
    refuses(
      `operations.v1.OperationsService/${verb}Hypervisor`,
      {},
      "INVALID_ARGUMENT",
      "INVALID_FIELD",
      "id",
    ),
    refuses(
      `operations.v1.OperationsService/${verb}Hypervisor`,
      { id: "none" },
      "NOT_FOUND",
      "HYPERVISOR_NOT_FOUND",
    ),
    refuses(
      `operations.v1.OperationsService/${verb}Hypervisors`,
      {},
      "INVALID_ARGUMENT",
      "INVALID_FIELD",
      "ids",
    ),
  ]),
  refuses(
    "operations.v1.OperationsService/CreateHypervisor",
    { id: "sandbox-hv-1" },
    "FAILED_PRECONDITION",
    "HYPERVISOR_RUNNING",
  ),
  refuses(
    "operations.v1.OperationsService/DestroyHypervisors",
    { ids: ["sandbox-hv-1", "sandbox-old-1"] },
    "FAILED_PRECONDITION",
    "HYPERVISOR_OFF",
  ),
  answers("operations.v1.OperationsService/CreateBackup", {}, { msg: /./ }),
  answers(
    "hostplane.v1.StoragePoolService/BackUpStoragePool",
    {},
    { operation: { kind: "storagePool.backup", resource: "storagePool" } },
  ),
  ...[
    "operations.v1.OperationsService/ExpandStorage",
    "hostplane.v1.StoragePoolService/ExpandStoragePool",
  ].map((path) => refuses(path, {}, "INVALID_ARGUMENT", "INVALID_FIELD", "min_bytes")),
  ...[
    "operations.v1.OperationsService/ShrinkStorage",
    "hostplane.v1.StoragePoolService/ShrinkStoragePool",
  ].flatMap((path) => [
    refuses(path, {}, "INVALID_ARGUMENT", "INVALID_FIELD", "max_bytes"),
    refuses(path, { maxBytes: 1 }, "FAILED_PRECONDITION", "POOL_CANNOT_SHRINK"),
  ]),
  answers(
    "hostplane.v1.StoragePoolService/GetStoragePool",
    {},
    {
      pool: {
        name: "sandbox-pool",
        kind: "STORAGE_POOL_KIND_VOLUME_GROUP",
        spares: [{ path: "/dev/sandbox/pool-b" }, {}],
      },
    },
  ),
  answers("hostplane.v1.StoragePoolService/WatchStoragePool", {}, { pool: { name: "sandbox-pool" } }),
  answers(
    "stats.StatsService/GetClusterStats",
    {},
    {
      stats: {
        status: "HEALTH_OK",
        services: { mon: { daemonCount: 3, quorum: "a,b,c" }, mds: { hotStandbyCount: 1 } },
        data: {
          volumes: 16,
          pools: { pools: 4, pgs: { activeClean: 144 } },
          objects: { size: "300.00 GiB" },
        },
        iops: { clientRead: "853.00 B/s rd" },
      },
    },
  ),
  answers(
    "stats.StatsService/GetClusterRadar",
    {},
    {
      radar: {
        clusterHealth: 100,
        nodesHealth: 100,
        // A 32-bit float.
        capacityAvailable: /^85\.4/,
        stability: 100,
        reliability: 100,
      },
    },
  ),
  answers(
    "stats.StatsService/GetClusterNodes",
    {},
    { nodes: [{ name: "sandbox-ceph-1", status: "RESOURCE_READY", age: /Z$/ }, {}, {}] },
  ),
  answers(
    "stats.StatsService/GetClusterResources",
    {},
    { resources: [{ kind: "CephCluster", replicas: 3 }], deployments: [{ apiversion: "apps/v1" }] },
  ),
  answers("stats.StatsService/GetKoorCluster", {}, { koorCluster: { namespace: "rook-ceph" } }),
  answers("hostplane.v1.StorageService/WatchClusterStats", {}, { stats: {}, radar: {}, readAt: /Z$/ }),
  answers("hostplane.v1.StorageService/ListPools", {}, { pools: [{ name: "cephfs.data" }, {}, {}, {}] }),
  answers("hostplane.v1.StorageService/ListOsds", {}, { osds: [{ up: true, in: true }, { id: 1 }] }),
  answers("hostplane.v1.StorageService/ListCrashes", {}, {}),
  refuses("hostplane.v1.StorageService/ArchiveCrash", {}, "INVALID_ARGUMENT", "INVALID_FIELD", "id"),
  refuses("hostplane.v1.StorageService/ArchiveCrash", { id: "none" }, "NOT_FOUND", "CRASH_NOT_FOUND"),
  answers(
    "v1alpha.PublicAPI/GetInfo",
    {},
    {
      info: {
        rktVersion: "0.0.0-sandbox",
        appcVersion: "0.8.11",
        apiVersion: "1.0.0-alpha",
        globalFlags: { dir: "/sandbox/store", insecureFlags: "none" },
      },
    },
  ),
  answers(
    "v1alpha.PublicAPI/ListPods",
    { filters: [{ appNames: ["sandbox-server"] }], detail: true },
    {
      pods: [
        {
          id: sandboxPod,
          state: "POD_STATE_RUNNING",
          apps: [{ name: "sandbox-server", state: "APP_STATE_RUNNING" }, { name: "sandbox-proxy" }],
          annotations: [{ Key: "role", value: "web" }],
        },
      ],
    },
  ),
  refuses(
    "v1alpha.PublicAPI/ListPods",
    { filters: [{}, { states: [9] }] },
    "INVALID_ARGUMENT",
    "INVALID_FIELD",
    "filters[1].states[0]",
  ),
  answers("v1alpha.PublicAPI/ListenEvents", {}, {}),
  refuses(
    "v1alpha.PublicAPI/ListenEvents",
    { filter: { sinceTime: "-1" } },
    "INVALID_ARGUMENT",
    "INVALID_FIELD",
    "filter.since_time",
  ),
  answers("v1alpha.PublicAPI/InspectPod", { id: "ECEF1B" }, { pod: { id: sandboxPod, manifest: /./ } }),
  refuses("v1alpha.PublicAPI/InspectPod", {}, "INVALID_ARGUMENT", "INVALID_FIELD", "id"),
  refuses("v1alpha.PublicAPI/InspectPod", { id: "none" }, "NOT_FOUND", "POD_NOT_FOUND"),
  answers(
    "v1alpha.PublicAPI/ListImages",
    { filters: [{ baseNames: ["app"] }] },
    {
      images: [
        {
          id: sandboxImage,
          baseFormat: { type: "IMAGE_TYPE_OCI", version: "v1" },
          name: "localhost/sandbox/app",
          version: "1",
        },
      ],
    },
  ),
  answers(
    "v1alpha.PublicAPI/InspectImage",
    { id: `sha256:${sandboxImage}` },
    { image: { id: sandboxImage, manifest: /./ } },
  ),
  refuses("v1alpha.PublicAPI/InspectImage", {}, "INVALID_ARGUMENT", "INVALID_FIELD", "id"),
  refuses("v1alpha.PublicAPI/InspectImage", { id: "32708aa3" }, "NOT_FOUND", "IMAGE_NOT_FOUND"),
  ...[false, true].map((follow) =>
    answers(
      "v1alpha.PublicAPI/GetLogs",
      { podId: sandboxPod, appName: "sandbox-server", lines: 1, follow },
      { lines: [/^\d{4}-\d\d-\d\dT[\d:.]+Z (tick|five) \d+$/] },
    ),
  ),
  refuses("v1alpha.PublicAPI/GetLogs", {}, "INVALID_ARGUMENT", "INVALID_FIELD", "pod_id"),
  refuses("v1alpha.PublicAPI/GetLogs", { podId: "none" }, "NOT_FOUND", "POD_NOT_FOUND"),
  refuses(
    "v1alpha.PublicAPI/GetLogs",
    { podId: sandboxPod, lines: -1 },
    "INVALID_ARGUMENT",
    "INVALID_FIELD",
    "lines",
  ),
  refuses(
    "v1alpha.PublicAPI/GetLogs",
    { podId: sandboxPod, appName: "none" },
    "NOT_FOUND",
    "CONTAINER_NOT_FOUND",
  ),
  ...["ListPods", "WatchPods"].map((name) =>
    answers(
      `hostplane.v1.PodService/${name}`,
      {},
      { pods: [{ name: "sandbox-new", state: "POD_STATE_CREATED" }, { name: "sandbox-web" }, {}] },
    ),
  ),
  answers(
    "hostplane.v1.PodService/ListImages",
    {},
    { images: [{ names: ["localhost/sandbox/app:1"], containerCount: 4 }, {}] },
  ),
  answers(
    "hostplane.v1.PodService/StartPod",
    { pod: "sandbox-web" },
    { operation: { kind: "pods.start", resource: /^pods\/[-0-9a-f]{36}$/ } },
  ),
  ...["StartPod", "StopPod", "KillPod", "RemovePod"].map((name) =>
    refuses(`hostplane.v1.PodService/${name}`, {}, "INVALID_ARGUMENT", "INVALID_FIELD", "pod"),
  ),
  refuses("hostplane.v1.PodService/StartPod", { pod: "none" }, "NOT_FOUND", "POD_NOT_FOUND"),
  refuses(
    "hostplane.v1.PodService/StopPod",
    { pod: "sandbox-web", graceSeconds: -1 },
    "INVALID_ARGUMENT",
    "INVALID_FIELD",
    "grace_seconds",
  ),
  refuses("hostplane.v1.PodService/KillPod", { pod: "sandbox-new" }, "FAILED_PRECONDITION", "POD_STATE"),
  refuses("hostplane.v1.PodService/RemovePod", { pod: "sandbox-web" }, "FAILED_PRECONDITION", "POD_STATE"),
  refuses(
    "hostplane.v1.PodService/PullImage",
    { reference: "busybox" },
    "INVALID_ARGUMENT",
    "INVALID_FIELD",
    "reference",
  ),
  refuses(
    "hostplane.v1.PodService/RemoveImage",
    { image: "localhost/sandbox/app:1" },
    "FAILED_PRECONDITION",
    "IMAGE_IN_USE",
  ),
  answers(
    "hostplane.v1.SystemService/GetInfo",
    {},
    { version: "0.0.0-test", sandbox: true, listeners: [{}] },
  ),
  answers(
    "hostplane.v1.SystemService/ListBackends",
    {},
    {
      backends: [
        { domain: "clusters", name: "maas" },
        { domain: "hypervisors", name: "libvirt", kind: "BACKEND_KIND_SANDBOX", health: "BACKEND_HEALTH_OK" },
        { domain: "hypervisors", name: "restic", kind: "BACKEND_KIND_SANDBOX", health: "BACKEND_HEALTH_OK" },
        { domain: "hypervisors", name: "storage-pool", health: "BACKEND_HEALTH_OK" },
        { domain: "pods", name: "podman", kind: "BACKEND_KIND_SANDBOX", health: "BACKEND_HEALTH_OK" },
        { domain: "storage", name: "ceph", kind: "BACKEND_KIND_SANDBOX", health: "BACKEND_HEALTH_OK" },
        { domain: "storage", name: "kubernetes", health: "BACKEND_HEALTH_OK" },
        { domain: "system", name: "sqlite", kind: "BACKEND_KIND_SANDBOX", health: "BACKEND_HEALTH_OK" },
        { domain: "volumes", name: "lvm", kind: "BACKEND_KIND_SANDBOX", health: "BACKEND_HEALTH_OK" },
        { domain: "volumes", name: "restic", kind: "BACKEND_KIND_SANDBOX", health: "BACKEND_HEALTH_OK" },
      ],
    },
  ),
  answers("hostplane.v1.OperationService/ListOperations", {}, {}),
  refuses(
    "hostplane.v1.OperationService/ListOperations",
    { pageSize: -1 },
    "INVALID_ARGUMENT",
    "INVALID_FIELD",
    "page_size",
  ),
  ...["GetOperation", "WatchOperation", "CancelOperation", "RetryOperation", "ListCommands"].flatMap(
    (name) => [
      refuses(`hostplane.v1.OperationService/${name}`, {}, "INVALID_ARGUMENT", "INVALID_FIELD", "id"),
      refuses(
        `hostplane.v1.OperationService/${name}`,
        { id: noOperation },
        "NOT_FOUND",
        "OPERATION_NOT_FOUND",
      ),
    ],
  ),
  answers("hostplane.v1.EventService/Subscribe", {}, { snapshot: { cursor: /./ } }),
  refuses(
    "hostplane.v1.EventService/Subscribe",
    { cursor: "?" },
    "INVALID_ARGUMENT",
    "INVALID_FIELD",
    "cursor",
  ),
  refuses(
    "hostplane.v1.EventService/Subscribe",
    { topics: ["none"] },
    "INVALID_ARGUMENT",
    "INVALID_FIELD",
    "topics[0]",
  ),
  answers("hostplane.v1.EventService/FollowEvents", {}, { cursor: /./ }),
  refuses(
    "hostplane.v1.EventService/FollowEvents",
    { cursor: "?" },
    "INVALID_ARGUMENT",
    "INVALID_FIELD",
    "cursor",
  ),
  answers(
    "hostplane.v1.HistoryService/GetHistory",
    { subjects: ["gateway"], points: 12 },
    { startTime: /Z$/, interval: /s$/, step: "60s" },
  ),
  refuses("hostplane.v1.HistoryService/GetHistory", {}, "INVALID_ARGUMENT", "INVALID_FIELD", "subjects"),
  answers("hostplane.v1.HistoryService/ListSubjects", {}, {}),
  answers(
    "hostplane.v1.InventoryService/ListResources",
    { filter: { types: ["volume"], search: "WEB app=web" } },
    {
      resources: [
        {
          name: "volumeGroups/sandbox-vg/volumes/sandbox-web",
          type: "volume",
          domain: "volumes",
          state: "active",
          health: "RESOURCE_HEALTH_OK",
          labels: { app: "web" },
          readTime: /Z$/,
        },
      ],
    },
  ),
  refuses(
    "hostplane.v1.InventoryService/ListResources",
    { filter: { types: ["volumes"] } },
    "INVALID_ARGUMENT",
    "INVALID_FIELD",
    "filter.types[0]",
  ),
  answers(
    "hostplane.v1.InventoryService/WatchResources",
    { filter: { domains: ["hypervisors"], types: ["storagePool"] } },
    { changed: [{ name: "storagePool" }], synced: true },
  ),
  refuses(
    "hostplane.v1.InventoryService/WatchResources",
    { filter: { search: "x".repeat(201) } },
    "INVALID_ARGUMENT",
    "INVALID_FIELD",
    "filter.search",
  ),
  refuses("hostplane.v1.PlanService/Plan", {}, "INVALID_ARGUMENT", "INVALID_FIELD", "method"),
  answers(
    "hostplane.v1.PlanService/Plan",
    { method: "proto.LVService/RemoveLV", json: { name: "sandbox-web" } },
    { kind: "volumes.remove", resource: "volumeGroups/sandbox-vg/volumes/sandbox-web", steps: [{}] },
  ),
  answers(
    "hostplane.v1.PlanService/CreatePlan",
    { method: "proto.LVService/RemoveLV", json: { name: "sandbox-web" } },
    { plan: { method: "proto.LVService/RemoveLV", plan: { kind: "volumes.remove" } } },
  ),
  answers(
    "hostplane.v1.PlanService/ListPlans",
    { pageSize: 1 },
    { plans: [{ request: { name: "sandbox-web" } }] },
  ),
  refuses("hostplane.v1.PlanService/GetPlan", { id: "none" }, "NOT_FOUND", "PLAN_NOT_FOUND"),
  refuses("hostplane.v1.PlanService/ApplyPlan", { id: "none" }, "NOT_FOUND", "PLAN_NOT_FOUND"),
  refuses("hostplane.v1.PlanService/ApprovePlan", { id: "none" }, "NOT_FOUND", "PLAN_NOT_FOUND"),
  refuses(
    "hostplane.v1.PlanService/BreakGlass",
    { id: "none" },
    "INVALID_ARGUMENT",
    "INVALID_FIELD",
    "reason",
  ),
  refuses("hostplane.v1.PlanService/DeletePlan", { id: "none" }, "NOT_FOUND", "PLAN_NOT_FOUND"),
  refuses("hostplane.v1.FleetService/ListHosts", {}, "FAILED_PRECONDITION", "NOT_A_HUB"),
  refuses("hostplane.v1.FleetService/WatchHosts", {}, "FAILED_PRECONDITION", "NOT_A_HUB"),
  refuses("hostplane.v1.FleetService/CallHosts", {}, "FAILED_PRECONDITION", "NOT_A_HUB"),
  refuses("hostplane.v1.FleetService/CreateHostToken", {}, "FAILED_PRECONDITION", "NOT_A_HUB"),
  refuses("hostplane.v1.FleetService/SetHostLabels", { name: "node-1" }, "FAILED_PRECONDITION", "NOT_A_HUB"),
  refuses("hostplane.v1.FleetService/RemoveHost", { name: "node-1" }, "FAILED_PRECONDITION", "NOT_A_HUB"),
  refuses(
    "hostplane.v1.MembershipService/JoinFleet",
    { token: "x" },
    "FAILED_PRECONDITION",
    "LOCAL_SOCKET_ONLY",
  ),
  refuses("hostplane.v1.MembershipService/LeaveFleet", {}, "FAILED_PRECONDITION", "LOCAL_SOCKET_ONLY"),
  refuses("hostplane.v1.MembershipService/GetMembership", {}, "FAILED_PRECONDITION", "LOCAL_SOCKET_ONLY"),
  refuses("hostplane.v1.EnrollmentService/Enroll", {}, "FAILED_PRECONDITION", "AGENTS_ADDRESS_ONLY"),
  refuses(
    "hostplane.v1.EnrollmentService/RenewCertificate",
    {},
    "FAILED_PRECONDITION",
    "AGENTS_ADDRESS_ONLY",
  ),
  answers("hostplane.v1.StreamService/CarryStreams", {}, { opened: { carrierId: /./ } }),
  refuses("hostplane.v1.StreamService/OpenStream", { carrierId: "none" }, "NOT_FOUND", "CARRIER_NOT_FOUND"),
  refuses("hostplane.v1.StreamService/CloseStream", { carrierId: "none" }, "NOT_FOUND", "CARRIER_NOT_FOUND"),
  answers("services.auth.AuthService/Login", admin, {
    token: /./,
    expires: { timestamp: /Z$/ },
    accountId: /./,
  }),
  refuses(
    "services.auth.AuthService/Login",
    { ...admin, password: "wrong" },
    "UNAUTHENTICATED",
    "INVALID_CREDENTIALS",
  ),
  answers("services.auth.AuthService/CheckToken", { token: "none" }, {}),
  // Without providers; test/server/domains/auth/providers has logins by one.
  answers("hostplane.v1.LoginService/ListProviders", {}, {}),
  refuses("hostplane.v1.LoginService/BeginLogin", { provider: "corp" }, "NOT_FOUND", "PROVIDER_NOT_FOUND"),
  refuses("hostplane.v1.LoginService/FinishLogin", { provider: "corp" }, "NOT_FOUND", "PROVIDER_NOT_FOUND"),
  refuses(
    "hostplane.v1.LoginService/BeginDeviceLogin",
    { provider: "corp" },
    "NOT_FOUND",
    "PROVIDER_NOT_FOUND",
  ),
  refuses(
    "hostplane.v1.LoginService/FinishDeviceLogin",
    { loginHandle: "none" },
    "FAILED_PRECONDITION",
    "LOGIN_NOT_BEGUN",
  ),
  answers(
    "hostplane.v1.UserService/GetCaller",
    {},
    {
      actor: "user/admin",
      role: "ROLE_ADMIN",
      credential: "CREDENTIAL_SESSION",
    },
  ),
  answers("hostplane.v1.UserService/ListUsers", {}, { users: [{ name: "admin", hasPassword: true }] }),
  answers("hostplane.v1.UserService/CreateUser", alice, { user: { name: "alice", role: "ROLE_OPERATOR" } }),
  refuses("hostplane.v1.UserService/CreateUser", alice, "ALREADY_EXISTS", "USER_EXISTS"),
  refuses(
    "hostplane.v1.UserService/CreateUser",
    { ...alice, name: "a b" },
    "INVALID_ARGUMENT",
    "INVALID_FIELD",
    "name",
  ),
  answers(
    "hostplane.v1.UserService/UpdateUser",
    { name: "alice", role: "ROLE_VIEWER" },
    { user: { name: "alice", role: "ROLE_VIEWER" } },
  ),
  refuses(
    "hostplane.v1.UserService/UpdateUser",
    { name: "admin", role: "ROLE_VIEWER" },
    "FAILED_PRECONDITION",
    "LAST_ADMIN",
  ),
  answers("hostplane.v1.UserService/SetPassword", { name: "alice", password: "another one" }, {}),
  refuses(
    "hostplane.v1.UserService/SetPassword",
    { name: "alice", password: "short" },
    "INVALID_ARGUMENT",
    "INVALID_FIELD",
    "password",
  ),
  refuses(
    "hostplane.v1.UserService/ChangePassword",
    { currentPassword: "not this one", newPassword: "the next one" },
    "UNAUTHENTICATED",
    "INVALID_CREDENTIALS",
  ),
  answers("hostplane.v1.UserService/DeleteUser", { name: "alice" }, {}),
  refuses("hostplane.v1.UserService/DeleteUser", { name: "alice" }, "NOT_FOUND", "USER_NOT_FOUND"),
  answers(
    "hostplane.v1.UserService/CreateApiToken",
    { name: "ci", role: "ROLE_VIEWER" },
    { token: /^hpt_/, apiToken: { name: "ci", createdBy: "user/admin" } },
  ),
  answers("hostplane.v1.UserService/ListApiTokens", {}, { tokens: [{ name: "ci", role: "ROLE_VIEWER" }] }),
  answers("hostplane.v1.UserService/RevokeApiToken", { name: "ci" }, {}),
  refuses("hostplane.v1.UserService/RevokeApiToken", { name: "ci" }, "NOT_FOUND", "API_TOKEN_NOT_FOUND"),
  answers(
    "hostplane.v1.UserService/ExplainAccess",
    { actor: "admin", method: "proto.LVService/RemoveLV" },
    { allowed: true, explanation: /^user\/admin is admin of all services$/ },
  ),
  refuses(
    "hostplane.v1.UserService/ExplainAccess",
    { actor: "admin", method: "RemoveLV" },
    "INVALID_ARGUMENT",
    "INVALID_FIELD",
    "method",
  ),
  answers("hostplane.v1.UserService/RotateSigningKey", {}, { keyId: /./ }),
  answers(
    "hostplane.v1.AuditService/ListEvents",
    { rpc: "proto.LVService/ResizeLV", pageSize: 2 },
    {
      events: [{ actor: "user/admin", outcome: "NOT_FOUND", reason: "VOLUME_NOT_FOUND" }, { outcome: "OK" }],
    },
  ),
  refuses(
    "hostplane.v1.AuditService/ListEvents",
    { pageSize: -1 },
    "INVALID_ARGUMENT",
    "INVALID_FIELD",
    "page_size",
  ),
  answers("grpc.health.v1.Health/Check", {}, { status: "SERVING" }),
  answers("grpc.health.v1.Health/Check", { service: "proto.LVService" }, { status: "SERVING" }),
  answers("grpc.health.v1.Health/Check", { service: "cnct.kaas.api.Cluster" }, { status: "SERVING" }),
  refuses("grpc.health.v1.Health/Check", { service: "no.Such" }, "NOT_FOUND", "SERVICE_NOT_FOUND"),
  answers("grpc.health.v1.Health/List", {}, { statuses: { "": { status: "SERVING" } } }),
  answers("grpc.health.v1.Health/Watch", { service: "no.Such" }, { status: "SERVICE_UNKNOWN" }),
  ...["v1", "v1alpha"].map((version) =>
    answers(
      `grpc.reflection.${version}.ServerReflection/ServerReflectionInfo`,
      { listServices: "" },
      { listServicesResponse: { service: [{ name: "proto.LVService" }, { name: "proto.VGService" }] } },
    ),
  ),
];

const demo = {
  name: "demo",
  k8sVersion: "1.35.4",
  controlPlaneNodes: { count: 1, instanceType: "standard" },
  workerNodePools: [{ name: "workers", count: 1, instanceType: "standard" }],
};

/** A cluster is created and removed before any of its machines is installed. */
const clusters: readonly Row[] = [
  answers(
    "cnct.kaas.api.Cluster/GetVersionInformation",
    {},
    { ok: true, versionInformation: { goVersion: /^node /, compiler: /^TypeScript / } },
  ),
  answers("cnct.kaas.api.Cluster/GetClusterList", {}, { ok: true }),
  refuses("cnct.kaas.api.Cluster/CreateCluster", {}, "INVALID_ARGUMENT", "INVALID_FIELD", "name"),
  answers("cnct.kaas.api.Cluster/CreateCluster", demo, {
    ok: true,
    cluster: { name: "demo", status: "PROVISIONING" },
  }),
  answers("cnct.kaas.api.Cluster/GetCluster", { name: "demo" }, { cluster: { kubeconfig: /^apiVersion: / } }),
  refuses("cnct.kaas.api.Cluster/GetCluster", { name: "none" }, "NOT_FOUND", "CLUSTER_NOT_FOUND"),
  answers("cnct.kaas.api.Cluster/GetClusterNodesStatus", { clusterName: "demo" }, { Name: "demo" }),
  refuses(
    "cnct.kaas.api.Cluster/GetClusterNodesStatus",
    { clusterName: "none" },
    "NOT_FOUND",
    "CLUSTER_NOT_FOUND",
  ),
  answers(
    "cnct.kaas.api.Cluster/GetUpgradeClusterInformation",
    { name: "demo" },
    { ok: true, versions: ["1.36.3"] },
  ),
  refuses(
    "cnct.kaas.api.Cluster/GetUpgradeClusterInformation",
    { name: "none" },
    "NOT_FOUND",
    "CLUSTER_NOT_FOUND",
  ),
  answers(
    "cnct.kaas.api.Cluster/AddNodePool",
    { clusterName: "demo", workerNodePools: [{ name: "gpus", count: 1, instanceType: "gpu" }] },
    { ok: true },
  ),
  answers(
    "cnct.kaas.api.Cluster/ScaleNodePool",
    { clusterName: "demo", nodePools: [{ name: "workers", count: 2 }] },
    { ok: true },
  ),
  refuses(
    "cnct.kaas.api.Cluster/ScaleNodePool",
    { clusterName: "demo", nodePools: [{ name: "workers" }] },
    "INVALID_ARGUMENT",
    "SCALE_TO_ZERO",
  ),
  answers(
    "cnct.kaas.api.Cluster/DeleteNodePool",
    { clusterName: "demo", nodePoolNames: ["gpus"] },
    { ok: true },
  ),
  refuses(
    "cnct.kaas.api.Cluster/UpgradeCluster",
    { name: "demo", version: "1.34.8" },
    "FAILED_PRECONDITION",
    "UPGRADE_REFUSED",
  ),
  answers("hostplane.v1.ClusterService/WatchClusters", {}, { clusters: [{ name: "demo" }] }),
  answers("hostplane.v1.ClusterService/ListMachines", { cluster: "demo" }, {}),
  refuses("hostplane.v1.ClusterService/ListMachines", { cluster: "none" }, "NOT_FOUND", "CLUSTER_NOT_FOUND"),
  answers("hostplane.v1.ClusterService/GetKubeconfig", { cluster: "demo" }, { kubeconfig: /^apiVersion: / }),
  answers("hostplane.v1.ClusterService/RotateKubeconfig", { cluster: "demo" }, { expiresAt: /^20/ }),
  answers("hostplane.v1.ClusterService/ListStrays", {}, {}),
  refuses("hostplane.v1.ClusterService/AdoptStray", { systemId: "mmmmmm" }, "NOT_FOUND", "STRAY_NOT_FOUND"),
  refuses("hostplane.v1.ClusterService/ReleaseStray", {}, "INVALID_ARGUMENT", "INVALID_FIELD"),
  answers("cnct.kaas.api.Cluster/DeleteCluster", { name: "demo" }, { ok: true }),
];

const [connectJson] = protocols as readonly [Protocol];

const rows: readonly Row[] = [
  ...served,
  ...clusters,
  // Last, because it ends the token that the others use.
  answers("services.auth.AuthService/Logout", {}, { success: true }),
];

const services = await readContractServices();
const methods = new Map(services.flatMap(methodsOf).map((method) => [methodPathOf(method), method]));

function methodsOf(service: DescService): readonly DescMethod[] {
  return service.methods;
}

function methodOf(path: string): DescMethod {
  const method = methods.get(path);
  if (method === undefined) {
    throw new TypeError(`the contract has no ${path}`);
  }
  return method;
}

test("the table has a row for every RPC of the contract", async (t) => {
  const paths = new Set(rows.map(({ path }) => path));
  t.same([...paths].toSorted(), [...methods.keys()].toSorted());
});

/** The short form has each protocol once, and Connect with both encodings and both HTTP versions. */
const inShortForm: Readonly<Record<string, readonly string[]>> = {
  "": [
    "Connect JSON over HTTP/1.1",
    "Connect binary over HTTP/2",
    "Connect GET JSON over HTTP/2",
    "gRPC-Web binary over HTTP/1.1",
    "gRPC binary over HTTP/2",
    "server-sent events by POST over HTTP/2",
    "server-sent events by GET over HTTP/1.1",
  ],
  // The router handles the prefix, so the encoding makes no difference.
  "/api": ["Connect binary over HTTP/1.1", "gRPC binary over HTTP/2"],
};

for (const prefix of ["", "/api"]) {
  const all = [...protocols, ...eventStreamProtocols];
  for (const protocol of isLongForm ? all : all.filter(({ name }) => inShortForm[prefix]?.includes(name))) {
    test(`every RPC over ${protocol.name}${prefix && ` under ${prefix}`}`, async (t) => {
      const { url, log } = await startGatewayUnderTest(t, {}, { hasLogin: true });
      const baseUrl = `${url}${prefix}`;
      const ofLogin = protocol.isEventStream === true ? connectJson : protocol;
      const logins = createClient(AuthService, ofLogin.createTransport(baseUrl));
      const { token } = await logins.login(admin);
      const transport = protocol.createTransport(baseUrl, { headers: { authorization: `Bearer ${token}` } });
      if (protocol.isGet === true || protocol.isEventStream === true) {
        // These protocols cannot create the resources that they read.
        const creator = connectJson.createTransport(baseUrl, {
          headers: { authorization: `Bearer ${token}` },
        });
        await callMethod(creator, methodOf("cnct.kaas.api.Cluster/CreateCluster"), demo);
      }
      for (const { path, request, answer, error } of rows) {
        const method = methodOf(path);
        if (!isCallable(protocol, method)) {
          continue;
        }
        const name = `${path} ${JSON.stringify(request)}`;
        const result = callMethod(transport, method, request);
        if (error === undefined) {
          t.match(await result, answer, name);
        } else {
          t.match(await rpcErrorOf(result), { ...error, domain: "hostplane" }, name);
        }
      }
      t.same(
        log.filter(({ level }) => Number(level) >= 40),
        [],
        "nothing is logged as a fault",
      );
    });
  }
}

test("a domain that is off refuses calls in every protocol and names the key that enables it", async (t) => {
  const facts = {
    version: "test",
    host: "host1",
    isSandbox: false,
    startedAtMs: Date.now(),
    listeners: () => [],
  };
  const systems = { volumes: undefined, close: async () => {} };
  const { registrations } = await createServices({
    systems,
    runner: createInlineRunner(() => {}),
    auth: { registrations: [], planners: [] },
    ...withoutStore(),
    facts,
    maxMessageBytes: 4 << 20,
    fleet: noFleet,
    routeOf: () => undefined,
  });
  const { url } = await startAppUnderTest(t, registrations);
  const off = { code: "UNAVAILABLE", reason: "DOMAIN_OFF" };
  const keys: Readonly<Record<string, RegExp>> = {
    proto: /volumes\.deviceClasses/,
    "operations.v1": /`hypervisors`/,
  };
  for (const protocol of protocols) {
    const transport = protocol.createTransport(url);
    for (const method of methods.values()) {
      const message = keys[method.parent.file.proto.package];
      if (message !== undefined && isCallable(protocol, method)) {
        t.match(
          await rpcErrorOf(callMethod(transport, method, {})),
          { ...off, message },
          `${method.name} by ${protocol.name}`,
        );
      }
    }
  }
});

test("a method that may not be called by GET answers 405 and names the allowed methods", async (t) => {
  const { url } = await startGatewayUnderTest(t);
  for (const [path, method] of methods) {
    if (methodRuleOf(method).get || eventStreamMethodOf(method, methodRuleOf(method))?.byGet === true) {
      continue;
    }
    for (const prefix of ["", "/api"]) {
      const response = await fetch(`${url}${prefix}/${path}?encoding=json&message=%7B%7D`);
      await response.arrayBuffer();
      t.equal(response.status, 405, `GET ${prefix}/${path}`);
      t.equal(response.headers.get("allow"), "POST");
    }
  }
});

test("gRPC over HTTP/1.1 is refused for every RPC, because it needs HTTP/2", async (t) => {
  const { url } = await startGatewayUnderTest(t);
  for (const [path, method] of methods) {
    const body = encodeEnvelope(0, toBinary(method.input, create(method.input)));
    const headers = { "content-type": "application/grpc", te: "trailers" };
    const response = await fetch(`${url}/${path}`, { method: "POST", headers, body: new Uint8Array(body) });
    t.equal(response.status, 505, path);
    t.match(await response.text(), /HTTP\/2/);
  }
});

test("a bidirectional stream over HTTP/1.1 is refused, because it needs HTTP/2", async (t) => {
  const { url } = await startGatewayUnderTest(t);
  for (const type of [
    "application/connect+json",
    "application/connect+proto",
    "application/grpc-web+proto",
  ]) {
    for (const [path, method] of methods) {
      if (method.methodKind === "bidi_streaming") {
        const headers = { "content-type": type };
        const response = await fetch(`${url}/${path}`, { method: "POST", headers });
        await response.arrayBuffer();
        t.equal(response.status, 505, `${type} ${path}`);
      }
    }
  }
});

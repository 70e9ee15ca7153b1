import type { DescMethod, JsonObject } from "@bufbuild/protobuf";
import { test } from "tap";
import { methodRuleOf } from "../../../server/gateway/method-rules.ts";
import { methodPathOf } from "../../../server/rpc/call/method-rule.ts";
import { registerRefusal } from "../../../server/rpc/call/service-handlers.ts";
import { restRoutes } from "../../../server/rpc/protocols/rest/routes.ts";
import {
  type CallerUnderTest,
  endedOperation,
  type Json,
  startPlans,
} from "../domains/plan/callers-under-test.ts";
import { unplanned } from "../domains/plan/unplanned.ts";
import { callMethod, isCallable } from "../harness/call-method.ts";
import { readContractServices } from "../harness/contract-services.ts";
import { protocols } from "../harness/protocols.ts";
import { rpcErrorOf } from "../harness/rpc-error.ts";

const services = await readContractServices();
const changes = services
  .flatMap((service): readonly DescMethod[] => service.methods)
  .filter((method) => methodRuleOf(method).mutation && !(methodPathOf(method) in unplanned));

const users = "hostplane.v1.UserService";
const volumes = "hostplane.v1.VolumeService";
const hypervisors = "operations.v1.OperationsService";
const pods = "hostplane.v1.PodService";
const pool = "hostplane.v1.StoragePoolService";
const clusters = "cnct.kaas.api.Cluster";
const nodePools = [{ name: "workers", count: 2 }];
const user = { name: "carol" };

const controller = "csi.v1.Controller";
const node = "csi.v1.Node";
const volumeCapability = { mount: { fsType: "ext4" }, accessMode: { mode: "SINGLE_NODE_WRITER" } };
const volumeCapabilities = [volumeCapability];
/** Volumes that `prepare` creates: one as it is, one with a snapshot, and one that is published. */
const [orders, archived, published] = ["sandbox-vg/orders", "sandbox-vg/archived", "sandbox-vg/published"];
const stagingTargetPath = "/sandbox/csi/staging";
const targetPath = "/sandbox/csi/pods/published";
const snapshotId = "sandbox-vg/csi-snap-d618fb157a4b382e92fcd4a830c5fa8a";

/** A request of each method that would change something in the sandbox. */
const requests: Readonly<Record<string, JsonObject>> = {
  "proto.LVService/CreateLV": { name: "a", sizeGb: "1" },
  "proto.LVService/ResizeLV": { name: "sandbox-web", sizeGb: "3" },
  "proto.LVService/RemoveLV": { name: "sandbox-web" },
  [`${volumes}/CreateVolume`]: { name: "a", sizeBytes: "1" },
  [`${volumes}/ResizeVolume`]: { name: "sandbox-web", sizeBytes: String(3 * 2 ** 30) },
  [`${volumes}/DeleteVolume`]: { name: "sandbox-web" },
  [`${volumes}/CloneVolume`]: { source: "sandbox-web", name: "a" },
  [`${volumes}/CreateSnapshot`]: { source: "sandbox-web", name: "a" },
  [`${volumes}/MergeSnapshot`]: { name: "earlier" },
  [`${volumes}/CreateThinPool`]: { name: "a", volumeGroup: "sandbox-vg", sizeBytes: "1" },
  [`${volumes}/ResizeThinPool`]: { name: "pool", volumeGroup: "sandbox-vg", sizeBytes: String(2 ** 30) },
  [`${volumes}/DeleteThinPool`]: { name: "pool", volumeGroup: "sandbox-vg" },
  [`${volumes}/RenameVolume`]: { name: "sandbox-web", newName: "a" },
  [`${volumes}/SetVolumeTags`]: { name: "sandbox-web", tags: ["a"] },
  [`${controller}/CreateVolume`]: { name: "c", volumeCapabilities },
  [`${controller}/DeleteVolume`]: { volumeId: orders },
  [`${controller}/ControllerExpandVolume`]: {
    volumeId: orders,
    capacityRange: { requiredBytes: String(2 ** 27) },
  },
  [`${controller}/CreateSnapshot`]: { name: "c", sourceVolumeId: orders },
  [`${controller}/DeleteSnapshot`]: { snapshotId },
  [`${node}/NodeStageVolume`]: { volumeId: orders, stagingTargetPath: "/sandbox/csi/pods", volumeCapability },
  [`${node}/NodeUnstageVolume`]: { volumeId: published, stagingTargetPath },
  [`${node}/NodePublishVolume`]: {
    volumeId: published,
    stagingTargetPath,
    targetPath: "/sandbox/csi/pods/again",
    volumeCapability,
  },
  [`${node}/NodeUnpublishVolume`]: { volumeId: published, targetPath },
  [`${node}/NodeExpandVolume`]: { volumeId: published, volumePath: targetPath },
  [`${hypervisors}/CreateHypervisor`]: { id: "sandbox-hv-2" },
  [`${hypervisors}/CreateHypervisors`]: { ids: ["sandbox-hv-2"] },
  [`${hypervisors}/DestroyHypervisor`]: { id: "sandbox-hv-1" },
  [`${hypervisors}/DestroyHypervisors`]: { ids: ["sandbox-hv-1"] },
  [`${hypervisors}/ExpandStorage`]: { minBytes: 1 },
  [`${hypervisors}/CreateBackup`]: {},
  [`${pool}/ExpandStoragePool`]: { minBytes: "1" },
  [`${pool}/ShrinkStoragePool`]: { maxBytes: String(2 ** 42) },
  [`${pool}/BackUpStoragePool`]: {},
  [`${pods}/StartPod`]: { pod: "sandbox-new" },
  [`${pods}/StopPod`]: { pod: "sandbox-web" },
  [`${pods}/KillPod`]: { pod: "sandbox-web" },
  [`${pods}/RemovePod`]: { pod: "sandbox-web", force: true },
  [`${pods}/RemoveImage`]: { image: "docker.io/library/busybox:2" },
  [`${pods}/PullImage`]: { reference: "docker.io/library/busybox:1" },
  [`${users}/CreateUser`]: { name: "dave", role: "ROLE_VIEWER", password: "the password of a test" },
  [`${users}/UpdateUser`]: { ...user, role: "ROLE_VIEWER" },
  [`${users}/DeleteUser`]: user,
  [`${users}/SetPassword`]: { ...user, password: "the password of a test" },
  [`${users}/CreateApiToken`]: { name: "other", role: "ROLE_VIEWER" },
  [`${users}/RevokeApiToken`]: { name: "ci" },
  [`${users}/RotateSigningKey`]: {},
  [`${clusters}/CreateCluster`]: {
    name: "other",
    k8sVersion: "1.35.4",
    controlPlaneNodes: { count: 1, instanceType: "standard" },
  },
  [`${clusters}/DeleteCluster`]: { name: "demo" },
  [`${clusters}/AddNodePool`]: {
    clusterName: "demo",
    workerNodePools: [{ name: "gpus", count: 1, instanceType: "gpu" }],
  },
  [`${clusters}/DeleteNodePool`]: { clusterName: "demo", nodePoolNames: ["spare"] },
  [`${clusters}/ScaleNodePool`]: { clusterName: "demo", nodePools },
  [`${clusters}/UpgradeCluster`]: { name: "demo", version: "1.36.3" },
  "hostplane.v1.ClusterService/RotateKubeconfig": { cluster: "demo" },
};

/** Changes that the sandbox refuses, because it lacks what they would change. */
const impossible: readonly string[] = [
  "proto.LVService/CreateBackup",
  // Its requests end at 2 GiB, and the devices of the sandbox are larger.
  `${hypervisors}/ShrinkStorage`,
  "hostplane.v1.BackupService/VerifyBackup",
  "hostplane.v1.BackupService/RestoreBackup",
  "hostplane.v1.BackupService/DeleteBackup",
  "hostplane.v1.ClusterService/AdoptStray",
  "hostplane.v1.ClusterService/ReleaseStray",
  "hostplane.v1.FleetService/CreateHostToken",
  "hostplane.v1.FleetService/SetHostLabels",
  "hostplane.v1.FleetService/RemoveHost",
  "hostplane.v1.StorageService/ArchiveCrash",
];

/** Creates what the changes need, as a person, who needs no approval here. */
async function prepare(admin: CallerUnderTest): Promise<void> {
  const worker = { count: 1, instanceType: "standard" };
  const { body } = await admin.call(`${pool}/ExpandStoragePool`, { minBytes: "1" });
  await admin.call(`${volumes}/CreateVolume`, { name: "origin", sizeBytes: "1" });
  await admin.call(`${volumes}/CreateSnapshot`, { source: "origin", name: "earlier" });
  await admin.call(`${volumes}/CreateThinPool`, { name: "pool", volumeGroup: "sandbox-vg", sizeBytes: "1" });
  const capacityRange = { requiredBytes: String(2 ** 26) };
  for (const name of ["orders", "archived", "published"]) {
    await admin.call(`${controller}/CreateVolume`, { name, volumeCapabilities, capacityRange });
  }
  await admin.call(`${controller}/CreateSnapshot`, { name: "monday", sourceVolumeId: archived });
  await admin.call(`${node}/NodeStageVolume`, { volumeId: published, stagingTargetPath, volumeCapability });
  const paths = { stagingTargetPath, targetPath };
  await admin.call(`${node}/NodePublishVolume`, { volumeId: published, ...paths, volumeCapability });
  const pulled = await admin.call(`${pods}/PullImage`, { reference: "docker.io/library/busybox:2" });
  await admin.call(`${clusters}/CreateCluster`, {
    name: "demo",
    k8sVersion: "1.35.4",
    controlPlaneNodes: worker,
    workerNodePools: [
      { name: "workers", ...worker },
      { name: "spare", ...worker },
    ],
  });
  for (const operation of [body.operation, pulled.body.operation]) {
    await endedOperation(admin, (operation as Json).id);
  }
}

/** Returns everything that the changes would change. */
async function stateOf({ call }: CallerUnderTest): Promise<readonly unknown[]> {
  const { body: inventory } = await call("hostplane.v1.InventoryService/ListResources", { pageSize: 1000 });
  const resources = (inventory.resources as readonly Json[]).filter(
    ({ domain, type }) => domain !== "clusters" || type === "kubernetesCluster",
  );
  const { body: operations } = await call("hostplane.v1.OperationService/ListOperations", { pageSize: 1000 });
  const ids = (operations.operations as readonly Json[]).map(({ id, kind }) => `${kind} ${id}`);
  const { body: accounts } = await call(`${users}/ListUsers`);
  const { body: tokens } = await call(`${users}/ListApiTokens`);
  const names = (tokens.tokens as readonly Json[]).map(({ name }) => name);
  return [resources.map(({ name, labels }) => ({ name, labels })), ids.toSorted(), accounts.users, names];
}

test("every change has a request that would make it, or the sandbox lacks what it changes", (t) => {
  t.same([...Object.keys(requests), ...impossible].toSorted(), changes.map(methodPathOf).toSorted());
  t.end();
});

test("no method makes a change without approval, in any protocol", async (t) => {
  const { admin, url, tokenOf } = await startPlans(t, {
    approvals: { rules: [{ callers: ["token"], approvals: 1 }] },
  });
  await prepare(admin);
  // The requests are more than the plans that one caller may have.
  const tokens = {
    csi: await tokenOf("orchestrator", "ROLE_ADMIN"),
    rest: await tokenOf("root", "ROLE_ADMIN"),
  };
  const authorizationOf = (path: string) => `Bearer ${path.startsWith("csi.") ? tokens.csi : tokens.rest}`;
  for (const [method, json] of Object.entries(requests)) {
    const { body } = await admin.call("hostplane.v1.PlanService/Plan", { method, json });
    t.ok(Array.isArray(body.changes) && body.changes.length > 0, `${method} ${JSON.stringify(body)}`);
  }
  const before = await stateOf(admin);
  const plans = new Map<string, Set<string>>();
  const note = (path: string, plan: unknown) =>
    plans.set(path, (plans.get(path) ?? new Set()).add(String(plan)));

  for (const protocol of protocols) {
    for (const method of changes.filter((each) => isCallable(protocol, each))) {
      const path = methodPathOf(method);
      const headers = { authorization: authorizationOf(path) };
      const transport = protocol.createTransport(url, { headers });
      const error = await rpcErrorOf(callMethod(transport, method, requests[path] ?? {}));
      if (path in requests) {
        const expected = { code: "FAILED_PRECONDITION", reason: "APPROVAL_REQUIRED" };
        t.match(error, expected, `${path} by ${protocol.name}`);
        note(path, / the plan (\S+) approved/.exec(error.message)?.[1]);
      }
    }
  }
  for (const { method, httpMethod, template } of restRoutes(
    services.map((service) => registerRefusal(service, () => new TypeError("not called"))),
  ).filter((route) => methodRuleOf(route.method).mutation)) {
    const path = methodPathOf(method);
    const json = requests[path] ?? {};
    const isInQuery = httpMethod === "DELETE";
    const query = new URLSearchParams(Object.entries(json).map(([name, value]) => [name, String(value)]));
    const answer = await fetch(`${url}${template.text}${isInQuery ? `?${query}` : ""}`, {
      method: httpMethod,
      headers: { authorization: authorizationOf(path), "content-type": "application/json" },
      ...(isInQuery ? {} : { body: JSON.stringify(json) }),
    });
    const { details } = (await answer.json()) as { details: readonly { metadata?: { plan?: string } }[] };
    t.match(details, [{ reason: "APPROVAL_REQUIRED" }], `${httpMethod} ${template.text}`);
    note(path, details[0]?.metadata?.plan);
  }

  t.same(await stateOf(admin), before, "nothing has changed");
  for (const [path, ids] of plans) {
    t.match([...ids], [/^[\da-f-]{36}$/], `${path} has one plan in all protocols`);
    t.equal(ids.size, 1, path);
  }
});

import type { DescMethod, DescService, JsonObject } from "@bufbuild/protobuf";
import { type Test, test } from "tap";
import { Role, UserService } from "../../../gen/hostplane/v1/user_pb.ts";
import { AuthService } from "../../../gen/services/auth/auth_pb.ts";
import { methodPathOf } from "../../../server/rpc/call/method-rule.ts";
import { isLongForm } from "../../long-form.ts";
import { callMethod, isCallable } from "../harness/call-method.ts";
import { readContractServices } from "../harness/contract-services.ts";
import { type Client, eventStreamProtocols, type Protocol, protocols } from "../harness/protocols.ts";
import { rpcErrorOf } from "../harness/rpc-error.ts";
import { type AccessUnderTest, startAccessUnderTest } from "./access-under-test.ts";

type Needs = "anyone" | "viewer" | "operator" | "admin";

/** Roles that methods need, written down independently of the gateway's method table. */
const needs: Readonly<Record<string, Needs>> = {
  "services.auth.AuthService/Login": "anyone",
  "services.auth.AuthService/Logout": "viewer",
  "services.auth.AuthService/CheckToken": "anyone",
  "hostplane.v1.LoginService/ListProviders": "anyone",
  "hostplane.v1.LoginService/BeginLogin": "anyone",
  "hostplane.v1.LoginService/FinishLogin": "anyone",
  "hostplane.v1.LoginService/BeginDeviceLogin": "anyone",
  "hostplane.v1.LoginService/FinishDeviceLogin": "anyone",
  "hostplane.v1.StorageService/WatchClusterStats": "viewer",
  "hostplane.v1.StorageService/ListPools": "viewer",
  "hostplane.v1.StorageService/ListOsds": "viewer",
  "hostplane.v1.StorageService/ListCrashes": "viewer",
  "hostplane.v1.StorageService/ArchiveCrash": "operator",
  "stats.StatsService/GetClusterStats": "viewer",
  "stats.StatsService/GetClusterResources": "viewer",
  "stats.StatsService/GetClusterNodes": "viewer",
  "stats.StatsService/GetClusterRadar": "viewer",
  "stats.StatsService/GetKoorCluster": "viewer",
  "cnct.kaas.api.Cluster/CreateCluster": "operator",
  "cnct.kaas.api.Cluster/GetCluster": "operator",
  "cnct.kaas.api.Cluster/DeleteCluster": "operator",
  "cnct.kaas.api.Cluster/GetClusterList": "viewer",
  "cnct.kaas.api.Cluster/GetClusterNodesStatus": "viewer",
  "cnct.kaas.api.Cluster/GetVersionInformation": "viewer",
  "cnct.kaas.api.Cluster/AddNodePool": "operator",
  "cnct.kaas.api.Cluster/DeleteNodePool": "operator",
  "cnct.kaas.api.Cluster/ScaleNodePool": "operator",
  "cnct.kaas.api.Cluster/GetUpgradeClusterInformation": "viewer",
  "cnct.kaas.api.Cluster/UpgradeCluster": "operator",
  "hostplane.v1.ClusterService/WatchClusters": "viewer",
  "hostplane.v1.ClusterService/ListMachines": "viewer",
  "hostplane.v1.ClusterService/GetKubeconfig": "operator",
  "hostplane.v1.ClusterService/RotateKubeconfig": "operator",
  "hostplane.v1.ClusterService/ListStrays": "viewer",
  "hostplane.v1.ClusterService/AdoptStray": "operator",
  "hostplane.v1.ClusterService/ReleaseStray": "operator",
  "proto.LVService/CreateLV": "operator",
  "proto.LVService/RemoveLV": "operator",
  "proto.LVService/ResizeLV": "operator",
  "proto.LVService/CreateBackup": "operator",
  "proto.VGService/GetLVList": "viewer",
  "proto.VGService/GetFreeBytes": "viewer",
  "proto.VGService/Watch": "viewer",
  "operations.v1.OperationsService/ListHypervisors": "viewer",
  "operations.v1.OperationsService/CreateHypervisor": "operator",
  "operations.v1.OperationsService/CreateHypervisors": "operator",
  "operations.v1.OperationsService/DestroyHypervisor": "operator",
  "operations.v1.OperationsService/DestroyHypervisors": "operator",
  "operations.v1.OperationsService/ExpandStorage": "operator",
  "operations.v1.OperationsService/ShrinkStorage": "operator",
  "operations.v1.OperationsService/CreateBackup": "operator",
  "hostplane.v1.PodService/ListPods": "viewer",
  "hostplane.v1.PodService/WatchPods": "viewer",
  "hostplane.v1.PodService/ListImages": "viewer",
  "hostplane.v1.PodService/StartPod": "operator",
  "hostplane.v1.PodService/StopPod": "operator",
  "hostplane.v1.PodService/KillPod": "operator",
  "hostplane.v1.PodService/RemovePod": "operator",
  "hostplane.v1.PodService/PullImage": "operator",
  "hostplane.v1.PodService/RemoveImage": "operator",
  "v1alpha.PublicAPI/GetInfo": "viewer",
  "v1alpha.PublicAPI/ListPods": "operator",
  "v1alpha.PublicAPI/InspectPod": "operator",
  "v1alpha.PublicAPI/ListImages": "operator",
  "v1alpha.PublicAPI/InspectImage": "operator",
  "v1alpha.PublicAPI/ListenEvents": "viewer",
  "v1alpha.PublicAPI/GetLogs": "operator",
  "hostplane.v1.OperationService/GetOperation": "viewer",
  "hostplane.v1.OperationService/ListOperations": "viewer",
  "hostplane.v1.OperationService/WatchOperation": "viewer",
  "hostplane.v1.OperationService/CancelOperation": "operator",
  "hostplane.v1.OperationService/RetryOperation": "operator",
  "hostplane.v1.OperationService/ListCommands": "operator",
  "hostplane.v1.EventService/Subscribe": "viewer",
  "hostplane.v1.EventService/FollowEvents": "viewer",
  "hostplane.v1.HistoryService/GetHistory": "viewer",
  "hostplane.v1.HistoryService/ListSubjects": "viewer",
  "hostplane.v1.InventoryService/ListResources": "viewer",
  "hostplane.v1.InventoryService/WatchResources": "viewer",
  "hostplane.v1.BackupService/ListBackups": "viewer",
  "hostplane.v1.BackupService/GetBackup": "viewer",
  "hostplane.v1.BackupService/VerifyBackup": "operator",
  "hostplane.v1.BackupService/RestoreBackup": "operator",
  "hostplane.v1.BackupService/DeleteBackup": "admin",
  "hostplane.v1.VolumeService/ListVolumes": "viewer",
  "hostplane.v1.VolumeService/ListThinPools": "viewer",
  "hostplane.v1.VolumeService/GetVolume": "viewer",
  "hostplane.v1.VolumeService/CreateThinPool": "operator",
  "hostplane.v1.VolumeService/ResizeThinPool": "operator",
  "hostplane.v1.VolumeService/DeleteThinPool": "operator",
  "hostplane.v1.VolumeService/CreateVolume": "operator",
  "hostplane.v1.VolumeService/ResizeVolume": "operator",
  "hostplane.v1.VolumeService/DeleteVolume": "operator",
  "hostplane.v1.VolumeService/CloneVolume": "operator",
  "hostplane.v1.VolumeService/CreateSnapshot": "operator",
  "hostplane.v1.VolumeService/MergeSnapshot": "operator",
  "hostplane.v1.VolumeService/RenameVolume": "operator",
  "hostplane.v1.VolumeService/SetVolumeTags": "operator",
  "csi.v1.Identity/GetPluginInfo": "viewer",
  "csi.v1.Identity/GetPluginCapabilities": "viewer",
  "csi.v1.Identity/Probe": "viewer",
  "csi.v1.Controller/CreateVolume": "operator",
  "csi.v1.Controller/DeleteVolume": "operator",
  "csi.v1.Controller/ControllerPublishVolume": "operator",
  "csi.v1.Controller/ControllerUnpublishVolume": "operator",
  "csi.v1.Controller/ValidateVolumeCapabilities": "operator",
  "csi.v1.Controller/ListVolumes": "viewer",
  "csi.v1.Controller/GetCapacity": "viewer",
  "csi.v1.Controller/ControllerGetCapabilities": "viewer",
  "csi.v1.Controller/CreateSnapshot": "operator",
  "csi.v1.Controller/DeleteSnapshot": "operator",
  "csi.v1.Controller/ListSnapshots": "operator",
  "csi.v1.Controller/GetSnapshot": "operator",
  "csi.v1.Controller/ControllerExpandVolume": "operator",
  "csi.v1.Controller/ControllerGetVolume": "viewer",
  "csi.v1.Controller/ControllerModifyVolume": "operator",
  "csi.v1.Node/NodeStageVolume": "operator",
  "csi.v1.Node/NodeUnstageVolume": "operator",
  "csi.v1.Node/NodePublishVolume": "operator",
  "csi.v1.Node/NodeUnpublishVolume": "operator",
  "csi.v1.Node/NodeGetVolumeStats": "viewer",
  "csi.v1.Node/NodeExpandVolume": "operator",
  "csi.v1.Node/NodeGetCapabilities": "viewer",
  "csi.v1.Node/NodeGetInfo": "viewer",
  "hostplane.v1.StoragePoolService/GetStoragePool": "viewer",
  "hostplane.v1.StoragePoolService/WatchStoragePool": "viewer",
  "hostplane.v1.StoragePoolService/ExpandStoragePool": "operator",
  "hostplane.v1.StoragePoolService/ShrinkStoragePool": "operator",
  "hostplane.v1.StoragePoolService/BackUpStoragePool": "operator",
  "hostplane.v1.UserService/GetCaller": "viewer",
  "hostplane.v1.UserService/ChangePassword": "viewer",
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
  "hostplane.v1.PlanService/Plan": "viewer",
  "hostplane.v1.PlanService/CreatePlan": "operator",
  "hostplane.v1.PlanService/GetPlan": "viewer",
  "hostplane.v1.PlanService/ListPlans": "viewer",
  "hostplane.v1.PlanService/DeletePlan": "operator",
  "hostplane.v1.PlanService/ApplyPlan": "operator",
  "hostplane.v1.PlanService/ApprovePlan": "operator",
  "hostplane.v1.PlanService/BreakGlass": "admin",
  "hostplane.v1.FleetService/ListHosts": "viewer",
  "hostplane.v1.FleetService/WatchHosts": "viewer",
  "hostplane.v1.FleetService/CallHosts": "operator",
  "hostplane.v1.FleetService/CreateHostToken": "admin",
  "hostplane.v1.FleetService/SetHostLabels": "admin",
  "hostplane.v1.FleetService/RemoveHost": "admin",
  "hostplane.v1.MembershipService/JoinFleet": "admin",
  "hostplane.v1.MembershipService/LeaveFleet": "admin",
  "hostplane.v1.MembershipService/GetMembership": "admin",
  "hostplane.v1.EnrollmentService/Enroll": "anyone",
  "hostplane.v1.EnrollmentService/RenewCertificate": "anyone",
  "hostplane.v1.StreamService/CarryStreams": "viewer",
  "hostplane.v1.StreamService/OpenStream": "viewer",
  "hostplane.v1.StreamService/CloseStream": "viewer",
  "hostplane.v1.SystemService/GetInfo": "viewer",
  "hostplane.v1.SystemService/ListBackends": "viewer",
  "grpc.health.v1.Health/Check": "anyone",
  "grpc.health.v1.Health/List": "anyone",
  "grpc.health.v1.Health/Watch": "anyone",
  "grpc.reflection.v1.ServerReflection/ServerReflectionInfo": "anyone",
  "grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo": "anyone",
};

/** What a limited role may call besides its services: its own login, and calls that the dashboard makes for every user. */
const ofEveryService: ReadonlySet<string> = new Set([
  "services.auth.AuthService/Logout",
  "hostplane.v1.UserService/GetCaller",
  "hostplane.v1.UserService/ChangePassword",
  "hostplane.v1.PlanService/Plan",
  "hostplane.v1.PlanService/CreatePlan",
  "hostplane.v1.PlanService/GetPlan",
  "hostplane.v1.PlanService/ListPlans",
  "hostplane.v1.PlanService/DeletePlan",
  "hostplane.v1.PlanService/ApplyPlan",
  "hostplane.v1.PlanService/ApprovePlan",
  "hostplane.v1.StreamService/CarryStreams",
  "hostplane.v1.StreamService/OpenStream",
  "hostplane.v1.StreamService/CloseStream",
  "hostplane.v1.OperationService/GetOperation",
  "hostplane.v1.OperationService/ListOperations",
  "hostplane.v1.OperationService/WatchOperation",
  "hostplane.v1.OperationService/CancelOperation",
  "hostplane.v1.OperationService/RetryOperation",
  "hostplane.v1.OperationService/ListCommands",
  "hostplane.v1.EventService/Subscribe",
  "hostplane.v1.EventService/FollowEvents",
  "hostplane.v1.HistoryService/GetHistory",
  "hostplane.v1.HistoryService/ListSubjects",
  "hostplane.v1.InventoryService/ListResources",
  "hostplane.v1.InventoryService/WatchResources",
  "hostplane.v1.SystemService/GetInfo",
]);

/** Requests that fail their own validation, for methods where an empty request would change something. */
const requests: Readonly<Record<string, JsonObject>> = {
  "services.auth.AuthService/Login": { username: "nobody-here", password: "wrong" },
  "grpc.reflection.v1.ServerReflection/ServerReflectionInfo": { listServices: "" },
  "grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo": { listServices: "" },
};

const ranks: readonly Needs[] = ["anyone", "viewer", "operator", "admin"];

interface Refusal {
  readonly code: string;
  readonly reason: string;
  readonly message?: RegExp;
}

/** Returns undefined if the call may reach its method. */
type Expect = (path: string, service: string) => Refusal | undefined;

const refusedAs =
  (code: string, reason: string): Expect =>
  (path) =>
    needs[path] === "anyone" ? undefined : { code, reason };

const ofRole =
  (role: Needs): Expect =>
  (path) => {
    const needed = needs[path] ?? "admin";
    return ranks.indexOf(role) >= ranks.indexOf(needed)
      ? undefined
      : { code: "PERMISSION_DENIED", reason: "ROLE_REQUIRED", message: new RegExp(`role ${needed};`) };
  };

/**
 * With more concurrent calls a client in the gateway's process becomes so slow that Node treats an HTTP/2 stream that has ended
 * unread as cut ("Premature close").
 */
const atOnce = 8;

interface Credential {
  readonly name: string;
  /** Created for each protocol, because one row logs out. */
  readonly client: (gateway: AccessUnderTest) => Promise<Client>;
  readonly expect: Expect;
  /** In the short form it calls a third of the RPCs: another credential, which is checked in the same way, calls all of them. */
  readonly isSampled?: true;
}

const bearer = (token: string): Client => ({ headers: { authorization: `Bearer ${token}` } });

const credentials: readonly Credential[] = [
  { name: "no token", client: async () => ({}), expect: refusedAs("UNAUTHENTICATED", "LOGIN_REQUIRED") },
  {
    name: "an expired token",
    isSampled: true,
    client: async (gateway) => bearer(gateway.expiredToken),
    expect: refusedAs("UNAUTHENTICATED", "TOKEN_EXPIRED"),
  },
  {
    name: "a revoked token",
    isSampled: true,
    client: async (gateway) => {
      const token = await gateway.logIn("operator");
      await gateway.clientOf(AuthService, bearer(token)).logout({});
      return bearer(token);
    },
    expect: refusedAs("UNAUTHENTICATED", "TOKEN_REVOKED"),
  },
  {
    name: "a token for another audience",
    isSampled: true,
    client: async (gateway) => bearer(gateway.foreignToken),
    expect: refusedAs("UNAUTHENTICATED", "TOKEN_INVALID"),
  },
  ...(["viewer", "operator", "admin"] as const).map((role) => ({
    name: `the role ${role}`,
    client: async (gateway: AccessUnderTest) => bearer(await gateway.logIn(role)),
    expect: ofRole(role),
  })),
  {
    name: "an operator limited to proto.VGService",
    client: async (gateway) => bearer(await gateway.logIn("limited")),
    expect: (path, service) =>
      ofRole("operator")(path, service) ??
      (needs[path] === "anyone" || ofEveryService.has(path) || service === "proto.VGService"
        ? undefined
        : { code: "PERMISSION_DENIED", reason: "SERVICE_NOT_ALLOWED", message: /proto\.VGService/ }),
  },
  {
    name: "the API token of an operator",
    isSampled: true,
    client: async (gateway) => bearer(gateway.apiToken),
    expect: ofRole("operator"),
  },
  {
    name: "the client certificate of a viewer",
    isSampled: true,
    client: async (gateway) => ({ tls: gateway.viewerCertificate }),
    expect: ofRole("viewer"),
  },
  {
    name: "a client certificate of an unknown user",
    isSampled: true,
    client: async (gateway) => ({ tls: gateway.strangerCertificate }),
    expect: refusedAs("UNAUTHENTICATED", "CERTIFICATE_UNKNOWN"),
  },
  {
    name: "the cookie of an admin sent by a foreign page",
    isSampled: true,
    client: async (gateway) => ({
      headers: { cookie: await gateway.cookieOf("admin"), origin: "https://evil.example" },
    }),
    expect: () => ({ code: "PERMISSION_DENIED", reason: "ORIGIN_NOT_ALLOWED" }),
  },
  {
    name: "the cookie of an operator sent by a page of the gateway",
    isSampled: true,
    client: async (gateway) => ({
      headers: { cookie: await gateway.cookieOf("operator"), origin: gateway.url },
    }),
    expect: ofRole("operator"),
  },
];

const services = await readContractServices();
const methods = services.flatMap((service: DescService): readonly DescMethod[] => service.methods);

test("the table has the required role of each RPC of the contract", async (t) => {
  t.same(Object.keys(needs).toSorted(), methods.map(methodPathOf).toSorted());
});

const sampledEvery = 3;

/** Returns the protocols for a method. In the short form it is one, which differs between credentials; in the long form all. */
function protocolsFor(method: DescMethod, turn: number): readonly Protocol[] {
  const able = [...protocols, ...eventStreamProtocols].filter((protocol) => isCallable(protocol, method));
  return isLongForm ? able : able.slice(turn % able.length).slice(0, 1);
}

test("each credential may call exactly the methods in the table", async (t) => {
  const gateway = await startAccessUnderTest(t);
  for (const [turn, credential] of credentials.entries()) {
    await t.test(credential.name, (t) => testCredential(t, gateway, credential, turn));
  }
});

async function testCredential(
  t: Test,
  gateway: AccessUnderTest,
  { client, expect, isSampled }: Credential,
  turn: number,
): Promise<void> {
  const used = await client(gateway);
  const isCalled = (index: number) => isLongForm || isSampled !== true || (turn + index) % sampledEvery === 0;
  // Logout ends the credential that the others use.
  const [logouts, others] = [true, false].map((isLast) =>
    methods.filter(({ name }, index) => (name === "Logout") === isLast && (isLast || isCalled(index))),
  ) as [DescMethod[], DescMethod[]];
  for (const [called, isLast] of [
    [others, false],
    [logouts, true],
  ] as const) {
    for (const protocol of [...protocols, ...eventStreamProtocols]) {
      const able = called.filter((method) =>
        protocolsFor(method, turn + methods.indexOf(method)).includes(protocol),
      );
      if (able.length > 0) {
        await testCalls(t, gateway, {
          protocol,
          client: isLast ? await client(gateway) : used,
          able,
          expect,
        });
      }
    }
  }
}

async function testCalls(
  t: Test,
  gateway: AccessUnderTest,
  {
    protocol,
    client,
    able,
    expect,
  }: { protocol: Protocol; client: Client; able: DescMethod[]; expect: Expect },
): Promise<void> {
  const transport = protocol.createTransport(gateway.url, gateway.trust(client));
  const resultOf = (method: DescMethod) =>
    rpcErrorOf(callMethod(transport, method, requests[methodPathOf(method)] ?? {}));
  const results: Awaited<ReturnType<typeof resultOf>>[] = [];
  for (let from = 0; from < able.length; from += atOnce) {
    results.push(...(await Promise.all(able.slice(from, from + atOnce).map(resultOf))));
  }
  for (const [index, method] of able.entries()) {
    const path = methodPathOf(method);
    const result = results[index] ?? { code: "none", reason: undefined, message: "" };
    const expected = expect(path, method.parent.typeName);
    if (expected !== undefined) {
      t.match(result, { ...expected, domain: "hostplane" }, `${path} by ${protocol.name}`);
    } else {
      const outcome = `${result.code}: ${result.message}`;
      t.notMatch(outcome, /^(PERMISSION_DENIED|INTERNAL|UNKNOWN):/, `${path} by ${protocol.name}`);
      const isOwnRefusal = path === "services.auth.AuthService/Login";
      t.equal(result.code === "UNAUTHENTICATED" || /LOGINS/.test(result.reason ?? ""), isOwnRefusal, path);
    }
  }
}

test("a stream ends within five seconds after its token ends, however the token ends", async (t) => {
  const gateway = await startAccessUnderTest(t);
  const admin = gateway.clientOf(UserService, bearer(await gateway.logIn("admin")));
  const ways: Readonly<Record<string, () => Promise<[Client, () => Promise<unknown>]>>> = {
    "a logout": async () => {
      const client = bearer(await gateway.logIn("viewer"));
      return [client, () => gateway.clientOf(AuthService, client).logout({})];
    },
    "another password": async () => [
      bearer(await gateway.logIn("limited")),
      () => admin.setPassword({ name: "limited", password: "another password" }),
    ],
    "the end of the user": async () => [
      bearer(await gateway.logIn("operator")),
      () => admin.deleteUser({ name: "operator" }),
    ],
    "the end of an API token": async () => [
      bearer(gateway.apiToken),
      () => admin.revokeApiToken({ name: gateway.apiTokenName }),
    ],
    "its time": async () => {
      const lifetime = { seconds: 2n };
      const { token } = await admin.createApiToken({ name: "brief", role: Role.VIEWER, lifetime });
      return [bearer(token), async () => undefined];
    },
    "another list of services": async () => [
      bearer(await gateway.logIn("viewer")),
      () =>
        admin.updateUser({
          name: "viewer",
          role: Role.VIEWER,
          services: { services: ["stats.StatsService"] },
        }),
    ],
  };
  for (const [way, begin] of Object.entries(ways)) {
    const [client, revoke] = await begin();
    const streams = gateway.watches(client);
    const revokedAtMs = performance.now();
    await revoke();
    for (const reason of await Promise.all(streams)) {
      t.match(reason, /^(TOKEN_REVOKED|TOKEN_EXPIRED|TOKEN_INVALID|SERVICE_NOT_ALLOWED)$/, way);
    }
    t.ok(performance.now() - revokedAtMs < 20_000, `${way}: soon`);
  }
});

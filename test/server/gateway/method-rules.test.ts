import { MethodOptions_IdempotencyLevel as Idempotency } from "@bufbuild/protobuf/wkt";
import { test } from "tap";
import { domains } from "../../../server/domains/domains.ts";
import { methodRuleOf } from "../../../server/gateway/method-rules.ts";
import { methodPathOf } from "../../../server/rpc/call/method-rule.ts";
import { readContractServices } from "../harness/contract-services.ts";

const services = await readContractServices();
const methods = services.flatMap((service) => service.methods);

test("every RPC of the contract has a rule", async (t) => {
  for (const method of methods) {
    t.doesNotThrow(() => methodRuleOf(method), methodPathOf(method));
  }
});

test("every exception is for an existing method", async (t) => {
  const paths = new Set(methods.map(methodPathOf));
  const declared = domains.flatMap(({ services: ofDomain }) =>
    ofDomain.flatMap(({ service, rules, reasons }) =>
      Object.keys({ ...rules, ...reasons }).map((method) => `${service.typeName}/${method}`),
    ),
  );
  t.ok(declared.length > 0, "exceptions were found");
  t.same(
    declared.filter((path) => !paths.has(path)),
    [],
  );
});

/** Methods with the caller's own secrets, or that also require the role of another method. */
const viewersOwn: ReadonlySet<string> = new Set([
  "hostplane.v1.UserService/ChangePassword",
  "hostplane.v1.PlanService/Plan",
]);

test("a method with secrets is never a viewer's, never called by GET and never cached", async (t) => {
  for (const method of methods) {
    const rule = methodRuleOf(method);
    if (rule.secrets) {
      t.notOk(rule.get || rule.cache, `${methodPathOf(method)} by GET or cached`);
      t.ok(rule.role !== "viewer" || viewersOwn.has(methodPathOf(method)), methodPathOf(method));
    }
  }
});

test("a method without side effects is not a mutation, and a viewer may only change its own login", async (t) => {
  for (const method of methods) {
    const rule = methodRuleOf(method);
    if (method.idempotency === Idempotency.NO_SIDE_EFFECTS) {
      t.notOk(rule.mutation, methodPathOf(method));
    }
    if (
      rule.mutation &&
      ![
        ...["Logout", "Login", "FinishLogin", "FinishDeviceLogin", "ChangePassword"],
        ...["Enroll", "RenewCertificate"],
      ].includes(method.name)
    ) {
      t.match(rule.role, /^(operator|admin)$/, methodPathOf(method));
    }
  }
});

test("the contract marks every field that carries a secret", async (t) => {
  const secret = methods.filter((method) => methodRuleOf(method).secrets).map(methodPathOf);
  t.same(secret.toSorted(), [
    "cnct.kaas.api.Cluster/GetCluster",
    "csi.v1.Controller/ControllerExpandVolume",
    "csi.v1.Controller/ControllerModifyVolume",
    "csi.v1.Controller/ControllerPublishVolume",
    "csi.v1.Controller/ControllerUnpublishVolume",
    "csi.v1.Controller/CreateSnapshot",
    "csi.v1.Controller/CreateVolume",
    "csi.v1.Controller/DeleteSnapshot",
    "csi.v1.Controller/DeleteVolume",
    "csi.v1.Controller/GetSnapshot",
    "csi.v1.Controller/ListSnapshots",
    "csi.v1.Controller/ValidateVolumeCapabilities",
    "csi.v1.Node/NodeExpandVolume",
    "csi.v1.Node/NodePublishVolume",
    "csi.v1.Node/NodeStageVolume",
    "hostplane.v1.BackupService/DeleteBackup",
    "hostplane.v1.BackupService/RestoreBackup",
    "hostplane.v1.BackupService/VerifyBackup",
    "hostplane.v1.ClusterService/GetKubeconfig",
    "hostplane.v1.ClusterService/RotateKubeconfig",
    "hostplane.v1.EnrollmentService/Enroll",
    "hostplane.v1.FleetService/CallHosts",
    "hostplane.v1.FleetService/CreateHostToken",
    "hostplane.v1.LoginService/BeginDeviceLogin",
    "hostplane.v1.LoginService/FinishDeviceLogin",
    "hostplane.v1.LoginService/FinishLogin",
    "hostplane.v1.MembershipService/JoinFleet",
    "hostplane.v1.PlanService/CreatePlan",
    "hostplane.v1.PlanService/Plan",
    "hostplane.v1.UserService/ChangePassword",
    "hostplane.v1.UserService/CreateApiToken",
    "hostplane.v1.UserService/CreateUser",
    "hostplane.v1.UserService/SetPassword",
    "proto.LVService/CreateBackup",
    "proto.LVService/CreateLV",
    "services.auth.AuthService/CheckToken",
    "services.auth.AuthService/Login",
    "v1alpha.PublicAPI/GetLogs",
    "v1alpha.PublicAPI/InspectImage",
    "v1alpha.PublicAPI/InspectPod",
    "v1alpha.PublicAPI/ListImages",
    "v1alpha.PublicAPI/ListPods",
  ]);
});

test("only streams are repeatable, and never one whose messages are counted", async (t) => {
  const repeatable = methods.filter((method) => methodRuleOf(method).repeatable).map(methodPathOf);
  t.same(repeatable, ["proto.VGService/Watch", "grpc.health.v1.Health/Watch"]);
});

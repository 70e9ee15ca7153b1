import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import { test } from "tap";
import { PlanService } from "../../../../gen/hostplane/v1/plan_pb.ts";
import { methodRuleOf } from "../../../../server/gateway/method-rules.ts";
import { anonymous } from "../../../../server/rpc/call/caller.ts";
import { methodPathOf } from "../../../../server/rpc/call/method-rule.ts";
import { reasonOf } from "../../../adapters/host/reason-of.ts";
import { readContractServices } from "../../harness/contract-services.ts";
import { callerOf, createAuthUnderTest, createPlanUnderTest } from "./plan-under-test.ts";

const services = await readContractServices();
const methods = services.flatMap((service) => service.methods);

const create = "proto.LVService/CreateLV";
const resize = "proto.LVService/ResizeLV";
const remove = "proto.LVService/RemoveLV";

function jsonOf(method: string, value: Record<string, string | number>) {
  return { method, request: { case: "json", value } } as const;
}

test("a plan shows the changes, the losses and the command", async (t) => {
  const { plan } = await createPlanUnderTest();
  t.match(await plan(jsonOf(create, { name: "data", size_gb: 2 })), {
    kind: "volumes.create",
    resource: "volumeGroups/sandbox-vg/volumes/data",
    changes: ["sandbox-vg/data is created with 2 GiB (2147483648 bytes)"],
    losses: [],
    steps: [
      {
        name: "create",
        command: [
          ...["lvm", "lvcreate", "--yes", "-Wy", "-Zy", "--name", "data"],
          ...["--size", "2147483648b", "--", "sandbox-vg"],
        ],
      },
    ],
    pointOfNoReturn: 0,
  });
  t.match(await plan(jsonOf(resize, { name: "sandbox-web", sizeGb: "3" })), {
    kind: "volumes.resize",
    changes: ["sandbox-vg/sandbox-web grows from 2 GiB (2147483648 bytes) to 3 GiB (3221225472 bytes)"],
    losses: [],
  });
  t.match(await plan(jsonOf(remove, { name: "sandbox-web" })), {
    kind: "volumes.remove",
    resource: "volumeGroups/sandbox-vg/volumes/sandbox-web",
    changes: ["sandbox-vg/sandbox-web is removed"],
    losses: ["all data on sandbox-vg/sandbox-web, 2 GiB (2147483648 bytes)"],
    steps: [{ name: "remove" }],
  });
});

test("each change of a pod or an image has a plan", async (t) => {
  const { plan } = await createPlanUnderTest();
  const methods: Readonly<Record<string, object>> = {
    "StartPod pod=sandbox-new": {
      kind: "pods.start",
      changes: ["pod sandbox-new is started with sandbox-idle"],
    },
    "StopPod pod=sandbox-web": { kind: "pods.stop", losses: [] },
    "KillPod pod=sandbox-web": { kind: "pods.kill", changes: [/^SIGKILL is sent to pod sandbox-web: /] },
    "RemovePod pod=sandbox-new": { kind: "pods.remove", losses: [/^data that sandbox-idle wrote /] },
    "PullImage reference=docker.io/x/y:1": { kind: "images.pull", resource: "images/docker.io/x/y:1" },
    "RemoveImage image=localhost/sandbox-pause:1": { kind: "images.remove" },
  };
  for (const [words, expected] of Object.entries(methods)) {
    const [name = "", field = "", value = ""] = words.split(/[ =]/);
    const request = {
      method: `hostplane.v1.PodService/${name}`,
      request: { case: "json", value: { [field]: value } },
    } as const;
    if (name === "RemoveImage") {
      await t.rejects(plan(request), { name: "InfraError", reason: "IMAGE_IN_USE" }, words);
    } else {
      t.match(await plan(request), expected, words);
    }
  }
});

test("a call that would change nothing has a plan without steps", async (t) => {
  const { plan } = await createPlanUnderTest();
  const requests = [jsonOf(remove, { name: "none" }), jsonOf(resize, { name: "sandbox-web", sizeGb: 2 })];
  for (const request of requests) {
    t.match(await plan(request), { changes: [], losses: [], steps: [] }, request.method);
  }
});

test("a plan needs the role of the method that it plans", async (t) => {
  const { plan } = await createPlanUnderTest(undefined, await createAuthUnderTest(t));
  const request = jsonOf(remove, { name: "sandbox-web" });
  await t.rejects(plan(request, { caller: anonymous }), {
    name: "InfraError",
    reason: "LOGIN_REQUIRED",
    message: /RemoveLV/,
  });
  await t.rejects(plan(request, { caller: callerOf("viewer") }), {
    name: "InfraError",
    reason: "ROLE_REQUIRED",
    message: /RemoveLV needs the role operator/,
  });
  await t.rejects(plan(request, { caller: callerOf("operator", ["proto.VGService"]) }), {
    name: "InfraError",
    reason: "SERVICE_NOT_ALLOWED",
  });
  await plan(request, { caller: callerOf("operator", ["proto.LVService"]) });
  await t.rejects(
    plan({ method: "hostplane.v1.UserService/DeleteUser" }, { caller: callerOf("operator") }),
    { name: "InfraError", reason: "ROLE_REQUIRED", message: /role admin/ },
    "the plan of an admin's method needs the role admin as well",
  );
});

test("a listener that does not serve a service refuses to plan its calls for any caller", async (t) => {
  const { plan } = await createPlanUnderTest();
  const request = jsonOf(remove, { name: "sandbox-web" });
  const peer = { listener: "unix:/run/some.sock", services: new Set(["hostplane.v1.PlanService"]) };
  await t.rejects(plan(request, { peer }), {
    name: "InfraError",
    reason: "SERVICE_NOT_ON_LISTENER",
    message: "proto.LVService is not served on unix:/run/some.sock",
  });
  const both = { services: new Set(["hostplane.v1.PlanService", "proto.LVService"]) };
  await plan(request, { peer: both });
});

test("a method is named as in its path", async (t) => {
  const { plan } = await createPlanUnderTest();
  t.match(await plan(jsonOf(`/${remove}`, { name: "sandbox-web" })), { kind: "volumes.remove" });
  const unknown = [
    "",
    "/",
    "RemoveLV",
    "proto.LVService.RemoveLV",
    "proto.LVService/removeLV",
    "no.Such/Method",
  ];
  for (const method of [...unknown, `//${remove}`, `/api/${remove}`, "__proto__", `${remove}\n`]) {
    await t.rejects(plan({ method }), {
      name: "InfraError",
      reason: "INVALID_FIELD",
      violations: [{ field: "method", description: /proto\.LVService\/RemoveLV/ }],
    });
  }
});

test("a method that changes nothing has no plan, nor does Plan itself", async (t) => {
  const { plan } = await createPlanUnderTest(undefined, await createAuthUnderTest(t));
  for (const method of [PlanService.method.plan, ...methods.filter((one) => !methodRuleOf(one).mutation)]) {
    const reason = await reasonOf(plan({ method: methodPathOf(method) }));
    t.match(reason, "NOT_PLANNABLE", methodPathOf(method));
  }
});

/** Mutations without a plan, with the reason. */
const unplanned: Readonly<Record<string, string>> = {
  "services.auth.AuthService/Login":
    "it creates a token, and a plan would reveal whether the password is right",
  "hostplane.v1.LoginService/FinishLogin": "it uses up the code of the login",
  "hostplane.v1.LoginService/FinishDeviceLogin": "it uses up the code of the login",
  "hostplane.v1.UserService/ChangePassword":
    "a plan would reveal whether a password is right without counting as a failed login",
  "services.auth.AuthService/Logout": "it only ends the caller's own session",
  "hostplane.v1.EnrollmentService/Enroll":
    "programs call it, and a plan would reveal whether a code is right",
  "hostplane.v1.EnrollmentService/RenewCertificate":
    "programs call it, and nothing but the certificate changes",
  "hostplane.v1.FleetService/CallHosts": "each host plans its own change",
  "hostplane.v1.MembershipService/JoinFleet":
    "only the hub can say whether the token is right, and uses it up",
  "hostplane.v1.PlanService/CreatePlan": "it only saves a plan, which it also returns",
  "hostplane.v1.PlanService/ApplyPlan": "its plan is already saved",
  "hostplane.v1.PlanService/DeletePlan": "it only removes a saved plan",
  "hostplane.v1.PlanService/ApprovePlan": "it only adds an approval to a saved plan",
  "hostplane.v1.PlanService/BreakGlass": "it stands for the approvals of a saved plan",
  "hostplane.v1.MembershipService/LeaveFleet": "it only ends the membership",
  "hostplane.v1.OperationService/CancelOperation":
    "what is undone depends on the step that is running at that time",
  "hostplane.v1.OperationService/RetryOperation":
    "it continues the operation, which already describes its steps",
};

test("every mutation of a served domain has a plan, or is listed without one", async (t) => {
  const { plan } = await createPlanUnderTest(undefined, await createAuthUnderTest(t));
  const mutations = methods.filter((method) => methodRuleOf(method).mutation).map(methodPathOf);
  t.same(
    Object.keys(unplanned).filter((path) => !mutations.includes(path)),
    [],
    "the list contains only mutations",
  );
  let planned = 0;
  for (const path of mutations) {
    const reason = await reasonOf(plan({ method: path }));
    t.equal(reason === "NOT_PLANNABLE", path in unplanned, `${path} ${reason}`);
    planned += 1;
  }
  t.ok(planned >= 4);
});

test("a domain that is off refuses plans as it refuses calls", async (t) => {
  const { plan } = await createPlanUnderTest({ volumes: undefined, close: async () => {} });
  const off = { name: "InfraError", reason: "DOMAIN_OFF", message: /volumes\.deviceClasses/ };
  await t.rejects(plan(jsonOf(remove, { name: "x" })), off);
  await t.rejects(plan({ method: "proto.VGService/GetLVList" }), off, "a read as well");
  await t.rejects(plan({ method: "cnct.kaas.api.Cluster/DeleteCluster" }), {
    name: "InfraError",
    reason: "DOMAIN_OFF",
    message: /`clusters`/,
  });
});

test("a binary request is parsed as by the method", async (t) => {
  const { plan } = await createPlanUnderTest();
  const binary = (value: Uint8Array, method = create) => plan({ method, request: { case: "binary", value } });
  const name = new BinaryWriter().tag(1, WireType.LengthDelimited).string("data");
  const newer = name
    .tag(6, WireType.Varint)
    .uint64(1n << 30n)
    .finish();
  t.match(await binary(newer), { changes: [/^.*\/data is created with 1 GiB/] }, "today's lvmd protocol");
  await t.rejects(binary(new Uint8Array([10, 255])), { name: "InfraError", reason: "MALFORMED_REQUEST" });
  await t.rejects(
    plan({ method: create }),
    { name: "InfraError", reason: "INVALID_FIELD", message: /^name: / },
    "no request means an empty one",
  );
});

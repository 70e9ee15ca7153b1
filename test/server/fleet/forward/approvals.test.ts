import { test } from "tap";
import { PlanService } from "../../../../gen/hostplane/v1/plan_pb.ts";
import { UserService } from "../../../../gen/hostplane/v1/user_pb.ts";
import { VolumeService } from "../../../../gen/hostplane/v1/volume_pb.ts";
import { OperationsService } from "../../../../gen/operations/v1/operations_pb.ts";
import { LVService } from "../../../../gen/proto/lvmd_pb.ts";
import type { HubCaller } from "../../../../server/fleet/caller/hub-caller.ts";
import { createHostClient } from "../../../../server/fleet/hub/host-client.ts";
import { openLink } from "../../harness/hosts-under-test.ts";
import { rpcErrorOf } from "../../harness/rpc-error.ts";
import { startMemberUnderTest } from "../fleet-under-test.ts";
import { startFleetUnderTest } from "./fleet-under-test.ts";

const approvals = { rules: [{ approvals: 1 }] };
const web = { name: "sandbox-web" };
const notAllowed = { code: "PERMISSION_DENIED", reason: "APPROVAL_NOT_ALLOWED" };

function callerOf(actor: string, hub: string, accountId = `id-of-${actor}`): HubCaller {
  const facts = { role: "operator", services: undefined, address: "192.0.2.1", requestId: "test" } as const;
  return { actor, hub, accountId, ...facts };
}

/** Starts a host with two hubs, and returns clients of its services as callers of these hubs. */
async function startHost(
  t: Parameters<typeof startMemberUnderTest>[0],
  ceiling: Record<string, unknown> = {},
  settings: Record<string, unknown> = { approvals },
) {
  const fleet = { agent: { ceiling } };
  const host = await startMemberUnderTest(t, { host: "node-1", ...settings, fleet });
  const serve = (name: string) =>
    openLink(t, "node-1", (connection) => host.gateway.serveHub(connection, `${name}:8443`));
  const links = { "hub-1": (await serve("hub-1")).link, "hub-2": (await serve("hub-2")).link };
  return {
    host,
    as(hub: keyof typeof links, actor: string, accountId?: string) {
      const caller = callerOf(actor, hub, accountId);
      return {
        plans: createHostClient(links[hub], PlanService, caller),
        volumes: createHostClient(links[hub], LVService, caller),
        allVolumes: createHostClient(links[hub], VolumeService, caller),
        hypervisors: createHostClient(links[hub], OperationsService, caller),
      };
    },
  };
}

test("the proposer through one hub does not approve through another, and another user does", async (t) => {
  const { as } = await startHost(t);
  const alice = as("hub-1", "user/alice");
  const refused = await rpcErrorOf(alice.volumes.removeLV(web));
  t.match(refused, { code: "FAILED_PRECONDITION", reason: "APPROVAL_REQUIRED" });
  const { plans } = await alice.plans.listPlans({ waiting: true });
  const id = plans[0]?.id ?? "";
  t.match(plans, [{ actor: "user/alice via hub-1", approvable: false }]);
  for (const other of [
    alice,
    as("hub-2", "user/alice"),
    as("hub-2", "user/alice", "another-account"),
    as("hub-2", "token/alice", "id-of-user/alice"),
    as("hub-2", "token/ci"),
    as("hub-2", "listener/unix:/run/x.sock", ""),
  ]) {
    t.match(await rpcErrorOf(other.plans.approvePlan({ id })), notAllowed);
  }
  t.match(await as("hub-2", "user/bob").plans.approvePlan({ id }), {
    plan: { approvals: [{ actor: "user/bob via hub-2" }] },
  });
  t.match(await rpcErrorOf(as("hub-2", "user/bob").volumes.removeLV(web)), { reason: "APPROVAL_REQUIRED" });
  await as("hub-2", "user/alice").volumes.removeLV(web);
  t.match(await alice.plans.getPlan({ id }), { plan: { approvals: { length: 1 }, state: 3 } });
});

test("one user that approves through two hubs counts once", async (t) => {
  const { host, as } = await startHost(t);
  await host.admin(UserService).listUsers({});
  const { plan } = await as("hub-1", "user/alice").plans.createPlan({
    method: "proto.LVService/RemoveLV",
    request: { case: "json", value: web },
  });
  const id = plan?.id ?? "";
  await as("hub-1", "user/bob").plans.approvePlan({ id });
  await as("hub-2", "user/bob").plans.approvePlan({ id });
  t.match(await as("hub-1", "user/bob").plans.getPlan({ id }), { plan: { approvals: { length: 1 } } });
});

test("a reserved method is neither called nor approved through a hub; the local socket needs no hub", async (t) => {
  const { host, as } = await startHost(t, {
    role: "admin",
    reservedMethods: ["proto.LVService/RemoveLV"],
    protect: ["volumeGroups/sandbox-vg/volumes/sandbox-web"],
  });
  const beyond = { code: "PERMISSION_DENIED", reason: "BEYOND_CEILING" };
  const alice = as("hub-1", "user/alice");
  t.match(await rpcErrorOf(alice.volumes.removeLV(web)), beyond);
  const planned = { method: "proto.LVService/RemoveLV", request: { case: "json", value: web } } as const;
  t.match(await rpcErrorOf(alice.plans.createPlan(planned)), beyond);
  t.match(await rpcErrorOf(host.admin(LVService).removeLV(web)), { reason: "APPROVAL_REQUIRED" });
  const { plans } = await host.admin(PlanService).listPlans({ waiting: true });
  const id = plans[0]?.id ?? "";
  t.match(await rpcErrorOf(as("hub-1", "user/bob").plans.approvePlan({ id })), { reason: "PLAN_NOT_FOUND" });
  const reason = "the hub cannot be trusted";
  t.match(await rpcErrorOf(alice.plans.breakGlass({ id, reason })), { code: "PERMISSION_DENIED" });
  await host.admin(PlanService).breakGlass({ id, reason });
  await host.admin(LVService).removeLV(web);
});

test("a plan of a protected resource is not approved through a hub", async (t) => {
  const { host, as } = await startHost(t, { protect: ["volumeGroups/sandbox-vg/volumes/sandbox-web"] });
  const planned = async (name: string) => {
    const request = { case: "json", value: { name, size_gb: 6 } } as const;
    return (await host.admin(PlanService).createPlan({ method: "proto.LVService/ResizeLV", request })).plan;
  };
  const { plans } = as("hub-1", "user/bob");
  const [web, db] = [(await planned("sandbox-web"))?.id ?? "", (await planned("sandbox-db"))?.id ?? ""];
  t.match(await rpcErrorOf(plans.approvePlan({ id: web })), { reason: "BEYOND_CEILING" });
  t.match(await plans.approvePlan({ id: db }), { plan: { approvals: [{ actor: "user/bob via hub-1" }] } });
});

test("each of several hypervisors is compared with what is protected", async (t) => {
  const ids = ["sandbox-hv-2", "sandbox-hv-3"];
  const ceiling = { protect: [`hypervisors/${ids[1]}`] };
  const beyond = { code: "PERMISSION_DENIED", reason: "BEYOND_CEILING" };
  const { host, as } = await startHost(t, ceiling);
  const method = "operations.v1.OperationsService/CreateHypervisors";
  const request = { case: "json", value: { ids } } as const;
  const { plan } = await host.admin(PlanService).createPlan({ method, request });
  t.match(await rpcErrorOf(as("hub-1", "user/bob").plans.approvePlan({ id: plan?.id ?? "" })), beyond);

  const { hypervisors } = (await startHost(t, ceiling, {})).as("hub-1", "user/alice");
  const create = async (several: readonly string[]) => {
    for await (const _ of hypervisors.createHypervisors({ ids: [...several] })) {
      // Until it ends.
    }
  };
  t.match(await rpcErrorOf(create(ids)), beyond);
  await create(ids.slice(0, 1));
});

test("a change is compared with what is protected for every resource that it touches", async (t) => {
  const volume = (name: string) => `volumeGroups/sandbox-vg/volumes/${name}`;
  const { host, as } = await startHost(t, { protect: [volume("kept-*"), volume("sandbox-db")] }, {});
  await host.admin(VolumeService).createSnapshot({ source: "sandbox-web", name: "kept-snapshot" });
  const hub = as("hub-1", "user/alice");
  const volumes = hub.allVolumes;
  const changes = {
    merge: () => volumes.mergeSnapshot({ name: "kept-snapshot" }),
    rename: () => volumes.renameVolume({ name: "sandbox-web", newName: "kept-web" }),
    snapshot: () => volumes.createSnapshot({ source: "sandbox-db", name: "copy" }),
    clone: () => volumes.cloneVolume({ source: "sandbox-db", name: "copy" }),
  };
  for (const [name, change] of Object.entries(changes)) {
    t.match(await rpcErrorOf(change()), { code: "PERMISSION_DENIED", reason: "BEYOND_CEILING" }, name);
  }
  const method = "hostplane.v1.VolumeService/MergeSnapshot";
  const request = { case: "json", value: { name: "kept-snapshot" } } as const;
  t.match(await rpcErrorOf(hub.plans.createPlan({ method, request })), { reason: "BEYOND_CEILING" });
  await volumes.createSnapshot({ source: "sandbox-web", name: "copy" });
  await host.admin(VolumeService).mergeSnapshot({ name: "kept-snapshot" });
});

test("a plan that touches a protected resource beside its own is not approved through a hub", async (t) => {
  const { host, as } = await startHost(t, { protect: ["volumeGroups/sandbox-vg/volumes/kept"] });
  const method = "hostplane.v1.VolumeService/RenameVolume";
  const planned = async (newName: string) => {
    const request = { case: "json", value: { name: "sandbox-web", newName } } as const;
    return (await host.admin(PlanService).createPlan({ method, request })).plan?.id ?? "";
  };
  const { plans } = as("hub-1", "user/bob");
  const [kept, other] = [await planned("kept"), await planned("other")];
  t.match(await rpcErrorOf(plans.approvePlan({ id: kept })), { reason: "BEYOND_CEILING" });
  t.match(await plans.approvePlan({ id: other }), { plan: { approvals: [{ actor: "user/bob via hub-1" }] } });
});

test("a hub forwards what it takes to approve a change of a host", async (t) => {
  const { hub, authorization } = await startFleetUnderTest(
    t,
    ["node-1"],
    {},
    { agentSettings: { approvals } },
  );
  const call = async (method: string, request: object, token = authorization, host = true) => {
    const answer = await fetch(`${hub.url}/${method}`, {
      method: "POST",
      headers: {
        authorization: token,
        "content-type": "application/json",
        ...(host ? { "hostplane-host": "node-1" } : {}),
      },
      body: JSON.stringify(request),
    });
    return (await answer.json()) as {
      token?: string;
      code?: string;
      details?: { debug?: { metadata?: { plan?: string } } }[];
    };
  };
  const password = "an operator of a test";
  const user = { name: "bob", role: "ROLE_OPERATOR", password };
  await call("hostplane.v1.UserService/CreateUser", user, authorization, false);
  const login = await call(
    "services.auth.AuthService/Login",
    { username: "bob", password },
    authorization,
    false,
  );
  const refused = await call("proto.LVService/RemoveLV", web);
  const id = refused.details?.[0]?.debug?.metadata?.plan;
  t.match(id, /^[\da-f-]{36}$/);
  t.match(await call("hostplane.v1.PlanService/ApprovePlan", { id }), { code: "permission_denied" });
  t.match(await call("hostplane.v1.PlanService/ApprovePlan", { id }, `Bearer ${login.token}`), {
    plan: { actor: "user/admin via hub-1", approvals: [{ actor: "user/bob via hub-1" }] },
  });
  t.same(await call("proto.LVService/RemoveLV", web), {});
});

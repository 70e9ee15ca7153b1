import { randomBytes, randomUUID } from "node:crypto";
import { create, type DescMethodUnary, type MessageInitShape } from "@bufbuild/protobuf";
import { durationFromMs } from "@bufbuild/protobuf/wkt";
import type { Test } from "tap";
import { FleetService } from "../../../gen/hostplane/v1/fleet_pb.ts";
import { Role, UserService } from "../../../gen/hostplane/v1/user_pb.ts";
import { masterKeysFromText } from "../../../server/crypto/master-keys.ts";
import { createSeal } from "../../../server/crypto/seal.ts";
import { handlersOf, plannersOf } from "../../../server/domain/change.ts";
import { createAdministration } from "../../../server/domains/auth/changes/administration.ts";
import { createApiTokens } from "../../../server/domains/auth/tokens/api-tokens.ts";
import { createUsers } from "../../../server/domains/auth/users.ts";
import { createFleetChanges } from "../../../server/domains/fleet/changes/fleet-changes.ts";
import { openHub } from "../../../server/fleet/hub/hub.ts";
import { knownServices } from "../../../server/gateway/method-rules.ts";
import type { AppliedPlan } from "../../../server/rpc/call/applied-plan.ts";
import type { Call } from "../../../server/rpc/call/call.ts";
import type { Store } from "../../../server/store/store.ts";
import { reasonOf } from "../../adapters/host/reason-of.ts";
import { createCall } from "../rpc/call/call-under-test.ts";
import { appliedPlanOf } from "./applied-plan-of.ts";

const user = UserService.method;
const fleet = FleetService.method;
const alice = { name: "alice" };

/** The changes of one gateway's records. */
interface Gateway {
  plan<M extends DescMethodUnary>(method: M, input: MessageInitShape<M["input"]>): Promise<AppliedPlan>;
  apply<M extends DescMethodUnary>(
    method: M,
    input: MessageInitShape<M["input"]>,
    plan: AppliedPlan,
  ): Promise<object>;
}

async function openGateway(t: Test, store: Store): Promise<Gateway> {
  const known = { serviceNames: knownServices, methodPaths: [] };
  const refresh = async () => {};
  const administration = createAdministration({
    users: createUsers({
      store,
      known,
      refresh,
      guardPassword: (_login, verify) => verify(),
      revokeTokens() {},
    }),
    apiTokens: createApiTokens({ store, known, refresh }),
    rotateSigningKey: async () => "key",
  });
  const masterKeys = masterKeysFromText(randomBytes(32).toString("base64"), "test");
  const hub = await openHub({
    store,
    instanceId: randomUUID(),
    seal: createSeal(masterKeys, "fleet-authority"),
    name: "hub",
    ownAddresses: () => ["127.0.0.1:1"],
    log: { warn: (message) => t.fail(message) },
  });
  t.teardown(() => hub.close());
  const fleetChanges = createFleetChanges(() => hub);
  const planners = [plannersOf(UserService, administration), plannersOf(FleetService, fleetChanges)];
  const handlers = { ...handlersOf(administration), ...handlersOf(fleetChanges) };
  return {
    async plan(method, input) {
      const planner = planners.find(({ service }) => service === method.parent)?.plannerOf(method);
      if (planner === undefined) {
        throw new TypeError(`${method.name} has no plan`);
      }
      const requester = { signal: new AbortController().signal, peer: { lvmd: "backups" } } as const;
      return appliedPlanOf(await planner(create(method.input, input as never), requester));
    },
    async apply(method, input, appliedPlan) {
      const handler = handlers[method.localName as keyof typeof handlers] as (
        request: object,
        call: Call,
      ) => Promise<object>;
      return handler(create(method.input, input as never), createCall({ method, appliedPlan }));
    },
  };
}

/** A store at which something happens once, between the dry run of a transaction and the transaction. */
function interruptible(
  store: Store,
): Store & { interrupt(name: string, work: () => Promise<unknown>): void } {
  let waiting: { readonly name: string; readonly work: () => Promise<unknown> } | undefined;
  return {
    ...store,
    interrupt(name, work) {
      waiting = { name, work };
    },
    async run(name, args) {
      if (waiting?.name === name && (args as { readonly dryRun?: boolean }).dryRun !== true) {
        const { work } = waiting;
        waiting = undefined;
        await work();
      }
      return store.run(name, args);
    },
  };
}

/** Tests planned changes of records of two gateways, whose stores are the same or share a database. */
export async function testPlannedChanges(t: Test, store: Store, other: Store): Promise<void> {
  const one = interruptible(store);
  const gateway = await openGateway(t, one);
  const passwordHash = "hash";
  const newUser = { role: "viewer", services: null, passwordHash, certificateNames: [] };
  const createAlice = () => other.run("users.create", { ...alice, ...newUser, id: randomUUID() });
  const newToken = { name: "ci", role: "viewer", services: null, createdBy: "test", lifetimeMs: null };
  const createToken = () =>
    other.run("apiTokens.create", { ...newToken, id: randomUUID(), hash: randomBytes(32) });
  async function join(): Promise<void> {
    const codeHash = randomBytes(32);
    const token = { codeHash, host: null, labels: {}, createdBy: "test", lifetimeMs: 60_000 };
    await other.run("fleet.createToken", token);
    await other.run("fleet.redeemToken", {
      codeHash,
      name: "node-1",
      id: randomUUID(),
      certificateExpiresAtMs: Date.now() + 3_600_000,
    });
  }
  const everything = async () => {
    const hosts = await other.run("fleet.hostStates", undefined);
    return JSON.stringify([await other.run("auth.changes", { sinceVersion: 0 }), hosts]);
  };
  await createAlice();
  await createToken();
  await join();

  const replaced = {
    user: async () => {
      await other.run("users.remove", alice);
      await createAlice();
    },
    token: async () => {
      await other.run("apiTokens.revoke", { name: "ci" });
      await createToken();
    },
    host: async () => {
      await other.run("fleet.removeHost", { name: "node-1" });
      await join();
    },
  };
  const promoted = () => other.run("users.update", { ...alice, change: { role: "operator" } });
  const secret = { ...alice, password: "another password" };
  const labelled = { name: "node-1", labels: [{ name: "rack", value: "a" }] };
  const rows = [
    [user.updateUser, { ...alice, services: ["proto.VGService"] }, "users.update", promoted],
    [user.setPassword, secret, "users.setPassword", replaced.user],
    [user.deleteUser, alice, "users.remove", promoted],
    [user.revokeApiToken, { name: "ci" }, "apiTokens.revoke", replaced.token],
    [fleet.setHostLabels, labelled, "fleet.setLabels", replaced.host],
    [fleet.removeHost, { name: "node-1" }, "fleet.removeHost", replaced.host],
  ] as const;
  for (const [method, input, transaction, meanwhile] of rows) {
    await t.test(`${method.name}: what changes after the comparison makes the plan stale`, async (t) => {
      const plan = await gateway.plan(method, input);
      let before = "";
      one.interrupt(transaction, async () => {
        await meanwhile();
        before = await everything();
      });
      t.equal(await reasonOf(gateway.apply(method, input, plan)), "PLAN_STALE");
      t.equal(await everything(), before, "nothing was changed");
      if (method === user.deleteUser) {
        await replaced.user();
      }
    });
  }

  await t.test("a change that does not concern the plan does not matter", async (t) => {
    const plan = await gateway.plan(user.deleteUser, alice);
    one.interrupt("users.remove", () => other.run("users.setPassword", { ...alice, passwordHash: "new" }));
    await gateway.apply(user.deleteUser, alice, plan);
    t.notOk((await other.run("users.list", undefined)).some(({ name }) => name === alice.name));
    await createAlice();
  });

  await t.test("a plan is given up when what it changes never rests", async (t) => {
    const plan = await gateway.plan(user.deleteUser, alice);
    const disturb = async () => {
      one.interrupt("users.remove", disturb);
      await other.run("users.setPassword", { ...alice, passwordHash: "new" });
    };
    one.interrupt("users.remove", disturb);
    t.equal(await reasonOf(gateway.apply(user.deleteUser, alice, plan)), "RECORD_CHANGED");
    one.interrupt("", async () => {});
    t.ok((await other.run("users.list", undefined)).some(({ name }) => name === alice.name));
  });

  await t.test("of a planned removal and another change at once, only one is made", async (t) => {
    for (let round = 0; round < 20; round += 1) {
      const plan = await gateway.plan(user.deleteUser, alice);
      const [reason, { ok }] = await Promise.all([
        reasonOf(gateway.apply(user.deleteUser, alice, plan)),
        other.run("users.update", { ...alice, change: { role: "operator" } }),
      ]);
      t.same([reason, ok], ok ? ["PLAN_STALE", true] : [undefined, false], `round ${round}`);
      await (ok ? replaced.user() : createAlice());
    }
  });

  await t.test("the plan of a token with a lifetime does not depend on the time", async (t) => {
    const lifetime = durationFromMs(3_600_000);
    const token = { name: "brief", role: Role.VIEWER, lifetime };
    const plans = [
      await gateway.plan(user.createApiToken, token),
      await gateway.plan(fleet.createHostToken, {}),
    ];
    const plannedAtMs = Date.now();
    while (Date.now() === plannedAtMs) {
      await everything();
    }
    const [ofUser, ofHost] = plans as [AppliedPlan, AppliedPlan];
    t.match(await gateway.apply(user.createApiToken, token, ofUser), { token: String });
    t.match(await gateway.apply(fleet.createHostToken, {}, ofHost), { token: String });
  });
}

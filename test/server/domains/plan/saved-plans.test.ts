import { randomBytes } from "node:crypto";
import { create, fromJson, type JsonObject, toBinary } from "@bufbuild/protobuf";
import { type Test, test } from "tap";
import { CreateUserRequestSchema, UserService } from "../../../../gen/hostplane/v1/user_pb.ts";
import { LVService } from "../../../../gen/lvmd/served/lvmd_pb.ts";
import { masterKeysFromText } from "../../../../server/crypto/master-keys.ts";
import { createSeal } from "../../../../server/crypto/seal.ts";
import { createVisibilityOf } from "../../../../server/domain/visibility.ts";
import { createApprovalRules } from "../../../../server/domains/plan/approval-rules.ts";
import { methodsByPath, type PlannedCall } from "../../../../server/domains/plan/plan-call.ts";
import type { PlanOwner } from "../../../../server/domains/plan/saved-plan.ts";
import { createSavedPlans } from "../../../../server/domains/plan/saved-plans.ts";
import { methodRuleOf } from "../../../../server/gateway/method-rules.ts";
import type { Caller } from "../../../../server/rpc/call/caller.ts";
import type { Store } from "../../../../server/store/store.ts";
import { reasonOf } from "../../../adapters/host/reason-of.ts";
import { createCall } from "../../rpc/call/call-under-test.ts";
import { openOwnStore } from "../../store/own-store.ts";
import { callerOf } from "./plan-under-test.ts";

const mutation = {
  kind: "volumes.remove",
  resource: "volumeGroups/vg0/volumes/data",
  backend: "uuid-of-vg0",
  plan: {
    changes: ["vg0/data is removed"],
    losses: ["all data on vg0/data"],
    facts: [{ resource: "volumeGroups/vg0/volumes/data", name: "uuid", value: "uuid-of-data" }],
  },
  steps: [{ name: "remove", command: ["lvremove"], forward: async () => {} }],
  pointOfNoReturn: 0,
};

function plannedRemoval(json: JsonObject = { name: "data" }): PlannedCall {
  const method = LVService.method.removeLV;
  return { method, rule: methodRuleOf(method), request: fromJson(method.input, json), mutation };
}

function ownerOf(name: string, role: Caller["role"] = "operator"): PlanOwner {
  const call = createCall({ method: LVService.method.removeLV });
  call.identify({ ...callerOf(role), actor: `user/${name}`, accountId: `id-of-${name}` });
  return call;
}

const alice = ownerOf("alice");

interface PlansUnderTest {
  readonly plans: ReturnType<typeof createSavedPlans>;
  readonly store: Store;
}

async function openPlans(t: Test): Promise<PlansUnderTest> {
  const masterKeys = masterKeysFromText(randomBytes(32).toString("base64"), "test");
  const store = await openOwnStore(t);
  const digestKey = masterKeys.current.deriveKey("plan-digest").export();
  const methods = methodsByPath([LVService, UserService]);
  return {
    plans: createSavedPlans({
      visibilityOf: createVisibilityOf({ hub: undefined }),
      store,
      seal: createSeal(masterKeys, "plans"),
      digestKey,
      methods,
      rules: createApprovalRules([]),
      mayCall: () => true,
    }),
    store,
  };
}

test("a saved plan is the plan, its digest and its facts, for a day", async (t) => {
  const { plans } = await openPlans(t);
  const saved = await plans.create(plannedRemoval(), alice);
  t.same(await plans.get(saved.id, alice), saved);
  t.match(saved, {
    actor: "user/alice",
    method: "proto.LVService/RemoveLV",
    digest: /^[\da-f]{64}$/,
    mutation: {
      changes: mutation.plan.changes,
      losses: mutation.plan.losses,
      steps: [{ name: "remove", command: ["lvremove"] }],
      facts: [
        { resource: mutation.resource, name: "backend", value: "uuid-of-vg0" },
        { resource: mutation.resource, name: "uuid", value: "uuid-of-data" },
      ],
    },
  });
  t.equal(saved.expiresAtMs - saved.createdAtMs, 24 * 60 * 60 * 1000);
  t.equal((await plans.create(plannedRemoval(), alice)).digest, saved.digest, "the same digest");
  const other = await plans.create(plannedRemoval({ name: "data", deviceClass: "x" }), alice);
  t.not(other.digest, saved.digest, "another request");
  const moved = { ...plannedRemoval(), mutation: { ...mutation, backend: "uuid-of-another" } };
  t.not((await plans.create(moved, alice)).digest, saved.digest, "another fact");
});

test("a request is stored encrypted, and shown without its secrets", async (t) => {
  const { plans, store } = await openPlans(t);
  const method = UserService.method.createUser;
  const request = create(CreateUserRequestSchema, { name: "bob", password: "correct horse battery" });
  const planned = { method, rule: methodRuleOf(method), request, mutation };
  const { id, requestJson } = await plans.create(planned, alice);
  t.match(requestJson, /"name":"bob"/);
  const row = await store.run("plans.get", { id });
  t.notMatch(JSON.stringify(row), /horse/);
  t.notOk(Buffer.from(row?.request_sealed ?? []).includes("horse"), "encrypted");
  t.ok((row?.request_sealed.length ?? 0) > toBinary(method.input, request).length, "the whole request");
});

test("a plan is visible to its owner and to admins only", async (t) => {
  const { plans } = await openPlans(t);
  const { id } = await plans.create(plannedRemoval(), alice);
  const bob = ownerOf("bob");
  t.equal(await reasonOf(plans.get(id, bob)), "PLAN_NOT_FOUND");
  t.equal(await reasonOf(plans.remove(id, bob)), "PLAN_NOT_FOUND");
  t.same((await plans.list({ belowSeq: undefined, limit: 10, waiting: false }, bob)).rows, []);
  const admin = ownerOf("root", "admin");
  t.equal((await plans.get(id, admin)).id, id);
  t.equal((await plans.list({ belowSeq: undefined, limit: 10, waiting: false }, admin)).rows.length, 1);
  await plans.remove(id, alice);
  t.equal(await reasonOf(plans.get(id, alice)), "PLAN_NOT_FOUND");
});

test("callers without an account share the plans of their listener", async (t) => {
  const { plans } = await openPlans(t);
  const on = (listener: string, address: string) => {
    const call = createCall({ method: LVService.method.removeLV, peer: { listener, address } });
    call.identify({ ...callerOf("operator"), actor: `listener/${listener}` });
    return call;
  };
  const { id } = await plans.create(plannedRemoval(), on("unix:/run/a.sock", "unix"));
  t.equal((await plans.get(id, on("unix:/run/a.sock", "other"))).id, id);
  t.equal(await reasonOf(plans.get(id, on("unix:/run/b.sock", "unix"))), "PLAN_NOT_FOUND");
});

test("ids that are unknown, guessed or malformed find no plan", async (t) => {
  const { plans } = await openPlans(t);
  const { id } = await plans.create(plannedRemoval(), alice);
  const admin = ownerOf("root", "admin");
  for (const guess of ["1", id.slice(0, 8), `${id}x`, id.toUpperCase().replace(/\d/g, "0")]) {
    t.equal(await reasonOf(plans.get(guess, admin)), "PLAN_NOT_FOUND", guess);
  }
  for (const malformed of ["", "a/b", "%", "x".repeat(65), "a\n"]) {
    t.equal(await reasonOf(plans.get(malformed, admin)), "INVALID_FIELD", malformed);
    t.equal(await reasonOf(plans.remove(malformed, admin)), "INVALID_FIELD", malformed);
  }
});

test("a caller has at most 50 plans, and a request at most 256 KiB", async (t) => {
  const { plans } = await openPlans(t);
  const ids = [];
  for (let count = 0; count < 50; count += 1) {
    ids.push((await plans.create(plannedRemoval(), alice)).id);
  }
  await t.rejects(plans.create(plannedRemoval(), alice), {
    reason: "TOO_MANY_PLANS",
    message: /50 open plans/,
  });
  await plans.create(plannedRemoval(), ownerOf("bob"));
  await plans.remove(ids[0] ?? "", alice);
  await plans.create(plannedRemoval(), alice);
  const large = plannedRemoval({ name: "x".repeat(256 * 1024) });
  await t.rejects(plans.create(large, ownerOf("bob")), {
    reason: "INVALID_FIELD",
    message: /at most 262144 bytes/,
  });
});

test("pages list plans newest first", async (t) => {
  const { plans } = await openPlans(t);
  const ids = [];
  for (const name of ["a", "b", "c"]) {
    ids.unshift((await plans.create(plannedRemoval({ name }), alice)).id);
  }
  const first = await plans.list({ belowSeq: undefined, limit: 2, waiting: false }, alice);
  const second = await plans.list({ belowSeq: first.nextSeq, limit: 2, waiting: false }, alice);
  t.same(
    [...first.rows, ...second.rows].map(({ id }) => id),
    ids,
  );
  t.equal(second.nextSeq, undefined);
});

test("an expired plan no longer exists, and is purged", async (t) => {
  const { plans, store } = await openPlans(t);
  const { id } = await plans.create(plannedRemoval(), alice);
  const row = await store.run("plans.get", { id });
  if (row === undefined) {
    throw new TypeError("the plan is not stored");
  }
  const { seq, state, stale_because, operation_id, created_at, expires_at, approvals, ...plan } = row;
  const limits = { openOfOwner: 9, ofOwner: 9, inAll: 9 };
  await store.run("plans.create", { plan: { ...plan, id: "expired" }, keepMs: 0, limits, reuses: false });
  t.equal(await reasonOf(plans.get("expired", alice)), "PLAN_NOT_FOUND");
  t.equal(await reasonOf(plans.remove("expired", alice)), "PLAN_NOT_FOUND");
  t.equal((await plans.list({ belowSeq: undefined, limit: 10, waiting: false }, alice)).rows.length, 1);
  t.same(await store.run("plans.purge", { limit: 10 }), { count: 1 });
  t.same(await store.run("plans.purge", { limit: 10 }), { count: 0 });
  t.equal((await plans.get(id, alice)).id, id);
});

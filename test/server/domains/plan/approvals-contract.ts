import { randomBytes } from "node:crypto";
import { fromJson } from "@bufbuild/protobuf";
import type { Test } from "tap";
import { LVService } from "../../../../gen/lvmd/served/lvmd_pb.ts";
import { masterKeysFromText } from "../../../../server/crypto/master-keys.ts";
import { createSeal } from "../../../../server/crypto/seal.ts";
import { createVisibilityOf } from "../../../../server/domain/visibility.ts";
import { methodsByPath, type PlannedCall } from "../../../../server/domains/plan/plan-call.ts";
import type { PlanOwner } from "../../../../server/domains/plan/saved-plan.ts";
import { createSavedPlans, type SavedPlans } from "../../../../server/domains/plan/saved-plans.ts";
import { methodRuleOf } from "../../../../server/gateway/method-rules.ts";
import type { Store } from "../../../../server/store/store.ts";
import { reasonOf } from "../../../adapters/host/reason-of.ts";
import { createCall } from "../../rpc/call/call-under-test.ts";
import { callerOf } from "./plan-under-test.ts";

const method = LVService.method.removeLV;

function plannedRemoval(name: string): PlannedCall {
  const facts = { kind: "volumes.remove", resource: `volumeGroups/vg0/volumes/${name}`, backend: "uuid" };
  const plan = { changes: [`vg0/${name} is removed`], losses: ["all data"], facts: [] };
  const steps = [{ name: "remove", command: ["lvremove"] }];
  const mutation = { ...facts, plan, steps, pointOfNoReturn: 0 };
  return { method, rule: methodRuleOf(method), request: fromJson(method.input, { name }), mutation };
}

function ownerOf(name: string): PlanOwner {
  const call = createCall({ method });
  call.identify({ ...callerOf("operator"), actor: `user/${name}`, accountId: `id-of-${name}` });
  return call;
}

const alice = ownerOf("alice");
const bob = ownerOf("bob");

/** Tests approvals on stores with the gateway's transactions. @param other the store of a second gateway, on the same database */
export async function testApprovals(t: Test, store: Store, other: Store = store): Promise<void> {
  const masterKeys = masterKeysFromText(randomBytes(32).toString("base64"), "test");
  /** Opens the plans of a gateway whose rules require approvals within a time. */
  const open = (approvals: number, withinMs = 3_600_000, at = store): SavedPlans =>
    createSavedPlans({
      store: at,
      seal: createSeal(masterKeys, "plans"),
      digestKey: masterKeys.current.deriveKey("plan-digest").export(),
      methods: methodsByPath([LVService]),
      rules: { requirementOf: () => ({ approvals, withinMs }) },
      mayCall: () => true,
      visibilityOf: createVisibilityOf({ hub: undefined }),
    });
  const approval = (id: string, name: string, account = `id-of-${name}`) => ({
    id,
    account,
    actor: `user/${name}`,
    breakGlassReason: undefined,
  });
  const waitingIds = async (plans: SavedPlans) => {
    const { rows } = await plans.list({ belowSeq: undefined, limit: 10, waiting: true }, bob);
    return rows.map(({ id }) => id);
  };

  await t.test("a person counts once, whatever account it uses at once", async (t) => {
    const plans = open(2);
    const { id } = await plans.create(plannedRemoval("a"), alice);
    t.same(await waitingIds(plans), [id]);
    await Promise.all([
      plans.approve(approval(id, "bob")),
      plans.approve(approval(id, "bob", "another-account")),
      plans.approve({ ...approval(id, "bob"), actor: "user/bob via hub-1" }),
      plans.approve({ ...approval(id, "bob"), actor: "user/renamed" }),
    ]);
    t.match(await plans.get(id, alice), { missingApprovals: 1, approvals: { length: 1 } });
    t.equal(await reasonOf(plans.begin(id, alice)), "APPROVAL_REQUIRED");
    t.same(await waitingIds(plans), [id]);
    await plans.approve(approval(id, "carol"));
    t.same(await waitingIds(plans), []);
    t.match(await plans.begin(id, alice), { plan: { missingApprovals: 0, approvals: { length: 2 } } });
    t.match(await plans.approve(approval(id, "dave")), { state: "applying", approvals: { length: 2 } });
    await plans.end(id, { state: "applied", operationId: undefined });
  });

  await t.test("an approved plan begins once", async (t) => {
    const plans = open(1);
    const { id } = await plans.create(plannedRemoval("b"), alice);
    await plans.approve(approval(id, "bob"));
    const begun = await Promise.allSettled(Array.from({ length: 4 }, () => plans.begin(id, alice)));
    t.equal(begun.filter(({ status }) => status === "fulfilled").length, 1);
    await plans.end(id, { state: "open" });
    t.match(await plans.begin(id, alice), { plan: { id } }, "its approval stays when nothing was changed");
    await plans.end(id, { state: "applied", operationId: undefined });
    t.equal(await reasonOf(plans.begin(id, alice)), "PLAN_USED");
  });

  await t.test("of two gateways at once, one applies a plan", async (t) => {
    const [one, two] = [open(1), open(1, 3_600_000, other)];
    for (let round = 0; round < 10; round += 1) {
      const { id } = await one.create(plannedRemoval(`twice-${round}`), alice);
      await two.approve(approval(id, "bob"));
      const reasons = await Promise.all([reasonOf(one.begin(id, alice)), reasonOf(two.begin(id, alice))]);
      t.same(new Set(reasons), new Set([undefined, "PLAN_USED"]), `round ${round}`);
      await two.end(id, { state: "applied", operationId: undefined });
    }
  });

  await t.test("a plan that one gateway makes stale is not applied by another", async (t) => {
    const [one, two] = [open(1), open(1, 3_600_000, other)];
    for (let round = 0; round < 10; round += 1) {
      const { id } = await one.create(plannedRemoval(`moved-${round}`), alice);
      await two.approve(approval(id, "bob"));
      const [reason] = await Promise.all([reasonOf(one.begin(id, alice)), two.outdate(id, "moved")]);
      const { state } = await two.get(id, alice);
      t.same([reason, state], reason === undefined ? [undefined, "applying"] : ["PLAN_STALE", "stale"]);
      await one.end(id, { state: "applied", operationId: undefined });
    }
  });

  await t.test("an approval of a plan that another gateway makes stale at once does not count", async (t) => {
    const [one, two] = [open(1), open(1, 3_600_000, other)];
    for (let round = 0; round < 10; round += 1) {
      const { id } = await one.create(plannedRemoval(`late-${round}`), alice);
      const [approved] = await Promise.all([one.approve(approval(id, "bob")), two.outdate(id, "moved")]);
      const { state, approvals } = await two.get(id, alice);
      t.equal(state, "stale");
      t.equal(
        approvals.length,
        approved.state === "open" ? 1 : 0,
        "the approver learns whether it was in time",
      );
      t.equal(await reasonOf(one.begin(id, alice)), "PLAN_STALE");
    }
  });

  await t.test("a broken glass stands for all missing approvals", async (t) => {
    const plans = open(2);
    const { id } = await plans.create(plannedRemoval("c"), alice);
    const broken = { id, account: "", actor: "admin-socket", breakGlassReason: "urgent" };
    t.match(await plans.approve(broken), {
      missingApprovals: 0,
      approvals: [{ breakGlassReason: "urgent" }],
    });
    t.same(await waitingIds(plans), []);
    t.match(await plans.begin(id, alice), { plan: { id } });
  });

  await t.test("rules that require more than before apply to older plans", async (t) => {
    const { id } = await open(0).create(plannedRemoval("d"), alice);
    t.equal(await reasonOf(open(0).get(id, bob)), "PLAN_NOT_FOUND", "it concerns its owner only");
    const stricter = open(1);
    t.equal(await reasonOf(stricter.begin(id, alice)), "APPROVAL_REQUIRED");
    t.match(await stricter.get(id, bob), { requiredApprovals: 1, missingApprovals: 1 });
    await stricter.approve(approval(id, "bob"));
    t.equal(await reasonOf(open(2).begin(id, alice)), "APPROVAL_REQUIRED");
    t.match(await open(2).get(id, bob), { requiredApprovals: 2, missingApprovals: 1 });
    t.equal(await reasonOf(open(0).begin(id, alice)), "APPROVAL_REQUIRED", "less does not count");
    await stricter.remove(id, alice);
  });

  await t.test("a plan cannot be approved or applied after its time", async (t) => {
    const plans = open(1, 0);
    const { id } = await plans.create(plannedRemoval("e"), alice);
    t.equal(await reasonOf(plans.approve(approval(id, "bob"))), "PLAN_NOT_FOUND");
    t.equal(await reasonOf(plans.begin(id, alice)), "PLAN_NOT_FOUND");
    t.same((await plans.ofCall(plannedRemoval("e"), alice)).plans, []);
    t.same(await waitingIds(plans), []);
    t.equal(await plans.purge(), false);
    t.equal(await store.run("plans.row", { id }), undefined);
  });

  await t.test("the open plans of a call are found by its request, and made stale", async (t) => {
    const plans = open(1);
    const saved = await plans.create(plannedRemoval("f"), alice);
    await plans.create(plannedRemoval("g"), alice);
    t.same(await plans.ofCall(plannedRemoval("f"), alice), { plans: [saved], digest: saved.digest });
    t.same((await plans.ofCall(plannedRemoval("f"), bob)).plans, []);
    const moved = { ...plannedRemoval("f"), mutation: { ...plannedRemoval("f").mutation, backend: "other" } };
    const { plans: found, digest } = await plans.ofCall(moved, alice);
    t.same(found, [saved]);
    t.not(digest, saved.digest);
    await plans.outdate(saved.id, "moved");
    t.match(await plans.get(saved.id, alice), { state: "stale", staleBecause: "moved" });
    t.same((await plans.ofCall(plannedRemoval("f"), alice)).plans, []);
  });
}

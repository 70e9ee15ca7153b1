import assert from "node:assert/strict";
import type { JsonObject } from "@bufbuild/protobuf";
import fc from "fast-check";
import { test } from "tap";
import { isLongForm } from "../../../long-form.ts";
import { type Answer, type CallerUnderTest, type Json, startPlans } from "./callers-under-test.ts";

const plans = "hostplane.v1.PlanService";
const createLv = "proto.LVService/CreateLV";
const removeLv = "proto.LVService/RemoveLV";

/** What one caller does. Plans are chosen among those that are known by then. */
type Deed =
  | { readonly what: "create" | "remove"; readonly name: string }
  | { readonly what: "propose"; readonly name: string }
  | { readonly what: "approve" | "apply" | "withdraw" | "breakGlass"; readonly plan: number };

interface Turn {
  readonly who: number;
  readonly deed: Deed;
}

const name = fc.constantFrom("a", "sandbox-web");
/** Counted from the newest. */
const plan = fc.nat(2);
const of = <What extends string>(...what: readonly What[]) => fc.constantFrom(...what);

const deed: fc.Arbitrary<Deed> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ what: of("create", "remove"), name }) },
  { weight: 1, arbitrary: fc.record({ what: of("propose"), name }) },
  { weight: 10, arbitrary: fc.record({ what: of("approve"), plan }) },
  { weight: 6, arbitrary: fc.record({ what: of("apply"), plan }) },
  { weight: 1, arbitrary: fc.record({ what: of("withdraw", "breakGlass"), plan }) },
);

/** Turns that are taken at once. */
const round: fc.Arbitrary<readonly Turn[]> = fc.array(fc.record({ who: fc.nat(3), deed }), {
  minLength: 1,
  maxLength: 4,
});

/** Rounds with a change, which random ones need not have. */
const knownRounds: (readonly Turn[])[] = [
  [{ who: 0, deed: { what: "remove", name: "sandbox-web" } }],
  [
    { who: 1, deed: { what: "approve", plan: 0 } },
    { who: 2, deed: { what: "approve", plan: 0 } },
    { who: 3, deed: { what: "approve", plan: 0 } },
  ],
  [
    { who: 0, deed: { what: "remove", name: "sandbox-web" } },
    { who: 0, deed: { what: "apply", plan: 0 } },
  ],
];

/** Takes a turn. Returns the answer, which may be a refusal. */
function take(
  { call, apply, approve }: CallerUnderTest,
  one: Deed,
  known: readonly string[],
  adminSocket: CallerUnderTest,
): Promise<Answer> {
  const id = "plan" in one ? (known.at(-1 - one.plan) ?? "none") : "none";
  switch (one.what) {
    case "create":
      return call(createLv, { name: one.name, sizeGb: 1 });
    case "remove":
      return call(removeLv, { name: one.name });
    case "propose":
      return call(`${plans}/CreatePlan`, { method: removeLv, json: { name: one.name } });
    case "approve":
      return approve(id);
    case "apply":
      return apply(id);
    case "withdraw":
      return call(`${plans}/DeletePlan`, { id });
    case "breakGlass":
      return adminSocket.call(`${plans}/BreakGlass`, { id, reason: "a test" });
  }
}

/** Removals by people need two approvals, all other changes of operators need one. */
const rules: readonly JsonObject[] = [
  { callers: ["person"], roles: ["operator"], destroysData: true, approvals: 2 },
  { roles: ["operator"], approvals: 1 },
];

function requiredFor({ rpc, actor }: Json): number {
  return rpc === removeLv && String(actor).startsWith("user/") ? 2 : 1;
}

/** Checks that each change was approved as the rules say, and that its plan was used once. */
function assertApproved(changes: readonly Json[]): void {
  const ids = changes.map(({ planId }) => planId);
  assert.equal(new Set(ids).size, ids.length, "a plan was applied twice");
  for (const change of changes) {
    const approvedBy = (change.approvedBy ?? []) as readonly string[];
    const words = JSON.stringify(change);
    assert.equal(new Set(approvedBy).size, approvedBy.length, `counted twice: ${words}`);
    assert.ok(!approvedBy.includes(String(change.actor)), `approved by its proposer: ${words}`);
    assert.ok(!approvedBy.some((actor) => actor.startsWith("token/")), `approved by a token: ${words}`);
    assert.ok(
      approvedBy.includes("admin-socket") || approvedBy.length >= requiredFor(change),
      `too few approvals: ${words}`,
    );
  }
}

/** Checks that the volumes are those that the approved changes have left. */
async function assertNothingElse(admin: CallerUnderTest, changes: readonly Json[]): Promise<void> {
  const { body } = await admin.call("proto.VGService/GetLVList");
  const present = new Set((body.volumes as readonly Json[]).map((volume) => String(volume.name)));
  for (const volume of ["a", "sandbox-web"]) {
    const own = changes.filter(({ resource }) => String(resource).endsWith(`/${volume}`));
    const created = own.filter(({ rpc }) => rpc === createLv).length;
    const count = created - (own.length - created) + (volume === "sandbox-web" ? 1 : 0);
    assert.equal(count, present.has(volume) ? 1 : 0, `${volume}: ${JSON.stringify(own)}`);
  }
}

test("whatever callers do at once, each change has the approvals that the rules require", async (t) => {
  let applied = 0;
  let refused = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(round, { minLength: 25, maxLength: 25 }), async (rounds) => {
      const { admin, alice, bob, carol, ci, adminSocket } = await startPlans(t, { approvals: { rules } });
      const callers = [alice, bob, carol, ci];
      const known: string[] = [];
      /** Plans that change nothing, and therefore need no approval. */
      const empty = new Set<unknown>();
      for (const turns of rounds) {
        const answers = await Promise.all(
          turns.map(({ who, deed: one }) => take(callers[who] ?? alice, one, known, adminSocket)),
        );
        for (const { metadata, body, reason } of answers) {
          refused += reason === "APPROVAL_REQUIRED" ? 1 : 0;
          assert.notEqual(reason, "INTERNAL", JSON.stringify(body));
          if (body.plan !== undefined && (body.plan.plan as Json).changes === undefined) {
            empty.add(body.plan.id);
          }
          const id = metadata.plan ?? body.plan?.id;
          if (id !== undefined && !known.includes(id)) {
            known.push(id);
          }
        }
      }
      const { body } = await admin.call("hostplane.v1.AuditService/ListEvents", {
        rpc: "proto.LVService",
        outcome: "OK",
        pageSize: 1000,
      });
      const changes = ((body.events ?? []) as readonly Json[]).filter(
        ({ planId }) => planId !== undefined && !empty.has(planId),
      );
      assertApproved(changes);
      await assertNothingElse(admin, changes);
      applied += changes.length;
    }),
    { numRuns: isLongForm ? 400 : 4, examples: [[knownRounds]], endOnFailure: true },
  );
  t.comment(`${applied} changes were made, ${refused} calls had to wait`);
  t.ok(applied > 0);
  t.ok(refused > 0);
});

import { test } from "tap";
import { LVService } from "../../../../gen/lvmd/served/lvmd_pb.ts";
import { expectationOf } from "../../../../server/config/mistake.ts";
import { type ApprovalRule, createApprovalRules } from "../../../../server/domains/plan/approval-rules.ts";
import { configSchema } from "../../../../server/gateway/config/schema.ts";
import { createGrants } from "../../../../server/rpc/access/grants.ts";
import type { Caller } from "../../../../server/rpc/call/caller.ts";
import { startGatewayUnderTest } from "../../harness/gateway-under-test.ts";
import { callerOf } from "./plan-under-test.ts";

const { removeLV, createLV } = LVService.method;
const lossless = {
  resource: "volumeGroups/vg0/volumes/a",
  changes: ["x"],
  losses: [],
  steps: [{ name: "x", command: [] }],
};
const destroying = { ...lossless, losses: ["all data"] };

function caller(actor: string, role: Caller["role"] = "operator", accountId = "id"): Caller {
  return { ...callerOf(role), actor, accountId };
}

function rule(facts: Partial<ApprovalRule>): ApprovalRule {
  return { destroysData: false, approvals: 1, withinMinutes: 1440, ...facts };
}

test("the first rule that fits decides", (t) => {
  const rules = createApprovalRules([
    rule({ methods: ["proto.LVService/CreateLV"], approvals: 0 }),
    rule({ methods: ["proto.LVService"], destroysData: true, approvals: 2, withinMinutes: 5 }),
    rule({ roles: ["admin"] }),
  ]);
  const alice = caller("user/alice");
  const admin = caller("user/admin", "admin");
  t.same(rules.requirementOf(createLV, admin, destroying), { approvals: 0, withinMs: undefined });
  t.same(rules.requirementOf(removeLV, alice, destroying), { approvals: 2, withinMs: 300_000 });
  t.same(rules.requirementOf(removeLV, alice, lossless).approvals, 0);
  t.same(rules.requirementOf(removeLV, admin, lossless), { approvals: 1, withinMs: 86_400_000 });
  t.notOk(rules.mayRequire(createLV, admin));
  t.ok(rules.mayRequire(removeLV, alice));
  t.end();
});

test("of several grants, the role of the one that covers the change decides", (t) => {
  const rules = createApprovalRules([
    rule({ roles: ["operator"], approvals: 2 }),
    rule({ roles: ["admin"] }),
  ]);
  const grants = createGrants(
    [{ role: "operator" }, { role: "admin", resources: ["volumeGroups/vg1/**"] }, { role: "viewer" }],
    "host1",
  );
  const alice: Caller = { ...caller("user/alice", "admin"), grants };
  const approvalsFor = (resource: string) =>
    rules.requirementOf(removeLV, alice, { ...lossless, resource }).approvals;
  t.equal(approvalsFor("volumeGroups/vg0/volumes/a"), 2, "an operator");
  t.equal(approvalsFor("volumeGroups/vg1/volumes/a"), 1, "an admin");
  t.ok(createApprovalRules([rule({ roles: ["operator"] })]).mayRequire(removeLV, alice));
  const elsewhere = createGrants(
    [
      { role: "operator", resources: ["pods/**"] },
      { role: "admin", hosts: ["b"] },
    ],
    "host1",
  );
  const bob: Caller = { ...caller("user/bob", "admin"), grants: elsewhere };
  t.equal(rules.requirementOf(removeLV, bob, lossless).approvals, 2, "none covers it: the strictest rule");
  t.end();
});

test("a call that changes nothing needs no approval", (t) => {
  const rules = createApprovalRules([rule({})]);
  const nothing = { ...lossless, changes: [], losses: [], steps: [] };
  t.equal(rules.requirementOf(removeLV, caller("user/alice"), nothing).approvals, 0);
  t.equal(rules.requirementOf(removeLV, caller("user/alice"), lossless).approvals, 1);
  t.end();
});

test("the kind of a caller is the same through a hub", (t) => {
  const kinds: Readonly<Record<string, Caller>> = {
    person: caller("user/alice"),
    token: caller("token/ci"),
    program: caller("listener/127.0.0.1:1", "operator", ""),
  };
  for (const [kind, one] of Object.entries(kinds)) {
    for (const each of [one, { ...one, actor: `${one.actor} via hub-1` }]) {
      for (const other of ["person", "token", "program"] as const) {
        const rules = createApprovalRules([rule({ callers: [other] })]);
        t.equal(rules.mayRequire(removeLV, each), other === kind, `${each.actor} ${other}`);
      }
    }
  }
  t.equal(
    createApprovalRules([rule({ callers: ["program"] })]).mayRequire(
      removeLV,
      caller("admin-socket", "admin", ""),
    ),
    true,
  );
  t.end();
});

test("mistakes in the rules name their key", (t) => {
  const mistakes: readonly (readonly [rule: object, path: readonly PropertyKey[], message: RegExp])[] = [
    [{}, ["approvals"], /expected a number/],
    [{ approvals: 3 }, ["approvals"], /at most 2/],
    [{ approvals: -1 }, ["approvals"], /at least 0/],
    [{ approvals: "1" }, ["approvals"], /expected a number/],
    [{ approvals: 1, methods: [] }, ["methods"], /at least 1/],
    [{ approvals: 1, methods: ["RemoveLV"] }, ["methods", 0], /proto\.LVService\/RemoveLV/],
    [{ approvals: 1, methods: ["/proto.LVService/RemoveLV"] }, ["methods", 0], /proto\.LVService\/RemoveLV/],
    [{ approvals: 1, roles: ["viewer"] }, ["roles", 0], /one of operator, admin/],
    [{ approvals: 1, callers: ["robot"] }, ["callers", 0], /one of person, token, program/],
    [{ approvals: 1, withinMinutes: 0 }, ["withinMinutes"], /at least 1/],
    [{ approvals: 1, withinMinutes: 1441 }, ["withinMinutes"], /at most 1440/],
    [{ approvals: 1, destroysdata: true }, [], /./],
  ];
  for (const [wrong, path, message] of mistakes) {
    const { error } = configSchema.safeParse({ approvals: { rules: [wrong] } }, { error: expectationOf });
    t.match(error?.issues, [{ path: ["approvals", "rules", 0, ...path], message }], JSON.stringify(wrong));
  }
  t.end();
});

test("the gateway does not start with a rule for a method that does not exist or has no plan", async (t) => {
  const rejected: Readonly<Record<string, RegExp>> = {
    "no.Such/Method": /approvals\.rules\[0\]\.methods\[1\]: unknown method or service no\.Such\/Method/,
    "proto.LVService/Remove": /unknown method or service/,
    "proto.VGService/GetLVList": /cannot need approval, because it has no plan/,
    "proto.VGService": /cannot need approval/,
    "services.auth.AuthService/Login": /cannot need approval/,
    "hostplane.v1.PlanService/ApprovePlan": /cannot need approval/,
    "hostplane.v1.OperationService/CancelOperation": /cannot need approval/,
  };
  for (const [name, message] of Object.entries(rejected)) {
    const rules = [{ methods: ["proto.LVService", name], approvals: 1 }];
    await t.rejects(startGatewayUnderTest(t, { approvals: { rules } }), { message }, name);
  }
});

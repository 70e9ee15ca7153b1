import { test } from "tap";
import { createAuthenticateHub } from "../../../../server/fleet/agent/authenticate-hub.ts";
import { createCeiling } from "../../../../server/fleet/agent/ceiling.ts";
import {
  encodeHubCaller,
  type HubCaller,
  parseHubCaller,
} from "../../../../server/fleet/caller/hub-caller.ts";

const alice: HubCaller = {
  actor: "user/alice",
  accountId: "1",
  role: "operator",
  services: undefined,
  address: "127.0.0.1",
  hub: "hub-1",
  requestId: "r",
};

const callerOf = (named: HubCaller, limits: Partial<Parameters<typeof createCeiling>[0]> = {}) => {
  const ceiling = createCeiling({ role: "admin", reservedMethods: [], protect: [], ...limits });
  return createAuthenticateHub(ceiling)({ header: () => encodeHubCaller(named) });
};

test("grants survive the header, and others than grants are refused", async (t) => {
  const grants = [{ role: "operator" as const, resources: ["pods/*"] }];
  t.same(parseHubCaller(encodeHubCaller({ ...alice, grants }))?.grants, grants);
  t.equal(parseHubCaller(encodeHubCaller(alice))?.grants, undefined);
  const broken = { ...alice, grants: [{ role: "operator", resource: ["pods/*"] }] };
  t.equal(parseHubCaller(encodeHubCaller(broken as unknown as HubCaller)), undefined);
  const many = { ...alice, grants: Array.from({ length: 33 }, () => ({ role: "viewer" as const })) };
  t.equal(parseHubCaller(encodeHubCaller(many)), undefined);
});

test("a caller without grants on a host may do nothing there", async (t) => {
  const { grants, role, services } = callerOf({ ...alice, grants: [] });
  t.equal(grants, undefined);
  t.equal(role, "viewer");
  t.same([...(services ?? ["all"])], []);
});

test("one grant without bounds on a host is a role there", async (t) => {
  const caller = callerOf({ ...alice, grants: [{ role: "viewer", services: ["a.B"] }] });
  t.equal(caller.grants, undefined);
  t.equal(caller.role, "viewer");
  t.same([...(caller.services ?? [])], ["a.B"]);
});

test("the ceiling limits role and services of each grant", async (t) => {
  const grants = [
    { role: "admin" as const, services: ["a.B", "c.D"], resources: ["x"] },
    { role: "operator" as const, methods: ["c.D/E"], resources: ["y"] },
  ];
  const caller = callerOf({ ...alice, role: "admin", grants }, { role: "operator", services: ["a.B"] });
  t.equal(caller.role, "operator");
  t.same(caller.grants?.list, [{ role: "operator", services: ["a.B"], resources: ["x"] }]);
});

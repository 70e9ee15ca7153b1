import { test } from "tap";
import { groupRuleMistakesOf } from "../../../../../server/domains/auth/providers/group-rule-mistakes.ts";
import type { Grant } from "../../../../../server/rpc/access/grant.ts";

const known = {
  serviceNames: ["proto.LVService", "hostplane.v1.UserService"],
  methodPaths: ["proto.LVService/RemoveLV"],
};

test("a rule cannot grant what does not exist, nor the users", async (t) => {
  const mistakesOf = (...grants: readonly Grant[]) =>
    groupRuleMistakesOf(
      [{ roles: [{ group: "a", role: "viewer" }] }, { roles: [{ group: "b", grants }] }],
      known,
    );
  t.same(
    mistakesOf(
      { role: "operator", services: ["proto.LVService"] },
      { role: "operator", methods: ["proto.LVService/RemoveLV"], hosts: ["web-*"] },
    ),
    [],
  );
  t.match(mistakesOf({ role: "viewer" }, { role: "viewer", services: ["proto.LVSevice"] }), [
    /^auth\.providers\[1\]\.roles\[0\]\.grants\[1\]\.services\[0\]: unknown service "proto\.LVSevice"$/,
  ]);
  t.match(mistakesOf({ role: "viewer", methods: ["proto.LVService/Remove"] }), [
    /methods\[0\]: unknown method/,
  ]);
  t.match(mistakesOf({ role: "admin", services: ["hostplane.v1.UserService"] }), [
    /must not be of hostplane/,
  ]);
});

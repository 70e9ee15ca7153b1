import fc from "fast-check";
import { test } from "tap";
import { roleFromGroups } from "../../../../../server/domains/auth/providers/role-from-groups.ts";

test("a user has the highest role of its groups", async (t) => {
  const rules = [
    { group: "infra-*", role: "operator" },
    { group: "infra-admins", role: "admin" },
    { group: "*-guests-*", role: "viewer" },
  ] as const;
  t.equal(roleFromGroups(rules, ["infra-admins"]), "admin");
  t.equal(roleFromGroups(rules, ["others", "infra-storage"]), "operator");
  t.equal(roleFromGroups(rules, ["berlin-guests-2026"]), "viewer");
  t.equal(roleFromGroups(rules, ["INFRA-ADMINS", "xinfra-admins", "infra"]), undefined);
  t.equal(roleFromGroups(rules, []), undefined);
});

test("the group * is everyone, and nothing else gives a role to a user without groups", async (t) => {
  t.equal(roleFromGroups([{ group: "*", role: "viewer" }], []), "viewer");
  t.equal(roleFromGroups([{ group: "**", role: "viewer" }], []), undefined);
  t.equal(roleFromGroups([{ group: "a*", role: "viewer" }], ["*"]), undefined, "a group's own * is a letter");
});

test("a pattern matches exactly what the same regular expression does", async (t) => {
  const letters = fc.string({ unit: fc.constantFrom("a", "b", "*"), maxLength: 8 });
  fc.assert(
    fc.property(letters, letters, (pattern, text) => {
      fc.pre(pattern !== "*");
      const expression = new RegExp(`^${pattern.replaceAll("*", ".*")}$`, "s");
      const role = roleFromGroups([{ group: pattern, role: "viewer" }], [text]);
      return (role !== undefined) === expression.test(text);
    }),
    { numRuns: 5000 },
  );
  t.pass();
});

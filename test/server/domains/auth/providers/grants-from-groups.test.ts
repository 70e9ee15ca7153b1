import fc from "fast-check";
import { test } from "tap";
import {
  type GroupRule,
  grantsFromGroups,
} from "../../../../../server/domains/auth/providers/grants-from-groups.ts";

const roleOf = (rules: readonly GroupRule[], groups: readonly string[]) => {
  const [grant, ...others] = grantsFromGroups(rules, groups);
  return others.length === 0 ? grant?.role : others;
};

test("a user has the highest role of its groups", async (t) => {
  const rules = [
    { group: "infra-*", role: "operator" },
    { group: "infra-admins", role: "admin" },
    { group: "*-guests-*", role: "viewer" },
  ] as const;
  t.equal(roleOf(rules, ["infra-admins"]), "admin");
  t.equal(roleOf(rules, ["others", "infra-storage"]), "operator");
  t.equal(roleOf(rules, ["berlin-guests-2026"]), "viewer");
  t.equal(roleOf(rules, ["INFRA-ADMINS", "xinfra-admins", "infra"]), undefined);
  t.equal(roleOf(rules, []), undefined);
});

test("a user has the grants of all its groups, none of them twice", async (t) => {
  const db = { role: "operator", resources: ["volumeGroups/vg0/volumes/db-*"] } as const;
  const web = { role: "operator", services: ["proto.LVService"], hosts: ["web-*"] } as const;
  const rules = [
    { group: "db", grants: [db] },
    { group: "web", grants: [web, db] },
  ];
  t.same(grantsFromGroups(rules, ["db", "web"]), [db, web]);
  t.same(grantsFromGroups(rules, ["web"]), [web, db]);
  t.same(grantsFromGroups(rules, ["others"]), []);
});

test("a role leaves only the grants of higher roles", async (t) => {
  const operator = { role: "operator", resources: ["pods/web-*"] } as const;
  const admin = { role: "admin", services: ["proto.LVService"] } as const;
  const rules: readonly GroupRule[] = [
    { group: "team", grants: [operator, admin] },
    { group: "viewers", role: "viewer" },
    { group: "operators", role: "operator" },
  ];
  t.same(grantsFromGroups(rules, ["team", "viewers"]), [{ role: "viewer" }, operator, admin]);
  t.same(grantsFromGroups(rules, ["operators", "team"]), [{ role: "operator" }, admin]);
});

test("the group * is everyone, and nothing else gives a role to a user without groups", async (t) => {
  t.equal(roleOf([{ group: "*", role: "viewer" }], []), "viewer");
  t.equal(roleOf([{ group: "**", role: "viewer" }], []), undefined);
  t.equal(roleOf([{ group: "a*", role: "viewer" }], ["*"]), undefined, "a group's own * is a letter");
});

test("a pattern matches exactly what the same regular expression does", async (t) => {
  const letters = fc.string({ unit: fc.constantFrom("a", "b", "*"), maxLength: 8 });
  fc.assert(
    fc.property(letters, letters, (pattern, text) => {
      fc.pre(pattern !== "*");
      const expression = new RegExp(`^${pattern.replaceAll("*", ".*")}$`, "s");
      const grants = grantsFromGroups([{ group: pattern, role: "viewer" }], [text]);
      return grants.length > 0 === expression.test(text);
    }),
    { numRuns: 5000 },
  );
  t.pass();
});

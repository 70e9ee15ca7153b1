import fc from "fast-check";
import { test } from "tap";
import { assertAnyUserName } from "../../../../../server/domains/auth/access/account-rules.ts";
import {
  providerUserFrom,
  providerUserNames,
} from "../../../../../server/domains/auth/providers/provider-user.ts";

test("any claims give a user with names that the commands accept and no local user can have", async (t) => {
  fc.assert(
    fc.property(
      fc.string({ unit: "binary" }),
      fc.string({ unit: "binary", minLength: 1 }),
      (loginName, subject) => {
        const names = providerUserNames({ loginName, subject }, "corp");
        for (const name of names) {
          assertAnyUserName(name);
        }
        return names.every((name) => name.endsWith("@corp")) && names[0] !== names[1];
      },
    ),
  );
  t.same(providerUserNames({ loginName: "Jane.Doe@example.org", subject: "1" }, "corp")[0], "Jane.Doe@corp");
  t.same(providerUserNames({ loginName: undefined, subject: "1" }, "corp")[0], "user@corp");
});

test("claims of unexpected types count as absent", async (t) => {
  const names = { nameClaim: "name", groupsClaim: "groups" };
  t.same(providerUserFrom({ sub: "1", name: "a", groups: ["x", 1, null], sid: 5 }, names), {
    subject: "1",
    sid: undefined,
    loginName: "a",
    groups: ["x"],
  });
  t.same(
    providerUserFrom({ sub: "1", name: {}, groups: "one" }, names).groups,
    ["one"],
    "one group as a text",
  );
  t.same(providerUserFrom({ sub: "1", groups: { admin: true } }, names).groups, []);
  fc.assert(
    fc.property(fc.dictionary(fc.constantFrom("name", "groups", "sid"), fc.jsonValue()), (claims) => {
      const { groups } = providerUserFrom({ sub: "1", ...claims }, names);
      return groups.every((group) => typeof group === "string");
    }),
  );
});

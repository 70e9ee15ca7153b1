import { test } from "tap";
import { anyName, type Reference, resolveReference, uuid } from "../../../../server/cli/table/reference.ts";
import type { Session } from "../../../../server/cli/table/session.ts";

const session = {} as Session;
const web = "0a1b2c3d-0000-4000-8000-000000000001";
const db = "0a1b2c3d-0000-4000-8000-000000000002";
const other = "ff000000-0000-4000-8000-000000000003";

function pods(fullId = uuid): Reference & { readonly listed: () => number } {
  let count = 0;
  return {
    noun: "pod",
    fullId,
    listed: () => count,
    async list() {
      count += 1;
      return [
        { id: web, names: ["web"] },
        { id: db, names: ["db", "twice"] },
        { id: other, names: ["0a1b", "twice"] },
      ];
    },
  };
}

test("a resource is found by its name, its id, or a unique prefix of its id", async (t) => {
  const found = (typed: string) => resolveReference(typed, pods(), session);
  t.equal(await found("web"), web);
  t.equal(await found(web), web);
  t.equal(await found("ff"), other);
  t.equal(await found("FF000000000040"), other);
  t.equal(await found("0a1b"), other, "a name comes before a prefix");
  t.equal(await found("none"), "none", "the gateway says that there is none");
  t.equal(await found("twice"), "twice", "the gateway decides between two of a name");
  t.equal(await found("-"), "-");
});

test("a prefix of several ids is refused with some of them", async (t) => {
  const message = `pod 0a1b2c is ambiguous: ${web}, ${db}`;
  await t.rejects(resolveReference("0a1b2c", pods(), session), { message });
});

test("a whole id, and an id that is a name, are not looked up", async (t) => {
  const whole = pods();
  t.equal(await resolveReference(web, whole, session), web);
  t.equal(whole.listed(), 0);
  const named = pods(anyName);
  t.equal(await resolveReference("ff", named, session), "ff");
  t.equal(named.listed(), 0);
});

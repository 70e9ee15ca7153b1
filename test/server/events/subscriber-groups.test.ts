import assert from "node:assert/strict";
import fc from "fast-check";
import { test } from "tap";
import { type EventFilter, type EventRecord, matches } from "../../../server/events/event-record.ts";
import { createSubscriberGroups } from "../../../server/events/subscriber-groups.ts";

interface Member {
  readonly name: number;
  filter: EventFilter;
}

const some = (...names: string[]) => fc.uniqueArray(fc.constantFrom(...names), { maxLength: 2 });

const filters: fc.Arbitrary<EventFilter> = fc.record(
  {
    topics: some("volumes", "operations"),
    resources: some("a", "a/b", "c"),
    services: fc.option(
      some("x", "y").map((names) => new Set(names)),
      { nil: undefined },
    ),
    operationId: fc.constantFrom("1", "2"),
  },
  { requiredKeys: ["topics", "resources", "services"] },
);

const records = fc
  .record({
    topic: fc.constantFrom("volumes", "operations"),
    resource: fc.constantFrom("a", "a/b", "ab", "c"),
    services: some("x", "y"),
    operationId: fc.constantFrom("1", "2", undefined),
  })
  .map((facts): EventRecord => ({ seq: 1, atMs: 0, type: "t", host: "", payload: {}, ...facts }));

function wantingOf(groups: ReturnType<typeof createSubscriberGroups<Member>>, record: EventRecord): number[] {
  return groups
    .matching(record)
    .flatMap(({ members }) => [...members].map(({ name }) => name))
    .toSorted((a, b) => a - b);
}

test("an event goes to the members whose filters match, also after filters have changed and members have left", async () => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(filters, filters, fc.boolean()), { maxLength: 12 }),
      fc.array(records, { maxLength: 6 }),
      (changes, events) => {
        const groups = createSubscriberGroups<Member>();
        let members = changes.map(([filter], name): Member => ({ name, filter }));
        const check = () => {
          for (const record of events) {
            const expected = members.filter(({ filter }) => matches(record, filter));
            assert.deepEqual(
              wantingOf(groups, record),
              expected.map(({ name }) => name),
            );
          }
          assert.deepEqual([...groups.members], members);
        };
        for (const member of members) {
          groups.add(member);
        }
        check();
        for (const [index, member] of members.entries()) {
          member.filter = { ...member.filter, services: changes[index]?.[1].services };
        }
        groups.refresh((_member, error) => assert.fail(String(error)));
        check();
        for (const member of members.filter(({ name }) => changes[name]?.[2])) {
          groups.delete(member);
        }
        members = members.filter(({ name }) => !changes[name]?.[2]);
        check();
      },
    ),
  );
});

test("members with equal filters form one group, and a member whose filter throws is reported", async (t) => {
  const groups = createSubscriberGroups<Member>();
  const all: EventFilter = { topics: [], resources: [], services: new Set(["x", "y"]) };
  const first: Member = { name: 1, filter: all };
  groups.add(first);
  groups.add({ name: 2, filter: { ...all, services: new Set(["y", "x"]) } });
  const record: EventRecord = {
    seq: 1,
    atMs: 0,
    topic: "",
    type: "",
    resource: "",
    host: "",
    operationId: undefined,
    services: ["x"],
    payload: {},
  };
  t.equal(groups.matching(record).length, 1);
  const error = new Error("revoked");
  first.filter = {
    ...all,
    get services(): undefined {
      throw error;
    },
  };
  const failed: unknown[] = [];
  groups.refresh((member, thrown) => failed.push(member, thrown));
  t.same(failed, [first, error]);
});

import assert from "node:assert/strict";
import fc from "fast-check";
import { test } from "tap";
import { compareResources, describeChange } from "../../../server/events/compare-resources.ts";

interface Resource {
  readonly id: string;
  readonly size: number;
}

const resources = fc.uniqueArray(
  fc.record({ id: fc.constantFrom("a", "b", "c", "d", "e"), size: fc.integer({ min: 0, max: 2 }) }),
  { selector: ({ id }) => id },
);
const idOf = ({ id }: Resource) => id;

test("removed resources come first, then all others in their new order, each with its earlier state", async () => {
  fc.assert(
    fc.property(resources, resources, (before, after) => {
      const pairs = compareResources(before, after, idOf);
      const removed = before.filter(({ id }) => !after.some((one) => one.id === id));
      assert.deepEqual(
        pairs.map((pair) => pair.after ?? pair.before),
        [...removed, ...after],
      );
      assert.deepEqual(
        pairs.map((pair) => pair.before),
        [...removed, ...after.map(({ id }) => before.find((one) => one.id === id))],
      );
    }),
  );
});

test("only a changed property is described", async (t) => {
  t.strictSame(describeChange("memory", "1 MB", "2 MB"), ["memory: 1 MB -> 2 MB"]);
  t.strictSame(describeChange("memory", "1 MB", "1 MB"), []);
});

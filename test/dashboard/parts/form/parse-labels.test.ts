import fc from "fast-check";
import { test } from "tap";
import { parseLabels } from "../../../../dashboard/parts/form/parse-labels.ts";

test("labels are parsed as people write them", async (t) => {
  t.same(parseLabels("  "), []);
  t.same(parseLabels("tier=web, disk=ssd spare"), [
    { name: "tier", value: "web" },
    { name: "disk", value: "ssd" },
    { name: "spare", value: "" },
  ]);
  t.same(parseLabels("a=b=c"), [{ name: "a", value: "b=c" }], "invalid labels are left to the gateway");
});

test("formatted labels are parsed back", async () => {
  const word = fc.stringMatching(/^[\w./-]+$/);
  const labels = fc.array(fc.record({ name: word, value: fc.option(word, { nil: "" }) }));
  fc.assert(
    fc.property(labels, fc.constantFrom(" ", ",", ", "), (expected, between) => {
      const text = expected
        .map(({ name, value }) => (value === "" ? name : `${name}=${value}`))
        .join(between);
      return JSON.stringify(parseLabels(text)) === JSON.stringify(expected);
    }),
  );
});

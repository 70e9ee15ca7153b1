import { readFileSync } from "node:fs";
import { test } from "tap";
import { reasons } from "../../../adapters/host/reasons.ts";

const documentation = new URL("../../../docs/reference/errors.md", import.meta.url);

test("docs/reference/errors.md lists exactly the reasons of the code, with their codes and meanings", async (t) => {
  const rows = [
    ...readFileSync(documentation, "utf8").matchAll(/^\| `(\w+)` \| (\w+) \| (yes|no) \| (.*) \|$/gm),
  ];
  const documented = rows.map(([, name, code, retryable, meaning]) => [
    name,
    code,
    retryable === "yes",
    meaning,
  ]);
  const coded = Object.entries(reasons).map(([name, { code, retryable, meaning }]) => [
    name,
    code,
    retryable,
    meaning,
  ]);
  t.same(documented.toSorted(), coded.toSorted());
});

test("a meaning is one or more whole sentences", async (t) => {
  for (const [name, { meaning }] of Object.entries(reasons)) {
    t.match(meaning, /^[A-Z].*[.]$/, name);
  }
});

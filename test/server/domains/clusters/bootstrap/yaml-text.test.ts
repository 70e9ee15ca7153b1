import { isDeepStrictEqual } from "node:util";
import fc from "fast-check";
import { test } from "tap";
import { parseAllDocuments, parse as parseYaml } from "yaml";
import { renderYaml } from "../../../../../server/domains/clusters/bootstrap/yaml-text.ts";
import { codePoint } from "../../../../code-point.ts";

const texts = fc.oneof(
  fc.string(),
  fc.string({ unit: codePoint }),
  fc.string({ unit: fc.constantFrom(..."a \n\t-#:'\"{}[]&*!|>%@`$\\\u0085\u2028") }),
  fc.constantFrom(
    "on",
    "no",
    "null",
    "~",
    "1e3",
    "012",
    "0x1f",
    "1:30",
    "2026-11-21",
    "<<",
    "=",
    ".inf",
    "---",
  ),
);

test("every text is read back unchanged by YAML 1.1 and 1.2", async () => {
  fc.assert(
    fc.property(texts, texts, (first, second) => {
      const value = { first, list: [second, { nested: first }], last: "end" };
      const rendered = renderYaml([value]);
      return (["1.1", "1.2"] as const).every((version) =>
        isDeepStrictEqual(parseYaml(rendered, { version }), value),
      );
    }),
    { numRuns: 2000 },
  );
});

test("the output is printable ASCII, whatever the text", async () => {
  fc.assert(fc.property(texts, (text) => /^[\n\x20-\x7e]*$/.test(renderYaml([{ text }]))));
});

test("documents are written one after the other, and undefined values are omitted", async (t) => {
  const rendered = renderYaml([
    { a: 1, b: undefined },
    { c: "1", d: "one\ntwo\n" },
  ]);
  t.equal(rendered, 'a: 1\n---\nc: "1"\nd: |\n  one\n  two\n');
  t.same(
    parseAllDocuments(rendered).map((document) => document.toJSON()),
    [{ a: 1 }, { c: "1", d: "one\ntwo\n" }],
  );
});

import fc from "fast-check";
import { test } from "tap";
import { quotedLine } from "../../../adapters/host/quoted-line.ts";
import { codePoint } from "../../code-point.ts";

test("external text becomes one short line without passwords", async (t) => {
  t.equal(quotedLine("  a\n\tword\u0000\u001b[31m\u202eof  others "), "a word [31m of others");
  t.equal(
    quotedLine("failed to pull https://user:p@ss@registry.example.org:5000/a@sha256: gone"),
    "failed to pull https://…@registry.example.org:5000/a@sha256: gone",
  );
  t.equal(quotedLine("of http://user:p\u00adw@host"), "of http://…@host");
  t.equal(quotedLine("see https://example.org/a@b"), "see https://example.org/a@b");
  t.equal(quotedLine("x".repeat(301)), `${"x".repeat(299)}…`);
  t.equal(quotedLine("x".repeat(300)), "x".repeat(300));
  t.equal(quotedLine(`${"x".repeat(8)}😀 and more`, 10), `${"x".repeat(8)}…`);
  const url = fc
    .tuple(fc.stringMatching(/^[a-z]+$/), fc.stringMatching(/^[^/\s]+$/))
    .map(([scheme, secret]) => `${scheme}://${secret}SECRET@host/`);
  fc.assert(
    fc.property(
      fc.string({ unit: codePoint }),
      url,
      fc.integer({ min: 1, max: 400 }),
      (text, secret, max) => {
        const line = quotedLine(`${text} ${secret}`, max);
        return line.length <= max && !/[\p{Cc}\p{Cs}\u2028]|SECRET/u.test(line);
      },
    ),
  );
});

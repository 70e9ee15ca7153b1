import fc from "fast-check";
import { test } from "tap";
import { parseTraceHeaders } from "../../../server/observability/trace-headers.ts";
import { codePoint } from "../../code-point.ts";

test("names are in lower case, and values without surrounding spaces", async (t) => {
  const text = "# a comment\r\n\r\nAuthorization:  Bearer a:b= \n  \nx-scope-orgid:team\nempty:\n";
  t.strictSame(parseTraceHeaders(text), {
    authorization: "Bearer a:b=",
    "x-scope-orgid": "team",
    empty: "",
  });
});

test("an invalid header is refused with its line number, and not shown", async (t) => {
  for (const line of [
    "secret",
    ": secret",
    "na me: secret",
    "a: se\u0000cret",
    "a: secr\u00e9t",
    " a: secret",
  ]) {
    t.throws(() => parseTraceHeaders(`ok: 1\n${line}`), {
      message: "line 2 is not a header: expected `name: value`",
    });
  }
});

test("all written headers are read back, and any text is read or refused with that message", async () => {
  const name = fc.stringMatching(/^[a-z][a-z0-9-]{0,15}$/).filter((text) => text !== "__proto__");
  const value = fc.stringMatching(/^([!-~]([ -~]{0,20}[!-~])?)?$/);
  fc.assert(
    fc.property(fc.dictionary(name, value, { noNullPrototype: true }), (headers) => {
      const text = Object.entries(headers).map(([name, value]) => `${name}: ${value}\n`);
      const read = parseTraceHeaders(text.join(""));
      return JSON.stringify(read) === JSON.stringify(headers);
    }),
  );
  fc.assert(
    fc.property(fc.string({ unit: codePoint }), (text) => {
      try {
        return Object.values(parseTraceHeaders(text)).every((value) => !/[\r\n]/.test(value));
      } catch (error) {
        return error instanceof Error && /^line \d+ is not a header/.test(error.message);
      }
    }),
  );
});

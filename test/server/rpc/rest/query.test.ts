import * as fc from "fast-check";
import { test } from "tap";
import { hasReason } from "../../../../adapters/host/infra-error.ts";
import { rpcReasons } from "../../../../server/rpc/reasons.ts";
import { maxQueryKeys, parseQuery } from "../../../../server/rpc/rest/query.ts";

test("parameters are decoded and in order", async (t) => {
  t.same(parseQuery(""), []);
  t.same(parseQuery("a=1&b=2&a=3"), [
    ["a", "1"],
    ["b", "2"],
    ["a", "3"],
  ]);
  t.same(parseQuery("a=b=c&d&&=e&f="), [
    ["a", "b=c"],
    ["d", ""],
    ["", "e"],
    ["f", ""],
  ]);
  t.same(parseQuery("a+b=c+d%2Be%20%C3%A9"), [["a b", "c d+e é"]]);
});

test("text that is not percent-encoded UTF-8 is refused", async (t) => {
  for (const text of ["a=%", "a=%zz", "%ff=1", "a=%e2%82"]) {
    t.throws(() => parseQuery(text), { reason: "MALFORMED_REQUEST", message: /percent-encoded/ }, text);
  }
});

test("more parameters than the limit are refused, and the limit is named", async (t) => {
  t.equal(parseQuery("a=1&".repeat(maxQueryKeys)).length, maxQueryKeys);
  const error = { reason: "MALFORMED_REQUEST", message: /257 parameters, more than the limit of 256/ };
  t.throws(() => parseQuery("a=1&".repeat(maxQueryKeys + 1)), error);
});

test("it parses what browsers and URLSearchParams write", async () => {
  const text = fc.string({ unit: "grapheme" });
  fc.assert(
    fc.property(fc.array(fc.tuple(text, text), { maxLength: 20 }), (pairs) => {
      const written = new URLSearchParams(pairs.map(([key, value]): [string, string] => [key, value]));
      // An empty parameter is written as `=`.
      return JSON.stringify(parseQuery(written.toString())) === JSON.stringify(pairs);
    }),
  );
});

test("no text throws anything except the documented error", async () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.stringMatching(/^[a&=%+f0-9]*$/)), (text) => {
      try {
        return parseQuery(text).every((pair) => pair.length === 2);
      } catch (error) {
        return hasReason(error, rpcReasons.MALFORMED_REQUEST);
      }
    }),
  );
});

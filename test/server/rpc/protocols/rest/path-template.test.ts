import * as fc from "fast-check";
import { test } from "tap";
import { parsePathTemplate } from "../../../../../server/rpc/protocols/rest/path-template.ts";

test("a template is parsed as segments, variables and a verb", async (t) => {
  t.match(parsePathTemplate("/api/v1/cluster"), {
    segments: [
      { kind: "literal", text: "api" },
      { kind: "literal", text: "v1" },
      { kind: "literal", text: "cluster" },
    ],
    variables: [],
    verb: undefined,
  });
  t.match(parsePathTemplate("/v1/{book.name=shelves/*/books/*}:lend"), {
    segments: [{ text: "v1" }, { text: "shelves" }, { kind: "one" }, { text: "books" }, { kind: "one" }],
    variables: [{ fieldPath: "book.name", from: 1, to: 5 }],
    verb: "lend",
  });
  t.match(parsePathTemplate("/{shelf}/x/{path=**}"), {
    segments: [{ kind: "one" }, { text: "x" }, { kind: "rest" }],
    variables: [
      { fieldPath: "shelf", from: 0, to: 1 },
      { fieldPath: "path", from: 2, to: 3 },
    ],
  });
  t.match(parsePathTemplate("/a%20b/*"), { segments: [{ kind: "literal", text: "a b" }, { kind: "one" }] });
});

test("an invalid template is refused", async (t) => {
  const wrong = [
    "",
    "v1",
    "/",
    "//",
    "/v1/",
    "/v1//x",
    "/v1/**/x",
    "/v1/{a=**}/x",
    "/v1/{a=**}{b}",
    "/v1/{a}{b}",
    "/v1/x{a}",
    "/v1/{}",
    "/v1/{a=}",
    "/v1/{a=b=c}",
    "/v1/{a={b}}",
    "/v1/{a",
    "/v1/a}",
    "/v1/{1a}",
    "/v1/{a.}",
    "/v1/{a}/{a}",
    "/v1/a:b:c",
    "/v1/a:",
    "/v1:x/y",
    "/v1/***",
    "/v1/a*",
    "/v1/a b",
    "/v1/a?b",
    "/v1/a#b",
    "/v1/%zz",
    "/v1/%ff",
    "/v1/a\n",
  ];
  for (const text of wrong) {
    t.throws(
      () => parsePathTemplate(text),
      { name: "TypeError", message: /^the path template / },
      JSON.stringify(text),
    );
  }
});

test("any text is a template or refused with a TypeError that names it", async () => {
  const pieces = fc.array(
    fc.constantFrom("/", "{", "}", "=", "*", "**", ":", ".", "a", "b_1", "%2F", "é", " "),
  );
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string(),
        pieces.map((parts) => parts.join("")),
      ),
      (text) => {
        try {
          const { segments, variables } = parsePathTemplate(text);
          return segments.length > 0 && variables.every(({ from, to }) => from < to && to <= segments.length);
        } catch (error) {
          return error instanceof TypeError && error.message.includes(text);
        }
      },
    ),
    { numRuns: 2000 },
  );
});

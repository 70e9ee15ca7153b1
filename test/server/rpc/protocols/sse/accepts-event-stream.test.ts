import assert from "node:assert/strict";
import fc from "fast-check";
import { test } from "tap";
import { acceptsEventStream } from "../../../../../server/rpc/protocols/sse/accepts-event-stream.ts";
import { codePoint } from "../../../../code-point.ts";

test("an event stream needs an accept header that names it", async (t) => {
  for (const [accept, expected] of [
    ["text/event-stream", true],
    ["Text/Event-Stream ; charset=utf-8", true],
    ["application/json, text/event-stream;q=0.5", true],
    ["text/event-stream;q=0", false],
    ["text/event-stream;q=0.000", false],
    ["text/event-stream;q=0.001", true],
    ["text/event-streams", false],
    ["text/*", false],
    ["*/*", false],
    ["", false],
    [undefined, false],
  ] as const) {
    t.equal(
      acceptsEventStream("GET", { ...(accept !== undefined && { accept }) }),
      expected,
      accept ?? "none",
    );
  }
});

test("a body is JSON, or the request uses another protocol", async (t) => {
  const accept = "text/event-stream";
  for (const [type, expected] of [
    ["application/json", true],
    ["Application/JSON; charset=utf-8", true],
    ["application/json ;charset=utf-8", true],
    ["application/connect+json", false],
    ["application/grpc+json", false],
    ["application/json-patch+json", false],
    ["application/x-www-form-urlencoded", false],
    ["text/plain", false],
    [undefined, false],
  ] as const) {
    const headers = { accept, ...(type !== undefined && { "content-type": type }) };
    t.equal(acceptsEventStream("POST", headers), expected, type ?? "none");
  }
});

test("any header is parsed without an error", async () => {
  fc.assert(
    fc.property(fc.string({ unit: codePoint }), fc.string({ unit: codePoint }), (accept, type) => {
      assert.equal(acceptsEventStream("GET", { accept }) && !/text\/event-stream/i.test(accept), false);
      assert.equal(typeof acceptsEventStream("POST", { accept, "content-type": type }), "boolean");
    }),
  );
});

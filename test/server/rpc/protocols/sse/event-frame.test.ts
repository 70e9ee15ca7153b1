import assert from "node:assert/strict";
import fc from "fast-check";
import { test } from "tap";
import {
  eventFrame,
  heartbeatFrame,
  retryFrame,
} from "../../../../../server/rpc/protocols/sse/event-frame.ts";
import { codePoint } from "../../../../code-point.ts";
import { createEventParser } from "./event-parser.ts";

/** Text with many characters that are special in a stream of events. */
const text = fc
  .array(
    fc.oneof(
      fc.constantFrom("\n", "\r", "\r\n", "\0", "\n\n", ":", ": ", " ", "\uFEFF", "\u2028", "\ud800"),
      fc.constantFrom("data: x", "event: end", "id: forged", "retry: 1", "error"),
      fc.string({ unit: codePoint, maxLength: 8 }),
    ),
    { maxLength: 12 },
  )
  .map((parts) => parts.join(""));

const event = fc.record({
  id: fc.option(text, { nil: undefined }),
  type: fc.constantFrom(undefined, "end" as const, "error" as const),
  data: text,
});

/** Returns the value as contained in a frame. */
const onWire = (value: string) => value.toWellFormed();

test("for any ids and data each frame is one event, with all of its content", async () => {
  fc.assert(
    fc.property(fc.array(event, { maxLength: 5 }), (events) => {
      const parser = createEventParser();
      let lastEventId = "";
      for (const { id, type, data } of events) {
        if (id !== undefined && !/[\0\r\n]/.test(id)) {
          lastEventId = onWire(id);
        }
        const parsed = parser.push(eventFrame({ id, ...(type && { type }), data }).toString());
        const lines = onWire(data).replaceAll(/\r\n|\r/g, "\n");
        assert.deepEqual(parsed, [{ type: type ?? "message", data: lines, lastEventId }]);
      }
      assert.equal(parser.commentCount, 0);
      assert.equal(parser.retryMs, undefined);
      assert.deepEqual(parser.unknownFields, []);
    }),
    { numRuns: 1_000 },
  );
});

test("frames are separated, however the stream was cut on its way", async () => {
  fc.assert(
    fc.property(
      fc.array(event, { minLength: 1, maxLength: 4 }),
      fc.array(fc.nat({ max: 40 })),
      (events, cuts) => {
        const whole = events
          .map(({ id, type, data }) => eventFrame({ id, ...(type && { type }), data }).toString())
          .join("");
        const parser = createEventParser();
        let at = 0;
        const parsed = [];
        for (const length of cuts) {
          parsed.push(...parser.push(whole.slice(at, at + length)));
          at += length;
        }
        parsed.push(...parser.push(whole.slice(at)));
        assert.deepEqual(parsed, createEventParser().push(whole));
        assert.equal(parsed.length, events.length);
      },
    ),
    { numRuns: 500 },
  );
});

test("an event is written as in the standard's examples", async (t) => {
  t.equal(eventFrame({ data: "{}" }).toString(), "data: {}\n\n");
  t.equal(
    eventFrame({ id: "7", type: "error", data: "a\nb" }).toString(),
    "id: 7\nevent: error\ndata: a\ndata: b\n\n",
  );
  t.equal(eventFrame({ data: "" }).toString(), "data: \n\n");
});

test("heartbeats and the retry time are not events", async (t) => {
  const parser = createEventParser();
  t.same(parser.push(`${retryFrame(1000)}${heartbeatFrame}`), []);
  t.equal(parser.retryMs, 1000);
  t.equal(parser.commentCount, 1);
});

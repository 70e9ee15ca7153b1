import { encodeEnvelope } from "@connectrpc/connect/protocol";
import fc from "fast-check";
import { test } from "tap";
import { createAnswerTracker } from "../../../../server/fleet/forward/create-answer-tracker.ts";
import type { AnswerForm } from "../../../../server/fleet/forward/wire-form.ts";
import { eventFrame } from "../../../../server/rpc/protocols/sse/event-frame.ts";
import { textOfChunk } from "../../../../server/rpc/protocols/wire/grpc-web-text.ts";

/** A body as its parts: messages, and the part that ends it. */
interface Body {
  readonly form: AnswerForm;
  readonly messages: readonly Uint8Array[];
  readonly end: Uint8Array | undefined;
}

const envelopes = (flags: fc.Arbitrary<number>) =>
  fc
    .array(fc.tuple(flags, fc.uint8Array({ maxLength: 40 })), { maxLength: 6 })
    .map((all) => all.map(([flag, data]) => encodeEnvelope(flag, data)));

function bodyOf(form: AnswerForm, endFlag: number | undefined): fc.Arbitrary<Body> {
  return fc.record({
    form: fc.constant(form),
    messages: envelopes(fc.constantFrom(0, 1)),
    end: fc.option(
      fc.uint8Array({ maxLength: 40 }).map((data) => encodeEnvelope(endFlag ?? 0, data)),
      { nil: undefined },
    ),
  });
}

const asText = ({ messages, end }: Body): Body => ({
  form: "grpc-web-text",
  messages: messages.map(textOfChunk),
  end: end && textOfChunk(end),
});

const events: fc.Arbitrary<Body> = fc.record({
  form: fc.constant("sse" as const),
  messages: fc.array(
    fc.oneof(
      fc.record({ id: fc.option(fc.string(), { nil: undefined }), data: fc.string() }).map(eventFrame),
      fc.constant(Buffer.from(":\n\n")),
      fc.constant(Buffer.from("retry: 1000\n\n")),
    ),
    { maxLength: 6 },
  ),
  end: fc.option(
    fc.oneof(
      fc.constant(eventFrame({ id: "end", type: "end", data: "{}" })),
      fc.constant(eventFrame({ type: "error", data: '{"code":"unavailable"}' })),
    ),
    { nil: undefined },
  ),
});

const bodies = fc.oneof(
  bodyOf("grpc-web", 0x80),
  bodyOf("grpc-web", 0x80).map(asText),
  bodyOf("connect-stream", 2),
  events,
);

test("a boundary is after each message and nowhere else, however the body is divided", async () => {
  const cuts = fc.array(fc.nat(400), { maxLength: 20 });
  fc.assert(
    fc.property(bodies, cuts, ({ form, messages, end }, cuts) => {
      const parts = end === undefined ? messages : [...messages, end];
      const whole = Buffer.concat(parts);
      const boundaries = new Set([0]);
      parts.reduce((at, part) => {
        boundaries.add(at + part.byteLength);
        return at + part.byteLength;
      }, 0);
      const tracker = createAnswerTracker(form, undefined);
      let at = 0;
      for (const cut of [...cuts.filter((one) => one < whole.byteLength), whole.byteLength].toSorted(
        (a, b) => a - b,
      )) {
        tracker.push(whole.subarray(at, cut));
        at = cut;
        const isEnd = cut === whole.byteLength && end !== undefined;
        if (tracker.isAtBoundary() !== boundaries.has(cut) || tracker.isWhole() !== isEnd) {
          return false;
        }
      }
      return true;
    }),
    { numRuns: 3000 },
  );
});

test("the end of a body is kept", async (t) => {
  const endOf = (form: AnswerForm, bytes: Uint8Array) => {
    const tracker = createAnswerTracker(form, undefined);
    tracker.push(Buffer.from(bytes));
    const end = tracker.end();
    return end && { ...end, data: end.data?.toString() };
  };
  const data = Buffer.from("{}");
  t.same(endOf("connect-stream", encodeEnvelope(2, data)), { isCompressed: false, data: "{}" });
  t.same(endOf("connect-stream", encodeEnvelope(3, data)), { isCompressed: true, data: "{}" });
  t.same(endOf("grpc-web-text", textOfChunk(encodeEnvelope(0x80, data))), {
    isCompressed: false,
    data: "{}",
  });
  t.same(endOf("connect-stream", encodeEnvelope(2, Buffer.alloc(100_000))), {
    isCompressed: false,
    data: undefined,
  });
  t.same(endOf("sse", eventFrame({ type: "error", data: "{}" })), { isCompressed: false, data: "{}" });
  t.same(endOf("sse", eventFrame({ data: "event: end" })), undefined, "data that looks like an end");
});

test("a plain body is whole at its length", async (t) => {
  const tracker = createAnswerTracker("plain", 4);
  tracker.push(Buffer.from("ab"));
  t.notOk(tracker.isWhole());
  tracker.push(Buffer.from("cd"));
  t.ok(tracker.isWhole());
  t.notOk(tracker.isAtBoundary(), "nothing can follow it");
});

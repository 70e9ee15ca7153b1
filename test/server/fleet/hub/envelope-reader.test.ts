import fc from "fast-check";
import { test } from "tap";
import { createEnvelopeReader } from "../../../../server/fleet/hub/envelope-reader.ts";
import { envelopeOf } from "../../../../server/rpc/protocols/wire/envelope.ts";

test("envelopes are the same however their bytes are cut", async (t) => {
  const messages = fc.array(fc.tuple(fc.uint8Array({ maxLength: 40 }), fc.integer({ min: 0, max: 255 })));
  fc.assert(
    fc.property(messages, fc.array(fc.integer({ min: 1, max: 30 }), { minLength: 1 }), (sent, sizes) => {
      const bytes = Buffer.concat(sent.map(([data, flags]) => envelopeOf(data, flags)));
      const reader = createEnvelopeReader("node-1", 40);
      const read: [number[], number][] = [];
      for (let at = 0, turn = 0; at < bytes.length; turn += 1) {
        const size = sizes[turn % sizes.length] ?? 1;
        for (const { data, flags } of reader.push(bytes.subarray(at, at + size))) {
          read.push([[...data], flags]);
        }
        at += size;
      }
      return JSON.stringify(read) === JSON.stringify(sent.map(([data, flags]) => [[...data], flags]));
    }),
  );
  t.pass("for random messages and cuts");
});

test("a message above the limit is refused before it has arrived", async (t) => {
  const reader = createEnvelopeReader("node-1", 1000);
  t.same(reader.push(envelopeOf(new Uint8Array(1000)).subarray(0, 500)), []);
  t.equal(reader.push(envelopeOf(new Uint8Array(1000)).subarray(500)).length, 1);
  t.throws(() => reader.push(envelopeOf(new Uint8Array(1001)).subarray(0, 5)), {
    reason: "BAD_HOST_ANSWER",
    message: /node-1.*1001 bytes.*1000/,
  });
});

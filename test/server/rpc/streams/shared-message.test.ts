import assert from "node:assert/strict";
import { create, fromBinary, fromJsonString } from "@bufbuild/protobuf";
import { encodeEnvelope } from "@connectrpc/connect/protocol";
import fc from "fast-check";
import { test } from "tap";
import { SubscribeResponseSchema } from "../../../../gen/hostplane/v1/event_pb.ts";
import { envelopeHeadBytes } from "../../../../server/rpc/protocols/wire/envelope.ts";
import { createSharedMessage } from "../../../../server/rpc/streams/shared-message.ts";
import { codePoint } from "../../../code-point.ts";

test("a frame is the envelope of connect-es, and decodes to its message", async () => {
  fc.assert(
    fc.property(fc.string({ unit: codePoint, maxLength: 2_000 }), (cursor) => {
      const message = create(SubscribeResponseSchema, { message: { case: "heartbeat", value: { cursor } } });
      const shared = createSharedMessage(SubscribeResponseSchema, message);
      for (const codec of ["binary", "json"] as const) {
        const frame = shared.encoded(codec).frame;
        const data = frame.subarray(envelopeHeadBytes);
        assert.deepEqual(frame, Buffer.from(encodeEnvelope(0, data)));
        const decoded =
          codec === "binary"
            ? fromBinary(SubscribeResponseSchema, data)
            : fromJsonString(SubscribeResponseSchema, data.toString());
        assert.deepEqual(decoded, message);
      }
    }),
    { numRuns: 200 },
  );
});

test("a message is encoded once for each codec", async (t) => {
  const shared = createSharedMessage(SubscribeResponseSchema, create(SubscribeResponseSchema));
  t.equal(shared.encoded("binary").frame, shared.encoded("binary").frame);
  t.equal(shared.encoded("json").frame, shared.encoded("json").frame);
  t.same([...shared.encoded("binary").frame], [0, 0, 0, 0, 0], "an empty message is an empty envelope");
});

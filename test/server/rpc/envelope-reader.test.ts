import assert from "node:assert/strict";
import { create, type DescMethod, toBinary } from "@bufbuild/protobuf";
import { ConnectError } from "@connectrpc/connect";
import {
  createMethodSerializationLookup,
  encodeEnvelope,
  pipe,
  transformDecompressEnvelope,
  transformParseEnvelope,
  transformSplitEnvelope,
} from "@connectrpc/connect/protocol";
import fc from "fast-check";
import { test } from "tap";
import { Health, HealthCheckRequestSchema } from "../../../gen/grpc/health/v1/health_pb.ts";
import { messagesOf } from "../../../server/rpc/envelope-reader.ts";

const readMaxBytes = 40;
const limits = { readMaxBytes, writeMaxBytes: readMaxBytes };
const method: DescMethod = Health.method.check;
const serialization = createMethodSerializationLookup(method, undefined, undefined, limits).getI(true);

/** A body in the chunks it comes in, and whether it was let go. */
function createBody(chunks: readonly Uint8Array[]) {
  const state = { isClosed: false };
  async function* body() {
    try {
      yield* chunks;
    } finally {
      state.isClosed = true;
    }
  }
  return { state, body: body() };
}

/** All that is read, and what it ends with. */
async function outcomeOf(messages: AsyncIterable<unknown>) {
  const read: unknown[] = [];
  try {
    for await (const message of messages) {
      read.push(message);
    }
    return { read };
  } catch (error) {
    return error instanceof ConnectError
      ? { read, code: error.code, message: error.message }
      : { read, error };
  }
}

const message = fc
  .string({ maxLength: 50 })
  .map((service) => toBinary(HealthCheckRequestSchema, create(HealthCheckRequestSchema, { service })));
const envelope = fc
  .tuple(
    fc.oneof({ weight: 5, arbitrary: fc.constant(0) }, fc.constantFrom(1, 2)),
    fc.oneof({ weight: 5, arbitrary: message }, fc.uint8Array({ maxLength: 8 })),
  )
  .map(([flags, data]) => encodeEnvelope(flags, new Uint8Array(data)));
const bytes = fc.oneof(
  { weight: 3, arbitrary: envelope },
  fc.array(envelope, { maxLength: 3 }).map((all) => new Uint8Array(Buffer.concat(all))),
  envelope.chain((whole) => fc.nat(whole.byteLength).map((end) => whole.subarray(0, end))),
  fc.uint8Array({ maxLength: 12 }),
);
/** Bytes, cut at any places. */
const chunked = fc.tuple(bytes, fc.array(fc.nat(60), { maxLength: 4 })).map(([all, cuts]) => {
  const ends = [0, ...cuts.map((cut) => Math.min(cut, all.byteLength)).sort((a, b) => a - b), all.byteLength];
  return ends.slice(1).map((end, index) => all.slice(ends[index], end));
});

test("any body, in whatever chunks it comes, reads as connect-es reads it, and is let go", async () => {
  await fc.assert(
    fc.asyncProperty(chunked, async (chunks) => {
      const { state, body } = createBody(chunks);
      const refusal = undefined;
      const reading = { serialization, readMaxBytes, compression: null, refusal };
      const ours = await outcomeOf(messagesOf(body, reading));
      const theirs = pipe(
        createBody(chunks).body,
        transformSplitEnvelope(readMaxBytes),
        transformDecompressEnvelope(null, readMaxBytes),
        transformParseEnvelope(serialization),
      );
      assert.deepEqual(ours, await outcomeOf(theirs));
      assert.ok(state.isClosed);
    }),
    { numRuns: 500 },
  );
});

test("what is wrong with the headers is told before anything is read", async (t) => {
  const { state, body } = createBody([encodeEnvelope(0, new Uint8Array())]);
  const refusal = new ConnectError("unknown compression");
  const outcome = await outcomeOf(
    messagesOf(body, { serialization, readMaxBytes, compression: null, refusal }),
  );
  t.same(outcome, { read: [], code: refusal.code, message: refusal.message });
  t.notOk(state.isClosed);
});

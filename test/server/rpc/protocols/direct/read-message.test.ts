import assert from "node:assert/strict";
import { PassThrough, Readable } from "node:stream";
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
import { InfraError } from "../../../../../adapters/host/infra-error.ts";
import { Health, HealthCheckRequestSchema } from "../../../../../gen/grpc/health/v1/health_pb.ts";
import { createReadMessage } from "../../../../../server/rpc/protocols/direct/read-message.ts";
import { readRequestHead } from "../../../../../server/rpc/protocols/direct/request.ts";
import type { NodeRequest } from "../../../../../server/rpc/protocols/http/http-exchange.ts";
import { oneMessageBody, readBody } from "../../../../../server/rpc/protocols/http/read-body.ts";
import { singleOf } from "../../../../../server/rpc/protocols/wire/single-of.ts";

const readMaxBytes = 40;
const limits = { readMaxBytes, writeMaxBytes: readMaxBytes };
const method: DescMethod = Health.method.check;
const serialization = createMethodSerializationLookup(method, undefined, undefined, limits).getI(true);

const route = { method, ...limits, jsonOptions: {} };
const readMessage = createReadMessage(route);
const head = readRequestHead(method, requestOf({ "content-type": "application/grpc" }));

/** Creates a request with a body that arrives in these chunks. */
function requestOf(headers: Record<string, string>, chunks: readonly Uint8Array[] = []): NodeRequest {
  const body = Readable.from(
    chunks.filter(({ byteLength }) => byteLength > 0).map((chunk) => Buffer.from(chunk)),
    { objectMode: false },
  );
  return Object.assign(body, {
    headers,
    method: "POST",
    url: "/",
    httpVersion: "2.0",
  }) as unknown as NodeRequest;
}

/** Returns the message, or the error of reading it. */
async function outcomeOf(read: () => unknown) {
  try {
    return { read: await read() };
  } catch (error) {
    if (error instanceof ConnectError) {
      return { code: error.code, message: error.message };
    }
    return error instanceof InfraError ? { reason: error.reason, message: error.message } : { error };
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
/** Bytes, cut at any positions. */
const chunked = fc.tuple(bytes, fc.array(fc.nat(60), { maxLength: 4 })).map(([all, cuts]) => {
  const ends = [0, ...cuts.map((cut) => Math.min(cut, all.byteLength)).sort((a, b) => a - b), all.byteLength];
  return ends.slice(1).map((end, index) => all.slice(ends[index], end));
});

test("any body, in any chunks, is read as connect-es reads it", async () => {
  await fc.assert(
    fc.asyncProperty(chunked, async (chunks) => {
      const ours = await outcomeOf(async () => {
        const body = await readBody(requestOf({}, chunks), readMaxBytes, "enveloped");
        return head === undefined ? head : readMessage(body, head, () => {});
      });
      const theirs = pipe(
        oneMessageBody(requestOf({}, chunks), readMaxBytes, "enveloped"),
        transformSplitEnvelope(readMaxBytes),
        transformDecompressEnvelope(null, readMaxBytes),
        transformParseEnvelope(serialization),
      );
      assert.deepEqual(ours, await outcomeOf(() => singleOf(theirs)));
    }),
    { numRuns: 1000 },
  );
});

test("a body that never ends is only read until it is known to be too large", async (t) => {
  const chunk = Buffer.alloc(64);
  let readBytes = 0;
  async function* endless() {
    for (;;) {
      readBytes += chunk.byteLength;
      yield chunk;
    }
  }
  const request = () =>
    Object.assign(Readable.from(endless(), { objectMode: false, highWaterMark: 1 }), {
      headers: {},
    }) as unknown as NodeRequest;
  for (const form of ["enveloped", "plain", "text"] as const) {
    readBytes = 0;
    const body = await readBody(request(), 1000, form);
    t.ok(body.byteLength > (form === "plain" ? 1000 : 5) && readBytes < 4000, `${readBytes} bytes`);
  }
  const announcing = new PassThrough();
  announcing.write(encodeEnvelope(0, new Uint8Array(2000)).subarray(0, 7));
  const body = await readBody(
    Object.assign(announcing, { headers: {} }) as unknown as NodeRequest,
    1000,
    "enveloped",
  );
  t.equal(body.byteLength, 7, "the announced size is sufficient");
});

test("a read notes the JSON fields that its message does not have; a change is refused for them", async (t) => {
  const form = readRequestHead(method, requestOf({ "content-type": "application/json" }));
  if (form === undefined) {
    throw new Error("JSON is not read");
  }
  const names: string[] = [];
  const read = (text: string, ignoreUnknownFields: boolean) =>
    createReadMessage({ ...route, jsonOptions: { ignoreUnknownFields } })(
      Buffer.from(text),
      form,
      (unknown) => names.push(...unknown),
    );
  t.match(await read('{"service":"a","sorvice":"b"}', true), { service: "a" });
  t.strictSame(names, ["sorvice"]);
  t.match(await outcomeOf(() => read('{"sorvice":"b"}', false)), { message: /key "sorvice" is unknown/ });
  t.match(await outcomeOf(() => read('{"service":', true)), { message: /JSON/ });
  t.match(await outcomeOf(() => read(`{"service":"${"x".repeat(40)}"}`, true)), {
    reason: "MESSAGE_TOO_LARGE",
  });
});

import assert from "node:assert/strict";
import { create, type DescMethod, toBinary, toJsonString } from "@bufbuild/protobuf";
import fc from "fast-check";
import { test } from "tap";
import { InfraError } from "../../../../../adapters/host/infra-error.ts";
import { VGService } from "../../../../../gen/proto/lvmd_pb.ts";
import { methodRuleOf } from "../../../../../server/gateway/method-rules.ts";
import { createEncodeMessage } from "../../../../../server/rpc/protocols/direct/encode-message.ts";
import { type RequestHead, readRequestHead } from "../../../../../server/rpc/protocols/direct/request.ts";
import type { HttpRequest } from "../../../../../server/rpc/protocols/http/http-exchange.ts";
import { compressions, compressMinBytes } from "../../../../../server/rpc/protocols/wire/compression.ts";
import { rpcReasons } from "../../../../../server/rpc/reasons.ts";
import { codePoint } from "../../../../code-point.ts";

const method: DescMethod = VGService.method.getLVList;
const writeMaxBytes = 8_000;
const route = {
  method,
  rule: methodRuleOf(method),
  readMaxBytes: writeMaxBytes,
  writeMaxBytes,
  jsonOptions: {},
};
const encodeMessage = createEncodeMessage(route);
const [gzip] = compressions;
const charged = { spend: () => {} };

function headOf(
  contentType: string,
  answerCompression: RequestHead["answerCompression"] = null,
): RequestHead {
  const request = { headers: { "content-type": contentType }, httpVersion: "1.1" } as unknown as HttpRequest;
  const head = readRequestHead(method, request);
  assert(head !== undefined);
  return { ...head, answerCompression };
}

/** A list of one volume with that name. */
const listOf = (name: string) => ({ volumes: [{ name, sizeGb: 1n }] });

test("JSON without an envelope is the text of connect-es", async () => {
  await fc.assert(
    fc.asyncProperty(fc.string({ unit: codePoint, maxLength: 500 }), async (name) => {
      const { body, isCompressed } = await encodeMessage(listOf(name), headOf("application/json"), charged);
      assert.equal(typeof body, "string");
      assert.equal(isCompressed, false);
      assert.equal(body, toJsonString(method.output, create(method.output, listOf(name))));
    }),
  );
});

test("JSON is compressed from the minimum size on if the client accepts it", async (t) => {
  const head = headOf("application/json", gzip);
  const small = await encodeMessage(listOf("a"), head, charged);
  t.equal(typeof small.body, "string");
  const name = "a".repeat(compressMinBytes);
  const large = await encodeMessage(listOf(name), head, charged);
  t.equal(large.isCompressed, true);
  assert(typeof large.body !== "string" && gzip !== undefined);
  const plain = await gzip.decompress(new Uint8Array(large.body), writeMaxBytes);
  t.same(JSON.parse(Buffer.from(plain).toString()), { volumes: [{ name, sizeGb: "1" }] });
});

test("the limit of an answer is in bytes, for text too", (t) => {
  const head = headOf("application/json");
  // Consists of a character that has three bytes.
  t.throws(
    () => encodeMessage(listOf("\u20ac".repeat(writeMaxBytes / 3)), head, charged),
    new InfraError(
      rpcReasons.MESSAGE_TOO_LARGE,
      "message size 8036 is larger than the limit of 8000 bytes (limits.maxMessageBytes)",
    ),
  );
  t.doesNotThrow(() => encodeMessage(listOf("a".repeat(writeMaxBytes / 3)), head, charged));
  t.end();
});

test("text is encoded with the JSON options of the method", async (t) => {
  const encode = createEncodeMessage({ ...route, jsonOptions: { useProtoFieldName: true } });
  const { body } = await encode({ volumes: [{ sizeGb: 1n }] }, headOf("application/json"), charged);
  t.equal(body, '{"volumes":[{"size_gb":"1"}]}');
});

test("an answer without a JSON form is a fault of the gateway, not of the caller", (t) => {
  t.throws(() => encodeMessage({ volumes: [{ name: 7 }] }, headOf("application/json"), charged), {
    code: 13,
  });
  t.end();
});

test("a long list is encoded in slices, with unchanged bytes", async (t) => {
  const volumes = Array.from({ length: 3000 }, (_, index) => ({ name: `volume-${index}`, sizeGb: 1n }));
  const message = create(method.output, { volumes });
  const encode = createEncodeMessage({ ...route, writeMaxBytes: 2 ** 22 });
  let turns = 0;
  let spentMs = 0;
  let pumping = setImmediate(function pump() {
    turns += 1;
    pumping = setImmediate(pump);
  });
  t.teardown(() => clearImmediate(pumping));
  const spending = { spend: (cpuMs: number) => (spentMs += cpuMs) };
  for (const type of ["application/json", "application/proto"]) {
    const { body } = await encode({ volumes }, headOf(type), spending);
    const whole =
      type === "application/proto" ? toBinary(method.output, message) : toJsonString(method.output, message);
    t.ok(Buffer.from(body as string).equals(Buffer.from(whole as string)));
  }
  t.ok(turns > 0, "other work could run");
  t.ok(spentMs > 0, "its CPU time is charged");
  await t.rejects(Promise.resolve(encodeMessage({ volumes }, headOf("application/json"), charged)), {
    message: /limits\.maxMessageBytes/,
  });
});

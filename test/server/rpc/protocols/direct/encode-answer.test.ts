import assert from "node:assert/strict";
import { create, type DescMethod, toBinary, toJsonString } from "@bufbuild/protobuf";
import { createMethodSerializationLookup } from "@connectrpc/connect/protocol";
import fc from "fast-check";
import { test } from "tap";
import { InfraError } from "../../../../../adapters/host/infra-error.ts";
import { VGService } from "../../../../../gen/proto/lvmd_pb.ts";
import {
  type AnswerWriting,
  encodeAnswer,
} from "../../../../../server/rpc/protocols/direct/encode-answer.ts";
import type { RequestHead } from "../../../../../server/rpc/protocols/direct/request-head.ts";
import { unaryForms } from "../../../../../server/rpc/protocols/direct/wire-form.ts";
import { compressions, compressMinBytes } from "../../../../../server/rpc/protocols/wire/compression.ts";
import { codePoint } from "../../../../code-point.ts";

const method: DescMethod = VGService.method.getLVList;
const writeMaxBytes = 8_000;
const lookup = createMethodSerializationLookup(method, undefined, undefined, {
  readMaxBytes: writeMaxBytes,
  writeMaxBytes,
});
const writing: AnswerWriting = {
  method,
  writeMaxBytes,
  isShared: false,
  binary: lookup.getO(true),
  json: lookup.getO(false),
  jsonOptions: {},
};
const [gzip] = compressions;
const charged = { spend: () => {} };

function headOf(
  form: RequestHead["form"],
  answerCompression: RequestHead["answerCompression"] = null,
): RequestHead {
  return { form, timeoutMs: undefined, requestCompression: null, answerCompression, query: undefined };
}

/** A list of one volume with that name. */
const listOf = (name: string) => ({ volumes: [{ name, sizeGb: 1n }] });

test("JSON without an envelope is the text of connect-es, with its size in bytes", async () => {
  await fc.assert(
    fc.asyncProperty(fc.string({ unit: codePoint, maxLength: 500 }), async (name) => {
      const { body, sizeBytes, isCompressed } = await encodeAnswer(
        listOf(name),
        headOf(unaryForms.json),
        writing,
        charged,
      );
      assert.equal(typeof body, "string");
      assert.equal(isCompressed, false);
      const wanted = writing.json.serialize(create(method.output, listOf(name)));
      assert.deepEqual(Buffer.from(body), Buffer.from(wanted));
      assert.equal(sizeBytes, wanted.byteLength);
    }),
  );
});

test("JSON is compressed from the minimum size on if the client accepts it", async (t) => {
  const head = headOf(unaryForms.json, gzip);
  const small = await encodeAnswer(listOf("a"), head, writing, charged);
  t.equal(typeof small.body, "string");
  const name = "a".repeat(compressMinBytes);
  const large = await encodeAnswer(listOf(name), head, writing, charged);
  t.equal(large.isCompressed, true);
  assert(typeof large.body !== "string" && gzip !== undefined);
  t.equal(large.sizeBytes, large.body.byteLength);
  const plain = await gzip.decompress(new Uint8Array(large.body), writeMaxBytes);
  t.same(JSON.parse(Buffer.from(plain).toString()), { volumes: [{ name, sizeGb: "1" }] });
});

test("the limit of an answer is in bytes, for text too", (t) => {
  const head = headOf(unaryForms.json);
  // Consists of a character that has three bytes.
  t.throws(
    () => encodeAnswer(listOf("\u20ac".repeat(writeMaxBytes / 3)), head, writing, charged),
    new InfraError(
      "MESSAGE_TOO_LARGE",
      "message size 8036 is larger than the limit of 8000 bytes (limits.maxMessageBytes)",
    ),
  );
  t.doesNotThrow(() => encodeAnswer(listOf("a".repeat(writeMaxBytes / 3)), head, writing, charged));
  t.end();
});

test("text is encoded with the JSON options of the method", async (t) => {
  const { body } = await encodeAnswer(
    { volumes: [{ sizeGb: 1n }] },
    headOf(unaryForms.json),
    {
      ...writing,
      jsonOptions: { useProtoFieldName: true },
    },
    charged,
  );
  t.equal(body, '{"volumes":[{"size_gb":"1"}]}');
});

test("an answer without a JSON form is a fault of the gateway, not of the caller", (t) => {
  t.throws(() => encodeAnswer({ volumes: [{ name: 7 }] }, headOf(unaryForms.json), writing, charged), {
    code: 13,
  });
  t.end();
});

test("a long list is encoded in slices, with unchanged bytes", async (t) => {
  const volumes = Array.from({ length: 3000 }, (_, index) => ({ name: `volume-${index}`, sizeGb: 1n }));
  const message = create(method.output, { volumes });
  const unlimited = { ...writing, writeMaxBytes: 2 ** 22 };
  let turns = 0;
  let spentMs = 0;
  let pumping = setImmediate(function pump() {
    turns += 1;
    pumping = setImmediate(pump);
  });
  t.teardown(() => clearImmediate(pumping));
  const spending = { spend: (cpuMs: number) => (spentMs += cpuMs) };
  for (const form of [unaryForms.json, unaryForms.proto]) {
    const { body } = await encodeAnswer({ volumes }, headOf(form), unlimited, spending);
    const whole = form.isBinary ? toBinary(method.output, message) : toJsonString(method.output, message);
    t.ok(Buffer.from(body as string).equals(Buffer.from(whole as string)));
  }
  t.ok(turns > 0, "other work could run");
  t.ok(spentMs > 0, "its CPU time is charged");
  await t.rejects(Promise.resolve(encodeAnswer({ volumes }, headOf(unaryForms.json), writing, charged)), {
    message: /limits\.maxMessageBytes/,
  });
});

import { isDeepStrictEqual } from "node:util";
import { create, fromBinary, type JsonObject, toBinary } from "@bufbuild/protobuf";
import fc from "fast-check";
import { test } from "tap";
import { CreatePlanRequestSchema } from "../../../../gen/hostplane/v1/plan_pb.ts";
import { ResizeLVRequestSchema } from "../../../../gen/lvmd/served/lvmd_pb.ts";
import { canonicalBytes } from "../../../../server/rpc/interceptors/canonical-bytes.ts";

const requestOf = (value: JsonObject) =>
  create(CreatePlanRequestSchema, { method: "a.B/C", request: { case: "json", value } });

/** Reverses the entries of all objects. */
function reversed(value: unknown): unknown {
  if (typeof value !== "object" || value === null) {
    return value;
  }
  return Array.isArray(value)
    ? value.map(reversed)
    : Object.fromEntries(
        Object.entries(value)
          .toReversed()
          .map(([name, each]) => [name, reversed(each)]),
      );
}

test("the order of the entries of a map does not matter, and everything else does", (t) => {
  const json = fc.object({
    values: [
      fc.string(),
      fc.double({ noNaN: true, noDefaultInfinity: true }),
      fc.boolean(),
      fc.constant(null),
    ],
  });
  fc.assert(
    fc.property(json, json, (first, second) => {
      const message = requestOf(first as JsonObject);
      const same = canonicalBytes(requestOf(reversed(first) as JsonObject));
      const decoded = fromBinary(CreatePlanRequestSchema, toBinary(CreatePlanRequestSchema, message));
      const other = canonicalBytes(requestOf(second as JsonObject));
      const isEqual = isDeepStrictEqual(decodedJson(first), decodedJson(second));
      return (
        Buffer.compare(canonicalBytes(message), same) === 0 &&
        Buffer.compare(canonicalBytes(decoded), same) === 0 &&
        (Buffer.compare(other, same) === 0) === isEqual
      );
    }),
  );
  t.end();
});

/** Returns the value as a message has it, which does not distinguish 0 and -0. */
function decodedJson(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value));
}

test("numbers, bytes and texts that look alike differ", (t) => {
  const binary = (value: Uint8Array) =>
    create(CreatePlanRequestSchema, { request: { case: "binary", value } });
  const texts = [
    canonicalBytes(binary(new Uint8Array([1, 2]))),
    canonicalBytes(binary(new Uint8Array([1, 3]))),
    canonicalBytes(create(ResizeLVRequestSchema, { name: "1", sizeGb: 1n })),
    canonicalBytes(create(ResizeLVRequestSchema, { name: "1", sizeGb: 2n })),
    canonicalBytes(create(ResizeLVRequestSchema, { name: "2", sizeGb: 1n })),
    canonicalBytes(requestOf({ a: 1 })),
    canonicalBytes(requestOf({ a: "1" })),
    canonicalBytes(requestOf({ a: { b: 1 } })),
    canonicalBytes(requestOf({})),
  ].map((bytes) => Buffer.from(bytes).toString());
  t.equal(new Set(texts).size, texts.length);
  t.end();
});

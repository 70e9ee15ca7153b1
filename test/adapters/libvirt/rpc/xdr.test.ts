import fc from "fast-check";
import { test } from "tap";
import { typedParam, uuid } from "../../../../adapters/libvirt/rpc/objects.ts";
import {
  array,
  bool,
  type Codec,
  double,
  fixedOpaque,
  hyper,
  int,
  nothing,
  opaque,
  optional,
  string,
  struct,
  uhyper,
  uint,
} from "../../../../adapters/libvirt/rpc/xdr.ts";
import { decodeExactly } from "../../../../adapters/libvirt/rpc/xdr-reader.ts";
import { createXdrWriter } from "../../../../adapters/libvirt/rpc/xdr-writer.ts";

const unreadable = { reason: "TOOL_OUTPUT", message: /./ };

const refused = { reason: "INVALID_FIELD", message: /./ };

function encode<T>(codec: Codec<T>, value: T): Buffer {
  const writer = createXdrWriter();
  codec.encode(writer, value);
  return writer.finish();
}

const bytesUpTo = (maxLength: number) => fc.uint8Array({ maxLength }).map((bytes) => Buffer.from(bytes));
const anyText = fc.string({ unit: "grapheme", maxLength: 40 }).filter((text) => !text.includes("\0"));
const int32 = fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 });
const uint32 = fc.integer({ min: 0, max: 2 ** 32 - 1 });
const int64 = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n });
const uint64 = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n });

const cases: readonly (readonly [name: string, codec: Codec<unknown>, values: fc.Arbitrary<unknown>])[] = [
  ["int", int, int32],
  ["uint", uint, uint32],
  ["hyper", hyper, int64],
  ["uhyper", uhyper, uint64],
  ["double", double, fc.double({ noNaN: true })],
  ["bool", bool, fc.boolean()],
  ["nothing", nothing, fc.constant(undefined)],
  ["string", string(1_000), anyText],
  ["uuid", uuid, fc.uuid()],
  ["fixedOpaque", fixedOpaque(7), fc.uint8Array({ minLength: 7, maxLength: 7 }).map((b) => Buffer.from(b))],
  ["opaque", opaque(30), bytesUpTo(30)],
  ["array", array(string(1_000), 20), fc.array(anyText, { maxLength: 20 })],
  ["optional", optional(int), fc.option(int32)],
  [
    "struct",
    struct({
      name: string(1_000),
      size: uhyper,
      inner: struct({ flags: uint, note: optional(string(1_000)) }),
    }),
    fc.record({
      name: anyText,
      size: uint64,
      inner: fc.record({ flags: uint32, note: fc.option(anyText) }),
    }),
  ],
  [
    "union",
    typedParam,
    fc.record({
      field: anyText,
      value: fc.oneof(
        fc.record({ type: fc.constant("int"), value: int32 }),
        fc.record({ type: fc.constant("uint"), value: uint32 }),
        fc.record({ type: fc.constant("llong"), value: int64 }),
        fc.record({ type: fc.constant("ullong"), value: uint64 }),
        fc.record({ type: fc.constant("double"), value: fc.double({ noNaN: true }) }),
        fc.record({ type: fc.constant("boolean"), value: fc.boolean() }),
        fc.record({ type: fc.constant("string"), value: anyText }),
      ),
    }),
  ],
];

for (const [name, codec, values] of cases) {
  test(`${name}: encoded values decode again, from all of the bytes and no fewer`, async (t) => {
    fc.assert(
      fc.property(values, fc.nat(), (value, cut) => {
        const bytes = encode(codec, value);
        t.equal(bytes.length % 4, 0, "XDR is padded to four bytes");
        t.strictSame(plain(decodeExactly(codec, bytes)), plain(value));
        if (bytes.length > 0) {
          t.throws(() => decodeExactly(codec, bytes.subarray(0, cut % bytes.length)), unreadable);
          t.throws(() => decodeExactly(codec, Buffer.concat([bytes, Buffer.alloc(4)])), unreadable);
        }
      }),
      { numRuns: 100 },
    );
  });
}

/** fast-check creates records without a prototype. */
function plain(value: unknown): unknown {
  if (typeof value === "object" && value !== null && !Array.isArray(value) && !Buffer.isBuffer(value)) {
    return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, plain(each)]));
  }
  return value;
}

test("the encoding follows RFC 4506", async (t) => {
  t.equal(encode(int, -1).toString("hex"), "ffffffff");
  t.equal(encode(uhyper, 2n ** 40n).toString("hex"), "0000010000000000");
  t.equal(encode(string(10), "héé").toString("hex"), `00000005${Buffer.from("héé").toString("hex")}000000`);
  t.equal(encode(optional(uint), null).toString("hex"), "00000000");
  t.equal(encode(array(bool, 3), [true, false]).toString("hex"), "000000020000000100000000");
  t.equal(
    encode(uuid, "0a1b2c3d-4e5f-4071-8293-a4b5c6d7e8f9").toString("hex"),
    "0a1b2c3d4e5f40718293a4b5c6d7e8f9",
  );
});

test("rejects values that cannot be encoded, before anything is sent", async (t) => {
  const values: readonly (readonly [Codec<never>, unknown])[] = [
    [int as Codec<never>, 2 ** 31],
    [int as Codec<never>, 1.5],
    [uint as Codec<never>, -1],
    [uint as Codec<never>, Number.NaN],
    [hyper as Codec<never>, 2n ** 63n],
    [uhyper as Codec<never>, -1n],
    [string(4) as Codec<never>, "fünf"],
    [string(10) as Codec<never>, "two\0names"],
    [opaque(2) as Codec<never>, Buffer.alloc(3)],
    [fixedOpaque(2) as Codec<never>, Buffer.alloc(3)],
    [array(int, 1) as Codec<never>, [1, 2]],
    [uuid as Codec<never>, "0a1b2c3d"],
  ];
  for (const [codec, value] of values) {
    t.throws(() => encode(codec, value as never), refused, String(value));
  }
});

test("rejects impossible lengths before allocating memory", async (t) => {
  const length = (count: number) => encode(uint, count);
  const huge = length(0xffff_ffff);
  t.throws(() => decodeExactly(string(2 ** 32), huge), unreadable);
  t.throws(() => decodeExactly(opaque(2 ** 32), huge), unreadable);
  t.throws(() => decodeExactly(array(int, 2 ** 32), huge), unreadable);
  t.throws(() => decodeExactly(array(int, 1), Buffer.concat([length(2), Buffer.alloc(8)])), unreadable);
  t.throws(() => decodeExactly(optional(int), Buffer.concat([length(2), Buffer.alloc(8)])), unreadable);
  t.throws(() => decodeExactly(typedParam, Buffer.concat([encode(string(9), "field"), length(8)])), {
    reason: "TOOL_OUTPUT",
    message: /no arm 8/,
  });
});

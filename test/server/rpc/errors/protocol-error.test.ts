import assert from "node:assert/strict";
import { toBinary } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import {
  compressionNegotiate,
  createMethodSerializationLookup,
  envelopeDecompress,
  readAllBytes,
} from "@connectrpc/connect/protocol";
import { parseTimeout as parseConnectTimeout } from "@connectrpc/connect/protocol-connect";
import { parseTimeout as parseGrpcTimeout } from "@connectrpc/connect/protocol-grpc";
import fc from "fast-check";
import { test } from "tap";
import type { InfraError } from "../../../../adapters/host/infra-error.ts";
import { CreateLVRequestSchema, LVService } from "../../../../gen/proto/lvmd_pb.ts";
import { infraErrorFromProtocolError } from "../../../../server/rpc/errors/protocol-error.ts";
import { compressions } from "../../../../server/rpc/protocols/wire/compression.ts";

// The tests verify the texts of the libraries' own errors, so the libraries produce them.

const limits = { readMaxBytes: 65_536, writeMaxBytes: 65_536 };
const lookup = createMethodSerializationLookup(
  LVService.method.createLV,
  undefined,
  { ignoreUnknownFields: false },
  limits,
);
const json = lookup.getI(false);
const binary = lookup.getI(true);

/** Returns the error of reading, as the gateway would answer it; undefined if there is none. */
function errorOf(read: () => unknown): InfraError | undefined {
  try {
    read();
    return undefined;
  } catch (thrown) {
    return thrown instanceof ConnectError ? infraErrorFromProtocolError(thrown) : undefined;
  }
}

async function errorOfPromise(reading: Promise<unknown>): Promise<InfraError | undefined> {
  const [result] = await Promise.allSettled([reading]);
  return errorOf(() => {
    if (result.status === "rejected") {
      throw result.reason;
    }
  });
}

const bytesOf = (text: string) => new TextEncoder().encode(text);
const known = new Set(
  CreateLVRequestSchema.fields.flatMap(({ name, jsonName, localName }) => [name, jsonName, localName]),
);

test("any JSON value is read or is the caller's fault", async () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const error = errorOf(() => json.parse(bytesOf(JSON.stringify(value))));
      assert.ok(error === undefined || error.code === "INVALID_ARGUMENT", error?.message ?? "read");
    }),
    { numRuns: 300 },
  );
});

test("any text is read or is the caller's fault", async () => {
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string({ unit: "grapheme" }),
        fc.json().map((text) => text.slice(0, -1)),
      ),
      (text) => {
        const error = errorOf(() => json.parse(bytesOf(text)));
        assert.ok(error === undefined || error.code === "INVALID_ARGUMENT", error?.message ?? "read");
      },
    ),
  );
});

test("any bytes are read or are the caller's fault", async () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
      const error = errorOf(() => binary.parse(bytes));
      assert.ok(error === undefined || error.code === "INVALID_ARGUMENT", error?.message ?? "read");
    }),
    { numRuns: 500 },
  );
  const whole = toBinary(CreateLVRequestSchema, binary.parse(Uint8Array.from([0x0a, 1, 97, 0x1a, 1, 98])));
  for (let end = 0; end < whole.byteLength; end += 1) {
    const error = errorOf(() => binary.parse(whole.subarray(0, end)));
    assert.ok(error === undefined || error.code === "INVALID_ARGUMENT", `cut at ${end}`);
  }
});

test("a field that the message does not have is named, whatever its name", async () => {
  const names = fc.string({ unit: "grapheme" }).filter((name) => !known.has(name) && !/^\[.*\]$/s.test(name));
  fc.assert(
    fc.property(names, (name) => {
      const error = errorOf(() => json.parse(bytesOf(`{${JSON.stringify(name)}:1}`)));
      assert.equal(error?.reason, "UNKNOWN_FIELD");
      assert.deepEqual(
        error?.violations.map(({ field }) => field),
        [name],
      );
    }),
  );
});

test("a field of the wrong type is named as in the contract", async (t) => {
  const wrong = { sizeGb: "x", size_gb: -1, tags: 1, deviceClass: {}, device_class: [] };
  for (const [name, value] of Object.entries(wrong)) {
    const error = errorOf(() => json.parse(bytesOf(JSON.stringify({ [name]: value }))));
    const field = name.replace(/[A-Z]/, (letter) => `_${letter.toLowerCase()}`);
    t.match(error, { reason: "INVALID_FIELD", violations: [{ field }] }, name);
  }
});

test("a number that is invalid for the field is refused with the field's range", async (t) => {
  const limits = "size_gb: must be a whole number from 0 to 18446744073709551615, is ";
  for (const value of ["-1", "1.5", "18446744073709551616", '"x"']) {
    const error = errorOf(() => json.parse(bytesOf(`{"sizeGb":${value}}`)));
    t.equal(error?.message.startsWith(limits), true, value);
  }
});

test("a message larger than the limit is refused, and the limit named", async (t) => {
  async function* chunks() {
    yield new Uint8Array(40_000);
    yield new Uint8Array(40_000);
  }
  const plain = await errorOfPromise(readAllBytes(chunks(), limits.readMaxBytes));
  t.match(plain, {
    reason: "MESSAGE_TOO_LARGE",
    message: /the limit of 65536 bytes \(limits\.maxMessageBytes\)$/,
  });
  const text = new ConnectError(
    "message size 577332258 is larger than configured readMaxBytes 65536",
    Code.ResourceExhausted,
  );
  t.match(infraErrorFromProtocolError(text), {
    reason: "MESSAGE_TOO_LARGE",
    message: /limits\.maxMessageBytes\); .*the five-byte envelope head that streams need$/,
  });
  for (const compression of compressions) {
    const bomb = await compression.compress(new Uint8Array(1 << 20));
    const error = await errorOfPromise(compression.decompress(bomb, limits.readMaxBytes));
    t.match(
      error,
      { reason: "MESSAGE_TOO_LARGE", message: /limit of 65536 bytes .* after decompression/ },
      compression.name,
    );
    const noise = await errorOfPromise(compression.decompress(Uint8Array.from([1, 2, 3]), 100));
    t.match(noise, { reason: "MALFORMED_REQUEST" }, compression.name);
    t.same(
      await compression.decompress(new Uint8Array(0), 100),
      new Uint8Array(0),
      "an empty message stays empty",
    );
  }
});

test("an unknown or unnamed compression has its own reason", async (t) => {
  const { error } = compressionNegotiate(compressions, "zstd", null, "accept-encoding");
  t.match(error && infraErrorFromProtocolError(error), {
    reason: "UNSUPPORTED_COMPRESSION",
    message: /zstd.*gzip,br/,
  });
  const unnamed = envelopeDecompress({ flags: 1, data: new Uint8Array(1) }, null, 100);
  t.match(await errorOfPromise(unnamed), { reason: "COMPRESSION_NOT_NAMED" });
});

test("a malformed deadline is the caller's fault", async () => {
  for (const parseTimeout of [parseConnectTimeout, parseGrpcTimeout]) {
    fc.assert(
      fc.property(fc.string(), (value) => {
        const { error } = parseTimeout(value, 1e12);
        assert.ok(
          error === undefined || infraErrorFromProtocolError(error).reason === "MALFORMED_REQUEST",
          value,
        );
      }),
    );
  }
});

import fc from "fast-check";
import { test } from "tap";
import type { LogPiece } from "../../../../adapters/podman/adapter.ts";
import { createLogDecoder } from "../../../../adapters/podman/parse/parse-log.ts";
import { reasonOfCall } from "../../host/reason-of.ts";
import { logOf } from "../samples.ts";

/** Splits bytes at the given fractions of their length. */
function chunksOf(bytes: Uint8Array, cuts: readonly number[]): Uint8Array[] {
  const places = cuts.map((share) => Math.floor(share * bytes.length)).sort((a, b) => a - b);
  return [0, ...places].map((from, index) => bytes.subarray(from, places[index] ?? bytes.length));
}

function decode(chunks: readonly Uint8Array[]): LogPiece[] {
  const decoder = createLogDecoder();
  return chunks.flatMap((chunk) => decoder(chunk));
}

const text = ({ bytes }: LogPiece) => Buffer.from(bytes).toString("latin1");

test("decodes a log line by line with its streams", async (t) => {
  const pieces = decode([logOf("ticker")]);
  t.strictSame(pieces.filter(({ stream }) => stream === "stdout").map(text), ["tick 0", "tick 1", "tick 2"]);
  t.strictSame(pieces.filter(({ stream }) => stream === "stderr").map(text), ["err 0", "err 1", "err 2"]);
  t.ok(pieces.every(({ endsLine, timeNs }) => endsLine && timeNs % 1_000_000_000n === 0n));
});

test("decodes long, unfinished, empty and binary lines as they were printed", async (t) => {
  const pieces = decode([logOf("odd")]);
  t.ok(pieces.some(({ endsLine, bytes }) => !endsLine && bytes.length === 8192));
  let whole = "";
  for (const piece of pieces) {
    whole += text(piece) + (piece.endsLine ? "\n" : "");
  }
  t.equal(whole, `${"a".repeat(20_000)}\n\nhalfmore\n\xff\xfex\nunfinished`);
});

const frame = fc.record({
  stream: fc.constantFrom("stdout" as const, "stderr" as const),
  timeNs: fc.bigInt({ min: 0n, max: 4_000_000_000n }).map((seconds) => seconds * 1_000_000_000n),
  // A newline inside would end the line for Podman, too.
  bytes: fc.uint8Array({ maxLength: 300 }).map((bytes) => bytes.filter((byte) => byte !== 10)),
  endsLine: fc.boolean(),
});

function encode({ stream, timeNs, bytes, endsLine }: LogPiece): Uint8Array {
  const time = new Date(Number(timeNs / 1_000_000n)).toISOString().replace(".000Z", "Z ");
  const body = Buffer.concat([Buffer.from(time), bytes, Buffer.from(endsLine ? "\n" : "")]);
  const header = Buffer.alloc(8);
  header[0] = stream === "stdout" ? 1 : 2;
  header.writeUInt32BE(body.length, 4);
  return Buffer.concat([header, body]);
}

test("decodes the same pieces however the bytes are split", async (t) => {
  const cuts = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 12 });
  fc.assert(
    fc.property(fc.array(frame, { maxLength: 20 }), cuts, (frames, places) => {
      const pieces = decode(chunksOf(Buffer.concat(frames.map(encode)), places));
      t.strictSame(
        pieces.map((piece) => ({ ...piece, bytes: [...piece.bytes] })),
        frames.map((piece) => ({ ...piece, bytes: [...piece.bytes] })),
      );
    }),
    { numRuns: 200 },
  );
  fc.assert(
    fc.property(cuts, (places) => {
      t.equal(decode(chunksOf(logOf("odd"), places)).length, decode([logOf("odd")]).length);
    }),
    { numRuns: 100 },
  );
});

test("any input is decoded or rejected, and no oversized frame is waited for", async () => {
  const spoiled = fc.tuple(fc.nat(), fc.uint8Array({ minLength: 1, maxLength: 9 })).map(([at, bytes]) => {
    const copy = Buffer.from(logOf("ticker"));
    copy.set(bytes, at % (copy.length - bytes.length));
    return copy;
  });
  await fc.assert(
    fc.asyncProperty(fc.oneof(fc.uint8Array({ maxLength: 2_000 }), spoiled), async (bytes) => {
      const reason = await reasonOfCall(() => decode([bytes]));
      return reason === undefined || reason === "PODMAN_FAILED";
    }),
    { numRuns: 2_000 },
  );
});

test("rejects a frame of more than 16 MiB, another stream, and a line without a time", async (t) => {
  for (const bytes of [
    [1, 0, 0, 0, 255, 255, 255, 255],
    [3, 0, 0, 0, 0, 0, 0, 1, 65],
    [1, 1, 0, 0, 0, 0, 0, 1, 65],
    [1, 0, 0, 0, 0, 0, 0, 3, 65, 66, 10],
  ]) {
    t.equal(await reasonOfCall(() => decode([Uint8Array.from(bytes)])), "PODMAN_FAILED");
  }
});

test("a long frame in small chunks costs no more than its length", async (t) => {
  const bytes = new Uint8Array(8 * 1024 * 1024).fill(97);
  const whole = encode({ stream: "stdout", timeNs: 0n, bytes, endsLine: true });
  const chunks = Array.from({ length: Math.ceil(whole.length / 1024) }, (_, index) =>
    whole.subarray(index * 1024, (index + 1) * 1024),
  );
  const startedMs = performance.now();
  const [piece] = decode(chunks);
  t.equal(piece?.bytes.length, bytes.length);
  t.ok(performance.now() - startedMs < 2_000);
});

import fc from "fast-check";
import { test } from "tap";
import type { LogPiece } from "../../../../adapters/podman/adapter.ts";
import { createRecordDecoder } from "../../../../adapters/podman/parse/parse-log-record.ts";

function decode(chunks: readonly Uint8Array[]): LogPiece[] {
  const decoder = createRecordDecoder();
  return chunks.flatMap((chunk) => decoder(chunk));
}

const words = (text: string) =>
  decode([Buffer.from(text)]).map(({ bytes }) => Buffer.from(bytes).toString("latin1"));

const record = fc.record({
  stream: fc.constantFrom("stdout" as const, "stderr" as const),
  seconds: fc.bigInt({ min: 0n, max: 4_000_000_000n }),
  fraction: fc.integer({ min: 0, max: 999_999_999 }).map((ns) => String(ns).padStart(9, "0")),
  zone: fc.constantFrom(
    { zone: "Z", offset: 0n },
    { zone: "+01:00", offset: 3_600n },
    { zone: "-03:30", offset: -12_600n },
  ),
  bytes: fc.uint8Array({ maxLength: 300 }).map((bytes) => bytes.filter((byte) => byte !== 10)),
  endsLine: fc.boolean(),
});

test("any records, however split, are delivered once, in order, with their second", async () => {
  fc.assert(
    fc.property(fc.array(record), fc.array(fc.double({ min: 0, max: 1, noNaN: true })), (records, cuts) => {
      const file = Buffer.concat(
        records.flatMap(({ stream, seconds, fraction, zone: { zone, offset }, bytes, endsLine }) => {
          const local = new Date(Number(seconds + offset) * 1_000).toISOString().slice(0, 19);
          const head = `${local}.${fraction}${zone} ${stream} ${endsLine ? "F" : "P"} `;
          return [Buffer.from(head), bytes, Buffer.from("\n")];
        }),
      );
      const places = cuts.map((share) => Math.floor(share * file.length)).sort((a, b) => a - b);
      const found = decode([0, ...places].map((from, at) => file.subarray(from, places[at] ?? file.length)));
      return (
        found.length === records.length &&
        records.every(({ stream, seconds, bytes, endsLine }, at) => {
          const piece = found[at];
          return (
            piece?.stream === stream &&
            piece.timeNs === seconds * 1_000_000_000n &&
            piece.endsLine === endsLine &&
            Buffer.compare(piece.bytes, bytes) === 0
          );
        })
      );
    }),
  );
});

test("skips invalid records, as Podman does", async (t) => {
  const good = "2026-11-21T15:29:23.5Z stdout F good\n";
  t.strictSame(words(`dle\n\n${good}2026-11-21T15:29:23Z stdin F x\n2026-11-21 stdout F x\n${good}`), [
    "good",
    "good",
  ]);
  t.strictSame(words(`2026-11-21T15:29:23Z stdout F \n2026-11-21T15:29:23Z stderr F  a b \n`), ["", " a b "]);
  t.strictSame(words(`\0\0\0${good}${good}`), ["good"]);
});

test("accepts any bytes, and text without records uses little memory", async () => {
  fc.assert(
    fc.property(fc.array(fc.uint8Array({ maxLength: 200 })), (chunks) => Array.isArray(decode(chunks))),
  );
  const decoder = createRecordDecoder();
  for (let turn = 0; turn < 64; turn += 1) {
    decoder(Buffer.alloc(64 * 1024, "x"));
  }
});

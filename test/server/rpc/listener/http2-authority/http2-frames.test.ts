import fc from "fast-check";
import { test } from "tap";
import { createFrameSplitter } from "../../../../../server/rpc/listener/http2-authority/http2-frames.ts";
import { clientPreface, cut, frame } from "./frames.ts";

interface Part {
  readonly kind: "other" | "headers";
  readonly bytes: Buffer;
}

function split(chunks: readonly Buffer[]): Part[] {
  const parts: Part[] = [];
  const splitter = createFrameSplitter({
    other: (bytes) => parts.push({ kind: "other", bytes }),
    headerFrames: (bytes) => parts.push({ kind: "headers", bytes }),
  });
  for (const chunk of chunks) {
    splitter.push(chunk);
  }
  splitter.end();
  return parts;
}

/** Joins neighbouring "other" parts, because their boundaries depend on the chunks. */
function joined(parts: readonly Part[]): string[] {
  const lines: string[] = [];
  for (const { kind, bytes } of parts) {
    const last = lines.at(-1);
    if (kind === "other" && last?.startsWith("other") === true) {
      lines.push(lines.pop() + bytes.toString("hex"));
    } else {
      lines.push(`${kind} ${bytes.toString("hex")}`);
    }
  }
  return lines;
}

const arbitraryFrame = fc.oneof(
  fc
    .record({
      type: fc.constantFrom(0, 1, 1, 1, 9, 9, 3, 255),
      flags: fc.constantFrom(0, 4, 4, 0x2d, 0xff),
      streamId: fc.constantFrom(1, 3, 0),
      payload: fc.uint8Array({ maxLength: 40 }),
    })
    .map(({ type, flags, streamId, payload }) => frame(type, flags, streamId, payload)),
  // Header blocks with sizes around the limit.
  fc.constantFrom(16384, 65526, 65527, 65528, 70000).map((length) => frame(1, 4, 1, Buffer.alloc(length, 7))),
  fc.constantFrom(16384, 49134, 49135).map((length) => frame(9, 4, 1, Buffer.alloc(length, 8))),
  fc.constant(frame(1, 0, 1, Buffer.alloc(16384, 9))),
);
const arbitraryCuts = fc.array(fc.nat({ max: 200_000 }), { maxLength: 30 });

test("header blocks are found among other frames", async (t) => {
  const settings = frame(4, 0, 0, Buffer.alloc(6));
  const headers = frame(1, 5, 1, Buffer.from("block"));
  const data = frame(0, 0, 1, Buffer.alloc(50_000, 1));
  const opened = frame(1, 0, 3, Buffer.from("first"));
  const middle = frame(9, 0, 3, Buffer.alloc(0));
  const closed = frame(9, 4, 3, Buffer.from("last"));
  const bytes = Buffer.concat([
    clientPreface,
    settings,
    headers,
    data,
    opened,
    middle,
    closed,
    data,
    headers,
  ]);
  const parts = split([bytes]);
  t.same(
    parts.filter(({ kind }) => kind === "headers").map((part) => part.bytes),
    [headers, Buffer.concat([opened, middle, closed]), headers],
  );
  t.same(Buffer.concat(parts.map((part) => part.bytes)), bytes);
});

test("a chunk without header frames is passed on as the same object", async (t) => {
  const parts: Buffer[] = [];
  const splitter = createFrameSplitter({ other: (bytes) => parts.push(bytes), headerFrames: () => {} });
  const data = frame(0, 0, 1, Buffer.alloc(100_000));
  const chunks = [
    clientPreface,
    data.subarray(0, 40_000),
    data.subarray(40_000, 80_000),
    data.subarray(80_000),
  ];
  for (const chunk of chunks) {
    splitter.push(chunk);
  }
  t.equal(parts.length, chunks.length);
  t.ok(parts.every((part, index) => part === chunks[index]));
});

test("however a connection is cut into chunks, the parts are the same and no byte is lost", async () => {
  fc.assert(
    fc.property(fc.array(arbitraryFrame, { maxLength: 12 }), arbitraryCuts, (frames, cuts) => {
      const bytes = Buffer.concat([clientPreface, ...frames]);
      const whole = split([bytes]);
      const chunked = split(cut(bytes, cuts));
      if (!Buffer.concat(chunked.map((part) => part.bytes)).equals(bytes)) {
        throw new Error("bytes lost");
      }
      if (joined(whole).join() !== joined(chunked).join()) {
        throw new Error("other parts");
      }
    }),
    { numRuns: 300 },
  );
});

test("one byte at a time gives the same", async (t) => {
  const bytes = Buffer.concat([
    clientPreface,
    frame(1, 0, 1, Buffer.alloc(300, 1)),
    frame(9, 4, 1, Buffer.alloc(300, 2)),
    frame(0, 1, 1, Buffer.alloc(300, 3)),
    frame(1, 5, 3, Buffer.alloc(0)),
  ]);
  t.same(joined(split(Array.from(bytes, (byte) => Buffer.of(byte)))), joined(split([bytes])));
});

test("arbitrary bytes, with and without a preface, are passed on unchanged and never throw", async () => {
  const start = fc.constantFrom(Buffer.alloc(0), clientPreface, Buffer.from("PRI * HTTP/1.1\r\n"));
  fc.assert(
    fc.property(start, fc.uint8Array({ maxLength: 2000 }), arbitraryCuts, (head, tail, cuts) => {
      const bytes = Buffer.concat([head, tail]);
      return Buffer.concat(split(cut(bytes, cuts)).map((part) => part.bytes)).equals(bytes);
    }),
    { numRuns: 1000 },
  );
});

test("a header block above 64 KiB is passed on while it arrives, and the next one is found", async (t) => {
  const parts: Part[] = [];
  const splitter = createFrameSplitter({
    other: (bytes) => parts.push({ kind: "other", bytes }),
    headerFrames: (bytes) => parts.push({ kind: "headers", bytes }),
  });
  splitter.push(clientPreface);
  splitter.push(frame(1, 0, 1, Buffer.alloc(16384)));
  for (let i = 0; i < 5; i++) {
    splitter.push(frame(9, 0, 1, Buffer.alloc(16384)));
  }
  t.equal(
    parts.reduce((sum, { bytes }) => sum + bytes.length, 0),
    clientPreface.length + 6 * (16384 + 9),
    "nothing is held back any more",
  );
  splitter.push(frame(9, 4, 1, Buffer.alloc(10)));
  const next = frame(1, 5, 3, Buffer.alloc(10));
  splitter.push(next);
  t.same(
    parts.filter(({ kind }) => kind === "headers"),
    [{ kind: "headers", bytes: next }],
  );
});

import fc from "fast-check";
import { test } from "tap";
import { rewriteHeaderFrames } from "../../../../../server/rpc/listener/http2-authority/header-frames.ts";
import { frame } from "./frames.ts";

const toDashes = (block: Buffer) => Buffer.from(block.toString("latin1").replaceAll("/", "-"), "latin1");
const priority = Buffer.from("8000000310", "hex");

test("for an unchanged block the same frames object is returned", async (t) => {
  const frames = frame(1, 0x2d, 1, Buffer.concat([Buffer.of(2), priority, Buffer.from("abc\0\0")]));
  t.equal(
    rewriteHeaderFrames(frames, (block) => block),
    frames,
  );
});

test("padding is removed; priority, stream and END_STREAM are kept", async (t) => {
  const padded = frame(1, 0x2d, 5, Buffer.concat([Buffer.of(2), priority, Buffer.from("a/b\0\0")]));
  t.same(
    rewriteHeaderFrames(padded, toDashes),
    frame(1, 0x25, 5, Buffer.concat([priority, Buffer.from("a-b")])),
  );
});

test("a literal that spans frames is rewritten as a whole", async (t) => {
  const frames = Buffer.concat([
    frame(1, 1, 7, Buffer.from("a/")),
    frame(9, 0, 7, Buffer.alloc(0)),
    frame(9, 4, 7, Buffer.from("/b")),
  ]);
  const seen: string[] = [];
  const rewritten = rewriteHeaderFrames(frames, (block) => {
    seen.push(block.toString());
    return toDashes(block);
  });
  t.same(seen, ["a//b"]);
  t.same(rewritten, frame(1, 5, 7, Buffer.from("a--b")));
});

test("a large block is cut into frames of 16 KiB", async (t) => {
  const block = Buffer.alloc(50_000, "/");
  const rewritten = rewriteHeaderFrames(frame(1, 0x25, 9, Buffer.concat([priority, block])), toDashes);
  const dashes = Buffer.concat([priority, Buffer.alloc(50_000, "-")]);
  t.same(
    rewritten,
    Buffer.concat([
      frame(1, 0x21, 9, dashes.subarray(0, 16384)),
      frame(9, 0, 9, dashes.subarray(16384, 32768)),
      frame(9, 0, 9, dashes.subarray(32768, 49152)),
      frame(9, 4, 9, dashes.subarray(49152)),
    ]),
  );
});

test("malformed frames are returned unchanged", async (t) => {
  for (const [what, frames] of [
    ["padding longer than the frame", frame(1, 0xc, 1, Buffer.from("\x09a/b"))],
    ["padded and empty", frame(1, 0xc, 1, Buffer.alloc(0))],
    ["no room for the priority", frame(1, 0x24, 1, Buffer.from("a/"))],
    [
      "a CONTINUATION of another stream",
      Buffer.concat([frame(1, 0, 1, Buffer.from("a/")), frame(9, 4, 3, Buffer.from("/b"))]),
    ],
  ] as const) {
    t.equal(rewriteHeaderFrames(frames, toDashes), frames, what);
  }
});

test("arbitrary payloads and flags never throw", async () => {
  fc.assert(
    fc.property(fc.nat({ max: 255 }), fc.uint8Array({ maxLength: 30 }), (flags, payload) => {
      const frames = frame(1, flags, 1, payload);
      return rewriteHeaderFrames(frames, toDashes).length <= frames.length;
    }),
    { numRuns: 2000 },
  );
});

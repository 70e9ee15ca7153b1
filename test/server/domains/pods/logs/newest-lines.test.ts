import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import fc from "fast-check";
import { test } from "tap";
import { type LogLine, leastLineBytes } from "../../../../../server/domains/pods/logs/log-line.ts";
import { createNewestLines } from "../../../../../server/domains/pods/logs/newest-lines.ts";

setFlagsFromString("--expose-gc");
const collectGarbage: () => void = runInNewContext("gc");

const lineOf = (size: number): LogLine => ({ timeNs: 0n, bytes: new Uint8Array(size), cutBytes: 0 });
const costOf = (lines: readonly LogLine[]) =>
  lines.reduce((sum, { bytes }) => sum + bytes.length + leastLineBytes, 0);

test("the newest lines are kept, as many as allowed and as fit", async () => {
  fc.assert(
    fc.property(
      fc.array(fc.array(fc.nat({ max: 200 }), { maxLength: 50 }), { maxLength: 10 }),
      fc.oneof(fc.integer({ min: 1, max: 60 }), fc.constant(Number.POSITIVE_INFINITY)),
      fc.integer({ min: 1, max: 4_000 }),
      (batches, maxLines, maxBytes) => {
        const newest = createNewestLines(maxLines, maxBytes);
        const all: LogLine[] = [];
        for (const sizes of batches) {
          const lines = sizes.map(lineOf);
          newest.add(lines);
          all.push(...lines);
        }
        const kept = newest.kept();
        const one = all.at(-kept.length - 1);
        return (
          newest.seen() === all.length &&
          kept.every((line, at) => line === all[all.length - kept.length + at]) &&
          (kept.length > 0 || all.length === 0) &&
          (kept.length <= 1 || (kept.length <= maxLines && costOf(kept) <= maxBytes)) &&
          // No fewer than that.
          (kept.length === all.length ||
            kept.length === maxLines ||
            costOf(one === undefined ? kept : [one, ...kept]) > maxBytes)
        );
      },
    ),
  );
});

test("dropped lines are released", async (t) => {
  const newest = createNewestLines(Number.POSITIVE_INFINITY, 1 << 20);
  const line = () => ({ timeNs: 0n, bytes: Buffer.alloc(100_000), cutBytes: 0 });
  const before = process.memoryUsage().arrayBuffers;
  for (let count = 0; count < 3_000; count += 1) {
    newest.add([line()]);
    if (count % 500 === 0) {
      await new Promise((resolve) => setImmediate(resolve));
      collectGarbage();
    }
  }
  collectGarbage();
  const grown = process.memoryUsage().arrayBuffers - before;
  t.ok(grown < 100 << 20, `${grown} bytes of 300 MB`);
  t.ok(newest.kept().length <= 10);
});

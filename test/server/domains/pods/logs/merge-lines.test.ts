import { setImmediate as turn } from "node:timers/promises";
import fc from "fast-check";
import { test } from "tap";
import type { LogLine } from "../../../../../server/domains/pods/logs/log-line.ts";
import { mergedLines, mergeLines } from "../../../../../server/domains/pods/logs/merge-lines.ts";

const lineOf = (app: number, number: number, second: number): LogLine => ({
  timeNs: BigInt(second) * 1_000_000_000n,
  bytes: Buffer.from(`${app}:${number}`),
  cutBytes: 0,
});
const nameOf = ({ bytes }: LogLine) => Buffer.from(bytes).toString();

/** Lines of several apps, by the seconds in which they were printed; clocks may be set back. */
const apps = fc
  .array(fc.array(fc.nat({ max: 8 }), { maxLength: 12 }), { maxLength: 4 })
  .map((each) => each.map((seconds, app) => seconds.map((second, at) => lineOf(app, at, second))));

/** Returns the lines in batches of random sizes, possibly empty, as they arrive from an app. */
function pullOf(
  lines: readonly LogLine[],
  sizes: Iterator<number>,
): () => Promise<readonly LogLine[] | undefined> {
  let at = 0;
  return async () => {
    await turn();
    if (at >= lines.length) {
      return undefined;
    }
    const batch = lines.slice(at, at + (sizes.next().value ?? 1));
    at += batch.length;
    return batch;
  };
}

async function allOf(batches: AsyncIterable<readonly LogLine[]>): Promise<LogLine[]> {
  const all: LogLine[] = [];
  for await (const batch of batches) {
    all.push(...batch);
  }
  return all;
}

test("merging nothing gives nothing", async (t) => {
  t.strictSame(mergeLines([]), []);
  t.strictSame(await allOf(mergedLines([])), []);
  t.strictSame(await allOf(mergedLines([async () => undefined])), []);
});

test("lines of several apps are ordered by time, and within the same second app by app", async (t) => {
  const one = [1, 2, 2, 5].map((second, at) => lineOf(1, at, second));
  const two = [1, 2, 4, 5].map((second, at) => lineOf(2, at, second));
  t.strictSame(mergeLines([one, two]).map(nameOf), ["1:0", "2:0", "1:1", "1:2", "2:1", "2:2", "1:3", "2:3"]);
});

test("lines with ascending times are merged like in a stable sort", async () => {
  const rising = apps.map((each) =>
    each.map((lines) => lines.toSorted((a, b) => Number(a.timeNs - b.timeNs))),
  );
  fc.assert(
    fc.property(rising, (each) => {
      const sorted = each.flat().toSorted((a, b) => Number(a.timeNs - b.timeNs));
      return mergeLines(each).map(nameOf).join() === sorted.map(nameOf).join();
    }),
  );
});

test("every line is returned once, in its app's order, whatever the batches", async () => {
  await fc.assert(
    fc.asyncProperty(apps, fc.infiniteStream(fc.nat({ max: 5 })), async (each, sizes) => {
      const merged = mergeLines(each).map(nameOf);
      const come = await allOf(mergedLines(each.map((lines) => pullOf(lines, sizes))));
      const isInOrder = each.every(
        (lines, app) =>
          merged.filter((name) => name.startsWith(`${app}:`)).join() === lines.map(nameOf).join(),
      );
      return isInOrder && merged.length === each.flat().length && come.map(nameOf).join() === merged.join();
    }),
    { numRuns: 60 },
  );
});

test("an app is read further only when its lines have been yielded", async (t) => {
  let requestCount = 0;
  const busy = async () => {
    requestCount += 1;
    return requestCount > 100 ? undefined : [lineOf(0, requestCount, 10 + requestCount)];
  };
  const quiet = async () => [lineOf(1, 0, 0)];
  const merged = mergedLines([busy, quiet]);
  for (let count = 0; count < 20; count += 1) {
    await merged.next();
  }
  t.equal(requestCount, 1, "all lines of the quiet app are earlier");
});

test("an app's failure ends the merge", async (t) => {
  const failing = async () => {
    throw new Error("gone");
  };
  await t.rejects(allOf(mergedLines([async () => undefined, failing])), { message: "gone" });
});

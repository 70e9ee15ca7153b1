import { test } from "tap";
import { p99Ms } from "./took-ms.ts";

test("two of two hundred calls may be slow; the next slowest is reported", async (t) => {
  const slowestMs = [300, 200, 100];
  const tooks: Promise<void>[] = [];
  const call = () => {
    const took = new Promise<void>((resolve) => setTimeout(resolve, slowestMs[tooks.length] ?? 0));
    tooks.push(took);
    return took;
  };
  const p99 = await p99Ms(call, { callsPerSecond: 2_000, durationMs: 100 });
  t.equal(tooks.length, 200);
  t.ok(p99 >= 99, `${p99} ms`);
});

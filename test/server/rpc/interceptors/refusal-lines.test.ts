import { test } from "tap";
import { createRefusalLines } from "../../../../server/rpc/interceptors/refusal-lines.ts";

test("the first lines of a key are written, the rest is counted once a minute", async (t) => {
  let nowMs = 0;
  const lines: string[] = [];
  const counts: [string, number][] = [];
  const refusals = createRefusalLines<string>(
    (line) => lines.push(line),
    (last, count) => counts.push([last, count]),
    () => nowMs,
  );
  for (let i = 1; i <= 1000; i++) {
    refusals.add("a", `a ${i}`);
  }
  refusals.add("b", "b 1");
  t.same(lines, ["a 1", "a 2", "a 3", "a 4", "a 5", "b 1"]);
  t.same(counts, []);
  await refusals.flush();
  t.same(counts, [["a 1000", 995]]);
  nowMs += 60_000;
  refusals.add("a", "a 1001");
  t.equal(lines.at(-1), "a 1001");
});

test("however many keys there are, a minute has a bounded number of lines", async (t) => {
  let written = 0;
  const refusals = createRefusalLines<number>(
    () => {
      written += 1;
    },
    () => {
      written += 1;
    },
    () => 0,
  );
  for (let i = 0; i < 100_000; i++) {
    refusals.add(`192.0.2.${i}`, i);
  }
  await refusals.flush();
  t.ok(written <= 201, `${written} lines`);
});

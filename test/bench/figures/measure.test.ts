import { test } from "tap";
import type { Bench } from "../bench.ts";
import { measure, median } from "./measure.ts";

/** Creates a benchmark whose sides return the given costs, and which records the order of calls. */
function createBench(baseline: readonly number[], ours: readonly number[]) {
  const requests: string[] = [];
  const side = (name: string, costs: readonly number[]) => {
    let index = 0;
    return {
      async measure() {
        requests.push(name);
        const cost = costs[index];
        index += 1;
        if (cost === undefined) {
          throw new Error(`${name} is broken`);
        }
        return cost;
      },
    };
  };
  const bench: Bench = {
    name: "test",
    what: "a test",
    baseline: "nothing",
    unit: "ms",
    maxRatio: 1,
    rounds: 3,
    coldRounds: 1,
    start: async () => ({
      baseline: side("baseline", baseline),
      ours: side("ours", ours),
      stop: async () => void requests.push("stop"),
    }),
  };
  return { bench, requests };
}

test("warm-up rounds do not count, and the sides take turns at going first", async (t) => {
  const { bench, requests } = createBench([99, 1, 2, 4], [1, 3, 2, 6]);
  t.match(await measure(bench), { baseline: 2, ours: 3, figure: 1.5, minFigure: 1, maxFigure: 3 });
  t.equal(requests.join(" "), "ours baseline baseline ours ours baseline baseline ours stop");
});

test("a failing benchmark is stopped", async (t) => {
  const { bench, requests } = createBench([1, 1], [1]);
  await t.rejects(measure(bench), /ours is broken/);
  t.equal(requests.at(-1), "stop");
});

test("the median is the middle value", async (t) => {
  t.equal(median([3]), 3);
  t.equal(median([5, 1, 3]), 3);
  t.equal(median([4, 1, 2, 100]), 3);
});

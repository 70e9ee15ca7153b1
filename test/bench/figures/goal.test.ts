import { test } from "tap";
import type { Bench, Goal } from "../bench.ts";
import { judgeOf, numberText } from "./goal.ts";

function judge(goal: Goal) {
  const bench: Bench = {
    ...goal,
    name: "test",
    what: "a test",
    baseline: "nothing",
    unit: "ms",
    rounds: 1,
    coldRounds: 0,
    start: () => Promise.reject(new Error("it is not started")),
  };
  return judgeOf(bench);
}

test("a cost is compared with a multiple of the baseline's", async (t) => {
  const { figureOf, isMet, say, goal } = judge({ maxRatio: 1.25 });
  t.equal(figureOf(2, 3), 1.5);
  t.same([1.2, 1.25, 1.26].map(isMet), [true, true, false]);
  t.equal(say(1.5), "1.50");
  t.equal(goal, "at most 1.25");
});

test("a speed is compared with a multiple of the baseline's", async (t) => {
  const { figureOf, isMet, goal } = judge({ minRatio: 8 });
  t.equal(figureOf(2, 20), 10);
  t.same([7.9, 8, 100].map(isMet), [false, true, true]);
  t.equal(goal, "at least 8.00");
});

test("a cost is compared with the baseline's plus a margin", async (t) => {
  const { figureOf, isMet, say, goal } = judge({ maxExcess: 2 });
  t.equal(figureOf(30, 31.5), 1.5);
  t.same([-1, 2, 2.1].map(isMet), [true, true, false]);
  t.same([1.5, -1.5].map(say), ["+1.50 ms", "-1.50 ms"]);
  t.equal(goal, "at most +2.00 ms");
});

test("a cost is compared with a fixed limit", async (t) => {
  const { figureOf, isMet, say, goal } = judge({ maxCost: 5 });
  t.equal(figureOf(30, 4), 4);
  t.same([5, 5.1].map(isMet), [true, false]);
  t.equal(say(4), "4.00 ms");
  t.equal(goal, "at most 5.00 ms");
});

test("a number has only significant digits", async (t) => {
  t.same([0.0042, 0.1, 12.345, 999, 12_345.6].map(numberText), [
    "0.004",
    "0.10",
    "12.35",
    "999.00",
    "12,346",
  ]);
});

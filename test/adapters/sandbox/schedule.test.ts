import { test } from "tap";
import { createRandom } from "../../../adapters/sandbox/random.ts";
import { startSchedule } from "../../../adapters/sandbox/schedule.ts";
import { createSteppedClock } from "./stepped-clock.ts";

const minuteMs = 60_000;

/** Runs a story for three hours; returns when each scene ran, in milliseconds since the start. */
async function run(seed: number, jitterMs: number): Promise<readonly string[]> {
  const clock = createSteppedClock(0);
  const seen: string[] = [];
  const scene = (name: string, atMs: number) => ({
    atMs,
    run: () => void seen.push(`${name} ${clock.nowMs()}`),
  });
  const story = {
    firstMs: 10,
    everyMs: 60 * minuteMs,
    jitterMs,
    scenes: () => [scene("down", 0), scene("up", minuteMs)],
  };
  const schedule = startSchedule({ clock, random: createRandom(seed), stories: [story] });
  await clock.step(150 * minuteMs);
  schedule.close();
  await clock.step(600 * minuteMs);
  return seen;
}

test("a story repeats with its scenes in order, and ends when the schedule is closed", async (t) => {
  t.same(await run(1, 0), [
    "down 10",
    "up 60010",
    "down 3600010",
    "up 3660010",
    "down 7200010",
    "up 7260010",
  ]);
});

test("when a story repeats depends on the seed only", async (t) => {
  const times = await run(1, 5 * minuteMs);
  t.same(await run(1, 5 * minuteMs), times);
  t.notSame(await run(2, 5 * minuteMs), times);
});

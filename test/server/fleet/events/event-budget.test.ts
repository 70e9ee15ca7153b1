import { test } from "tap";
import { createEventBudget } from "../../../../server/fleet/events/event-budget.ts";

test("a host takes what it has, and then waits until that is made up for", async (t) => {
  let waits = 0;
  const budget = createEventBudget({ burstBytes: 1000, bytesPerSecond: 10_000, onWait: () => (waits += 1) });
  const never = new AbortController().signal;
  await budget.take(600, never);
  await budget.take(600, never);
  t.equal(waits, 0, "more than is left may be taken");
  const beganAtMs = performance.now();
  await budget.take(1200, never);
  t.equal(waits, 1);
  t.ok(
    performance.now() - beganAtMs >= 10,
    "200 bytes too many are made up for in 20 ms, of which some have passed",
  );
  const leaving = new AbortController();
  const waiting = budget.take(1, leaving.signal);
  leaving.abort(new Error("over"));
  await t.rejects(waiting, /over/);
});

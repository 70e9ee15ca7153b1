import { test } from "tap";
import { createEventBudget } from "../../../../server/fleet/events/event-budget.ts";

const never = new AbortController().signal;

test("a host takes what it has, and then waits", async (t) => {
  let waits = 0;
  const onWait = () => {
    waits += 1;
  };
  const budget = createEventBudget({ burstBytes: 10_000, bytesPerSecond: 1, onWait });
  await budget.take(9_000, never);
  await budget.take(9_000, never);
  t.equal(waits, 0, "more than is left may be taken");
  const leaving = new AbortController();
  const waiting = budget.take(1, leaving.signal);
  t.equal(waits, 1);
  leaving.abort(new Error("over"));
  await t.rejects(waiting, /over/);
});

test("a wait ends when what was taken too much is made up for", async (t) => {
  const budget = createEventBudget({ burstBytes: 10, bytesPerSecond: 10_000, onWait: () => {} });
  await budget.take(100, never);
  await t.resolves(budget.take(100, never));
});

test("a host that goes on taking too much is reported once", async (t) => {
  let waits = 0;
  const onWait = () => {
    waits += 1;
  };
  const budget = createEventBudget({ burstBytes: 1_000_000, bytesPerSecond: 100_000, onWait });
  await budget.take(1_001_000, never);
  for (let batches = 0; batches < 10; batches += 1) {
    await budget.take(1_000, never);
  }
  t.equal(waits, 1);
});

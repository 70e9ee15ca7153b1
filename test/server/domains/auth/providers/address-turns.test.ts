import { test } from "tap";
import { createAddressTurns } from "../../../../../server/domains/auth/providers/address-turns.ts";
import { until } from "../../../harness/until.ts";
import { reasonOf } from "../auth-under-test.ts";

test("one address has four turns at once and sixteen waiting, and leaves room for others", async (t) => {
  const turns = createAddressTurns();
  const { signal } = new AbortController();
  const { promise: answered, resolve: answer } = Promise.withResolvers<void>();
  let running = 0;
  const task = () => {
    running += 1;
    return answered;
  };
  // The same /64.
  const flood = Array.from({ length: 20 }, (_, at) => turns.run(`2001:db8::${at + 1}`, task, signal));
  t.equal(await reasonOf(turns.run("2001:db8::ffff", task, signal)), "BUSY");
  t.equal(running, 4);
  const other = turns.run("10.0.0.1", task, signal);
  // Another address does not wait for it.
  await until(() => running === 5);
  answer();
  await Promise.all([...flood, other]);
  t.equal(running, 21);
});

test("a caller who leaves gives up its place", async (t) => {
  const turns = createAddressTurns();
  const { promise: answered, resolve: answer } = Promise.withResolvers<void>();
  const { signal } = new AbortController();
  const running = Array.from({ length: 4 }, () => turns.run("10.0.0.1", () => answered, signal));
  const leaving = new AbortController();
  const waiting = turns.run("10.0.0.1", async () => t.fail("it runs"), leaving.signal);
  leaving.abort();
  t.equal(await reasonOf(waiting), "CALLER_LEFT");
  answer();
  await Promise.all(running);
});

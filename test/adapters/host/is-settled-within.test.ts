import { getActiveResourcesInfo } from "node:process";
import { test } from "tap";
import { isSettledWithin } from "../../../adapters/host/is-settled-within.ts";

test("a promise that is settled in time is, well or not, and leaves no timer", async (t) => {
  t.equal(await isSettledWithin(Promise.resolve(), 60_000), true);
  t.equal(await isSettledWithin(Promise.reject(new Error("no")), 60_000), true);
  t.notOk(getActiveResourcesInfo().includes("Timeout"));
});

test("one that is not is not", async (t) => {
  const stillHere = setInterval(() => {}, 1_000);
  t.teardown(() => clearInterval(stillHere));
  t.equal(await isSettledWithin(new Promise(() => {}), 5), false);
});

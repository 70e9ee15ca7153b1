import { getActiveResourcesInfo } from "node:process";
import { test } from "tap";
import { isSettledWithin } from "../../../adapters/host/is-settled-within.ts";

test("true for a promise that settles in time, fulfilled or rejected, leaving no timer", async (t) => {
  t.equal(await isSettledWithin(Promise.resolve(), 60_000), true);
  t.equal(await isSettledWithin(Promise.reject(new Error("no")), 60_000), true);
  t.notOk(getActiveResourcesInfo().includes("Timeout"));
});

test("false for one that does not", async (t) => {
  const stillHere = setInterval(() => {}, 1_000);
  t.teardown(() => clearInterval(stillHere));
  t.equal(await isSettledWithin(new Promise(() => {}), 5), false);
});

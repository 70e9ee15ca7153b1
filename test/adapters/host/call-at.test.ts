import { mock } from "node:test";
import { test } from "tap";
import { callAt } from "../../../adapters/host/call-at.ts";

const dayMs = 24 * 60 * 60 * 1_000;
const nowMs = Date.UTC(2026, 10, 21);

test("calls back at a time however far off it is", async (t) => {
  mock.timers.enable({ apis: ["setTimeout", "Date"], now: nowMs });
  t.teardown(() => mock.timers.reset());
  const called: string[] = [];
  const call = (name: string, afterMs: number) =>
    callAt(nowMs + afterMs, () => called.push(name), { ref: true });
  call("passed", -dayMs);
  call("soon", 1_000);
  call("later", 60 * dayMs);
  call("cancelled", 1_000)();
  const takeBackLater = call("cancelled later", 60 * dayMs);
  mock.timers.tick(1);
  t.strictSame(called, ["passed"]);
  mock.timers.tick(999);
  t.strictSame(called, ["passed", "soon"]);
  mock.timers.tick(30 * dayMs);
  takeBackLater();
  mock.timers.tick(30 * dayMs - 1_001);
  t.strictSame(called, ["passed", "soon"]);
  mock.timers.tick(1);
  t.strictSame(called, ["passed", "soon", "later"]);
  mock.timers.tick(100 * dayMs);
  t.equal(called.length, 3);
});

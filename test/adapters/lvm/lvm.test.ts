import { test } from "tap";
import type { ToolEnd } from "../../../adapters/host/tool-result.ts";
import { createLvm } from "../../../adapters/lvm/lvm.ts";

// The real lvm cannot be made to hang at will; what is around it is the subject here.
const hangingCommand = ["sh", "-c", "sleep 60", "lvm"];

test("an lvm that hangs is gone within a second of its last reader's leaving", async (t) => {
  const ends: ToolEnd[] = [];
  const lvm = createLvm({ command: hangingCommand, onToolEnd: (end) => ends.push(end) });
  t.teardown(() => lvm.close());
  const leaving = [new AbortController(), new AbortController()];
  const reads = leaving.map(({ signal }) => lvm.read(signal));
  leaving[0]?.abort(new Error("left"));
  await t.rejects(async () => reads[0], { message: "left" });
  await new Promise((resolve) => setTimeout(resolve, 200));
  t.equal(ends.length, 0, "the other reader still waits");
  leaving[1]?.abort(new Error("left"));
  const leftAtMs = performance.now();
  await t.rejects(async () => reads[1], { message: "left" });
  while (ends.length === 0 && performance.now() - leftAtMs < 2_000) {
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  t.match(ends, [{ failure: "CALLER_LEFT", signal: "SIGTERM" }]);
  t.ok(performance.now() - leftAtMs < 1_000);
});

test("close stops an lvm that hangs", async (t) => {
  const lvm = createLvm({ command: hangingCommand });
  const read = lvm.read();
  read.catch(() => {});
  await new Promise((resolve) => setTimeout(resolve, 50));
  await lvm.close();
  await t.rejects(read, { name: "InfraError", reason: "SHUTTING_DOWN" });
});

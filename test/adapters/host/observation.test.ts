import { type Test, test } from "tap";
import { createLimiter } from "../../../adapters/host/limiter.ts";
import {
  type SnapshotObservation,
  snapshotChannel,
  type ToolObservation,
  toolChannel,
  type WaitObservation,
  type WorkChannel,
  waitChannel,
} from "../../../adapters/host/observation.ts";
import { run } from "../../../adapters/host/process/run.ts";
import { createSnapshotCache } from "../../../adapters/host/snapshot.ts";

/** Collects what the channel reports until the test ends: the start and the end of each piece of work. */
function listen<O extends object>(t: Test, channel: WorkChannel<O>) {
  const began: O[] = [];
  const ended: (O & { readonly error?: unknown })[] = [];
  const onStart = (message: unknown) => void began.push(message as O);
  const onEnd = (message: unknown) => void ended.push(message as O);
  channel.start.subscribe(onStart);
  channel.asyncEnd.subscribe(onEnd);
  t.teardown(() => {
    channel.start.unsubscribe(onStart);
    channel.asyncEnd.unsubscribe(onEnd);
  });
  return { began, ended };
}

test("a tool is reported when it starts and, with the same object, when it has ended", async (t) => {
  const { began, ended } = listen<ToolObservation>(t, toolChannel);
  const running = run(["sh", "-c", "exit 3"], { kind: "read" });
  t.match(began, [{ program: "sh", subcommand: "", kind: "read", argv: ["sh", "-c", "exit 3"] }]);
  t.equal(began[0]?.outcome, undefined);
  t.equal((await running).exitCode, 3);
  t.equal(ended[0], began[0]);
  t.match(ended[0]?.outcome, { exitCode: 3, signal: null, failure: undefined, durationMs: Number });
});

test("a tool is reported with its adapter's names, and a failure with the error", async (t) => {
  const { ended } = listen<ToolObservation>(t, toolChannel);
  const tool = { program: "lvm", subcommand: "lvcreate" };
  await t.rejects(run(["/no/such/program", "x"], { kind: "mutate", tool }), {
    name: "InfraError",
    reason: "TOOL_MISSING",
  });
  t.match(ended, [{ ...tool, outcome: { exitCode: null, failure: "TOOL_MISSING" } }]);
  t.match(ended[0]?.error, { name: "InfraError", reason: "TOOL_MISSING" });
});

test("a tool that is not started has no outcome", async (t) => {
  const { ended } = listen<ToolObservation>(t, toolChannel);
  await t.rejects(run(["sh"], { kind: "read", signal: AbortSignal.abort() }), {
    name: "InfraError",
    reason: "CALLER_LEFT",
  });
  t.match(ended, [{ outcome: undefined }]);
});

test("a load shared by many readers is reported once, also when it fails", async (t) => {
  const { began, ended } = listen<SnapshotObservation>(t, snapshotChannel);
  const cache = createSnapshotCache({ system: "lvm", load: async () => Promise.reject(new Error("down")) });
  const reads = [cache.read(), cache.read(), cache.read()];
  for (const read of reads) {
    await t.rejects(read, { message: "down" });
  }
  t.match(began, [{ system: "lvm" }]);
  t.match(ended, [{ system: "lvm", error: { message: "down" } }]);
});

test("only work that has to wait is reported as waiting", async (t) => {
  const { began, ended } = listen<WaitObservation>(t, waitChannel);
  const limiter = createLimiter({ what: "lvm commands", maxRunning: 1, maxWaiting: 2 });
  const gate = Promise.withResolvers<void>();
  const first = limiter.run(() => gate.promise);
  t.equal(began.length, 0);
  const second = limiter.run(async () => {});
  const leaving = new AbortController();
  const third = limiter.run(async () => {}, leaving.signal);
  t.match(began, [{ queue: "lvm commands" }, { queue: "lvm commands" }]);
  leaving.abort();
  await t.rejects(third, { name: "InfraError", reason: "CALLER_LEFT" });
  t.equal(ended.length, 1, "a caller that has left no longer waits");
  gate.resolve();
  await Promise.all([first, second]);
  t.equal(ended.length, 2);
});

test("observers get the argv for a shell", async (t) => {
  const seen: (readonly string[])[] = [];
  const onStart = (message: unknown) => seen.push((message as ToolObservation).argv);
  toolChannel.start.subscribe(onStart);
  t.teardown(() => toolChannel.start.unsubscribe(onStart));
  await run(["true"], { kind: "read", env: { A: "1" }, shownArgv: ["env", "A=1", "true"] });
  t.strictSame(seen, [["env", "A=1", "true"]]);
});

import { setTimeout as sleep } from "node:timers/promises";
import { type Test, test } from "tap";
import { createPodmanSandbox } from "../../../../adapters/podman/sandbox.ts";
import { createPromptReads } from "../../../../server/domains/pods/prompt-reads.ts";

/** Creates reads of a runtime that does not respond while it is held. */
function createSubject(t: Test) {
  const sandbox = createPodmanSandbox();
  t.teardown(() => sandbox.close());
  let held: Promise<void> | undefined;
  let free = () => {};
  const runtime = {
    ...sandbox,
    async read(signal?: AbortSignal) {
      await held;
      signal?.throwIfAborted();
      return sandbox.read(signal);
    },
  };
  return {
    sandbox,
    reads: createPromptReads(runtime, 20),
    hold() {
      held = new Promise((resolve) => {
        free = resolve;
      });
    },
    release: () => free(),
  };
}

test("while the runtime does not respond, prompt reads return the last state and exact reads wait for the newest", async (t) => {
  const { reads, hold, release } = createSubject(t);
  const before = await reads.prompt.read();
  hold();
  const exact = reads.exact.read();
  const reported = await reads.prompt.read();
  t.equal(reported.readAtMs, before.readAtMs);
  t.ok(reads.isLate());
  const isFirst = await Promise.race([exact.then(() => false), sleep(50).then(() => true)]);
  t.ok(isFirst, "the newest state is waited for");
  release();
  await exact;
  t.ok((await reads.prompt.read()).readAtMs >= before.readAtMs);
  await sleep(0);
  t.notOk(reads.isLate());
});

test("a read after a change never returns an earlier state", async (t) => {
  const { reads, sandbox, hold, release } = createSubject(t);
  const { value } = await reads.prompt.read();
  const podId = value.pods.find(({ phase }) => phase === "created")?.id ?? "";
  await reads.exact.run({ kind: "startPod", podId });
  hold();
  const read = reads.prompt.read();
  setTimeout(release, 100);
  const { value: after } = await read;
  t.equal(after.pods.find(({ id }) => id === podId)?.phase, "running");
  t.equal((await sandbox.read()).value.pods.length, after.pods.length);
});

test("the first read waits for a state, and a runtime error is returned", async (t) => {
  const { reads, sandbox, hold, release } = createSubject(t);
  hold();
  setTimeout(release, 60);
  t.ok((await reads.prompt.read()).value.pods.length > 0);
  sandbox.setOutage(new Error("away") as never);
  await t.rejects(reads.prompt.read(), { message: "away" });
});

test("a read fails with the reason of its abort", async (t) => {
  const { reads, hold, release } = createSubject(t);
  hold();
  const leaving = new AbortController();
  const read = reads.prompt.read(leaving.signal);
  leaving.abort(new Error("left"));
  release();
  await t.rejects(read, { message: "left" });
});

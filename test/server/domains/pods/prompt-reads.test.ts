import { setTimeout as sleep } from "node:timers/promises";
import { type Test, test } from "tap";
import { createPodmanSandbox } from "../../../../adapters/podman/sandbox.ts";
import { createPromptReads } from "../../../../server/domains/pods/prompt-reads.ts";

/** Reads of a runtime that answers nobody while it is held. */
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

test("while the runtime answers nobody, what was read last is told soon, and the newest to who must have it", async (t) => {
  const { reads, hold, release } = createSubject(t);
  const before = await reads.prompt.read();
  hold();
  const exact = reads.exact.read();
  const told = await reads.prompt.read();
  t.equal(told.readAtMs, before.readAtMs);
  t.ok(reads.isLate());
  const isFirst = await Promise.race([exact.then(() => false), sleep(50).then(() => true)]);
  t.ok(isFirst, "the newest is waited for");
  release();
  await exact;
  t.ok((await reads.prompt.read()).readAtMs >= before.readAtMs);
  await sleep(0);
  t.notOk(reads.isLate());
});

test("a read after a change never tells what was before it", async (t) => {
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

test("where nothing was read yet the first state is waited for, and a runtime that refuses is told of", async (t) => {
  const { reads, sandbox, hold, release } = createSubject(t);
  hold();
  setTimeout(release, 60);
  t.ok((await reads.prompt.read()).value.pods.length > 0);
  sandbox.setOutage(new Error("away") as never);
  await t.rejects(reads.prompt.read(), { message: "away" });
});

test("a reader that leaves is told so", async (t) => {
  const { reads, hold, release } = createSubject(t);
  hold();
  const leaving = new AbortController();
  const read = reads.prompt.read(leaving.signal);
  leaving.abort(new Error("left"));
  release();
  await t.rejects(read, { message: "left" });
});

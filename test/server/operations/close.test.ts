import { test } from "tap";
import { openOwnStore } from "../store/own-store.ts";
import { createCountingKind } from "./counting-kind.ts";
import { asShared, createEngine } from "./engine-under-test.ts";

test("a gateway that stops aborts abortable steps, and the next start continues at once", async (t) => {
  const store = asShared(await openOwnStore(t));
  const counting = createCountingKind({ isAbortable: true });
  const reached = Promise.withResolvers<void>();
  let reason: unknown;
  counting.before("forward second", async ({ signal, attempt }) => {
    if (attempt === 1) {
      reached.resolve();
      await new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
    }
  });
  const first = createEngine(t, { store, kind: counting.kind });
  const { id } = await first.start();
  await reached.promise;
  counting.before("undo second", () => {
    reason = "undone";
  });
  await first.operations.close();
  const between = await first.operations.get(id);
  t.match(between, { state: "active", isCancelRequested: false, failure: undefined });
  const startedMs = performance.now();
  const second = createEngine(t, { store, kind: counting.kind });
  t.match(await second.end(id), { state: "completed", attempt: 2 });
  t.ok(performance.now() - startedMs < 15_000, "without waiting for the lease of 20 s");
  t.equal(reason, undefined);
});

test("a gateway that stops waits for a step that cannot be aborted", async (t) => {
  const store = asShared(await openOwnStore(t));
  const counting = createCountingKind();
  const reached = Promise.withResolvers<void>();
  const gate = Promise.withResolvers<void>();
  counting.before("forward second", async () => {
    reached.resolve();
    await gate.promise;
  });
  const first = createEngine(t, { store, kind: counting.kind });
  const { id } = await first.start();
  const waiting = await first.start({ resource: "things/later" });
  await reached.promise;
  let isClosed = false;
  const closed = first.operations.close().then(() => {
    isClosed = true;
  });
  await new Promise((resolve) => setTimeout(resolve, 50));
  t.notOk(isClosed);
  gate.resolve();
  await closed;
  t.match(await first.operations.get(id), {
    state: "active",
    steps: [{ state: "done" }, { state: "done" }, { state: "pending" }],
  });
  const second = createEngine(t, { store, kind: counting.kind });
  t.match(await second.end(id), { state: "completed" });
  t.match(await second.end(waiting.id), { state: "completed" });
  t.ok([...counting.created.values()].every((count) => count === 1));
});

test("when a gateway stops while it undoes an operation, the next one continues to undo it", async (t) => {
  const store = asShared(await openOwnStore(t));
  const counting = createCountingKind();
  const reached = Promise.withResolvers<void>();
  const gate = Promise.withResolvers<void>();
  counting.before("forward third", () => {
    throw new Error("no");
  });
  counting.before("undo second", async () => {
    reached.resolve();
    await gate.promise;
  });
  const first = createEngine(t, { store, kind: counting.kind });
  const { id } = await first.start();
  await reached.promise;
  const closed = first.operations.close();
  gate.resolve();
  await closed;
  t.match(await first.operations.get(id), { state: "undoing" });
  const second = createEngine(t, { store, kind: counting.kind });
  t.match(await second.end(id), { state: "failed" });
  t.same(counting.done.slice(3), ["undo third", "undo second", "undo first"]);
});

import { type Test, test } from "tap";
import { InfraError } from "../../../adapters/host/infra-error.ts";
import type { Json } from "../../../server/operations/operation.ts";
import type { StepRun } from "../../../server/operations/operation-kind.ts";
import { storeReasons } from "../../../server/store/reasons.ts";
import { errorOf } from "../store/contract.ts";
import { openOwnStore } from "../store/own-store.ts";
import { createCountingKind } from "./counting-kind.ts";
import { asShared, createEngine, createMortalStore } from "./engine-under-test.ts";

/** Creates a gate that blocks a step until it is released or its signal is aborted; `reached` resolves when the step arrives. */
function createHold() {
  const reached = Promise.withResolvers<void>();
  const gate = Promise.withResolvers<void>();
  return {
    reached: reached.promise,
    release: gate.resolve,
    async untilAborted({ signal }: StepRun<Json, Json>) {
      reached.resolve();
      await new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
    },
    async untilReleased() {
      reached.resolve();
      await gate.promise;
    },
  };
}

test("a queued operation is cancelled at once", async (t) => {
  const store = await openOwnStore(t);
  const counting = createCountingKind();
  const engine = createEngine(t, { store, kind: counting.kind, isIdle: true });
  const { id } = await engine.start({ secrets: { key: "hush hush" } });
  t.match(await engine.operations.cancel(id), {
    state: "cancelled",
    isCancelRequested: true,
    isCancellable: false,
  });
  t.match(await errorOf(engine.operations.cancel(id)), { reason: "OPERATION_ENDED", message: /cancelled/ });
  t.match(await errorOf(engine.operations.cancel("none")), { reason: "OPERATION_NOT_FOUND" });
  t.same(counting.done, []);
});

test("Cancel aborts an abortable step, and completed steps are undone in reverse order", async (t) => {
  const counting = createCountingKind({ isAbortable: true });
  const hold = createHold();
  counting.before("forward second", hold.untilAborted);
  const engine = createEngine(t, { store: await openOwnStore(t), kind: counting.kind });
  const { id } = await engine.start();
  await hold.reached;
  t.match(await engine.operations.cancel(id), { state: "active", isCancelRequested: true });
  t.match(await engine.end(id), { state: "cancelled", failure: undefined });
  t.same(counting.done, ["forward first", "forward second", "undo second", "undo first"]);
});

test("Cancel waits for the end of a step that is not abortable", async (t) => {
  const counting = createCountingKind();
  const hold = createHold();
  let wasAborted = true;
  counting.before("forward second", async (run) => {
    await hold.untilReleased();
    wasAborted = run.signal.aborted;
  });
  const engine = createEngine(t, { store: await openOwnStore(t), kind: counting.kind });
  const { id } = await engine.start();
  await hold.reached;
  await engine.operations.cancel(id);
  await engine.operations.cancel(id);
  hold.release();
  t.match(await engine.end(id), { state: "cancelled" });
  t.notOk(wasAborted);
  t.same(counting.done, ["forward first", "forward second", "undo second", "undo first"]);
});

test("an operation that is cancelled during its last step does not complete", async (t) => {
  const counting = createCountingKind();
  const hold = createHold();
  counting.before("forward third", hold.untilReleased);
  const engine = createEngine(t, { store: await openOwnStore(t), kind: counting.kind });
  const { id } = await engine.start();
  await hold.reached;
  await engine.operations.cancel(id);
  hold.release();
  t.match(await engine.end(id), { state: "cancelled", result: undefined });
  t.equal(counting.present.size, 0);
});

test("Cancel is refused after the point of no return", async (t) => {
  const counting = createCountingKind({ pointOfNoReturn: "first" });
  const hold = createHold();
  counting.before("forward second", hold.untilReleased);
  const engine = createEngine(t, { store: await openOwnStore(t), kind: counting.kind });
  const { id } = await engine.start();
  await hold.reached;
  t.match(await engine.operations.get(id), { isCancellable: false });
  t.match(await errorOf(engine.operations.cancel(id)), { reason: "POINT_OF_NO_RETURN" });
  hold.release();
  t.match(await engine.end(id), { state: "completed", isCancelRequested: false });
});

test("an operation that passes its point of no return before Cancel takes effect completes", async (t) => {
  const counting = createCountingKind({ pointOfNoReturn: "second", isAbortable: true });
  const hold = createHold();
  counting.before("forward second", hold.untilReleased);
  const engine = createEngine(t, { store: await openOwnStore(t), kind: counting.kind });
  const { id } = await engine.start();
  await hold.reached;
  await engine.operations.cancel(id);
  let wasAborted = true;
  counting.before("forward third", ({ signal }) => {
    wasAborted = signal.aborted;
  });
  hold.release();
  t.match(await engine.end(id), { state: "completed" });
  t.notOk(wasAborted);
});

test("Cancel ends the wait for a retry", async (t) => {
  const counting = createCountingKind();
  counting.before("forward second", () => {
    throw new InfraError(storeReasons.STORE_UNAVAILABLE, "not now");
  });
  const engine = createEngine(t, { store: await openOwnStore(t), kind: counting.kind, firstPauseMs: 60_000 });
  const { id } = await engine.start();
  await engine.until(id, ({ steps }) => steps[1]?.state === "failed");
  await engine.operations.cancel(id);
  t.match(await engine.end(id), { state: "cancelled" });
});

test("Cancel does not change an operation that is already being undone", async (t) => {
  const counting = createCountingKind();
  const hold = createHold();
  counting.before("forward second", () => {
    throw new Error("no");
  });
  counting.before("undo first", hold.untilReleased);
  const engine = createEngine(t, { store: await openOwnStore(t), kind: counting.kind });
  const { id } = await engine.start();
  await hold.reached;
  t.match(await engine.operations.cancel(id), { state: "undoing", isCancelRequested: false });
  hold.release();
  t.match(await engine.end(id), { state: "failed" });
});

test("any gateway can cancel an operation, whichever gateway runs it", async (t) => {
  const store = asShared(await openOwnStore(t));
  const counting = createCountingKind({ isAbortable: true });
  const hold = createHold();
  counting.before("forward second", hold.untilAborted);
  const worker = createEngine(t, { store, kind: counting.kind });
  const other = createEngine(t, { store, kind: createCountingKind().kind, isIdle: true });
  const { id } = await worker.start();
  await hold.reached;
  await other.operations.cancel(id);
  t.match(await other.end(id), { state: "cancelled" });
  t.equal(counting.present.size, 0);
});

/** Starts an operation whose gateway dies in its second step, and a gateway that does not support its kind. */
async function startStranded(t: Test, { pointOfNoReturn }: { readonly pointOfNoReturn?: string } = {}) {
  const store = await openOwnStore(t);
  const counting = createCountingKind(pointOfNoReturn === undefined ? {} : { pointOfNoReturn });
  const mortal = createMortalStore(store);
  const died = Promise.withResolvers<void>();
  counting.before("forward second", () => {
    if (!mortal.isDead) {
      mortal.die();
      died.resolve();
      return new Promise<void>(() => {});
    }
  });
  const { id } = await createEngine(t, { store: mortal, kind: counting.kind }).start();
  await died.promise;
  const without = createEngine(t, { store, kind: createCountingKind({ kind: "test.other" }).kind });
  await without.until(id, ({ waitingFor }) => waitingFor.startsWith("no gateway knows the kind test.count"));
  return { store, counting, id, without };
}

test("an operation whose kind no gateway supports reports it, and can be ended and given up by cancelling it", async (t) => {
  for (const options of [{}, { pointOfNoReturn: "second" }]) {
    const { id, without } = await startStranded(t, options);
    t.match(await without.operations.get(id), { state: "active", isCancellable: true });
    const cancelled = await without.operations.cancel(id);
    t.match(cancelled, {
      state: "needsAttention",
      message: /^cancelled, but no gateway supports the operation kind test\.count/,
      waitingFor: "",
      attention: {
        left: [/^Step first is done; what it created may still exist/, /^Step second is interrupted/],
        advice: [/Configure the domain of test\.count again and retry/, /cancel the operation again/],
      },
    });
    t.match(await without.operations.cancel(id), { state: "cancelled", isCancellable: false });
    t.match(await errorOf(without.operations.cancel(id)), { reason: "OPERATION_ENDED" });
  }
});

test("a cancelled operation can be retried and continues once its kind is known again", async (t) => {
  const { store, counting, id, without } = await startStranded(t);
  await without.operations.cancel(id);
  await without.operations.close();
  const again = createEngine(t, { store, kind: counting.kind });
  await again.operations.retry(id);
  t.match(await again.end(id), { state: "completed", attention: undefined });
  t.ok([...counting.created.values()].every((count) => count === 1));
});

test("an operation of an unknown kind that has done nothing is cancelled at once", async (t) => {
  const store = await openOwnStore(t);
  const idle = createEngine(t, { store, kind: createCountingKind().kind, isIdle: true });
  const { id } = await idle.start();
  const without = createEngine(t, { store, kind: createCountingKind({ kind: "test.other" }).kind });
  await without.until(id, ({ waitingFor }) => waitingFor !== "");
  t.match(await without.operations.cancel(id), { state: "cancelled" });
});

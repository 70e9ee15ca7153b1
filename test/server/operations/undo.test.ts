import { test } from "tap";
import { InfraError } from "../../../adapters/host/infra-error.ts";
import { hostReasons } from "../../../adapters/host/reasons.ts";
import { lvmReasons } from "../../../adapters/lvm/reasons.ts";
import { errorOf } from "../store/contract.ts";
import { openOwnStore } from "../store/own-store.ts";
import { createCountingKind } from "./counting-kind.ts";
import { asShared, createEngine, type EngineStore } from "./engine-under-test.ts";

const exists = () => new InfraError(lvmReasons.VOLUME_EXISTS, "there is one already");

test("when a step fails, it and the steps before it are undone in reverse order", async (t) => {
  const counting = createCountingKind();
  counting.after("forward second", () => {
    throw exists();
  });
  const engine = createEngine(t, { store: await openOwnStore(t), kind: counting.kind });
  const operation = await engine.end((await engine.start()).id);
  t.match(operation, {
    state: "failed",
    failure: { code: "ALREADY_EXISTS", reason: "VOLUME_EXISTS", message: "there is one already" },
    attention: undefined,
    result: undefined,
  });
  t.same(counting.done, ["forward first", "forward second", "undo second", "undo first"]);
  t.same(
    operation.steps.map(({ state, error }) => [state, error]),
    [
      ["undone", undefined],
      ["undone", "there is one already"],
      ["pending", undefined],
    ],
  );
  t.equal(counting.present.size, 0);
});

test("undoing a step without undo is not reported", async (t) => {
  const counting = createCountingKind();
  counting.after("forward third", () => {
    throw exists();
  });
  const steps = counting.kind.steps.map(({ undo, ...step }) =>
    step.name === "second" || undo === undefined ? step : { ...step, undo },
  );
  const messages: string[] = [];
  const store = await openOwnStore(t);
  const reported: EngineStore = {
    ...asShared(store),
    run: (name, args) => {
      if (name === "operations.beginUndoStep") {
        messages.push((args as { readonly message: string }).message);
      }
      return store.run(name, args);
    },
  };
  const engine = createEngine(t, { store: reported, kind: { ...counting.kind, steps } });
  const operation = await engine.end((await engine.start()).id);
  t.same(
    operation.steps.map(({ state }) => state),
    ["undone", "undone", "undone"],
  );
  t.same(messages, ["undoing: doing third", "undoing: doing first"]);
});

test("an internal error is reported as such, with its details only in the log", async (t) => {
  const counting = createCountingKind();
  counting.before("forward first", () => {
    throw new TypeError("undefined is no function");
  });
  const engine = createEngine(t, { store: await openOwnStore(t), kind: counting.kind });
  const { failure } = await engine.end((await engine.start()).id);
  t.match(failure, { reason: "INTERNAL", message: /step first failed; see the gateway's log/ });
  t.notMatch(JSON.stringify(failure), /undefined is no function/);
  t.match(engine.logged.join("\n"), /undefined is no function/);
});

test("the end of each operation is logged, with the reason of a failure", async (t) => {
  const counting = createCountingKind();
  const engine = createEngine(t, { store: await openOwnStore(t), kind: counting.kind });
  const good = await engine.end((await engine.start()).id);
  counting.before("forward second", () => {
    throw exists();
  });
  const bad = await engine.end((await engine.start()).id);
  await engine.operations.close();
  const lineOf = ({ id }: { id: string }) => engine.logged.findLast((line) => line.includes(id));
  t.match(lineOf(good), `${good.id} (${good.kind} of ${good.resource}) completed`);
  t.match(lineOf(bad), /failed: VOLUME_EXISTS: there is one already/);
});

test("a failing undo is retried, and then the operation reports what is left and what to do", async (t) => {
  const counting = createCountingKind();
  counting.before("forward third", () => {
    throw exists();
  });
  counting.before("undo second", () => {
    throw new InfraError(hostReasons.VOLUME_IN_USE, "another process has it open");
  });
  const engine = createEngine(t, { store: await openOwnStore(t), kind: counting.kind });
  const operation = await engine.end((await engine.start()).id);
  t.match(operation, {
    state: "needsAttention",
    failure: { reason: "VOLUME_EXISTS" },
    attention: { left: [/Step second .*another process has it open/], advice: [/retry the operation/] },
  });
  t.same(
    operation.steps.map(({ state }) => state),
    ["done", "undoFailed", "undone"],
  );
  t.equal(counting.done.filter((what) => what === "undo second").length, 3);

  await t.test("a retry continues to undo, and never runs the steps", async (t) => {
    counting.before("undo second", () => {});
    const before = counting.done.length;
    const retried = await engine.operations.retry(operation.id);
    t.match(retried, { state: "scheduled", attention: undefined });
    const ended = await engine.end(operation.id);
    t.match(ended, { state: "failed", failure: { reason: "VOLUME_EXISTS" }, attention: undefined });
    t.same(counting.done.slice(before), ["undo second", "undo first"]);
    t.equal(counting.present.size, 0);
  });
});

test("a kind can report itself what is left", async (t) => {
  const counting = createCountingKind({
    attention: ({ token }, error) => ({
      left: [`the snapshot ${token}`],
      advice: [`remove it: ${error.message}`],
    }),
  });
  counting.before("forward second", () => {
    throw exists();
  });
  counting.before("undo first", () => {
    throw new Error("stuck");
  });
  const engine = createEngine(t, { store: await openOwnStore(t), kind: counting.kind });
  const { id } = await engine.start();
  const { attention } = await engine.end(id);
  t.same(attention, { left: [`the snapshot ${id}.first`], advice: ["remove it: stuck"] });
});

test("a failure after the point of no return needs attention, and a retry repeats the step", async (t) => {
  const counting = createCountingKind({ pointOfNoReturn: "second" });
  counting.before("forward third", () => {
    throw exists();
  });
  const engine = createEngine(t, { store: await openOwnStore(t), kind: counting.kind });
  const { id } = await engine.start();
  const operation = await engine.end(id);
  t.match(operation, {
    state: "needsAttention",
    isCancellable: true,
    attention: { left: [/step third/i], advice: [/retry/] },
  });
  t.notOk(counting.done.some((what) => what.startsWith("undo")));
  counting.before("forward third", () => {});
  await engine.operations.retry(id);
  t.match(await engine.end(id), { state: "completed", failure: undefined, attention: undefined });
  t.same(counting.done, ["forward first", "forward second", "forward third", "forward third"]);
});

test("a failure of the step that is the point of no return is undone", async (t) => {
  const counting = createCountingKind({ pointOfNoReturn: "second" });
  counting.before("forward second", () => {
    throw exists();
  });
  const engine = createEngine(t, { store: await openOwnStore(t), kind: counting.kind });
  t.match(await engine.end((await engine.start()).id), { state: "failed" });
  t.equal(counting.present.size, 0);
});

test("a failed operation is retried from the beginning", async (t) => {
  const counting = createCountingKind();
  counting.before("forward second", () => {
    throw exists();
  });
  const engine = createEngine(t, { store: await openOwnStore(t), kind: counting.kind });
  const { id } = await engine.start();
  t.match(await engine.end(id), { state: "failed" });
  counting.before("forward second", () => {});
  t.match(await engine.operations.retry(id), { state: "scheduled", failure: undefined });
  t.match(await engine.end(id), { state: "completed", failure: undefined });
  t.same([...counting.present].sort(), [`${id}.first`, `${id}.second`, `${id}.third`]);
  t.match(await errorOf(engine.operations.retry(id)), { reason: "OPERATION_NOT_RETRYABLE" });
  t.match(await errorOf(engine.operations.retry("none")), { reason: "OPERATION_NOT_FOUND" });
});

test("a retry is refused while the same request has another open operation", async (t) => {
  const counting = createCountingKind();
  counting.before("forward first", () => {
    throw exists();
  });
  const engine = createEngine(t, { store: await openOwnStore(t), kind: counting.kind });
  const failed = await engine.start({ attachKey: "a" });
  await engine.end(failed.id);
  const gate = Promise.withResolvers<void>();
  counting.before("forward first", () => gate.promise);
  const other = await engine.start({ attachKey: "a" });
  t.not(other.id, failed.id);
  t.match(await errorOf(engine.operations.retry(failed.id)), {
    reason: "OPERATION_NOT_RETRYABLE",
    message: new RegExp(other.id),
  });
  gate.resolve();
  t.match(await engine.end(other.id), { state: "completed" });
});

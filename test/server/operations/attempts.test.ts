import { test } from "tap";
import { InfraError } from "../../../adapters/host/infra-error.ts";
import { storeReasons } from "../../../server/store/reasons.ts";
import { openOwnStore } from "../store/own-store.ts";
import { createCountingKind } from "./counting-kind.ts";
import { createEngine } from "./engine-under-test.ts";

const busy = () => new InfraError(storeReasons.STORE_UNAVAILABLE, "not now");

test("a step with a transient failure is retried", async (t) => {
  const counting = createCountingKind();
  const attempts: number[] = [];
  counting.before("forward second", ({ attempt }) => {
    attempts.push(attempt);
    if (attempt < 3) {
      throw busy();
    }
  });
  const engine = createEngine(t, { store: await openOwnStore(t), kind: counting.kind });
  const operation = await engine.end((await engine.start()).id);
  t.match(operation, { state: "completed", failure: undefined });
  t.same(attempts, [1, 2, 3]);
  t.match(operation.steps[1], { attempt: 3, error: undefined, state: "done" });
});

test("the reason for a retry is shown", async (t) => {
  const counting = createCountingKind();
  counting.before("forward second", ({ attempt }) => {
    if (attempt === 1) {
      throw busy();
    }
  });
  const store = await openOwnStore(t);
  const engine = createEngine(t, { store, kind: counting.kind, firstPauseMs: 300 });
  const { id } = await engine.start();
  const between = await engine.until(id, ({ steps }) => steps[1]?.state === "failed");
  t.match(between, {
    state: "active",
    message: /doing second: failed, retrying: not now/,
  });
  t.match(await engine.end(id), { state: "completed" });
});

test("a step with a transient failure fails after three attempts", async (t) => {
  const counting = createCountingKind();
  counting.before("forward second", () => {
    throw busy();
  });
  const engine = createEngine(t, { store: await openOwnStore(t), kind: counting.kind });
  t.match(await engine.end((await engine.start()).id), {
    state: "failed",
    failure: { code: "UNAVAILABLE", reason: "STORE_UNAVAILABLE", retryable: true },
  });
  t.equal(counting.done.filter((what) => what === "forward second").length, 3);
});

test("a failure that a retry cannot fix counts at once", async (t) => {
  const counting = createCountingKind();
  counting.before("forward second", () => {
    throw busy();
  });
  const steps = counting.kind.steps.map((step) => ({
    ...step,
    finalReasons: [storeReasons.STORE_UNAVAILABLE],
  }));
  const engine = createEngine(t, { store: await openOwnStore(t), kind: { ...counting.kind, steps } });
  t.match(await engine.end((await engine.start()).id), { state: "failed" });
  t.equal(counting.done.filter((what) => what === "forward second").length, 1);
});

test("before a retry, the step is asked whether it took effect", async (t) => {
  const counting = createCountingKind();
  counting.after("forward second", () => {
    throw busy();
  });
  const engine = createEngine(t, { store: await openOwnStore(t), kind: counting.kind });
  t.match(await engine.end((await engine.start()).id), {
    state: "completed",
    result: { outputs: ["made first", "found second", "made third"] },
  });
  t.equal(counting.done.filter((what) => what === "forward second").length, 1);
});

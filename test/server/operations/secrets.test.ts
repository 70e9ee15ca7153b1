import { test } from "tap";
import { InfraError } from "../../../adapters/host/infra-error.ts";
import { hostReasons } from "../../../adapters/host/reasons.ts";
import type { Json } from "../../../server/operations/operation.ts";
import type { StepRun } from "../../../server/operations/operation-kind.ts";
import { errorOf } from "../store/contract.ts";
import { openOwnStore } from "../store/own-store.ts";
import { createCountingKind } from "./counting-kind.ts";
import { createEngine, createMortalStore, testSeal } from "./engine-under-test.ts";

const secrets = { key: "correct horse", nested: [{ token: "battery staple" }] };

test("only the steps see the secrets", async (t) => {
  const store = await openOwnStore(t);
  const counting = createCountingKind();
  const given: Json[] = [];
  counting.before("forward first", async (run: StepRun<Json, Json>) => {
    given.push(run.secrets);
    run.progress({ message: "logging in with battery staple", doneBytes: 1, totalBytes: 2 });
  });
  counting.before("forward second", () => {
    throw new InfraError(hostReasons.TOOL_FAILED, "the key correct horse was refused");
  });
  counting.before("undo first", () => {
    throw new Error("battery staple is no option");
  });
  const engine = createEngine(t, { store, kind: counting.kind });
  const { id } = await engine.start({ secrets });
  const operation = await engine.end(id);
  t.same(given, [secrets]);
  t.equal(operation.state, "needsAttention");
  t.match(operation.failure?.message, "the key *** was refused");
  const events = await store.run("events.read", { afterSeq: 0, limit: 1000 });
  const everything = JSON.stringify([operation, events, engine.logged]);
  t.ok(everything.includes(id), "there is something to search");
  for (const secret of ["correct horse", "battery staple"]) {
    t.notOk(everything.includes(secret), secret);
  }

  await t.test("they are kept while a retry is possible, and erased at the end", async (t) => {
    counting.before("undo first", (run) => void given.push(run.secrets));
    await engine.operations.retry(id);
    t.match(await engine.end(id), { state: "failed" });
    t.same(given.at(-1), secrets);
    t.match(await errorOf(engine.operations.retry(id)), {
      reason: "OPERATION_NOT_RETRYABLE",
      message: /send the original request again/,
    });
  });
});

test("an operation that cannot be fixed is given up, and its secrets are erased", async (t) => {
  const store = await openOwnStore(t);
  const counting = createCountingKind();
  counting.before("forward second", () => {
    throw new Error("no");
  });
  counting.before("undo first", () => {
    throw new Error("the key is good no more");
  });
  const engine = createEngine(t, { store, kind: counting.kind });
  const { id } = await engine.start({ secrets });
  const { attention } = await engine.end(id);
  t.match(await engine.operations.cancel(id), { state: "cancelled", attention, isCancellable: false });
  t.match(await errorOf(engine.operations.retry(id)), { reason: "OPERATION_NOT_RETRYABLE" });
  t.match(await errorOf(engine.operations.cancel(id)), { reason: "OPERATION_ENDED" });
  t.same(await store.run("operations.purge", { keepMs: 0, limit: 100 }), { count: 1 });
});

test("an operation that needs attention can no longer be retried after the retention period", async (t) => {
  const store = await openOwnStore(t);
  const counting = createCountingKind();
  counting.before("forward second", () => {
    throw new Error("no");
  });
  counting.before("undo first", () => {
    throw new Error("stuck");
  });
  const engine = createEngine(t, { store, kind: counting.kind });
  const { id } = await engine.start({ secrets });
  const { endedAtMs = 0 } = await engine.end(id);
  while (Date.now() <= endedAtMs) {
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  await store.run("operations.purge", { keepMs: 0, limit: 100 });
  t.match(await engine.operations.get(id), { state: "needsAttention" });
  t.match(await errorOf(engine.operations.retry(id)), { reason: "OPERATION_NOT_RETRYABLE" });
});

const lostKey = {
  ...testSeal,
  open: () => {
    throw new Error("it does not open with this master key");
  },
};

test("an operation whose secrets cannot be decrypted fails if it has done nothing", async (t) => {
  const counting = createCountingKind();
  const engine = createEngine(t, { store: await openOwnStore(t), kind: counting.kind, seal: lostKey });
  t.match(await engine.end((await engine.start({ secrets })).id), {
    state: "failed",
    failure: { message: /decrypting the secrets failed/ },
  });
  t.same(counting.done, []);
});

test("an operation whose secrets can no longer be decrypted needs attention, and a retry continues where it stopped", async (t) => {
  const store = await openOwnStore(t);
  const counting = createCountingKind();
  const mortal = createMortalStore(store);
  const died = Promise.withResolvers<void>();
  counting.before("forward second", () => {
    if (!mortal.isDead) {
      mortal.die();
      died.resolve();
      return new Promise<void>(() => {});
    }
  });
  const { id } = await createEngine(t, { store: mortal, kind: counting.kind }).start({ secrets });
  await died.promise;
  const unable = createEngine(t, { store, kind: counting.kind, seal: lostKey });
  t.match(await unable.end(id), {
    state: "needsAttention",
    attention: { left: [/Step first/, /Step second/], advice: [/master key/] },
  });
  await unable.operations.close();
  const able = createEngine(t, { store, kind: counting.kind });
  await able.operations.retry(id);
  t.match(await able.end(id), { state: "completed" });
  t.same(counting.done, ["forward first", "forward second", "forward second", "forward third"]);
});

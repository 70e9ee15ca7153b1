import { test } from "tap";
import { errorOf } from "../store/contract.ts";
import { openOwnStore } from "../store/own-store.ts";
import { createCountingKind } from "./counting-kind.ts";
import { asShared, createEngine, type EngineStore } from "./engine-under-test.ts";

test("ended operations are purged after some time, except those that need attention", async (t) => {
  const store = await openOwnStore(t);
  const counting = createCountingKind();
  const engine = createEngine(t, { store, kind: counting.kind });
  const done = await engine.end((await engine.start()).id);
  counting.before("forward third", () => {
    throw new Error("no");
  });
  counting.before("undo first", () => {
    throw new Error("stuck");
  });
  const stuck = await engine.end((await engine.start()).id);
  t.equal(stuck.state, "needsAttention");
  const waiting = await createEngine(t, {
    store,
    kind: createCountingKind({ kind: "test.other" }).kind,
    isIdle: true,
  }).start();
  while (Date.now() <= (stuck.endedAtMs ?? 0)) {
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  t.same(await store.run("operations.purge", { keepMs: 60_000, limit: 100 }), { count: 0 });
  t.same(await store.run("operations.purge", { keepMs: 0, limit: 100 }), { count: 1 });
  t.match(await errorOf(engine.operations.get(done.id)), { reason: "OPERATION_NOT_FOUND" });
  t.match(await errorOf(engine.end(done.id)), { reason: "OPERATION_NOT_FOUND" });
  t.match(await engine.operations.get(stuck.id), { state: "needsAttention" });
  t.match(await engine.operations.get(waiting.id), { state: "scheduled" });
  t.same(await engine.operations.counts(), { scheduled: 1, active: 0, undoing: 0, needsAttention: 1 });
});

test("a caller can stop waiting for the end of an operation", async (t) => {
  const { kind } = createCountingKind();
  const engine = createEngine(t, { store: await openOwnStore(t), kind, isIdle: true });
  const { id } = await engine.start();
  const abort = new AbortController();
  const ended = errorOf(
    engine.operations.ended(id, abort.signal).catch((error: unknown) => {
      t.equal(error, abort.signal.reason);
      return engine.operations.get("none");
    }),
  );
  abort.abort(new Error("enough"));
  await ended;
});

test("idle gateways query the store a few times per lease, and write once", async (t) => {
  const store = asShared(await openOwnStore(t));
  const requested = new Map<string, number>();
  const counted: EngineStore = {
    ...store,
    run(name, args) {
      requested.set(name, (requested.get(name) ?? 0) + 1);
      return store.run(name, args);
    },
  };
  const leaseMs = 500;
  const leases = 4;
  createEngine(t, { store: counted, kind: createCountingKind().kind, limits: { leaseMs } });
  await new Promise((resolve) => setTimeout(resolve, leaseMs * leases));
  const { "operations.poll": polls = 0, "operations.renew": renewals = 0 } = Object.fromEntries(requested);
  t.ok(polls <= 2 * leases + 1, `${polls} polls in ${leases} leases`);
  t.ok(renewals <= leases + 1, `${renewals} renewals`);
  t.notOk(requested.has("operations.claim"));
});

import { AsyncLocalStorage } from "node:async_hooks";
import { test } from "tap";
import { errorOf } from "../store/contract.ts";
import { openOwnStore } from "../store/own-store.ts";
import { createCountingKind } from "./counting-kind.ts";
import { createEngine } from "./engine-under-test.ts";

test("operations on one resource run one after another, in order", async (t) => {
  const counting = createCountingKind({ steps: ["only"] });
  const order: string[] = [];
  let running = 0;
  counting.before("forward only", async ({ operationId }) => {
    running += 1;
    t.equal(running, 1);
    order.push(operationId);
    await new Promise((resolve) => setTimeout(resolve, 5));
    running -= 1;
  });
  const engine = createEngine(t, { store: await openOwnStore(t), kind: counting.kind });
  const ids: string[] = [];
  for (let count = 0; count < 5; count += 1) {
    ids.push((await engine.start({ resource: "things/a" })).id);
  }
  await Promise.all(ids.map(engine.end));
  t.same(order, ids);
});

test("a queued operation shows what it waits for", async (t) => {
  const counting = createCountingKind({ steps: ["only"] });
  const gate = Promise.withResolvers<void>();
  counting.before("forward only", () => gate.promise);
  const engine = createEngine(t, {
    store: await openOwnStore(t),
    kind: counting.kind,
    limits: { perSystem: 1 },
  });
  const first = await engine.start({ resource: "things/a" });
  const second = await engine.start({ resource: "things/a" });
  const third = await engine.start({ resource: "things/b" });
  const isReported = ({ waitingFor }: { readonly waitingFor: string }) => waitingFor !== "";
  t.equal(
    (await engine.until(second.id, isReported)).waitingFor,
    `operation ${first.id} on the same resource must end first`,
  );
  t.equal(
    (await engine.until(third.id, isReported)).waitingFor,
    "test already runs 1 operation, which is its limit",
  );
  gate.resolve();
  t.match(await engine.end(second.id), { state: "completed", waitingFor: "" });
  t.match(await engine.end(third.id), { state: "completed", waitingFor: "" });
});

test("a caller with many operations does not keep others waiting", async (t) => {
  const counting = createCountingKind({ steps: ["only"] });
  const started: string[] = [];
  counting.before("forward only", async ({ input }) => void started.push(String(input)));
  const store = await openOwnStore(t);
  const requester = createEngine(t, { store, kind: counting.kind, isIdle: true });
  for (let count = 0; count < 10; count += 1) {
    await requester.start({ actor: "user/many", input: "many" });
  }
  const { id } = await requester.start({ actor: "user/few", input: "few" });
  createEngine(t, { store, kind: counting.kind, limits: { perSystem: 2 } });
  await requester.end(id);
  t.ok(started.indexOf("few") <= 2, `after ${started.indexOf("few")} of the other caller's`);
});

test("a repeated request finds its operation until the operation has ended", async (t) => {
  const counting = createCountingKind({ steps: ["only"] });
  const gate = Promise.withResolvers<void>();
  counting.before("forward only", () => gate.promise);
  const engine = createEngine(t, { store: await openOwnStore(t), kind: counting.kind });
  const spec = {
    resource: "things/a",
    backend: "test",
    input: null,
    secrets: null,
    requester: { actor: "user/a", accountId: "a", rpc: "test.Service/Method" },
    attachKey: "backup of a",
  };
  const answers = await Promise.all([1, 2, 3].map(() => engine.starter.start(spec)));
  t.equal(new Set(answers.map(({ operation }) => operation.id)).size, 1);
  t.equal(answers.filter(({ isNew }) => isNew).length, 1);
  gate.resolve();
  await engine.end(answers[0]?.operation.id ?? "");
  t.equal((await engine.starter.start(spec)).isNew, true);
});

test("an operation does not run in the context of the call that started it", async (t) => {
  const counting = createCountingKind({ steps: ["only"] });
  const call = new AsyncLocalStorage<string>();
  counting.before("forward only", () => t.equal(call.getStore(), undefined));
  const engine = createEngine(t, { store: await openOwnStore(t), kind: counting.kind });
  const { id } = await call.run("a call", () => engine.start());
  t.match(await engine.end(id), { state: "completed" });
});

test("no more operations are accepted than the limit allows", async (t) => {
  const counting = createCountingKind();
  const engine = createEngine(t, {
    store: await openOwnStore(t),
    kind: counting.kind,
    limits: { maxOpen: 2 },
    isIdle: true,
  });
  await engine.start({ actor: "user/a" });
  await engine.start({ actor: "user/b" });
  t.match(await errorOf(engine.start({ actor: "user/c" })), {
    reason: "BUSY",
    message: /^2 operations are already running or queued.*\(operations\.maxOpen\)/,
  });
});

test("one caller gets at most half of the limit, and at least one operation", async (t) => {
  const counting = createCountingKind();
  const store = await openOwnStore(t);
  const engine = createEngine(t, { store, kind: counting.kind, limits: { maxOpen: 5 }, isIdle: true });
  const refusedAt = (count: number) => ({
    reason: "BUSY",
    message: new RegExp(`^${count} operations of this caller .*half of operations\\.maxOpen`),
  });
  const { id } = await engine.start({ actor: "user/many", attachKey: "kept" });
  await engine.start({ actor: "user/many" });
  t.match(await errorOf(engine.start({ actor: "user/many" })), refusedAt(2));
  t.equal(
    (await engine.start({ actor: "user/many", attachKey: "kept" })).id,
    id,
    "no new operation is started",
  );
  await engine.start({ actor: "user/few" });
  await engine.operations.cancel(id);
  await engine.start({ actor: "user/many" });
  const requester = { actor: "listener/unix", accountId: "", rpc: "test.Service/Method" };
  const spec = { resource: "things/a", backend: "test", input: null, secrets: null };
  await engine.starter.start({ ...spec, requester });
  await engine.starter.start({ ...spec, requester: { ...requester, actor: "anonymous" } });
  const other = createEngine(t, {
    store: await openOwnStore(t),
    kind: counting.kind,
    limits: { maxOpen: 2 },
    isIdle: true,
  });
  await other.starter.start({ ...spec, requester });
  t.match(await errorOf(other.starter.start({ ...spec, requester })), refusedAt(1));
  await other.starter.start({ ...spec, requester: { ...requester, actor: "anonymous" } });
});

test("a resource with an open operation is not free", async (t) => {
  const counting = createCountingKind({ runsOn: "host" });
  const store = await openOwnStore(t);
  const engine = createEngine(t, { store, kind: counting.kind, host: "alpha", isIdle: true });
  const other = createEngine(t, { store, kind: counting.kind, host: "beta", isIdle: true });
  const { id } = await engine.start({ resource: "things/a" });
  t.match(await errorOf(engine.operations.assertFree("things/a")), {
    reason: "OPERATION_IN_PROGRESS",
    message: new RegExp(id),
  });
  await engine.operations.assertFree("things/b");
  await other.operations.assertFree("things/a");
  await engine.operations.cancel(id);
  await engine.operations.assertFree("things/a");
});

test("operations are listed newest first, page by page, with filters", async (t) => {
  const counting = createCountingKind({ kind: "volumes.backup" });
  const engine = createEngine(t, { store: await openOwnStore(t), kind: counting.kind, isIdle: true });
  const a = await engine.start({ resource: "groups/a/volumes/x", actor: "user/a" });
  const b = await engine.start({ resource: "groups/b/volumes/x", actor: "user/b" });
  const c = await engine.start({ resource: "groups/b", actor: "user/b" });
  await engine.operations.cancel(c.id);
  const idsOf = async (filters: Parameters<typeof engine.operations.list>[0]) => {
    const { operations } = await engine.operations.list(filters, { belowSeq: undefined, limit: 10 });
    return operations.map(({ id }) => id);
  };
  t.same(await idsOf({}), [c.id, b.id, a.id]);
  t.same(await idsOf({ states: ["cancelled"] }), [c.id]);
  t.same(await idsOf({ states: ["scheduled", "cancelled"] }), [c.id, b.id, a.id]);
  t.same(await idsOf({ resource: "groups/b" }), [c.id, b.id]);
  t.same(await idsOf({ actor: "user/a" }), [a.id]);
  t.same(await idsOf({ kind: "volumes" }), [c.id, b.id, a.id]);
  t.same(await idsOf({ kind: "volumes.backup", actor: "user/b" }), [c.id, b.id]);
  t.same(await idsOf({ kind: "volume" }), []);
  t.same(await idsOf({ services: ["test.Service"] }), [c.id, b.id, a.id]);
  t.same(await idsOf({ services: ["test.Serv"] }), []);
  t.same(await idsOf({ services: [] }), []);
  t.same(await idsOf({ fromMs: b.createdAtMs, toMs: b.createdAtMs }), []);
  t.same(await idsOf({ toMs: c.createdAtMs + 1 }), [c.id, b.id, a.id]);
  const first = await engine.operations.list({}, { belowSeq: undefined, limit: 2 });
  t.same(
    first.operations.map(({ id }) => id),
    [c.id, b.id],
  );
  const second = await engine.operations.list({}, { belowSeq: first.nextSeq, limit: 2 });
  t.same(
    second.operations.map(({ id }) => id),
    [a.id],
  );
  t.equal(second.nextSeq, undefined);
});

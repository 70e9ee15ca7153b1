import { test } from "tap";
import type { Operation } from "../../../server/operations/operation.ts";
import { openOwnStore } from "../store/own-store.ts";
import { createCountingKind } from "./counting-kind.ts";
import { asShared, createEngine } from "./engine-under-test.ts";

test("progress is visible at every gateway: as a share of the whole, in bytes and as text", async (t) => {
  const store = asShared(await openOwnStore(t));
  const counting = createCountingKind({ weights: { first: 1, second: 8, third: 1 } });
  const gate = Promise.withResolvers<void>();
  counting.before("forward second", async ({ progress }) => {
    progress({ message: "half of it", doneBytes: 50, totalBytes: 100 });
    await gate.promise;
  });
  const worker = createEngine(t, { store, kind: counting.kind });
  const watcher = createEngine(t, { store, kind: counting.kind, isIdle: true });
  const { id } = await worker.start();
  t.match(await watcher.until(id, ({ doneBytes }) => doneBytes !== undefined), {
    message: "half of it",
    progress: 0.5,
    doneBytes: 50,
    totalBytes: 100,
    step: "second",
  });
  gate.resolve();
  t.match(await watcher.end(id), {
    progress: 1,
    doneBytes: undefined,
    totalBytes: undefined,
    step: undefined,
  });
});

test("progress is written at most once a second, and the last update is not lost", async (t) => {
  const store = await openOwnStore(t);
  const counting = createCountingKind({ steps: ["only"] });
  const gate = Promise.withResolvers<void>();
  counting.before("forward only", async ({ progress }) => {
    for (let done = 1; done <= 1000; done += 1) {
      progress({ doneBytes: done, totalBytes: 1000 });
      if (done % 100 === 0) {
        await new Promise((resolve) => setTimeout(resolve, 1));
      }
    }
    await gate.promise;
  });
  const engine = createEngine(t, { store, kind: counting.kind });
  const { id } = await engine.start();
  await engine.until(id, ({ doneBytes }) => doneBytes === 1000);
  gate.resolve();
  await engine.end(id);
  const { rows } = await store.run("events.read", { afterSeq: 0, limit: 1000 });
  const reported = rows.map(({ payload_json }) => JSON.parse(payload_json) as Operation);
  const writes = reported.filter(({ doneBytes }) => doneBytes !== undefined);
  t.ok(writes.length <= 3, `${writes.length} writes of progress`);
});

test("every change of an operation is an event, and the last one reports its end", async (t) => {
  const store = await openOwnStore(t);
  const counting = createCountingKind();
  const engine = createEngine(t, { store, kind: counting.kind });
  const ended = await engine.end((await engine.start({ resource: "things/a" })).id);
  const { rows } = await store.run("events.read", { afterSeq: 0, limit: 1000 });
  t.ok(rows.every((row) => row.operation_id === ended.id && row.resource === "things/a"));
  t.match(rows[0], { topic: "operations", type: "operation.changed", services: '["test.Service"]' });
  const states = rows.map(({ payload_json }) => (JSON.parse(payload_json) as Operation).state);
  t.same([...new Set(states)], ["scheduled", "active", "completed"]);
  t.same(JSON.parse(rows.at(-1)?.payload_json ?? "null"), JSON.parse(JSON.stringify(ended)));
});

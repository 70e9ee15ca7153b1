import { test } from "tap";
import { run } from "../../../adapters/host/process/run.ts";
import { errorOf } from "../store/contract.ts";
import { openOwnStore } from "../store/own-store.ts";
import { createCountingKind } from "./counting-kind.ts";
import { createEngine } from "./engine-under-test.ts";

const node = (code: string) => run([process.execPath, "-e", code], { kind: "mutate" });
const page = { aboveSeq: 0, limit: 100 };

test("the commands of an operation are stored with their results", async (t) => {
  const store = await openOwnStore(t);
  const counting = createCountingKind({ steps: ["first", "second"] });
  counting.before("forward first", () => node("process.exit(3)").catch(() => {}));
  counting.before("forward second", async () => {
    await node("process.kill(process.pid, 'SIGKILL')").catch(() => {});
    throw new Error("no");
  });
  counting.before("undo first", () => node(""));
  const engine = createEngine(t, { store, kind: counting.kind, host: "alpha" });
  const beforeMs = Date.now();
  const { id } = await engine.start();
  // This command is not part of the operation.
  await node("");
  await engine.end(id);
  const { commands, nextSeq } = await engine.operations.commands(id, page);
  t.equal(nextSeq, undefined);
  t.match(commands, [
    { step: "first", argv: [process.execPath, "-e", "process.exit(3)"], exitCode: 3, signal: undefined },
    { step: "second", exitCode: undefined, signal: "SIGKILL" },
    { step: "undo first", exitCode: 0, host: "alpha" },
  ]);
  t.equal(commands.length, 3);
  t.ok(commands.every(({ atMs, durationMs }) => atMs >= beforeMs - 100 && durationMs >= 0));
  t.match(await errorOf(engine.operations.commands("none", page)), { reason: "OPERATION_NOT_FOUND" });
});

test("commands are visible while the step still runs, page by page", async (t) => {
  const store = await openOwnStore(t);
  const counting = createCountingKind({ steps: ["only"] });
  const gate = Promise.withResolvers<void>();
  const ran = Promise.withResolvers<void>();
  counting.before("forward only", async () => {
    for (let count = 1; count <= 3; count += 1) {
      await node("").catch(() => {});
    }
    ran.resolve();
    await gate.promise;
  });
  const engine = createEngine(t, { store, kind: counting.kind });
  const { id } = await engine.start();
  await ran.promise;
  let seen = await engine.operations.commands(id, page);
  while (seen.commands.length < 3) {
    await new Promise((resolve) => setTimeout(resolve, 50));
    seen = await engine.operations.commands(id, page);
  }
  const first = await engine.operations.commands(id, { aboveSeq: 0, limit: 2 });
  t.equal(first.commands.length, 2);
  const second = await engine.operations.commands(id, { aboveSeq: first.nextSeq ?? 0, limit: 2 });
  t.same([second.commands.length, second.nextSeq], [1, undefined]);
  gate.resolve();
  await engine.end(id);
});

test("only the first thousand commands of an operation are stored", async (t) => {
  const store = await openOwnStore(t);
  const { kind } = createCountingKind();
  const engine = createEngine(t, { store, kind, isIdle: true });
  const { id } = await engine.start();
  const claimed = await store.run("operations.claim", {
    instanceId: "me",
    host: "alpha",
    kinds: [{ kind: kind.kind, steps: [] }],
    unlimitedKinds: [],
    runningIds: [],
    isAlone: true,
    perSystem: 1,
    leaseMs: 1000,
  });
  const command = { step: "s", argv_json: "[]", exit_code: 0, signal: null, duration_ms: 1, host: "alpha" };
  const commands = Array.from({ length: 700 }, () => ({ ...command, startedMsAgo: 1 }));
  const fenced = { id, owner: "me", fence: claimed?.fence ?? 0, commands };
  for (const _ of [1, 2]) {
    t.same(await store.run("operations.progress", { ...fenced, columns: undefined, isNews: false }), {
      ok: true,
    });
  }
  const kept = await engine.operations.commands(id, { aboveSeq: 0, limit: 2000 });
  t.equal(kept.commands.length, 1000);
});

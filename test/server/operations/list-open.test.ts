import { test } from "tap";
import { listOpen } from "../../../server/operations/list-open.ts";
import { openOwnStore } from "../store/own-store.ts";
import { createCountingKind } from "./counting-kind.ts";
import { createEngine } from "./engine-under-test.ts";

test("open operations of this host are listed, and requested end states", async (t) => {
  const counting = createCountingKind({ kind: "test.count", steps: ["only"], runsOn: "host" });
  const gate = Promise.withResolvers<void>();
  counting.before("forward only", ({ input }) => (input === "waits" ? gate.promise : undefined));
  const store = await openOwnStore(t);
  const engine = createEngine(t, { store, kind: counting.kind, host: "alpha" });
  const other = createEngine(t, { store, kind: counting.kind, host: "beta", isIdle: true });
  const ended = await engine.start({ resource: "things/a" });
  await engine.end(ended.id);
  const open = await engine.start({ resource: "things/a", input: "waits" });
  await other.start({ resource: "things/a" });
  const ids = async (more: Partial<Parameters<typeof listOpen>[1]>) =>
    (await listOpen(engine.operations, { kind: "test.count", host: "alpha", ...more })).map(({ id }) => id);
  t.strictSame(await ids({}), [open.id]);
  t.strictSame(await ids({ orStates: ["completed"] }), [open.id, ended.id]);
  t.strictSame(await ids({ resource: "things/b" }), []);
  t.strictSame(await ids({ kind: "test.other" }), []);
  gate.resolve();
  await engine.end(open.id);
  t.strictSame(await ids({}), []);
});

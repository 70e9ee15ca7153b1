import { test } from "tap";
import { openOwnStore } from "../store/own-store.ts";
import { createCountingKind } from "./counting-kind.ts";
import { createEngine } from "./engine-under-test.ts";

test("an operation runs its steps in order and stores the result", async (t) => {
  const store = await openOwnStore(t);
  const counting = createCountingKind();
  const engine = createEngine(t, { store, kind: counting.kind });
  const started = await engine.start({ resource: "things/a", input: { size: 3 }, actor: "user/alice" });
  t.match(started, { state: "scheduled", kind: "test.count", resource: "things/a", actor: "user/alice" });
  const operation = await engine.end(started.id);
  t.match(operation, {
    state: "completed",
    input: { size: 3 },
    progress: 1,
    message: "done",
    result: { outputs: ["made first", "made second", "made third"] },
    isCancellable: false,
    attempt: 1,
  });
  t.same(
    operation.steps.map(({ name, state, attempt }) => [name, state, attempt]),
    [
      ["first", "done", 1],
      ["second", "done", 1],
      ["third", "done", 1],
    ],
  );
  t.same(counting.done, ["forward first", "forward second", "forward third"]);
  t.same(await engine.operations.get(started.id), operation);
});

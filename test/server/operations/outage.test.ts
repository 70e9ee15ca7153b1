import { test } from "tap";
import { InfraError } from "../../../adapters/host/infra-error.ts";
import { storeReasons } from "../../../server/store/reasons.ts";
import { openOwnStore } from "../store/own-store.ts";
import { createCountingKind } from "./counting-kind.ts";
import { asShared, createEngine, type EngineStore, shortLeaseMs } from "./engine-under-test.ts";

/** Creates a store that can become unreachable. */
function createFlakyStore(store: EngineStore) {
  let isOut = false;
  let onAnswered: (() => void) | undefined;
  function assertReachable(): void {
    if (isOut) {
      throw new InfraError(storeReasons.STORE_UNAVAILABLE, "the database cannot be reached");
    }
  }
  const flaky: EngineStore = {
    ...store,
    async run(name, args) {
      assertReachable();
      const answer = await store.run(name, args);
      assertReachable();
      onAnswered?.();
      return answer as never;
    },
  };
  return {
    store: flaky,
    cut: () => {
      isOut = true;
    },
    mend: () => {
      isOut = false;
    },
    /** Loses the next answer, although the transaction is committed. */
    loseNextAnswer: () => {
      onAnswered = () => {
        onAnswered = undefined;
        throw new InfraError(storeReasons.STORE_UNAVAILABLE, "the database was lost during a commit");
      };
    },
  };
}

test("a short outage of the store only delays an operation", async (t) => {
  const flaky = createFlakyStore(asShared(await openOwnStore(t)));
  const counting = createCountingKind();
  counting.after("forward second", () => {
    flaky.cut();
    setTimeout(flaky.mend, 300);
  });
  const engine = createEngine(t, { store: flaky.store, kind: counting.kind });
  const { id } = await engine.start();
  t.match(await engine.end(id), { state: "completed", attempt: 1 });
  t.same(counting.done, ["forward first", "forward second", "forward third"]);
});

test("an outage longer than the lease stops the step, and the operation continues afterwards", async (t) => {
  const flaky = createFlakyStore(asShared(await openOwnStore(t)));
  const counting = createCountingKind();
  const stopped = Promise.withResolvers<void>();
  counting.before("forward second", async ({ signal, attempt }) => {
    if (attempt === 1) {
      flaky.cut();
      await new Promise((_, reject) =>
        signal.addEventListener("abort", () => {
          stopped.resolve();
          reject(signal.reason);
        }),
      );
    }
  });
  const engine = createEngine(t, {
    store: flaky.store,
    kind: counting.kind,
    limits: { leaseMs: shortLeaseMs },
  });
  const { id } = await engine.start();
  // While the store is still down.
  await stopped.promise;
  flaky.mend();
  t.match(await engine.end(id), { state: "completed", attempt: 2, failure: undefined });
  const reported = engine.logged.filter((line) => line.startsWith("operations are paused"));
  t.equal(reported.length, 1, "the outage is logged once");
  // The line follows a renewal, which may come after the operation's end.
  while (!engine.logged.some((line) => line.startsWith("operations resumed"))) {
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
});

test("a write whose answer was lost is repeated, which changes nothing", async (t) => {
  const store = asShared(await openOwnStore(t));
  for (const name of [
    "operations.beginStep",
    "operations.endStep",
    "operations.complete",
    "operations.beginUndo",
    "operations.endUndo",
  ]) {
    const flaky = createFlakyStore(store);
    const counting = createCountingKind({ kind: `test.${name}` });
    if (name.endsWith("Undo")) {
      counting.before("forward third", () => {
        throw new Error("no");
      });
    }
    const engine = createEngine(t, {
      store: flaky.store,
      kind: counting.kind,
      boundary: (boundary) => {
        if (boundary === `before ${name}`) {
          flaky.loseNextAnswer();
        }
      },
    });
    const { id } = await engine.start();
    const expected = name.endsWith("Undo") ? "failed" : "completed";
    t.match(await engine.end(id), { state: expected, attempt: 1 }, name);
    t.ok([...counting.created.values()].every((count) => count === 1));
    await engine.operations.close();
  }
});

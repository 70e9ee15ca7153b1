import { randomUUID } from "node:crypto";
import { type Test, test } from "tap";
import { InfraError } from "../../../adapters/host/infra-error.ts";
import { planReasons } from "../../../server/domains/plan/reasons.ts";
import type { CheckOperationPlan, OperationPlan } from "../../../server/operations/operations.ts";
import type { Store } from "../../../server/store/store.ts";
import { openOwnStore } from "../store/own-store.ts";
import { createCountingKind } from "./counting-kind.ts";
import { createEngine, createMortalStore, type TestEngine } from "./engine-under-test.ts";

const plan: OperationPlan = {
  id: "plan-1",
  mutation: {
    kind: "test.count",
    resource: "things/a",
    backend: "test",
    plan: { changes: ["a is counted"], losses: [], facts: [] },
    steps: [],
    pointOfNoReturn: 0,
  },
};

const stale = () => new InfraError(planReasons.PLAN_STALE, "things/a uuid was 1, is 2");

/** Starts an operation that applies the plan. */
async function startPlanned({ starter }: TestEngine): Promise<string> {
  const { operation } = await starter.start({
    resource: "things/a",
    backend: "test",
    input: null,
    secrets: null,
    requester: { actor: "user/a", accountId: "user/a", rpc: "test.Service/Method" },
    plan,
  });
  return operation.id;
}

/** Creates an engine whose plans are checked by `check`. */
function createPlannedEngine(t: Test, store: Store, check: CheckOperationPlan, isIdle = false) {
  const counting = createCountingKind({ kind: `test.${randomUUID()}` });
  const engine = createEngine(t, { store, kind: counting.kind, isIdle: true });
  engine.operations.checkPlansWith(check);
  if (!isIdle) {
    engine.operations.begin();
  }
  return { ...engine, counting };
}

test("an operation that applies a plan checks it before its first step", async (t) => {
  const checked: unknown[] = [];
  const engine = createPlannedEngine(t, await openOwnStore(t), async (operation, given) => {
    checked.push([operation.resource, given, [...engine.counting.done]]);
  });
  const { state, steps } = await engine.end(await startPlanned(engine));
  t.equal(state, "completed");
  t.same(checked, [["things/a", plan, []]]);
  t.same(
    steps.map(({ name }) => name),
    ["checkPlan", "first", "second", "third"],
  );
});

test("a stale plan fails its operation, which changes nothing", async (t) => {
  const engine = createPlannedEngine(t, await openOwnStore(t), async () => {
    throw stale();
  });
  const { state, failure } = await engine.end(await startPlanned(engine));
  t.equal(state, "failed");
  t.match(failure, { reason: "PLAN_STALE", message: "things/a uuid was 1, is 2" });
  t.same(engine.counting.done, []);
});

test("an operation without a plan has no such step", async (t) => {
  const engine = createPlannedEngine(t, await openOwnStore(t), async () => {
    throw stale();
  });
  const { state, steps } = await engine.end((await engine.start()).id);
  t.equal(state, "completed");
  t.equal(steps.length, 3);
});

test("a failed operation checks its plan again when it is retried", async (t) => {
  let isStale = true;
  const engine = createPlannedEngine(t, await openOwnStore(t), async () => {
    if (isStale) {
      throw stale();
    }
  });
  const id = await startPlanned(engine);
  t.equal((await engine.end(id)).state, "failed");
  isStale = false;
  await engine.operations.retry(id);
  t.equal((await engine.end(id)).state, "completed");
});

test("an operation can be cancelled while its plan is checked", async (t) => {
  const engine = createPlannedEngine(t, await openOwnStore(t), async ({ id }, _plan, signal) => {
    await engine.operations.cancel(id);
    signal.throwIfAborted();
  });
  t.equal((await engine.end(await startPlanned(engine))).state, "cancelled");
  t.same(engine.counting.done, []);
});

test("a gateway dies while the world moves: the operation is completed as planned, or has changed nothing", async (t) => {
  const store = await openOwnStore(t);
  const outcomes = new Map<string, string>();
  for (let dieAt = 1; ; dieAt += 1) {
    let isMoved = false;
    const check: CheckOperationPlan = async () => {
      if (isMoved) {
        throw stale();
      }
    };
    const requester = createPlannedEngine(t, store, check, true);
    const { kind } = requester.counting;
    const id = await startPlanned(requester);
    const mortal = createMortalStore(store);
    const died = Promise.withResolvers<string>();
    let boundaries = 0;
    const first = createEngine(t, {
      store: mortal,
      kind,
      isIdle: true,
      boundary(name) {
        boundaries += 1;
        if (boundaries === dieAt) {
          mortal.die();
          isMoved = true;
          died.resolve(name);
          return new Promise<void>(() => {});
        }
      },
    });
    first.operations.checkPlansWith(check);
    first.operations.begin();
    const ended = requester.end(id);
    const place = await Promise.race([died.promise, ended.then(() => undefined)]);
    const heir = place === undefined ? first : createEngine(t, { store, kind, isIdle: true });
    if (place !== undefined) {
      heir.operations.checkPlansWith(check);
      heir.operations.begin();
    }
    const { state, failure } = await ended;
    await Promise.all([requester.operations.close(), heir.operations.close()]);
    if (place === undefined) {
      t.equal(state, "completed");
      break;
    }
    outcomes.set(place, state);
    if (state === "completed") {
      t.equal(requester.counting.present.size, 3, `completed after ${place}`);
    } else {
      t.match(failure, { reason: "PLAN_STALE" }, `ended after ${place}`);
      t.same(requester.counting.done, [], `nothing was changed after ${place}`);
    }
  }
  t.equal(outcomes.get("before forward checkPlan"), "failed");
  t.equal(outcomes.get("before forward first"), "completed");
  t.equal(outcomes.get("after forward third"), "completed");
});

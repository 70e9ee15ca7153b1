import { randomUUID } from "node:crypto";
import fc from "fast-check";
import { type Test, test } from "tap";
import { InfraError } from "../../../adapters/host/infra-error.ts";
import { lvmReasons } from "../../../adapters/lvm/reasons.ts";
import type { OperationState } from "../../../server/operations/operation.ts";
import { openOwnStore } from "../store/own-store.ts";
import { createCountingKind } from "./counting-kind.ts";
import { createEngine, createMortalStore, type EngineStore } from "./engine-under-test.ts";

const steps = ["first", "second", "third", "fourth"];

/** What happens to an operation; numbers are indexes of steps. */
interface Life {
  readonly failsAt: number | undefined;
  readonly stuckAt: number | undefined;
  readonly cancelledAt: number | undefined;
  /** `steps.length`: none. */
  readonly pointOfNoReturn: number;
  /** Its gateways die, each after this many boundaries. */
  readonly deaths: readonly number[];
}

const anyStep = fc.option(fc.nat({ max: steps.length - 1 }), { nil: undefined });
const lives: fc.Arbitrary<Life> = fc.record({
  failsAt: anyStep,
  stuckAt: anyStep,
  cancelledAt: anyStep,
  pointOfNoReturn: fc.nat({ max: steps.length }),
  deaths: fc.array(fc.integer({ min: 1, max: 25 }), { maxLength: 4 }),
});

/** Returns the end states that are allowed. */
function endsOf({ failsAt, stuckAt, cancelledAt, pointOfNoReturn }: Life): ReadonlySet<OperationState> {
  const ends = new Set<OperationState>();
  const undone = (upTo: number, end: OperationState) =>
    ends.add(stuckAt !== undefined && stuckAt <= upTo ? "needsAttention" : end);
  if (failsAt === undefined) {
    ends.add("completed");
  } else if (failsAt > pointOfNoReturn) {
    ends.add("needsAttention");
  } else {
    undone(failsAt, "failed");
  }
  if (cancelledAt !== undefined && cancelledAt <= pointOfNoReturn) {
    // If a step fails while its operation is being cancelled, the operation ends as cancelled.
    undone(Math.min(cancelledAt, failsAt ?? steps.length), "cancelled");
  }
  return ends;
}

async function live(t: Test, store: EngineStore, life: Life) {
  const { failsAt, stuckAt, cancelledAt, pointOfNoReturn, deaths } = life;
  const limit = steps[pointOfNoReturn];
  const counting = createCountingKind({
    kind: `test.${randomUUID()}`,
    steps,
    ...(limit === undefined ? {} : { pointOfNoReturn: limit }),
  });
  const requester = createEngine(t, { store, kind: counting.kind, isIdle: true });
  for (const [index, name] of steps.entries()) {
    counting.before(`forward ${name}`, async ({ operationId }) => {
      if (index === cancelledAt) {
        await requester.operations.cancel(operationId).catch(() => {});
      }
      if (index === failsAt) {
        throw new InfraError(lvmReasons.VOLUME_EXISTS, "made to fail");
      }
    });
    counting.before(`undo ${name}`, () => {
      if (index === stuckAt) {
        throw new Error("made to stick");
      }
    });
  }
  const { id } = await requester.start();
  const ended = requester.end(id);
  for (const dieAfter of deaths) {
    const mortal = createMortalStore(store);
    const died = Promise.withResolvers<void>();
    let visits = 0;
    const engine = createEngine(t, {
      store: mortal,
      kind: counting.kind,
      boundary() {
        visits += 1;
        if (visits === dieAfter) {
          mortal.die();
          died.resolve();
          return new Promise<void>(() => {});
        }
      },
    });
    await Promise.race([died.promise, ended]);
    if (!mortal.isDead) {
      await engine.operations.close();
      return { operation: await ended, counting };
    }
  }
  const last = createEngine(t, { store, kind: counting.kind });
  const operation = await ended;
  await last.operations.close();
  return { operation, counting };
}

test("every operation reaches an allowed end, whatever fails, is cancelled or dies", async (t) => {
  const store = await openOwnStore(t);
  await fc.assert(
    fc.asyncProperty(lives, async (life) => {
      const { operation, counting } = await live(t, store, life);
      const { state } = operation;
      const ends = endsOf(life);
      if (!ends.has(state)) {
        throw new Error(`it is ${state}, and not ${[...ends].join(" or ")}`);
      }
      if ([...counting.created.values()].some((times) => times > 1)) {
        throw new Error("an effect was had twice");
      }
      const firstUndo = counting.done.findIndex((what) => what.startsWith("undo"));
      if (firstUndo !== -1 && counting.done.slice(firstUndo).some((what) => what.startsWith("forward"))) {
        throw new Error("it went forward after it was undone");
      }
      const left = counting.present.size;
      if (state === "completed" ? left !== steps.length : state !== "needsAttention" && left > 0) {
        throw new Error(`${left} effects are there, and it is ${state}`);
      }
      t.ok(operation.attention === undefined || state === "needsAttention");
    }),
    { numRuns: 100 },
  );
});

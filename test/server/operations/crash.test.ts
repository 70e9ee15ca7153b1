import { randomUUID } from "node:crypto";
import { type Test, test } from "tap";
import { InfraError } from "../../../adapters/host/infra-error.ts";
import { lvmReasons } from "../../../adapters/lvm/reasons.ts";
import type { Operation } from "../../../server/operations/operation.ts";
import type { Store } from "../../../server/store/store.ts";
import { openOwnStore } from "../store/own-store.ts";
import { type CountingKind, createCountingKind } from "./counting-kind.ts";
import { createEngine, createMortalStore } from "./engine-under-test.ts";

/** What happens to an operation, in addition to the death of its gateway. */
interface Story {
  readonly name: string;
  readonly expected: readonly Operation["state"][];
  prepare(counting: CountingKind, cancel: (id: string) => Promise<unknown>): void;
}

const stories: readonly Story[] = [
  { name: "an operation that succeeds", expected: ["completed"], prepare() {} },
  {
    name: "an operation whose last step fails",
    expected: ["failed"],
    prepare(counting) {
      counting.before("forward third", () => {
        throw new InfraError(lvmReasons.VOLUME_EXISTS, "there is one already");
      });
    },
  },
  {
    name: "an operation that is cancelled",
    expected: ["cancelled", "completed"],
    prepare(counting, cancel) {
      counting.before("forward second", async ({ operationId, signal }) => {
        await cancel(operationId);
        signal.throwIfAborted();
      });
    },
  },
  {
    name: "an operation that cannot be undone",
    expected: ["needsAttention"],
    prepare(counting) {
      counting.before("forward third", () => {
        throw new InfraError(lvmReasons.VOLUME_EXISTS, "there is one already");
      });
      counting.before("undo first", () => {
        throw new Error("stuck");
      });
    },
  },
];

/** Runs an operation whose gateway dies at its boundary number `dieAt`; another gateway takes it over. */
async function runStory(t: Test, store: Store, story: Story, dieAt: number) {
  const counting = createCountingKind({ kind: `test.${randomUUID()}` });
  const requester = createEngine(t, { store, kind: counting.kind, isIdle: true });
  story.prepare(counting, (id) => requester.operations.cancel(id));
  const mortal = createMortalStore(store);
  const boundaries: string[] = [];
  const died = Promise.withResolvers<string>();
  const { id } = await requester.start();
  const first = createEngine(t, {
    store: mortal,
    kind: counting.kind,
    boundary(name) {
      boundaries.push(name);
      if (boundaries.length === dieAt) {
        mortal.die();
        died.resolve(name);
        return new Promise<void>(() => {});
      }
    },
  });
  const ended = requester.end(id);
  const place = await Promise.race([died.promise, ended.then(() => undefined)]);
  const heir = place === undefined ? first : createEngine(t, { store, kind: counting.kind });
  const operation = await ended;
  // Closed, so that gateways without the next story's kind do not report its operations as unknown.
  await Promise.all([requester.operations.close(), heir.operations.close()]);
  return { operation, counting, place };
}

for (const story of stories) {
  test(`${story.name} reaches the same end, wherever its gateway dies`, async (t) => {
    const store = await openOwnStore(t);
    for (let dieAt = 1; ; dieAt += 1) {
      const { operation, counting, place } = await runStory(t, store, story, dieAt);
      const where = place ?? "nowhere";
      t.ok(story.expected.includes(operation.state), `killed at ${where}: it is ${operation.state}`);
      t.ok(
        [...counting.created.values()].every((count) => count === 1),
        `killed at ${where}: no effect twice`,
      );
      const firstUndo = counting.done.findIndex((what) => what.startsWith("undo"));
      const after = firstUndo === -1 ? [] : counting.done.slice(firstUndo);
      t.notOk(
        after.some((what) => what.startsWith("forward")),
        `killed at ${where}: no step runs forward after undoing has begun`,
      );
      const left = { completed: 3, needsAttention: 1 }[operation.state as string] ?? 0;
      t.equal(counting.present.size, left, `killed at ${where}: what is left`);
      if (place === undefined) {
        t.ok(dieAt > 15, `${dieAt - 1} boundaries`);
        return;
      }
    }
  });
}

test("an operation of a dead gateway continues only after its tools have ended", async (t) => {
  const store = await openOwnStore(t);
  for (const runsOn of ["host", "anywhere"] as const) {
    const counting = createCountingKind({ kind: `test.${randomUUID()}`, runsOn });
    const mortal = createMortalStore(store);
    const died = Promise.withResolvers<void>();
    const first = createEngine(t, {
      store: mortal,
      kind: counting.kind,
      async settleLeftTools() {
        t.fail("it is the first to run it");
      },
      boundary(name) {
        if (name === "after forward second") {
          mortal.die();
          died.resolve();
          return new Promise<void>(() => {});
        }
      },
    });
    const { id } = await first.start();
    await died.promise;
    const doneBefore = counting.done.length;
    let settled = 0;
    const heir = createEngine(t, {
      store,
      kind: counting.kind,
      async settleLeftTools() {
        settled += 1;
        t.equal(counting.done.length, doneBefore, "nothing continues before");
      },
    });
    t.equal((await heir.end(id)).state, "completed");
    t.equal(settled, runsOn === "host" ? 1 : 0, `a kind that runs ${runsOn}`);
    await heir.operations.close();
  }
});

test("the first new operation of a host waits for commands that an earlier gateway left behind", async (t) => {
  const store = await openOwnStore(t);
  const counting = createCountingKind({ kind: `test.${randomUUID()}`, runsOn: "host" });
  let settled = 0;
  const engine = createEngine(t, {
    store,
    kind: counting.kind,
    async settleLeftCommands() {
      settled += 1;
      t.equal(counting.done.length, 0, "nothing is done before");
    },
  });
  for (let count = 0; count < 2; count += 1) {
    const { id } = await engine.start();
    t.equal((await engine.end(id)).state, "completed");
  }
  t.equal(settled, 1);
  await engine.operations.close();
});

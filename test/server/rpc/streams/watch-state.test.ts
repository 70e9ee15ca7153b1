import assert from "node:assert/strict";
import { getEventListeners } from "node:events";
import { setImmediate as nextTurn } from "node:timers/promises";
import fc from "fast-check";
import { test } from "tap";
import { watchState } from "../../../../server/rpc/streams/watch-state.ts";

/** A state that changes, and its watcher. */
function createState() {
  const listeners = new Set<() => void>();
  let version = 0;
  return {
    listeners,
    subscribe(wake: () => void) {
      listeners.add(wake);
      return () => {
        listeners.delete(wake);
      };
    },
    read: async () => version,
    version: () => version,
    change() {
      version += 1;
      for (const listener of listeners) {
        listener();
      }
    },
  };
}

test("a watcher gets the first state, then newer ones, and finally the newest", async () => {
  // Each step changes the state several times, then lets the watcher take one message.
  const steps = fc.array(fc.nat(5), { minLength: 1, maxLength: 30 });
  await fc.assert(
    fc.asyncProperty(steps, async (changes) => {
      const state = createState();
      const leaving = new AbortController();
      const watch = watchState(state.subscribe, state.read, leaving.signal);
      const seen = [(await watch.next()).value];
      for (const count of changes) {
        for (let change = 0; change < count; change += 1) {
          state.change();
        }
        if (count > 0) {
          seen.push((await watch.next()).value);
          assert.equal(seen.at(-1), state.version(), "several changes are one message: the newest");
        }
      }
      assert.deepEqual(seen, [...new Set(seen)], "no state is reported twice");
      leaving.abort();
      assert.deepEqual(await watch.next(), { value: undefined, done: true });
      assert.equal(state.listeners.size, 0);
      assert.equal(getEventListeners(leaving.signal, "abort").length, 0);
    }),
    { numRuns: 50 },
  );
});

test("a change while the state is being read is not lost", async (t) => {
  const state = createState();
  let finishRead = () => {};
  const slowRead = async () => {
    const version = state.version();
    await new Promise<void>((resolve) => {
      finishRead = resolve;
    });
    return version;
  };
  const watch = watchState(state.subscribe, slowRead, new AbortController().signal);
  const first = watch.next();
  await nextTurn();
  state.change();
  finishRead();
  t.equal((await first).value, 0);
  const second = watch.next();
  await nextTurn();
  finishRead();
  t.equal((await second).value, 1);
  await watch.return();
});

test("a watch ends with its signal, its reader or a failed read, and leaves no subscription", async (t) => {
  const state = createState();
  const leaving = new AbortController();
  const waiting = watchState(state.subscribe, state.read, leaving.signal);
  await waiting.next();
  const next = waiting.next();
  leaving.abort();
  t.same(await next, { value: undefined, done: true });

  const read = watchState(state.subscribe, state.read, new AbortController().signal);
  await read.next();
  await read.return();

  const fails = () => Promise.reject(new Error("gone"));
  await t.rejects(watchState(state.subscribe, fails, new AbortController().signal).next(), {
    message: "gone",
  });

  const before = watchState(state.subscribe, state.read, AbortSignal.abort());
  t.same(await before.next(), { value: undefined, done: true });
  t.equal(state.listeners.size, 0);
});

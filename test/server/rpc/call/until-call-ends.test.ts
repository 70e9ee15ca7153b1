import assert from "node:assert/strict";
import { getEventListeners } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import fc from "fast-check";
import { test } from "tap";
import { InfraError } from "../../../../adapters/host/infra-error.ts";
import { hostReasons } from "../../../../adapters/host/reasons.ts";
import { streamUntilCallEnds, untilCallEnds } from "../../../../server/rpc/call/until-call-ends.ts";
import { reasonOf } from "../../../adapters/host/reason-of.ts";
import { createCall } from "./call-under-test.ts";

const never = () => new Promise<never>(() => {});
const left = () => new InfraError(hostReasons.CALLER_LEFT, "the caller has disconnected");

/** Creates a source of messages that records whether it was closed. */
function createSource(messages: readonly object[], atEnd: "ends" | "fails" | "waits") {
  const state = { isClosed: false, given: 0 };
  async function* source() {
    try {
      for (const message of messages) {
        state.given += 1;
        yield message;
      }
      if (atEnd === "fails") {
        throw new InfraError(hostReasons.BUSY, "too many tools");
      }
      if (atEnd === "waits") {
        await never();
      }
    } finally {
      state.isClosed = true;
    }
  }
  return { state, source };
}

test("a call gets the result of its work, and keeps neither timer nor listener", async (t) => {
  const ending = new AbortController();
  const { signal } = ending;
  t.equal(await untilCallEnds(createCall({ ending, leftMs: 10_000 }), Promise.resolve("result")), "result");
  const failed = untilCallEnds(
    createCall({ ending }),
    Promise.reject(new InfraError(hostReasons.BUSY, "busy")),
  );
  t.equal(await reasonOf(failed), "BUSY");
  t.equal(getEventListeners(signal, "abort").length, 0);
});

test("a call ends at its deadline or when its caller leaves, even if its work never ends", async (t) => {
  t.equal(await reasonOf(untilCallEnds(createCall({ leftMs: 20 }), never())), "DEADLINE");
  const leaving = new AbortController();
  const { signal } = leaving;
  const waiting = untilCallEnds(createCall({ ending: leaving, leftMs: 10_000 }), never());
  leaving.abort(left());
  t.equal(await reasonOf(waiting), "CALLER_LEFT");
  t.equal(
    await reasonOf(untilCallEnds(createCall({ ending: leaving }), never())),
    "CALLER_LEFT",
    "left before",
  );
  t.equal(getEventListeners(signal, "abort").length, 0);
});

test("work that fails after its call has ended does no harm", async (t) => {
  const work = sleep(20).then(() => Promise.reject(new Error("late")));
  t.equal(await reasonOf(untilCallEnds(createCall({ leftMs: 5 }), work)), "DEADLINE");
  await sleep(40);
});

test("a stream passes on all messages in order, then its end or its error, and its source is closed", async () => {
  const messages = fc.array(
    fc.integer().map((value) => ({ value })),
    { maxLength: 20 },
  );
  await fc.assert(
    fc.asyncProperty(messages, fc.constantFrom("ends" as const, "fails" as const), async (given, atEnd) => {
      const ending = new AbortController();
      const { state, source } = createSource(given, atEnd);
      const received: object[] = [];
      let reason: string | undefined;
      try {
        for await (const message of streamUntilCallEnds(createCall({ ending }), source(), undefined)) {
          received.push(message);
        }
      } catch (error) {
        reason = error instanceof InfraError ? error.reason : String(error);
      }
      assert.deepEqual(received, given);
      assert.equal(reason, atEnd === "fails" ? "BUSY" : undefined);
      assert.ok(state.isClosed);
      assert.equal(getEventListeners(ending.signal, "abort").length, 0);
    }),
    { numRuns: 50 },
  );
});

test("a reader that stops closes the source, and nothing more is read from it", async () => {
  await fc.assert(
    fc.asyncProperty(fc.nat(9), async (stopAfter) => {
      const messages = Array.from({ length: 10 }, (_, value) => ({ value }));
      const { state, source } = createSource(messages, "waits");
      let seen = 0;
      for await (const _message of streamUntilCallEnds(createCall(), source(), undefined)) {
        if (seen === stopAfter) {
          break;
        }
        seen += 1;
      }
      await sleep(0);
      assert.ok(state.isClosed);
      assert.equal(state.given, stopAfter + 1, "no message is requested before the reader asks for it");
    }),
    { numRuns: 20 },
  );
});

test("a silent stream ends at once when its caller leaves, after any number of messages", async (t) => {
  for (const count of [0, 1, 5]) {
    const leaving = new AbortController();
    const { source } = createSource(
      Array.from({ length: count }, (_, value) => ({ value })),
      "waits",
    );
    const stream = streamUntilCallEnds(createCall({ ending: leaving }), source(), undefined);
    for (let seen = 0; seen < count; seen += 1) {
      await stream.next();
    }
    const waiting = stream.next();
    leaving.abort(left());
    t.equal(await reasonOf(waiting), "CALLER_LEFT");
    t.same(await stream.next(), { value: undefined, done: true });
  }
  const ending = new AbortController();
  ending.abort(left());
  const gone = streamUntilCallEnds(createCall({ ending }), createSource([], "waits").source(), 5);
  t.equal(await reasonOf(gone.next()), "CALLER_LEFT", "a caller that left before");
});

test("the last message is repeated after a silence, once there is one, and replaced by a new one", async (t) => {
  const queue: object[] = [];
  let wake = () => {};
  async function* source() {
    for (;;) {
      const message = queue.shift();
      if (message === undefined) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
        continue;
      }
      yield message;
    }
  }
  const stream = streamUntilCallEnds(createCall(), source(), 20);
  const first = stream.next();
  t.equal(
    await Promise.race([first.then(() => "message"), sleep(60, "silence")]),
    "silence",
    "nothing to repeat",
  );
  const one = { value: 1 };
  queue.push(one);
  wake();
  t.equal((await first).value, one);
  t.equal((await stream.next()).value, one, "repeated");
  t.equal((await stream.next()).value, one, "and again");
  const two = { value: 2 };
  queue.push(two);
  wake();
  t.equal((await stream.next()).value, two);
  t.equal((await stream.next()).value, two);
  await stream.return();
});

import { getEventListeners } from "node:events";
import fc from "fast-check";
import { test } from "tap";
import { InfraError } from "../../../adapters/host/infra-error.ts";
import { createLimiter } from "../../../adapters/host/limiter.ts";
import { rpcReasons } from "../../../server/rpc/reasons.ts";
import { reasonOf } from "./reason-of.ts";

test("runs no more tasks at once than the limit, in order of arrival", async (t) => {
  const limiter = createLimiter({ what: "tools", maxRunning: 2, maxWaiting: 100 });
  const started: number[] = [];
  let running = 0;
  let most = 0;
  await Promise.all(
    Array.from({ length: 20 }, (_, index) =>
      limiter.run(async () => {
        started.push(index);
        running += 1;
        most = Math.max(most, running);
        await new Promise((resolve) => setImmediate(resolve));
        running -= 1;
      }),
    ),
  );
  t.equal(most, 2);
  t.strictSame(
    started,
    Array.from({ length: 20 }, (_, index) => index),
  );
});

test("a task beyond the waiting limit is BUSY, and the message has the limits", async (t) => {
  const limiter = createLimiter({ what: "lvm commands", maxRunning: 1, maxWaiting: 1 });
  const gate = Promise.withResolvers<void>();
  const first = limiter.run(() => gate.promise);
  const second = limiter.run(async () => "second");
  await t.rejects(
    limiter.run(async () => "third"),
    { message: /lvm commands.*1 at once, 1 waiting/ },
  );
  t.equal(await reasonOf(limiter.run(async () => "fourth")), "BUSY");
  gate.resolve();
  await first;
  t.equal(await second, "second");
});

test("a caller that leaves while waiting frees its place; a running task continues", async (t) => {
  const limiter = createLimiter({ what: "tools", maxRunning: 1, maxWaiting: 1 });
  const gate = Promise.withResolvers<string>();
  const controller = new AbortController();
  const first = limiter.run(() => gate.promise, controller.signal);
  const second = limiter.run(async () => "never", controller.signal);
  controller.abort();
  t.equal(await reasonOf(second), "CALLER_LEFT");
  const third = limiter.run(async () => "third");
  gate.resolve("first");
  t.equal(await first, "first");
  t.equal(await third, "third");
  t.equal(getEventListeners(controller.signal, "abort").length, 0);
  const late = AbortSignal.abort(new InfraError(rpcReasons.DEADLINE, "too late"));
  t.equal(await reasonOf(limiter.run(async () => "late", late)), "DEADLINE");
});

test("idle waits for running and waiting tasks", async (t) => {
  const limiter = createLimiter({ what: "tools", maxRunning: 1, maxWaiting: 5 });
  await limiter.idle();
  const ended: number[] = [];
  for (const index of [1, 2, 3]) {
    void limiter.run(async () => {
      await new Promise((resolve) => setImmediate(resolve));
      ended.push(index);
    });
  }
  await limiter.idle();
  t.strictSame(ended, [1, 2, 3]);
});

test("no slot is lost, however tasks end or callers leave", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.constantFrom("resolves", "rejects", "leaves"), { maxLength: 30 }),
      fc.integer({ min: 1, max: 4 }),
      async (callers, maxRunning) => {
        const limiter = createLimiter({ what: "tools", maxRunning, maxWaiting: 30 });
        const ends = callers.map((caller) => {
          const controller = new AbortController();
          const ended = limiter.run(async () => {
            await new Promise((resolve) => setImmediate(resolve));
            if (caller === "rejects") {
              throw new Error("as it should");
            }
          }, controller.signal);
          if (caller === "leaves") {
            controller.abort();
          }
          return ended;
        });
        await Promise.allSettled(ends);
        await limiter.idle();
        const slots = Array.from({ length: maxRunning }, () => limiter.run(async () => true));
        await Promise.all(slots);
      },
    ),
    { numRuns: 50 },
  );
});

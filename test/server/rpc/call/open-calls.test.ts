import { setTimeout as sleep } from "node:timers/promises";
import { test } from "tap";
import { InfraError } from "../../../../adapters/host/infra-error.ts";
import { hostReasons } from "../../../../adapters/host/reasons.ts";
import { createOpenCalls } from "../../../../server/rpc/call/open-calls.ts";
import type { RoutedCall } from "../../../../server/rpc/call/routed-call.ts";

/** Creates a call that only has a cap, and records how it was ended. */
function createCall(capMs?: number) {
  const ended: { reason?: string } = {};
  const call = {
    capAtMs: capMs === undefined ? undefined : performance.now() + capMs,
    end: (error: InfraError) => {
      ended.reason ??= error.reason;
    },
  } as unknown as RoutedCall;
  return { call, ended };
}

test("a call ends at its cap, later ones do not, and a stream has none", async (t) => {
  const open = createOpenCalls(new AbortController().signal);
  const [gone, first, second, later, stream] = [
    createCall(10),
    createCall(10),
    createCall(12),
    createCall(1500),
    createCall(),
  ];
  for (const { call } of [gone, first, second, later, stream]) {
    open.add(call);
  }
  open.delete(gone.call);
  t.equal(open.count(), 4);
  const ends = () => [gone, first, second, later, stream].map(({ ended }) => ended.reason);
  while (second.ended.reason === undefined) {
    await sleep(2);
  }
  t.strictSame(ends(), [undefined, "DEADLINE", "DEADLINE", undefined, undefined]);
  const third = createCall(1600);
  open.add(third.call);
  open.delete(later.call);
  while (third.ended.reason === undefined) {
    await sleep(2);
  }
  t.equal(third.ended.reason, "DEADLINE", "although the timer was set for a call that has ended");
});

test("all calls end when the gateway stops, and later ones at once", async (t) => {
  const stopping = new AbortController();
  const open = createOpenCalls(stopping.signal);
  const [unary, stream, late] = [createCall(60_000), createCall(), createCall(60_000)];
  open.add(unary.call);
  open.add(stream.call);
  stopping.abort(new InfraError(hostReasons.SHUTTING_DOWN, "the gateway is stopping"));
  open.add(late.call);
  t.strictSame(
    [unary, stream, late].map(({ ended }) => ended.reason),
    ["SHUTTING_DOWN", "SHUTTING_DOWN", "SHUTTING_DOWN"],
  );
  open.delete(unary.call);
  open.delete(stream.call);
  open.delete(late.call);
  t.equal(open.count(), 0);
});

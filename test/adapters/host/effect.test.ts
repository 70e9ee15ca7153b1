import { setImmediate as turn } from "node:timers/promises";
import { test } from "tap";
import type { Reason } from "../../../adapters/host/define-reasons.ts";
import { noteEffect, runChange, trackEffect } from "../../../adapters/host/effect.ts";
import { type Effect, InfraError } from "../../../adapters/host/infra-error.ts";
import { hostReasons } from "../../../adapters/host/reasons.ts";
import { lvmReasons } from "../../../adapters/lvm/reasons.ts";
import { operationReasons } from "../../../server/operations/reasons.ts";
import { storeReasons } from "../../../server/store/reasons.ts";

const fail = (reason: Reason, effect?: Effect) => async () => {
  await turn();
  throw new InfraError(reason, reason.id, { effect, retryAfterMs: 1000 });
};
const succeed = () => runChange(turn);

/** Returns the error of tracked work. */
async function errorOf(work: () => Promise<unknown>): Promise<InfraError> {
  try {
    await trackEffect(work);
  } catch (error) {
    return error as InfraError;
  }
  throw new Error("the work did not fail");
}

test("a failure before the first change has the effect none, and stays retryable", async (t) => {
  const error = await errorOf(fail(hostReasons.TOOL_TIMEOUT));
  t.match(error, { effect: "none", retryable: true, retryAfterMs: 1000, reason: "TOOL_TIMEOUT" });
  t.match(error.stack, /effect\.test/, "the stack is that of the original error");
});

test("a change that is refused has the effect none", async (t) => {
  t.equal((await errorOf(() => runChange(fail(lvmReasons.VOLUME_EXISTS)))).effect, "none");
  t.equal((await errorOf(() => runChange(fail(lvmReasons.VOLUME_GROUP_GONE, "none")))).effect, "none");
});

test("a change that fails without a refusal may have happened, and is not retryable", async (t) => {
  const error = await errorOf(() => runChange(fail(storeReasons.STORE_UNAVAILABLE)));
  t.match(error, { effect: "possible", retryable: false });
  t.equal(error.retryAfterMs, undefined);
});

test("a failure after the changes has the effect done", async (t) => {
  const work = async () => {
    await succeed();
    await fail(hostReasons.TOOL_TIMEOUT)();
  };
  t.match(await errorOf(work), { effect: "done", retryable: false });
});

test("a refusal after another change has the effect possible, since a part is done", async (t) => {
  const work = async () => {
    await succeed();
    await runChange(fail(hostReasons.NO_SPACE));
  };
  t.equal((await errorOf(work)).effect, "possible");
});

test("keeps an error's own effect, and an error that is no InfraError", async (t) => {
  const work = async () => {
    await succeed();
    await fail(operationReasons.OPERATION_CANCELLED, "none")();
  };
  t.equal((await errorOf(work)).effect, "none");
  const fault = new TypeError("a fault");
  t.equal(await trackEffect(() => Promise.reject(fault)).catch((error: unknown) => error), fault);
});

test("nested work counts for both; undone changes count for neither", async (t) => {
  const inner = () =>
    trackEffect(async () => {
      await succeed();
      await fail(hostReasons.BUSY)();
    });
  const afterwards = async () => {
    await inner().catch(() => {});
    await fail(hostReasons.BUSY)();
  };
  t.equal((await errorOf(afterwards)).effect, "done");
  const undone = () =>
    trackEffect(async (onUndone) => {
      await succeed();
      onUndone();
      await fail(hostReasons.BUSY)();
    });
  t.equal((await errorOf(undone)).effect, "none");
});

test("concurrent work does not count for each other, nor do changes outside", async (t) => {
  noteEffect("done");
  const [changed, unchanged] = await Promise.all([
    errorOf(async () => {
      await succeed();
      await fail(hostReasons.BUSY)();
    }),
    errorOf(async () => {
      await turn();
      await turn();
      await fail(hostReasons.BUSY)();
    }),
  ]);
  t.equal(changed.effect, "done");
  t.equal(unchanged.effect, "none");
});

test("an error shared by many calls is not modified", async (t) => {
  const shared = new InfraError(hostReasons.SHUTTING_DOWN, "stopping");
  t.equal((await errorOf(() => runChange(() => Promise.reject(shared)))).effect, "possible");
  t.equal(shared.effect, undefined);
});

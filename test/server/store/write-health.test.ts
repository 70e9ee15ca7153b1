import { mock } from "node:test";
import { test } from "tap";
import { InfraError } from "../../../adapters/host/infra-error.ts";
import { storeReasons } from "../../../server/store/reasons.ts";
import type { Store } from "../../../server/store/store.ts";
import { watchWrites } from "../../../server/store/write-health.ts";

/** Creates a store whose heartbeat fails while `isFull` is set. */
function startWatch() {
  const lines: string[] = [];
  const state = { isFull: true, disk: "100 % full" };
  const full = new InfraError(storeReasons.STORE_UNAVAILABLE, "the disk is full");
  const inner = {
    async run() {
      if (state.isFull) {
        throw full;
      }
    },
  } as unknown as Store;
  const log = {
    error: (message: string) => void lines.push(message),
    info: (message: string) => void lines.push(message),
  };
  const { store, writes } = watchWrites(inner, log, async () => state.disk);
  const beat = () => store.run("operations.renew", {} as never).catch(() => {});
  return { lines, state, writes, beat };
}

/** Advances the clock, and lets the triggered work finish. */
async function pass(ms: number): Promise<void> {
  mock.timers.tick(ms);
  await new Promise((resolve) => setImmediate(resolve));
}

test("a store that cannot be written is logged once a minute until it can be written again", async (t) => {
  mock.timers.enable({ apis: ["setInterval"] });
  t.teardown(() => mock.timers.reset());
  const { lines, state, writes, beat } = startWatch();
  const messageFor = (disk: string) =>
    `the store cannot be written (its disk is ${disk}); changes are refused until it can be written again`;
  await beat();
  await beat();
  await pass(59_999);
  t.same(lines, [messageFor("100 % full")], "once, however many writes fail");
  state.disk = "99 % full";
  await pass(1);
  await beat();
  await pass(60_000);
  t.same(lines.splice(0), [messageFor("100 % full"), messageFor("99 % full"), messageFor("99 % full")]);
  t.equal(writes.failure()?.reason, "STORE_UNAVAILABLE");

  state.isFull = false;
  await beat();
  await pass(600_000);
  t.same(lines.splice(0), ["the store can be written again"]);
  t.equal(writes.failure(), undefined);

  state.isFull = true;
  await beat();
  await pass(60_000);
  t.equal(lines.length, 2, "the next outage is logged in the same way");
  writes.close();
  await pass(600_000);
  t.equal(lines.length, 2, "a stopped gateway no longer logs");
});

import { setTimeout as delay } from "node:timers/promises";
import { type Test, test } from "tap";
import type { Operation } from "../../../server/operations/operation.ts";
import { type CountingOptions, createCountingKind } from "../../server/operations/counting-kind.ts";
import {
  createEngine,
  createMortalStore,
  type EngineOptions,
} from "../../server/operations/engine-under-test.ts";
import { openOwnStore } from "../../server/store/own-store.ts";
import { type PostgresCluster, reasonToSkipPostgres, startPostgres } from "./postgres.ts";

const skip = reasonToSkipPostgres();
const timeout = 300_000;

/** Starts engines on one database, each with its own store. Their steps record their effects in one place. */
async function startEngines(
  t: Test,
  postgres: PostgresCluster,
  count: number,
  { limits, ...kind }: CountingOptions & Pick<EngineOptions, "limits"> = {},
) {
  const url = await postgres.createDatabase();
  const counting = createCountingKind(kind);
  const stores = await Promise.all(
    Array.from({ length: count }, async () =>
      createMortalStore(await openOwnStore(t, { url, directory: "" })),
    ),
  );
  const engines = stores.map((store, index) =>
    createEngine(t, { store, kind: counting.kind, host: `host${index}`, ...(limits ? { limits } : {}) }),
  );
  return { url, counting, stores, engines };
}

const at = <T>(list: readonly T[], index: number): T => list[index % list.length] as T;

test("operations on one PostgreSQL", { skip, timeout }, async (t) => {
  const postgres = await startPostgres(t);

  t.test(
    "are shared by three gateways: each step runs once, and no caller waits for another caller's operations",
    async (t) => {
      const { url, counting, engines } = await startEngines(t, postgres, 3);
      const ended: string[] = [];
      counting.after("forward third", ({ input }) => void ended.push(String(input)));
      for (const name of ["first", "second", "third"]) {
        counting.before(`forward ${name}`, () => delay(5 + Math.random() * 10));
      }
      const startedMs = performance.now();
      const many = await Promise.all(
        Array.from({ length: 54 }, (_, index) =>
          at(engines, index).start({ actor: "user/many", input: "many" }),
        ),
      );
      const few = await Promise.all(
        Array.from({ length: 6 }, (_, index) =>
          at(engines, index).start({ actor: "user/few", input: "few" }),
        ),
      );
      const all = await Promise.all([...many, ...few].map(({ id }) => at(engines, 0).end(id)));
      const tookMs = Math.round(performance.now() - startedMs);
      t.ok(all.every(({ state, attempt }) => state === "completed" && attempt === 1));
      t.equal(counting.created.size, 180);
      t.ok([...counting.created.values()].every((times) => times === 1));
      t.equal(counting.done.length, 180);
      t.ok(ended.lastIndexOf("few") < 50, `the few had ended after ${ended.lastIndexOf("few") + 1} of 60`);
      const [{ xact_commit: commits, xact_rollback: rollbacks } = {}] = await postgres.query(
        "select xact_commit, xact_rollback from pg_stat_database where datname = current_database()",
        url,
      );
      t.comment(`60 operations of 3 steps in ${tookMs} ms; ${commits} commits, ${rollbacks} rollbacks`);
    },
  );

  t.test("never run at the same time on one resource, whichever gateway runs them", async (t) => {
    const { counting, engines } = await startEngines(t, postgres, 3, { steps: ["only"] });
    let running = 0;
    let most = 0;
    counting.before("forward only", async () => {
      running += 1;
      most = Math.max(most, running);
      await delay(5);
      running -= 1;
    });
    const started: Operation[] = [];
    for (let index = 0; index < 12; index += 1) {
      started.push(await at(engines, index).start({ resource: "things/one" }));
    }
    const ended = await Promise.all(started.map(({ id }) => at(engines, 1).end(id)));
    t.equal(most, 1);
    const starts = ended.map(({ startedAtMs = 0 }) => startedAtMs);
    t.same(
      starts,
      starts.toSorted((a, b) => a - b),
      "in order",
    );
  });

  t.test("are taken over within two leases", async (t) => {
    const leaseMs = 1500;
    const { counting, stores, engines } = await startEngines(t, postgres, 3, { limits: { leaseMs } });
    const died = Promise.withResolvers<number>();
    counting.before("forward second", ({ attempt, operationId }) => {
      if (attempt === 1) {
        stores.find(({ claimedIds }) => claimedIds.has(operationId))?.die();
        died.resolve(performance.now());
        return new Promise(() => {});
      }
    });
    const { id } = await at(engines, 0).start();
    const diedMs = await died.promise;
    const alive = engines.filter((_, index) => stores[index]?.isDead === false);
    t.equal(alive.length, 2);
    await at(alive, 0).until(id, ({ attempt }) => attempt === 2);
    const tookMs = Math.round(performance.now() - diedMs);
    // At most twice the lease, and some seconds for a busy machine.
    t.ok(tookMs < 2 * leaseMs + 10_000, `after ${tookMs} ms, with a lease of ${leaseMs} ms`);
    t.match(await at(alive, 1).end(id), { state: "completed", attempt: 2 });
    t.ok([...counting.created.values()].every((times) => times === 1));
  });

  t.test("stay with a gateway that gets no CPU time for longer than a lease", async (t) => {
    const leaseMs = 3000;
    const { counting, engines } = await startEngines(t, postgres, 1, {
      isAbortable: true,
      limits: { leaseMs },
    });
    let isAborted: boolean | undefined;
    counting.before("forward second", async ({ signal }) => {
      // Blocks the event loop.
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2 * leaseMs);
      await delay(leaseMs);
      isAborted = signal.aborted;
    });
    const { id } = await at(engines, 0).start();
    t.match(await at(engines, 0).end(id), { state: "completed", attempt: 1 });
    t.equal(isAborted, false);
  });

  t.test("are cancelled and watched on a gateway that does not run them", async (t) => {
    const { counting, stores, engines } = await startEngines(t, postgres, 2, { isAbortable: true });
    const reached = Promise.withResolvers<string>();
    const reportedMs: number[] = [];
    counting.before("forward second", async ({ operationId, signal, progress }) => {
      reached.resolve(operationId);
      for (let done = 1; !signal.aborted; done += 1) {
        reportedMs[done] = performance.now();
        progress({ doneBytes: done, totalBytes: 1000 });
        await delay(1100);
      }
      throw signal.reason;
    });
    const { id } = await at(engines, 0).start();
    await reached.promise;
    const other = stores.findIndex(({ claimedIds }) => !claimedIds.has(id));
    const watcher = at(engines, other);
    const waits: number[] = [];
    for (let done = 1; done <= 4; done += 1) {
      await watcher.until(id, ({ doneBytes = 0 }) => doneBytes >= done);
      waits.push(Math.round(performance.now() - (reportedMs[done] ?? 0)));
    }
    t.comment(`progress was seen after ${waits.join(", ")} ms`);
    const requestedMs = performance.now();
    await watcher.operations.cancel(id);
    t.match(await watcher.end(id), { state: "cancelled" });
    t.comment(`cancelled and undone after ${Math.round(performance.now() - requestedMs)} ms`);
    t.equal(counting.present.size, 0);
  });

  t.test("continue when PostgreSQL is killed and comes back", async (t) => {
    const { counting, engines } = await startEngines(t, postgres, 2, { limits: { leaseMs: 3000 } });
    for (const name of ["first", "second", "third"]) {
      counting.before(`forward ${name}`, () => delay(50 + Math.random() * 100));
    }
    const started = await Promise.all(Array.from({ length: 30 }, (_, index) => at(engines, index).start()));
    for (let outage = 1; outage <= 2; outage += 1) {
      await delay(700);
      await postgres.kill();
      await delay(200);
      await postgres.start();
    }
    const ended = await Promise.all(started.map(({ id }) => at(engines, 1).end(id)));
    t.ok(ended.every(({ state }) => state === "completed"));
    t.equal(counting.created.size, 90);
    t.ok([...counting.created.values()].every((times) => times === 1));
    const again = ended.filter(({ attempt }) => attempt > 1).length;
    t.comment(`${again} of 30 were resumed`);
  });

  t.test("cost the database next to nothing when there is nothing to do", async (t) => {
    const { url } = await startEngines(t, postgres, 3, { limits: { leaseMs: 2000 } });
    const commitsOf = async () => {
      const [{ commits } = {}] = await postgres.query(
        "select xact_commit as commits from pg_stat_database where datname = current_database()",
        url,
      );
      return Number(commits);
    };
    await delay(1500);
    const before = await commitsOf();
    const seconds = 8;
    await delay(seconds * 1000);
    const perGateway = ((await commitsOf()) - before) / seconds / 3;
    t.comment(`${perGateway.toFixed(2)} transactions per second and gateway with a lease of 2 s`);
    t.ok(perGateway < 2.5);
  });
});

import { once } from "node:events";
import { test } from "tap";
import { InfraError } from "../../../adapters/host/infra-error.ts";
import { storeReasons } from "../../../server/store/reasons.ts";
import { openOwnStore } from "../store/own-store.ts";
import { createCountingKind } from "./counting-kind.ts";
import {
  asShared,
  createEngine,
  createMortalStore,
  type EngineStore,
  shortLeaseMs,
} from "./engine-under-test.ts";

const limits = { leaseMs: shortLeaseMs };

test("another gateway takes an operation over within two leases", async (t) => {
  const store = asShared(await openOwnStore(t));
  const counting = createCountingKind();
  const mortal = createMortalStore(store);
  const died = Promise.withResolvers<number>();
  counting.before("forward second", () => {
    if (!mortal.isDead) {
      mortal.die();
      died.resolve(performance.now());
      return new Promise<void>(() => {});
    }
  });
  const first = createEngine(t, { store: mortal, kind: counting.kind, limits });
  const { id } = await first.start();
  const diedMs = await died.promise;
  const second = createEngine(t, { store, kind: counting.kind, limits });
  const taken = await second.until(id, ({ attempt }) => attempt === 2);
  const tookMs = performance.now() - diedMs;
  // At most two leases, and a few seconds for a busy machine.
  t.ok(tookMs < 2 * shortLeaseMs + 10_000, `taken over after ${Math.round(tookMs)} ms`);
  t.equal(taken.state, "active");
  t.match(await second.end(id), { state: "completed", attempt: 2 });
  t.ok([...counting.created.values()].every((count) => count === 1));
});

test("a gateway that was frozen during a takeover writes nothing when it wakes", async (t) => {
  const store = asShared(await openOwnStore(t));
  const counting = createCountingKind();
  const frozen = createMortalStore(store);
  const reached = Promise.withResolvers<void>();
  const woken = Promise.withResolvers<void>();
  let runs = 0;
  let signal: AbortSignal | undefined;
  counting.before("forward second", async (run) => {
    runs += 1;
    if (runs === 1) {
      signal = run.signal;
      frozen.freeze();
      reached.resolve();
      await woken.promise;
    }
  });
  const first = createEngine(t, { store: frozen, kind: counting.kind, limits });
  const { id } = await first.start();
  await reached.promise;
  const second = createEngine(t, { store, kind: counting.kind, limits });
  const ended = await second.end(id);
  t.match(ended, { state: "completed", attempt: 2 });
  // Its own timer may be later than the second gateway's on a busy machine.
  if (signal?.aborted === false) {
    await once(signal, "abort");
  }
  t.ok(signal?.aborted, "its step was aborted");
  frozen.thaw();
  woken.resolve();
  await first.operations.close();
  t.same(await second.operations.get(id), ended);
  t.match(first.logged.join("\n"), /left to another gateway/);
});

test("a live gateway keeps its operations, however long they take", async (t) => {
  const store = asShared(await openOwnStore(t));
  const counting = createCountingKind();
  // Long enough for a machine that is busy with other tests.
  const leaseMs = 3000;
  counting.before("forward second", () => new Promise((resolve) => setTimeout(resolve, 1.5 * leaseMs)));
  const engines = [1, 2].map(() =>
    createEngine(t, { store, kind: counting.kind, limits: { ...limits, leaseMs } }),
  );
  const { id } = (await engines[0]?.start()) ?? { id: "" };
  t.match(await engines[1]?.end(id), { state: "completed", attempt: 1 });
});

test("a gateway that gets no CPU time for longer than a lease keeps its operations", async (t) => {
  const store = asShared(await openOwnStore(t));
  const counting = createCountingKind({ isAbortable: true });
  const leaseMs = 1500;
  let isAborted: boolean | undefined;
  counting.before("forward second", async ({ signal }) => {
    // Blocks the event loop. The store has a thread of its own.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2 * leaseMs);
    await new Promise((resolve) => setTimeout(resolve, leaseMs));
    isAborted = signal.aborted;
  });
  const engine = createEngine(t, { store, kind: counting.kind, limits: { leaseMs } });
  const { id } = await engine.start();
  t.match(await engine.end(id), { state: "completed", attempt: 1 });
  t.equal(isAborted, false);
  t.same(counting.done, ["forward first", "forward second", "forward third"]);
});

test("operations of a host run only on that host", async (t) => {
  const store = asShared(await openOwnStore(t));
  const counting = createCountingKind({ runsOn: "host" });
  const beta = createCountingKind({ runsOn: "host" });
  createEngine(t, { store, kind: beta.kind, host: "beta", limits });
  const alpha = createEngine(t, { store, kind: counting.kind, host: "alpha", limits });
  const operations = await Promise.all(Array.from({ length: 6 }, () => alpha.start()));
  for (const { id } of operations) {
    t.match(await alpha.end(id), { state: "completed", host: "alpha" });
  }
  t.same(beta.done, []);
});

test("operations wait with a reason while their host's gateway is away", async (t) => {
  const store = asShared(await openOwnStore(t));
  const counting = createCountingKind({ runsOn: "host" });
  const requester = createEngine(t, { store, kind: counting.kind, host: "alpha", isIdle: true });
  const beta = createEngine(t, {
    store,
    kind: createCountingKind({ runsOn: "host" }).kind,
    host: "beta",
    limits,
  });
  const { id } = await requester.start();
  const waiting = await beta.until(id, ({ waitingFor }) => waitingFor !== "");
  t.match(waiting, {
    state: "scheduled",
    waitingFor: /^no gateway of host alpha has been running since \d{4}-\d\d-\d\dT.*Z$/,
  });
  createEngine(t, { store, kind: counting.kind, host: "alpha", limits });
  t.match(await beta.end(id), { state: "completed", waitingFor: "" });
});

test("a running operation shows that it is stalled when no gateway of its host runs", async (t) => {
  const store = asShared(await openOwnStore(t));
  const counting = createCountingKind({ runsOn: "host" });
  const mortal = createMortalStore(store);
  counting.before("forward second", () => {
    if (!mortal.isDead) {
      mortal.die();
      return new Promise<void>(() => {});
    }
  });
  const alpha = createEngine(t, { store: mortal, kind: counting.kind, host: "alpha", limits });
  const { id } = await alpha.start();
  const beta = createEngine(t, {
    store,
    kind: createCountingKind({ runsOn: "host" }).kind,
    host: "beta",
    limits,
  });
  t.match(await beta.until(id, ({ waitingFor }) => waitingFor !== ""), {
    state: "active",
    waitingFor: /no gateway of host alpha has been running since/,
  });
  createEngine(t, { store, kind: counting.kind, host: "alpha", limits });
  t.match(await beta.end(id), { state: "completed", waitingFor: "" });
});

test("operations of an unknown kind are left to other gateways", async (t) => {
  const store = asShared(await openOwnStore(t));
  const known = createCountingKind({ kind: "test.known" });
  createEngine(t, { store, kind: createCountingKind({ kind: "test.other" }).kind });
  const requester = createEngine(t, { store, kind: known.kind, isIdle: true });
  const { id } = await requester.start();
  createEngine(t, { store, kind: known.kind });
  t.match(await requester.end(id), { state: "completed" });
});

test("with a single-gateway store, a late renewal succeeds, and no step is restarted", async (t) => {
  const store = await openOwnStore(t);
  const counting = createCountingKind({ isAbortable: true });
  const renewals = Promise.withResolvers<void>();
  const run: EngineStore["run"] = async (name, args) => {
    if (name === "operations.renew") {
      await renewals.promise;
    }
    return (await store.run(name, args)) as never;
  };
  const starved = { isShared: store.isShared, run, subscribe: store.subscribe };
  let isAborted: boolean | undefined;
  counting.before("forward second", async ({ signal }) => {
    await new Promise((resolve) => setTimeout(resolve, 3 * shortLeaseMs));
    isAborted = signal.aborted;
    renewals.resolve();
  });
  const engine = createEngine(t, { store: starved, kind: counting.kind, limits });
  const { id } = await engine.start();
  t.match(await engine.end(id), { state: "completed", attempt: 1 });
  t.equal(isAborted, false);
  t.same(counting.done, ["forward first", "forward second", "forward third"]);
});

test("with a single-gateway store, an engine stops although the store is down", async (t) => {
  const store = await openOwnStore(t);
  const counting = createCountingKind();
  const away = Promise.withResolvers<void>();
  let isAway = false;
  const run: EngineStore["run"] = async (name, args) => {
    if (isAway) {
      away.resolve();
      throw new InfraError(storeReasons.STORE_UNAVAILABLE, "the disk is full");
    }
    return (await store.run(name, args)) as never;
  };
  counting.before("forward second", () => {
    isAway = true;
  });
  const flaky = { isShared: store.isShared, run, subscribe: store.subscribe };
  const engine = createEngine(t, { store: flaky, kind: counting.kind, limits });
  await engine.start();
  await away.promise;
  await engine.operations.close();
  t.match(engine.logged.join("\n"), /left to another gateway or to a later start/);
});

import { randomBytes, randomUUID } from "node:crypto";
import { create, type DescMethod, type Message } from "@bufbuild/protobuf";
import type { Test } from "tap";
import { trackEffect } from "../../../../adapters/host/effect.ts";
import { InfraError } from "../../../../adapters/host/infra-error.ts";
import { hostReasons } from "../../../../adapters/host/reasons.ts";
import {
  CreateLVRequestSchema,
  type CreateLVResponse,
  LVService,
  VGService,
} from "../../../../gen/proto/lvmd_pb.ts";
import { masterKeysFromText } from "../../../../server/crypto/master-keys.ts";
import { createSeal } from "../../../../server/crypto/seal.ts";
import {
  createKeptResults,
  type KeptResultsOptions,
} from "../../../../server/domains/idempotency/kept-results.ts";
import type { Call, Interceptor, Output } from "../../../../server/rpc/call/call.ts";
import { anonymous } from "../../../../server/rpc/call/caller.ts";
import { createIdempotency } from "../../../../server/rpc/interceptors/idempotency.ts";
import { storeReasons } from "../../../../server/store/reasons.ts";
import type { Store } from "../../../../server/store/store.ts";
import { reasonOf } from "../../../adapters/host/reason-of.ts";
import { reasonNamed } from "../../../reason-named.ts";
import { createCall } from "../call/call-under-test.ts";
import { interceptorOf } from "./interceptor-of.ts";

const createLv = LVService.method.createLV;

interface Sent {
  readonly key?: string;
  readonly name?: string;
  readonly accountId?: string;
  readonly method?: DescMethod;
  readonly input?: Message;
  readonly ending?: AbortController;
  readonly answered?: Headers;
  readonly address?: string;
}

function callOf({ key = "key-1", name = "data", accountId = "account-1", ...facts }: Sent): Call {
  const call = createCall({
    method: facts.method ?? createLv,
    input:
      facts.input ??
      (facts.method === undefined ? create(CreateLVRequestSchema, { name }) : create(facts.method.input)),
    headers: { "idempotency-key": key },
    ...(facts.ending === undefined ? {} : { ending: facts.ending }),
    ...(facts.answered === undefined ? {} : { answered: facts.answered }),
    ...(facts.address === undefined ? {} : { peer: { address: facts.address } }),
  });
  call.identify({ ...anonymous, accountId, role: "operator" });
  return call;
}

/** Sends a call twice with one key. Its handler fails in a way that may have changed something, so it must run only once. */
export async function assertRunsOnce(t: Test, store: Store, fail: () => Promise<unknown>): Promise<void> {
  const masterKeys = masterKeysFromText(randomBytes(32).toString("base64"), "a test");
  const kept = createKeptResults({
    store,
    seal: createSeal(masterKeys, "idempotency"),
    hashKey: randomBytes(32),
    instanceId: randomUUID(),
    onFailed: (what) => t.fail(what),
  });
  t.teardown(() => kept.close());
  const interceptor = interceptorOf(createIdempotency(kept));
  let runs = 0;
  for (const attempt of ["first", "second"]) {
    const call = callOf({});
    const handle = () =>
      trackEffect(async () => {
        runs += 1;
        await fail();
        return {};
      });
    const error = await interceptor(call, handle).then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    t.match(
      error,
      { reason: "STORE_UNAVAILABLE", effect: "possible", retryable: false },
      `the ${attempt} call`,
    );
  }
  t.equal(runs, 1);
}

/** Tests the guarantees of calls with a key, on two gateways that share one database. */
export function testIdempotencyContract(
  t: Test,
  openStores: (t: Test) => Promise<readonly [Store, Store]>,
): void {
  const masterKeys = masterKeysFromText(randomBytes(32).toString("base64"), "a test");
  const secrets = {
    seal: createSeal(masterKeys, "idempotency"),
    hashKey: randomBytes(32),
  };

  async function openGateways(t: Test, options: Partial<KeptResultsOptions> = {}) {
    const stores = await openStores(t);
    const failures: string[] = [];
    const open = (store: KeptResultsOptions["store"]) => {
      const kept = createKeptResults({
        store,
        ...secrets,
        instanceId: randomUUID(),
        onFailed: (what) => failures.push(what),
        ...options,
      });
      t.teardown(() => kept.close());
      return { kept, interceptor: interceptorOf(createIdempotency(kept)) };
    };
    return { stores, failures, open, gateways: [open(stores[0]), open(stores[1])] as const };
  }

  /** Creates a handler that counts its calls and returns a volume named by the number of the call. */
  function createCounter() {
    const counter = { calls: 0 };
    const handler = (call: Call) => async (): Promise<Output> => {
      counter.calls++;
      call.noteResource("volumeGroups/vg0/volumes/data");
      call.noteOperation("operation-1");
      return { volume: { name: `volume ${counter.calls}` } };
    };
    const send = async (interceptor: Interceptor, sent: Sent = {}) => {
      const call = callOf(sent);
      const output = (await interceptor(call, handler(call))) as Pick<CreateLVResponse, "volume">;
      return output.volume?.name;
    };
    return { counter, send };
  }

  t.test("a repeated call gets the same answer on every gateway, and runs once", async (t) => {
    const { gateways } = await openGateways(t);
    const { counter, send } = createCounter();
    t.equal(await send(gateways[0].interceptor), "volume 1");
    for (const { interceptor } of gateways) {
      const answered = new Headers();
      const call = callOf({ answered });
      const output = (await interceptor(
        call,
        () => t.fail("it does not run again") as never,
      )) as CreateLVResponse;
      t.equal(output.volume?.name, "volume 1");
      t.equal(call.resource(), "volumeGroups/vg0/volumes/data");
      t.equal(answered.get("hostplane-idempotent-replay"), "true");
      t.equal(answered.get("hostplane-operation"), "operation-1");
    }
    t.equal(counter.calls, 1);
  });

  t.test("another caller, method or key is another call; another request is refused", async (t) => {
    const { gateways } = await openGateways(t);
    const { counter, send } = createCounter();
    const { interceptor } = gateways[0];
    await send(interceptor);
    t.equal(await send(interceptor, { accountId: "account-2" }), "volume 2");
    t.equal(await send(interceptor, { key: "key-2" }), "volume 3");
    t.equal(await send(interceptor, { method: LVService.method.removeLV }), "volume 4");
    t.equal(await send(interceptor, { accountId: "" }), "volume 5");
    t.equal(await send(interceptor, { accountId: "", address: "192.0.2.2" }), "volume 6");
    t.equal(await reasonOf(send(interceptor, { name: "other" })), "IDEMPOTENCY_KEY_REUSED");
    const unknown = create(CreateLVRequestSchema, { name: "data" });
    unknown.$unknown = [{ no: 99, wireType: 0, data: Buffer.of(1) }];
    t.equal(
      await reasonOf(send(interceptor, { input: unknown })),
      "IDEMPOTENCY_KEY_REUSED",
      "unknown fields count",
    );
    t.equal(counter.calls, 6);
  });

  t.test("of many concurrent calls on two gateways one runs, and all get its answer", async (t) => {
    const { gateways } = await openGateways(t);
    const { counter, send } = createCounter();
    for (let round = 0; round < 5; round++) {
      const calls = Array.from({ length: 10 }, (_, i) =>
        send(gateways[i % 2 === 0 ? 0 : 1].interceptor, { key: `round ${round}` }),
      );
      const names = new Set(await Promise.all(calls));
      t.same([...names], [`volume ${round + 1}`]);
    }
    t.equal(counter.calls, 5);
  });

  t.test(
    "an error of a call that may have changed something is returned again, with all details",
    async (t) => {
      const { gateways } = await openGateways(t);
      const violations = [{ field: "name", description: "is taken" }];
      const facts = { resource: "volumes/data", violations, effect: "possible" } as const;
      const lost = new InfraError(storeReasons.STORE_UNAVAILABLE, "lost during a commit", facts);
      const fail = (error: Error) => async () => {
        throw error;
      };
      await gateways[0].interceptor(callOf({}), fail(lost)).catch(() => {});
      const again = await gateways[1]
        .interceptor(callOf({}), fail(new Error("made again")))
        .catch((error) => error);
      const { reason, message } = lost;
      t.match(again, { reason, message, retryable: false, ...facts });
      await gateways[0].interceptor(callOf({ key: "fault" }), fail(new Error("a fault"))).catch(() => {});
      const fault = gateways[1].interceptor(callOf({ key: "fault" }), () => t.fail("it runs again") as never);
      t.match(await fault.catch((error) => error), { reason: "INTERNAL", effect: "possible" });
    },
  );

  t.test("a call that has changed nothing leaves its key free, retryable or not", async (t) => {
    const { gateways } = await openGateways(t);
    for (const reason of ["BUSY", "VOLUME_EXISTS"] as const) {
      const refusal = new InfraError(reasonNamed(reason), reason, { effect: "none" });
      const refused = gateways[0].interceptor(callOf({ key: reason }), () => Promise.reject(refusal));
      t.equal(await reasonOf(refused), reason);
      t.equal(await createCounter().send(gateways[1].interceptor, { key: reason }), "volume 1");
    }
  });

  t.test("a call that waits for the first ends with it, or when its own caller leaves", async (t) => {
    const { gateways } = await openGateways(t);
    const first = Promise.withResolvers<Output>();
    const began = Promise.withResolvers<void>();
    const running = gateways[0].interceptor(callOf({}), () => {
      began.resolve();
      return first.promise;
    });
    await began.promise;
    const again = () => t.fail("it does not run again") as never;
    for (const { interceptor } of gateways) {
      const ending = new AbortController();
      const left = interceptor(callOf({ ending }), again);
      ending.abort(new InfraError(hostReasons.CALLER_LEFT, "left"));
      t.equal(await reasonOf(left), "CALLER_LEFT");
      t.equal(
        await reasonOf(interceptor(callOf({ name: "other" }), again)),
        "IDEMPOTENCY_KEY_REUSED",
        "it does not wait",
      );
    }
    const waiting = gateways.map(({ interceptor }) => interceptor(callOf({}), again));
    first.resolve({ volume: { name: "first" } });
    for (const answer of [await running, ...(await Promise.all(waiting))]) {
      t.match(answer, { volume: { name: "first" } });
    }
  });

  t.test("if the first has changed nothing, one of the waiting calls tries again", async (t) => {
    const { gateways } = await openGateways(t);
    const { counter, send } = createCounter();
    const first = Promise.withResolvers<Output>();
    const began = Promise.withResolvers<void>();
    const running = gateways[0].interceptor(callOf({}), () => {
      began.resolve();
      return first.promise;
    });
    await began.promise;
    const waiting = gateways.map(({ interceptor }) => send(interceptor));
    first.reject(new InfraError(hostReasons.BUSY, "busy", { effect: "none" }));
    t.equal(await reasonOf(running), "BUSY");
    t.same(await Promise.all(waiting), ["volume 1", "volume 1"]);
    t.equal(counter.calls, 1);
  });

  t.test("a call whose gateway died is not repeated, and its outcome is unknown", async (t) => {
    const { gateways, open, stores } = await openGateways(t, { leaseMs: 300 });
    const dying = open(stores[0]);
    const began = Promise.withResolvers<void>();
    const first = Promise.withResolvers<Output>();
    const lost = dying.interceptor(callOf({}), () => {
      began.resolve();
      return first.promise;
    });
    await began.promise;
    // A dead gateway renews nothing.
    await dying.kept.close();
    const { counter, send } = createCounter();
    t.equal(
      await reasonOf(send(gateways[1].interceptor)),
      "IDEMPOTENCY_OUTCOME_UNKNOWN",
      "after waiting for it",
    );
    t.equal(await reasonOf(send(gateways[0].interceptor)), "IDEMPOTENCY_OUTCOME_UNKNOWN");
    t.equal(counter.calls, 0);
    // The gateway was frozen, not dead.
    first.resolve({ volume: { name: "late" } });
    await lost;
    t.equal(await send(gateways[0].interceptor), "late");
  });

  t.test("a call that takes longer than the lease keeps its key", async (t) => {
    const { gateways } = await openGateways(t, { leaseMs: 3000 });
    const first = Promise.withResolvers<Output>();
    const began = Promise.withResolvers<void>();
    const running = gateways[0].interceptor(callOf({}), () => {
      began.resolve();
      return first.promise;
    });
    await began.promise;
    setTimeout(() => first.resolve({ volume: { name: "slow" } }), 4500);
    const second = await gateways[1].interceptor(callOf({}), () => t.fail("it does not run again") as never);
    t.match(second, { volume: { name: "slow" } });
    await running;
  });

  t.test("without a store nothing runs; if the answer cannot be stored the outcome is unknown", async (t) => {
    const { stores, open, failures } = await openGateways(t, { leaseMs: 300 });
    let isDown = true;
    const run: Store["run"] = (name, args) => {
      if (isDown) {
        return Promise.reject(new InfraError(storeReasons.STORE_UNAVAILABLE, "down"));
      }
      return stores[0].run(name, args);
    };
    const flaky = { run, subscribe: stores[0].subscribe };
    const { interceptor } = open(flaky);
    const { counter, send } = createCounter();
    t.equal(await reasonOf(send(interceptor)), "STORE_UNAVAILABLE");
    t.equal(counter.calls, 0);
    isDown = false;
    const answer = await interceptor(callOf({}), async () => {
      isDown = true;
      return { volume: { name: "made" } };
    });
    t.match(answer, { volume: { name: "made" } }, "its caller has the answer");
    t.ok(failures.some((what) => what.includes("result")));
    isDown = false;
    t.equal(await reasonOf(send(interceptor)), "IDEMPOTENCY_OUTCOME_UNKNOWN");
    t.equal(counter.calls, 0);
  });

  t.test("reads ignore the key, and a call without a key runs each time", async (t) => {
    const { gateways } = await openGateways(t);
    const { counter, send } = createCounter();
    const { interceptor } = gateways[0];
    await send(interceptor, { method: VGService.method.getFreeBytes });
    await send(interceptor, { method: VGService.method.getFreeBytes });
    const call = createCall({ method: createLv });
    await interceptor(call, async () => ({ volume: { name: "without" } }));
    await interceptor(call, async () => ({ volume: { name: "without" } }));
    t.equal(counter.calls, 2);
  });

  t.test("the store has neither key nor request nor answer in cleartext", async (t) => {
    const { gateways, stores } = await openGateways(t);
    const seen: unknown[] = [];
    const run: Store["run"] = (name, args) => {
      seen.push(args);
      return stores[0].run(name, args);
    };
    const watched = { run, subscribe: stores[0].subscribe };
    const kept = createKeptResults({ store: watched, ...secrets, instanceId: "i", onFailed: () => {} });
    t.teardown(() => kept.close());
    const sent = { key: "clear-key-24682468", name: "clear-name-24682468" };
    await interceptorOf(createIdempotency(kept))(callOf(sent), async () => ({
      volume: { name: "clear-answer-24682468" },
    }));
    const clear = /24682468/;
    const texts = (value: unknown): string =>
      value instanceof Uint8Array
        ? Buffer.from(value).toString("latin1")
        : typeof value === "object" && value !== null
          ? Object.values(value).map(texts).join(" ")
          : String(value);
    t.ok(seen.length >= 2);
    t.notMatch(texts(seen), clear);
    t.match(await createCounter().send(gateways[1].interceptor, sent), clear, "the answer is stored");
  });

  t.test("expired keys are removed, and free again", async (t) => {
    // Without gateways, which would remove such keys at their start.
    const [store] = await openStores(t);
    const key = (name: string) => ({ caller: "c", method: "m", key_hash: Buffer.from(name) });
    const take = (name: string, keepMs: number, leaseMs: number) =>
      store.run("idempotency.take", {
        key: key(name),
        requestHash: Buffer.from("r"),
        instanceId: "i",
        leaseMs,
        keepMs,
      });
    await take("done", -1, 10_000);
    await store.run("idempotency.keep", { key: key("done"), instanceId: "i", result: Buffer.from("x") });
    await take("lost", -1, -1);
    await take("running", -1, 10_000);
    await take("young", 10_000, -1);
    t.match(await take("done", -1, -1), { state: "taken" }, "free before it is removed");
    t.match(await take("running", 1, 1), { state: "running" }, "not while it runs");
    t.match(await take("young", 1, 1), { state: "lost" });
    t.same(await store.run("idempotency.purge", { limit: 1 }), { count: 1 });
    t.same(await store.run("idempotency.purge", { limit: 10 }), { count: 1 });
    t.same(await store.run("idempotency.purge", { limit: 10 }), { count: 0 });
  });
}

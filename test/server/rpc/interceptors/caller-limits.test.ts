import { test } from "tap";
import { InfraError } from "../../../../adapters/host/infra-error.ts";
import { hostReasons } from "../../../../adapters/host/reasons.ts";
import { lvmReasons } from "../../../../adapters/lvm/reasons.ts";
import { Health } from "../../../../gen/grpc/health/v1/health_pb.ts";
import { LVService, VGService } from "../../../../gen/proto/lvmd_pb.ts";
import { authReasons } from "../../../../server/domains/auth/reasons.ts";
import type { Call, Interceptor, Output } from "../../../../server/rpc/call/call.ts";
import { anonymous, type Caller } from "../../../../server/rpc/call/caller.ts";
import type { CostAccount } from "../../../../server/rpc/call/cost-account.ts";
import { createAuthorization } from "../../../../server/rpc/interceptors/authorization.ts";
import { createCallerLimits } from "../../../../server/rpc/interceptors/caller-limits.ts";
import { createCall } from "../call/call-under-test.ts";
import { interceptorOf } from "./interceptor-of.ts";

const read = VGService.method.getFreeBytes;
const watch = VGService.method.watch;
const mutation = LVService.method.removeLV;

function by(accountId: string, facts: Parameters<typeof createCall>[0] = {}): Call {
  const call = createCall({ method: read, ...facts });
  const caller: Caller = { ...anonymous, actor: `user/${accountId}`, accountId, role: "operator" };
  call.identify({ ...caller, credential: "session", current: () => caller });
  return call;
}

function from(address: string, facts: Parameters<typeof createCall>[0] = {}): Call {
  return createCall({ method: read, ...facts, peer: { address, ...facts.peer } });
}

const answer = async (): Promise<Output> => ({});

async function refusalOf(work: Promise<unknown>): Promise<InfraError | undefined> {
  try {
    await work;
    return undefined;
  } catch (error) {
    if (error instanceof InfraError) {
      return error;
    }
    throw error;
  }
}

/** Limits that a test is not about. */
const loose = { cpuMsPerSecond: 1000, unreadBytes: 1_000_000, reads: 1_000_000 };

/** Creates the limits, with an interceptor that rejects as a chain does, and that closes a call when it is answered. */
function createLimits(...options: Parameters<typeof createCallerLimits>) {
  const limits = createCallerLimits(...options);
  const link = interceptorOf(() => limits.interceptor);
  const interceptor: Interceptor = async (call, next) => {
    let account: CostAccount | undefined;
    const { chargeTo } = call;
    const charged = Object.assign(call, {
      chargeTo(to: CostAccount) {
        account = to;
        chargeTo(to);
      },
    });
    try {
      return await link(charged, next);
    } finally {
      account?.close();
    }
  };
  return { ...limits, interceptor };
}

test("a caller may begin two seconds' worth of calls at once, and then as many as the limit allows", async (t) => {
  let nowMs = 0;
  const { interceptor } = createLimits(
    { ...loose, requestsPerSecond: 10, streams: 1, mutations: 1 },
    () => nowMs,
  );
  for (let i = 0; i < 20; i++) {
    await interceptor(by("a"), answer);
  }
  const refused = await refusalOf(interceptor(by("a"), answer));
  t.match(refused, {
    reason: "CALLER_LIMIT",
    code: "RESOURCE_EXHAUSTED",
    retryable: true,
    retryAfterMs: 100,
  });
  t.match(refused?.message, /^user\/a .*limits\.caller\.requestsPerSecond.*\(10\)/);
  nowMs += 99;
  t.ok(await refusalOf(interceptor(by("a"), answer)), "not before the suggested time");
  nowMs += 1;
  t.notOk(await refusalOf(interceptor(by("a"), answer)), "but then");
  t.ok(await refusalOf(interceptor(by("a"), answer)));
});

test("callers without permission are limited by address, and a call is counted once", async (t) => {
  const limits = createCallerLimits({ ...loose, requestsPerSecond: 5, streams: 1, mutations: 1 }, () => 0);
  const authenticate = ({ caller, peer }: Call) =>
    peer.address === "192.0.2.9"
      ? Promise.reject(new InfraError(authReasons.TOKEN_INVALID, "not yours"))
      : caller;
  const authorization = interceptorOf(createAuthorization(authenticate, limits.countDenied));
  const call = async (created: Call) => {
    const fails = () => Promise.reject(new InfraError(lvmReasons.VOLUME_NOT_FOUND, "gone"));
    return (await refusalOf(authorization(created, async () => limits.interceptor(created, fails))))?.reason;
  };
  for (const [created, refused] of [
    [() => from("192.0.2.7"), "LOGIN_REQUIRED"],
    [() => from("192.0.2.9"), "TOKEN_INVALID"],
    [() => by("a"), "VOLUME_NOT_FOUND"],
  ] as const) {
    const reasons: (string | undefined)[] = [];
    for (let i = 0; i < 11; i++) {
      reasons.push(await call(created()));
    }
    t.same(reasons, [...Array(10).fill(refused), "CALLER_LIMIT"]);
  }
  t.equal(await call(from("192.0.2.8")), "LOGIN_REQUIRED", "another address is not limited");
});

test("the calls of one caller all succeed while another is refused 10,000 times", async (t) => {
  const { interceptor, callerCount } = createLimits(
    { ...loose, requestsPerSecond: 10, streams: 1, mutations: 1 },
    () => 0,
  );
  for (const [greedy, other] of [
    [() => by("greedy"), () => by("other")],
    [() => from("192.0.2.1"), () => from("192.0.2.2")],
  ] as const) {
    let refused = 0;
    for (let i = 0; i < 10_020; i++) {
      refused += (await refusalOf(interceptor(greedy(), answer))) === undefined ? 0 : 1;
      if (i % 1000 === 0) {
        await interceptor(other(), answer);
      }
    }
    t.equal(refused, 10_000);
  }
  t.equal(callerCount(), 4);
});

test("open streams are limited and free their slot however they end", async (t) => {
  const { interceptor } = createLimits({ ...loose, requestsPerSecond: 1000, streams: 2, mutations: 1 });
  async function* endless() {
    for (;;) {
      yield {};
    }
  }
  async function* failing() {
    yield {};
    throw new InfraError(hostReasons.SHUTTING_DOWN, "stopping");
  }
  const open = async (messages: AsyncIterable<object>) => {
    const output = await interceptor(by("a", { method: watch }), async () => messages);
    const reader = (output as AsyncIterable<object>)[Symbol.asyncIterator]();
    await reader.next();
    return reader;
  };
  const first = await open(endless());
  const second = await open(failing());
  const refused = await refusalOf(open(endless()));
  t.match(refused, { reason: "CALLER_LIMIT", retryAfterMs: 1000 });
  t.match(refused?.message, /limits\.caller\.streams.*\(2\)/);
  t.notOk(await refusalOf(interceptor(by("a"), answer)), "other calls are not affected");
  await first.return?.();
  const third = await open(endless());
  t.ok(await refusalOf(second.next()), "the second fails");
  await open(endless());
  t.ok(await refusalOf(open(endless())), "two are open again");
  await third.return?.();
  t.ok(
    await refusalOf(
      interceptor(by("a", { method: watch }), () => Promise.reject(new InfraError(hostReasons.BUSY, "busy"))),
    ),
  );
  await open(endless());
});

test("running changes are limited until they have ended, even if their callers leave", async (t) => {
  const limits = createCallerLimits({ ...loose, requestsPerSecond: 1000, streams: 1, mutations: 2 });
  const workInterceptor = interceptorOf(limits.workInterceptor);
  const first = Promise.withResolvers<Output>();
  const second = Promise.withResolvers<Output>();
  const running = [
    workInterceptor(by("a", { method: mutation }), () => first.promise),
    workInterceptor(by("a", { method: mutation }), () => second.promise),
  ];
  const refused = await refusalOf(workInterceptor(by("a", { method: mutation }), answer));
  t.match(refused?.message, /limits\.caller\.mutations.*\(2\)/);
  t.notOk(await refusalOf(workInterceptor(by("a"), answer)), "reads are not affected");
  t.notOk(
    await refusalOf(workInterceptor(by("b", { method: mutation }), answer)),
    "nor are the changes of another caller",
  );
  first.reject(new InfraError(hostReasons.BUSY, "busy"));
  t.ok(await refusalOf(running[0] as Promise<unknown>));
  t.notOk(await refusalOf(workInterceptor(by("a", { method: mutation }), answer)));
  second.resolve({});
  await running[1];
});

test("callers without an account are counted by address; the admin socket is not counted", async (t) => {
  const { interceptor } = createLimits({ ...loose, requestsPerSecond: 1, streams: 1, mutations: 1 }, () => 0);
  const spend = async (call: () => Call) => {
    await interceptor(call(), answer);
    await interceptor(call(), answer);
    return refusalOf(interceptor(call(), answer));
  };
  t.match((await spend(() => from("192.0.2.1")))?.message, "anonymous at 192.0.2.1");
  t.notOk(await refusalOf(interceptor(from("192.0.2.2"), answer)));
  t.ok(
    await refusalOf(interceptor(from("::ffff:192.0.2.1"), answer)),
    "the same address through a dual-stack socket",
  );
  t.ok(
    await refusalOf(interceptor(from("192.0.2.1", { method: Health.method.check }), answer)),
    "health checks are counted",
  );
  t.ok(await spend(() => from("2001:db8::1")));
  t.ok(await refusalOf(interceptor(from("2001:db8::ffff:2"), answer)), "another address of the same /64");
  t.notOk(await refusalOf(interceptor(from("2001:db8:0:1::1"), answer)), "another /64");
  t.ok(await spend(() => from("unix", { peer: { listener: "unix:/a" } })));
  t.notOk(
    await refusalOf(interceptor(from("unix", { peer: { listener: "unix:/b" } }), answer)),
    "another socket",
  );
  const admin = () => {
    const call = from("unix");
    call.identify({ ...anonymous, actor: "admin-socket", role: "admin", credential: "adminSocket" });
    return call;
  };
  t.notOk(await spend(admin));
});

test("idle callers are forgotten, and addresses beyond the maximum share buckets", async (t) => {
  let nowMs = 0;
  const limits = { ...loose, requestsPerSecond: 1, streams: 1, mutations: 1 };
  const { interceptor, callerCount } = createLimits(limits, () => nowMs);
  for (let i = 0; i < 20_000; i++) {
    await refusalOf(interceptor(from(`10.1.${i >> 8}.${i & 255}`), answer));
  }
  t.ok(callerCount() <= 10_256, `${callerCount()} callers`);
  t.ok(
    await refusalOf(interceptor(from("10.2.0.1"), answer)),
    "a shared bucket is used up by those who share it",
  );
  t.notOk(await refusalOf(interceptor(from("10.1.0.1"), answer)), "an earlier address has its own bucket");
  t.notOk(await refusalOf(interceptor(by("a"), answer)), "and so has every account");
  nowMs += 10_000;
  t.notOk(await refusalOf(interceptor(from("10.2.0.1"), answer)));
  t.equal(callerCount(), 1);
});

/** Creates a call whose costs the test sets. */
function costly(created: Call): { readonly call: Call; account(): CostAccount } {
  let charged: CostAccount | undefined;
  return {
    call: Object.assign(created, { chargeTo: (account: CostAccount) => (charged = account) }),
    account: () => charged ?? raise("nothing is charged"),
  };
}

function raise(message: string): never {
  throw new Error(message);
}

test("a caller that uses more CPU time than the limit is refused until it is paid, and others are not", async (t) => {
  let nowMs = 0;
  const values = { ...loose, requestsPerSecond: 1000, streams: 1, mutations: 1, cpuMsPerSecond: 100 };
  for (const [greedy, other] of [
    [() => by("greedy"), () => by("other")],
    [() => from("192.0.2.1"), () => from("192.0.2.2")],
  ] as const) {
    const { interceptor } = createLimits(values, () => nowMs);
    const { call, account } = costly(greedy());
    await interceptor(call, answer);
    account().spend(199);
    t.notOk(await refusalOf(interceptor(greedy(), answer)), "two seconds' worth at once");
    account().spend(51);
    const refused = await refusalOf(interceptor(greedy(), answer));
    t.match(refused, { reason: "CALLER_LIMIT", code: "RESOURCE_EXHAUSTED", retryAfterMs: 510 });
    t.match(refused?.message, /uses more CPU time.*limits\.caller\.cpuMsPerSecond.*\(100\)/);
    t.notOk(await refusalOf(interceptor(other(), answer)));
    nowMs += 510;
    t.notOk(await refusalOf(interceptor(greedy(), answer)), "after the suggested time");
    account().spend(1_000_000);
    nowMs += 10_010;
    t.notOk(await refusalOf(interceptor(greedy(), answer)), "no debt lasts longer than ten seconds");
  }
});

test("a caller that does not read its answers gets no further ones", async (t) => {
  const values = { ...loose, requestsPerSecond: 1000, streams: 1, mutations: 1, unreadBytes: 1000 };
  const { interceptor } = createLimits(values, () => 0);
  const { call, account } = costly(by("a"));
  await interceptor(call, answer);
  account().addUnread(1000);
  const refused = await refusalOf(interceptor(by("a"), answer));
  t.match(refused, { reason: "CALLER_LIMIT", retryAfterMs: 1000 });
  t.match(refused?.message, /limits\.caller\.unreadBytes.*\(1000\)/);
  t.notOk(await refusalOf(interceptor(by("b"), answer)));
  account().addUnread(-1);
  t.notOk(await refusalOf(interceptor(by("a"), answer)));
});

test("reads beyond the limit wait for one to end, and are refused if the earlier ones have cost too much", async (t) => {
  let nowMs = 0;
  const values = {
    ...loose,
    requestsPerSecond: 1000,
    streams: 1,
    mutations: 1,
    reads: 2,
    cpuMsPerSecond: 100,
  };
  const { interceptor } = createCallerLimits(values, () => nowMs);
  const started: string[] = [];
  const begin = (name: string, created = by("a")) => {
    const { call, account } = costly(created);
    const { promise, resolve } = Promise.withResolvers<Output>();
    const result = interceptor(call, () => {
      started.push(name);
      return promise;
    });
    return { result, finish: () => resolve({}), account };
  };
  const first = begin("first");
  const second = begin("second");
  const third = begin("third");
  const left = new AbortController();
  const impatient = begin("impatient", by("a", { ending: left }));
  const fourth = begin("fourth");
  begin("of another caller", by("b"));
  begin("mutation", by("a", { method: mutation }));
  await turn();
  t.same(started, ["first", "second", "of another caller", "mutation"]);

  left.abort(new InfraError(hostReasons.CALLER_LEFT, "gone"));
  t.match(await refusalOf(impatient.result), { reason: "CALLER_LEFT" });
  impatient.account().close();
  first.finish();
  await first.result;
  await turn();
  t.notOk(started.includes("third"), "an answer that is not handed over yet keeps its slot");
  first.account().close();
  first.account().close();
  await turn();
  t.same(started.slice(4), ["third"], "a slot is returned once");

  second.account().spend(300);
  second.finish();
  t.match(await refusalOf(second.result), { reason: "CALLER_LIMIT" }, "another read runs concurrently");
  second.account().close();
  t.match(await refusalOf(fourth.result), { reason: "CALLER_LIMIT" });
  t.notOk(started.includes("fourth"));
  fourth.account().close();
  third.finish();
  t.notOk(await refusalOf(third.result), "the last one is answered, whatever it has cost");
  third.account().close();
  nowMs += 2000;
  t.notOk(await refusalOf(interceptor(by("a"), answer)));
});

function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

test("each message of a request stream counts as a call", async (t) => {
  const values = { ...loose, requestsPerSecond: 2, streams: 1, mutations: 1 };
  const { interceptor } = createLimits(values, () => 0);
  const { call, account } = costly(by("a", { method: watch }));
  await interceptor(call, answer);
  for (let count = 0; count < 3; count += 1) {
    account().countMessage();
  }
  t.throws(() => account().countMessage(), { message: /limits\.caller\.requestsPerSecond/ });
  t.ok(await refusalOf(interceptor(by("a"), answer)), "and uses up the quota of calls");
});

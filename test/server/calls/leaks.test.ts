import { readdirSync } from "node:fs";
import * as http from "node:http";
import * as http2 from "node:http2";
import type { Readable } from "node:stream";
import { setImmediate as nextTurn, setTimeout as sleep } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { encodeEnvelope } from "@connectrpc/connect/protocol";
import { type Test, test } from "tap";
import { LVService, VGService } from "../../../gen/proto/lvmd_pb.ts";
import { registerService } from "../../../server/rpc/call/service-handlers.ts";
import { watchState } from "../../../server/rpc/streams/watch-state.ts";
import { type AppUnderTest, startAppUnderTest } from "../harness/app-under-test.ts";

/** Number of cancelled calls; a separate run may use more than the default. */
const callCount = Number(process.env.LEAK_CALLS ?? 1_000);
const atOnce = 50;
const callsPerSession = 100;

/** A few of these fill the buffers of sockets and windows. */
const largeMessage = { items: [{ deviceClass: "x".repeat(1 << 16), freeBytes: 1n }] };

/** Services that show whether anything of a call is left: waiting readers, subscribed watchers, open streams. */
function createCountingServices() {
  const open = { unary: 0, watchers: 0, floods: 0 };
  const wakes = new Set<() => void>();
  const subscribe = (wake: () => void) => {
    open.watchers += 1;
    wakes.add(wake);
    return () => {
      open.watchers -= 1;
      wakes.delete(wake);
    };
  };
  const slow = async () => {
    open.unary += 1;
    await sleep(10);
    open.unary -= 1;
    return {};
  };
  async function* flood() {
    open.floods += 1;
    try {
      for (;;) {
        yield largeMessage;
      }
    } finally {
      open.floods -= 1;
    }
  }
  const vg = registerService(VGService, {
    getLVList: slow,
    getFreeBytes: slow,
    watch: (_request, call) =>
      call.header("x-flood") === undefined
        ? watchState(subscribe, async () => ({ freeBytes: 1n }), call.signal)
        : flood(),
  });
  const lv = registerService(LVService, {
    createLV: slow,
    removeLV: slow,
    resizeLV: slow,
    createBackup: slow,
  });
  const wakeAll = () => {
    for (const wake of wakes) {
      wake();
    }
  };
  return { open, wakeAll, registrations: [vg, lv] };
}

/** When a client leaves: before an answer, while the handler works, after the first bytes, or while it has stopped reading. */
const moments = ["before", "during", "afterFirst", "underBackpressure"] as const;

interface Cancelled {
  readonly kind: "unary" | "stream";
  readonly moment: (typeof moments)[number];
  readonly isClean: boolean;
}

const kinds: readonly Cancelled[] = (["unary", "stream"] as const).flatMap((kind) =>
  moments
    .filter((moment) => kind === "stream" || moment !== "underBackpressure")
    .flatMap((moment) => [true, false].map((isClean) => ({ kind, moment, isClean }))),
);

function requestOf({ kind, moment }: Cancelled) {
  const path = kind === "unary" ? "/proto.VGService/GetFreeBytes" : "/proto.VGService/Watch";
  const type = kind === "unary" ? "application/proto" : "application/connect+proto";
  const flood: Record<string, string> = moment === "underBackpressure" ? { "x-flood": "1" } : {};
  const body = kind === "unary" ? Buffer.alloc(0) : encodeEnvelope(0, new Uint8Array(0));
  // With a deadline, because its timer could be left behind too.
  return { path, headers: { "content-type": type, "connect-timeout-ms": "100000", ...flood }, body };
}

/** Reads the first bytes, or nothing until the gateway has filled every buffer on the way. */
async function readUntil(moment: Cancelled["moment"], body: Readable | undefined): Promise<void> {
  if (body === undefined || body.closed) {
    return;
  }
  body.on("error", () => {});
  if (moment === "underBackpressure") {
    await sleep(5);
    return;
  }
  await new Promise((resolve) => {
    body.once("data", resolve);
    body.once("close", resolve);
  });
}

async function cancelOverHttp1(url: string, cancelled: Cancelled): Promise<void> {
  const { path, headers, body } = requestOf(cancelled);
  const request = http.request(`${url}${path}`, { method: "POST", headers, agent: false });
  request.on("error", () => {});
  const closed = new Promise((resolve) => request.once("close", resolve));
  request.end(body);
  const answered = new Promise<http.IncomingMessage | undefined>((resolve) => {
    request.once("response", resolve);
    request.once("close", () => resolve(undefined));
  });
  if (cancelled.moment === "during") {
    await sleep(3);
  } else if (cancelled.moment !== "before") {
    await readUntil(cancelled.moment, await answered);
  }
  if (!cancelled.isClean && request.socket?.readyState === "open") {
    request.socket.resetAndDestroy();
  }
  request.destroy();
  await closed;
}

async function cancelOverHttp2(session: http2.ClientHttp2Session, cancelled: Cancelled): Promise<void> {
  const { path, headers, body } = requestOf(cancelled);
  const stream = session.request({ ":method": "POST", ":path": path, ...headers });
  stream.on("error", () => {});
  const closed = new Promise((resolve) => stream.once("close", resolve));
  stream.end(body);
  // Node's client may never close a stream, or abort the process, if it is reset before its request is sent (nodejs/node#38964).
  await nextTurn();
  if (cancelled.moment === "during") {
    await sleep(3);
  } else if (cancelled.moment !== "before") {
    const answered = new Promise((resolve) => stream.once("response", resolve));
    await Promise.race([answered, closed]);
    await readUntil(cancelled.moment, stream);
  }
  stream.close(cancelled.isClean ? http2.constants.NGHTTP2_CANCEL : http2.constants.NGHTTP2_INTERNAL_ERROR);
  await closed;
}

async function cancelMany(url: string, version: "1.1" | "2", count: number): Promise<void> {
  let session: http2.ClientHttp2Session | undefined;
  for (let startedCount = 0; startedCount < count; startedCount += atOnce) {
    const cancelled = Array.from(
      { length: atOnce },
      (_, index) => kinds[(startedCount + index) % kinds.length],
    );
    const calls = cancelled.filter((one) => one !== undefined);
    if (version === "1.1") {
      await Promise.all(calls.map((one) => cancelOverHttp1(url, one)));
      continue;
    }
    if (startedCount % callsPerSession === 0) {
      session?.destroy();
      session = http2.connect(url);
      session.on("error", () => {});
    }
    const current = session;
    if (current !== undefined) {
      await Promise.all(calls.map((one) => cancelOverHttp2(current, one)));
    }
  }
  session?.destroy();
}

setFlagsFromString("--expose-gc");
const collectGarbage: () => void = runInNewContext("gc");

/** Returns the resources of the process by type, and its file descriptors. */
function resourcesNow() {
  const kindsNow = process
    .getActiveResourcesInfo()
    .filter((kind) => /Socket|TCP|Pipe|HTTP|Timeout/.test(kind));
  return { active: kindsNow.length, fds: readdirSync("/proc/self/fd").length };
}

async function untilTrue(condition: () => boolean): Promise<boolean> {
  for (let waited = 0; waited < 1_000 && !condition(); waited += 1) {
    await sleep(30);
  }
  return condition();
}

async function assertNothingLeft(t: Test, app: AppUnderTest, open: Record<string, number>): Promise<void> {
  await untilTrue(() => Object.values(open).every((count) => count === 0) && app.openCallCount() === 0);
  t.same(open, { unary: 0, watchers: 0, floods: 0 }, "no handler, watcher or stream is left");
  t.equal(app.openCallCount(), 0, "no call listens to the gateway's stop");
}

for (const version of ["1.1", "2"] as const) {
  test(`cancelled calls leave nothing behind over HTTP/${version}`, async (t) => {
    const warnings: Error[] = [];
    const onWarning = (warning: Error) => warnings.push(warning);
    process.on("warning", onWarning);
    t.teardown(() => process.off("warning", onWarning));
    const onConsole = t.capture(console, "error");
    const { open, wakeAll, registrations } = createCountingServices();
    const app = await startAppUnderTest(t, registrations, { logLevel: "warn" });

    await cancelMany(app.url, version, 2 * atOnce);
    await assertNothingLeft(t, app, open);
    collectGarbage();
    const before = resourcesNow();
    const heapBefore = process.memoryUsage().heapUsed;

    await cancelMany(app.url, version, callCount / 2);
    wakeAll();
    await assertNothingLeft(t, app, open);
    await untilTrue(() => resourcesNow().active <= before.active && resourcesNow().fds <= before.fds);
    const after = resourcesNow();
    t.ok(after.active <= before.active, `${before.active} active resources before, ${after.active} after`);
    t.ok(after.fds <= before.fds, `${before.fds} file descriptors before, ${after.fds} after`);
    collectGarbage();
    const grownMiB = (process.memoryUsage().heapUsed - heapBefore) / 2 ** 20;
    t.ok(grownMiB < 8, `the heap grew by ${grownMiB.toFixed(1)} MiB`);
    t.same(warnings, [], "no warning from Node");
    t.same(app.log, [], "nothing is logged as a fault");
    t.same(onConsole(), [], "nothing is written to the console");
  });
}

test("on one connection a client may cancel as many streams in a row as it may open, ten times over", async (t) => {
  const { registrations } = createCountingServices();
  const app = await startAppUnderTest(t, registrations, { logLevel: "warn" });
  const session = http2.connect(app.url);
  session.on("error", () => {});
  t.teardown(() => session.destroy());
  let isClosed = false;
  session.on("close", () => {
    isClosed = true;
  });
  // 128 concurrent streams is the default. nghttp2 itself allows 1,000 resets in a burst, Node 100 refusals.
  for (let burst = 0; burst < 10; burst += 1) {
    const calls = Array.from({ length: 120 }, () =>
      cancelOverHttp2(session, { kind: "stream", moment: "before", isClean: true }),
    );
    await Promise.all(calls);
  }
  await cancelOverHttp2(session, { kind: "stream", moment: "afterFirst", isClean: true });
  t.notOk(isClosed || session.destroyed, "the connection is alive");
});

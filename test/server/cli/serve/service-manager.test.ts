import { execFileSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type Test, test } from "tap";
import { sendToNotifySocket } from "../../../../adapters/host/notify-socket.ts";
import { createServiceManager } from "../../../../server/cli/serve/service-manager.ts";
import type { Readiness } from "../../../../server/web/readiness.ts";
import { serveSandbox } from "../run-hostplane.ts";
import { startDatagramReceiver } from "./datagram-receiver.ts";

const skip = process.platform === "linux" && hasPython() ? false : "needs Linux and python3";

function hasPython(): boolean {
  try {
    execFileSync("python3", ["--version"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

/** A directory whose path is short enough for a socket. */
function shortDirectory(t: Test): string {
  const directory = mkdtempSync(join(tmpdir(), "hp-"));
  t.teardown(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

test("serve reports when it is ready, that its event loop runs, and that it stops", {
  skip,
}, async (t) => {
  const address = join(shortDirectory(t), "notify");
  const receiver = await startDatagramReceiver(address);
  const env = { NOTIFY_SOCKET: address, WATCHDOG_USEC: "200000" };
  const gateway = serveSandbox([], env);
  t.teardown(() => gateway.child.kill("SIGKILL"));
  await receiver.untilReceived(/READY=1/);
  const [, url] = await gateway.untilPrinted(/(http:\/\/127\.0\.0\.1:\d+)/);
  t.equal((await fetch(`${url}/readyz`)).status, 200);
  await receiver.untilReceived(/(WATCHDOG=1[\s\S]*){3}/);
  gateway.child.kill("SIGTERM");
  t.equal((await gateway.ended).code, 0);
  await receiver.untilReceived(/STOPPING=1/);
  const messages = await receiver.stop();
  t.equal(messages[0], "READY=1\nSTATUS=Serving");
  t.match(
    messages.filter((message) => !message.startsWith("WATCHDOG")).at(-1),
    /^STOPPING=1\nSTATUS=Stopping/,
  );
});

test("a message reaches a socket in the abstract namespace", { skip }, async (t) => {
  const address = `@hostplane-${randomUUID()}`;
  const receiver = await startDatagramReceiver(address);
  sendToNotifySocket(address, "READY=1");
  await receiver.untilReceived(/READY=1/);
  t.same(await receiver.stop(), ["READY=1"]);
});

test("a socket that does not exist is an error, which does not end the gateway", { skip }, async (t) => {
  const address = join(shortDirectory(t), "none");
  t.throws(() => sendToNotifySocket(address, "READY=1"), /errno 2/);
  t.throws(() => sendToNotifySocket(`/${"x".repeat(120)}`, "READY=1"), /longer/);
  const failures: unknown[] = [];
  const manager = createServiceManager({
    env: { NOTIFY_SOCKET: address },
    onFailed: (error) => failures.push(error),
  });
  manager.reportStopping();
  t.match(failures, [/errno 2/]);
  t.notOk(existsSync(address));
});

/** Records messages instead of sending them. */
function recorded(env: NodeJS.ProcessEnv) {
  const messages: string[] = [];
  const manager = createServiceManager({
    env: { NOTIFY_SOCKET: "/recorded", ...env },
    onFailed: (error) => messages.push(String(error)),
    send: (_address, message) => messages.push(message),
  });
  return { messages, manager };
}

async function until(isTrue: () => boolean): Promise<void> {
  while (!isTrue()) {
    await sleep(5);
  }
}

test("the gateway is reported ready only once it is", async (t) => {
  const { messages, manager } = recorded({});
  let readiness: Readiness = "storeUnavailable";
  manager.reportWhenReady(async () => readiness);
  await until(() => messages.length > 0);
  t.match(messages, [/^STATUS=Not ready/]);
  readiness = "ready";
  await until(() => messages.some((message) => message.startsWith("READY=1")));
});

test("a gateway that stops before it is ready is never reported ready", async (t) => {
  const { messages, manager } = recorded({});
  const { promise, resolve } = Promise.withResolvers<Readiness>();
  manager.reportWhenReady(() => promise);
  manager.reportStopping();
  resolve("ready");
  await promise;
  await sleep(0);
  t.match(messages, [/^STOPPING=1/]);
});

test("a store that fails later changes the status, and the watchdog is served on", async (t) => {
  const { messages, manager } = recorded({ WATCHDOG_USEC: "20000", WATCHDOG_PID: String(process.pid) });
  let readiness: Readiness = "ready";
  manager.reportWhenReady(async () => readiness);
  await until(() => messages.includes("WATCHDOG=1"));
  readiness = "storeUnavailable";
  await until(() => messages.some((message) => message.startsWith("STATUS=Not ready")));
  const before = messages.length;
  await until(() => messages.slice(before).includes("WATCHDOG=1"));
  t.equal(messages.filter((message) => message.startsWith("STATUS=Not ready")).length, 1);
});

test("a blocked event loop serves no watchdog", async (t) => {
  const { messages, manager } = recorded({ WATCHDOG_USEC: "20000" });
  manager.reportWhenReady(async () => "ready");
  await until(() => messages.includes("WATCHDOG=1"));
  const pings = () => messages.filter((message) => message === "WATCHDOG=1").length;
  const before = pings();
  const endMs = performance.now() + 300;
  while (performance.now() < endMs) {
    // Blocks.
  }
  t.equal(pings(), before);
});

test("the watchdog of another process is not served", async (t) => {
  const { messages, manager } = recorded({ WATCHDOG_USEC: "2000", WATCHDOG_PID: "1" });
  manager.reportWhenReady(async () => "ready");
  await until(() => messages.length > 0);
  // Time for the timer that must not exist.
  for (let ticks = 0; ticks < 20; ticks += 1) {
    await sleep(1);
  }
  t.same(messages, ["READY=1\nSTATUS=Serving"]);
});

import { setTimeout as sleep, setImmediate as turn } from "node:timers/promises";
import { type Test, test } from "tap";
import { InfraError } from "../../../../../adapters/host/infra-error.ts";
import { hostReasons } from "../../../../../adapters/host/reasons.ts";
import type { LogPiece } from "../../../../../adapters/podman/adapter.ts";
import { podmanReasons } from "../../../../../adapters/podman/reasons.ts";
import { createPodmanSandbox, type PodmanSandboxOptions } from "../../../../../adapters/podman/sandbox.ts";
import { systemClock } from "../../../../../adapters/sandbox/clock.ts";
import { reasonOf } from "../../../../adapters/host/reason-of.ts";
import { createSteppedClock } from "../../../../adapters/sandbox/stepped-clock.ts";
import { messagesOf, nextLines, readLogs, wordsOf } from "./read-logs.ts";

const image = "localhost/sandbox/app:1";
type Pods = NonNullable<PodmanSandboxOptions["pods"]>;
const tick = (name: string, everyMs: number) => ({
  name,
  image,
  program: { kind: "tick", everyMs } as const,
});
const job = (name: string, afterMs: number) => ({
  name,
  image,
  program: { kind: "exit", code: 0, afterMs } as const,
});

async function startSandbox(t: Test, pods: Pods, clock = systemClock) {
  const runtime = createPodmanSandbox({ pods, clock });
  t.teardown(() => runtime.close());
  const [pod] = (await runtime.read()).value.pods;
  if (pod === undefined) {
    throw new Error("pod not found");
  }
  return { runtime, pod };
}

test("without follow there is one message, with all apps ordered by time", async (t) => {
  const containers = [tick("one", 100), tick("two", 70)];
  const { runtime, pod } = await startSandbox(t, [{ name: "web", isStarted: true, containers }]);
  await sleep(350);
  const logs = readLogs(runtime, { podId: pod.uuid });
  const messages = await messagesOf(logs);
  t.equal(messages.length, 1);
  t.equal(logs.resource(), `pods/${pod.uuid}`);
  const lines = messages[0]?.lines ?? [];
  const times = lines.map((line) => line.slice(0, line.indexOf(" ")));
  // Fractional seconds are written without trailing zeros.
  const padded = times.map((time) => time.replace("Z", "").padEnd(29, "0"));
  t.strictSame(padded, padded.toSorted());
  t.ok(times.every((time) => /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/.test(time)));
  t.ok(lines.length >= 8);

  const [one] = await messagesOf(
    readLogs(runtime, { podId: pod.uuid.slice(0, 9).toUpperCase(), appName: "one" }),
  );
  t.strictSame(one && wordsOf(one).slice(0, 3), ["tick 0", "tick 1", "tick 2"]);
});

test("the newest lines of a window", async (t) => {
  const { runtime, pod } = await startSandbox(t, [
    { name: "web", isStarted: true, containers: [tick("one", 50)] },
  ]);
  await sleep(400);
  const podId = pod.uuid;
  const [last] = await messagesOf(readLogs(runtime, { podId, lines: 3 }));
  t.equal(last?.lines.length, 3);
  // Read afterwards, since the program keeps running.
  const all = (await messagesOf(readLogs(runtime, { podId })))[0]?.lines ?? [];
  t.ok(all.includes(last?.lines[0] ?? ""));
  const nowSeconds = Math.floor(Date.now() / 1_000);
  const window = { sinceTime: BigInt(nowSeconds + 100), untilTime: BigInt(nowSeconds + 200) };
  t.strictSame(await messagesOf(readLogs(runtime, { podId, ...window })), [{ lines: [] }]);
  t.strictSame(await messagesOf(readLogs(runtime, { podId, untilTime: 1n })), [{ lines: [] }]);
  const [early] = await messagesOf(
    readLogs(runtime, {
      podId,
      sinceTime: BigInt(nowSeconds - 100),
      untilTime: BigInt(nowSeconds + 1),
      lines: 2,
    }),
  );
  t.equal(early?.lines.length, 2);
});

test("invalid requests are rejected with their reason", async (t) => {
  const { runtime, pod } = await startSandbox(t, [
    { name: "web", containers: [tick("one", 50), tick("two", 50)] },
  ]);
  const podId = pod.uuid;
  const reasonFor = (request: Parameters<typeof readLogs>[1]) =>
    reasonOf(messagesOf(readLogs(runtime, request)));
  for (const follow of [true, false]) {
    t.equal(await reasonFor({ follow }), "INVALID_FIELD");
    t.equal(await reasonFor({ follow, podId, lines: -1 }), "INVALID_FIELD");
    t.equal(await reasonFor({ follow, podId, sinceTime: -1n }), "INVALID_FIELD");
    t.equal(await reasonFor({ follow, podId: "ffffffff-0000" }), "POD_NOT_FOUND");
    t.equal(await reasonFor({ follow, podId, appName: "three" }), "CONTAINER_NOT_FOUND");
    t.equal(
      await reasonFor({ follow, podId, appName: `${pod.id.slice(0, 12)}-infra` }),
      "CONTAINER_NOT_FOUND",
    );
  }
  await t.rejects(messagesOf(readLogs(runtime, { podId, appName: "three" })), {
    message: "pod web has no app three (it has one, two)",
    resource: `pods/${podId}/containers/three`,
  });
  t.strictSame(await messagesOf(readLogs(runtime, { podId })), [{ lines: [] }], "nothing was printed yet");
  runtime.setOutage(new InfraError(podmanReasons.PODMAN_UNAVAILABLE, "away"));
  t.equal(await reasonFor({ podId }), "PODMAN_UNAVAILABLE");
});

test("existing lines come at once, then new ones, until the pod is gone", async (t) => {
  const clock = createSteppedClock();
  const containers = [job("one", 40), job("two", 60_000)];
  const { runtime, pod } = await startSandbox(t, [{ name: "web", isStarted: true, containers }], clock);
  const logs = readLogs(runtime, { podId: pod.uuid, follow: true });
  t.strictSame(await nextLines(logs), ["begin", "begin"]);
  await clock.step(40);
  t.strictSame(await nextLines(logs), ["end"]);
  const one = pod.containers.find(({ name }) => name === "one")?.id ?? "";
  runtime.pods.startContainer(one);
  t.strictSame(await nextLines(logs), ["begin"], "it is restarted");
  await clock.step(40);
  t.strictSame(await nextLines(logs), ["end"]);
  runtime.pods.removePod(pod.id, true);
  t.strictSame(await nextLines(logs), ["end"], "the last output of the other app");
  t.equal(await nextLines(logs), undefined);
});

test("an app that is not started yet can be followed, also on its own", async (t) => {
  const { runtime, pod } = await startSandbox(t, [
    { name: "web", containers: [job("one", 60_000), job("two", 60_000)] },
  ]);
  const logs = readLogs(runtime, { podId: pod.uuid, follow: true, appName: "one", lines: 5 });
  t.strictSame(await nextLines(logs), []);
  runtime.pods.startPod(pod.id);
  t.strictSame(await nextLines(logs), ["begin"]);
  runtime.pods.removePod(pod.id, true);
  t.strictSame(await messagesOf(logs).then((rest) => rest.flatMap(wordsOf)), ["end"]);
});

test("a followed log ends at its end time", async (t) => {
  const { runtime, pod } = await startSandbox(t, [
    { name: "web", isStarted: true, containers: [tick("one", 100)] },
  ]);
  const podId = pod.uuid;
  t.equal((await messagesOf(readLogs(runtime, { podId, follow: true, untilTime: 1n }))).length, 1);
  const untilTime = BigInt(Math.floor(Date.now() / 1_000) + 2);
  const messages = await messagesOf(readLogs(runtime, { podId, follow: true, untilTime }));
  const leftMs = Number(untilTime) * 1_000 - Date.now();
  t.ok(leftMs <= 0 && leftMs > -20_000, `${leftMs} ms before`);
  t.ok(messages.length > 5);
  const lines = messages.flatMap(({ lines }) => lines);
  t.ok(lines.every((line) => Date.parse(line.slice(0, 19).concat("Z")) / 1_000 < Number(untilTime)));
});

test("a followed log continues when the runtime is back", async (t) => {
  const { runtime, pod } = await startSandbox(t, [
    { name: "web", isStarted: true, containers: [tick("one", 20)] },
  ]);
  const logs = readLogs(runtime, { podId: pod.uuid, follow: true });
  const words = [...((await nextLines(logs)) ?? [])];
  runtime.setOutage(new InfraError(podmanReasons.PODMAN_UNAVAILABLE, "away"));
  setTimeout(() => runtime.setOutage(undefined), 200);
  while (words.length < 30) {
    words.push(...((await nextLines(logs)) ?? []));
  }
  const ticks = words.filter((word) => word.startsWith("tick"));
  t.strictSame(
    ticks,
    ticks.map((_, at) => `tick ${at}`),
  );
  await logs.return();
});

test("it ends with the reason that ends the call", async (t) => {
  const { runtime, pod } = await startSandbox(t, [
    { name: "web", isStarted: true, containers: [job("one", 60_000)] },
  ]);
  const stopping = new InfraError(hostReasons.SHUTTING_DOWN, "the gateway is stopping");
  const logs = readLogs(runtime, { podId: pod.uuid, follow: true });
  await logs.next();
  const next = logs.next();
  logs.leave(stopping);
  await t.rejects(next, stopping);
});

test("of a log that is much longer than a message only what fits is kept", async (t) => {
  const { runtime, pod } = await startSandbox(t, [
    { name: "web", isStarted: true, containers: [tick("one", 60_000)] },
  ]);
  let top = 0;
  async function* flood(): AsyncGenerator<readonly LogPiece[], void> {
    for (let count = 0; count < 4_000; count += 1) {
      const chunk = Buffer.alloc(64 * 1_024, "x");
      yield Array.from({ length: 64 }, (_, at) => ({
        stream: "stdout" as const,
        timeNs: BigInt(count) * 1_000_000_000n,
        bytes: chunk.subarray(at * 1_024, at * 1_024 + 1_000),
        endsLine: true,
      }));
      if (count % 100 === 0) {
        await turn();
        const { heapUsed, arrayBuffers } = process.memoryUsage();
        top = Math.max(top, heapUsed + arrayBuffers);
      }
    }
  }
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  const before = heapUsed + arrayBuffers;
  const [message] = await messagesOf(readLogs({ ...runtime, logs: flood }, { podId: pod.uuid }));
  t.match(message?.lines[0], /hostplane: 25\d\d\d\d earlier lines do not fit/);
  t.ok((message?.lines.length ?? 0) > 3_400);
  t.ok(top - before < 160 << 20, `${top - before} bytes for 256 MiB`);
});

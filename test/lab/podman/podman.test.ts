import { appendFile, readdir, readFile, stat, writeFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import tap, { test } from "tap";
import type { LogPiece, RuntimeEvent } from "../../../adapters/podman/adapter.ts";
import { createPodman } from "../../../adapters/podman/podman.ts";
import {
  type ContractProgram,
  linesOf,
  listen,
  testPodRuntimeContract,
  until,
  untilPod,
} from "../../adapters/podman/contract.ts";
import { until as untilTrue } from "../../server/harness/until.ts";
import { labImage, type PodmanService, podmanSkipReason, startPodmanService } from "./podman.ts";

const skip = podmanSkipReason();
tap.setTimeout(600_000);

let shared: Promise<PodmanService> | undefined;

/** A service for all tests, empty at the start of each. */
async function emptyService(): Promise<PodmanService> {
  shared ??= startPodmanService().then((service) => {
    tap.teardown(service.destroy);
    return service;
  });
  const service = await shared;
  await service.start();
  await service.podman("pod", "rm", "-f", "-t", "0", "-a");
  await service.podman("rm", "-f", "-t", "0", "-a");
  return service;
}

function commandOf(program: ContractProgram): readonly string[] {
  switch (program.kind) {
    case "tick":
      return [
        "sh",
        "-c",
        `trap "exit 0" TERM; i=0; while :; do echo tick $i; i=$((i+1)); sleep ${program.everyMs / 1000}; done`,
      ];
    case "exit":
      return ["sh", "-c", `echo begin; sleep ${program.afterMs / 1000}; echo end; exit ${program.code}`];
    case "missing":
      return ["/no/such/program"];
  }
}

function makeSubject(service: PodmanService) {
  const { podman, socketPath, eventsLogPath } = service;
  return {
    runtime: createPodman({ socketPath }),
    async createPod(
      name: string,
      containers: Readonly<Record<string, ContractProgram>>,
      image: string = labImage,
    ) {
      const id = (await podman("pod", "create", "--name", name, "--network", "none")).trim();
      for (const [container, program] of Object.entries(containers)) {
        await podman("create", "--pod", name, "--name", container, image, ...commandOf(program));
      }
      return id;
    },
    pauseContainer: async (name: string) => void (await podman("pause", name)),
    runOutsidePods: async (name: string, image: string) =>
      (await podman("run", "-d", "--network", "none", "--name", name, image, "sleep", "1000")).trim(),
    startContainer: async (name: string) => void (await podman("start", name)),
    removePod: async (name: string) => void (await podman("pod", "rm", "-f", "-t", "0", name)),
    async addImage(name: string) {
      const created = await podman(
        "run",
        "-d",
        "--network",
        "none",
        labImage,
        "sh",
        "-c",
        `echo ${name} >/file`,
      );
      await podman("wait", created.trim());
      const id = await podman("commit", "-q", created.trim(), name);
      await podman("rm", created.trim());
      return id.trim();
    },
    stopService: service.stop,
    startService: service.start,
    forgetHistory: () => writeFile(eventsLogPath, ""),
  };
}

testPodRuntimeContract("real", async () => makeSubject(await emptyService()), { skip });

/** Number of pods in the storm. */
const stormPods = Number(process.env.PODMAN_STORM ?? 24);

/** Fills the event log with copies of its records until Podman is about to rotate it. */
async function fillEventsLog({ eventsLogPath }: PodmanService): Promise<void> {
  const last = (await readFile(eventsLogPath, "utf8")).trimEnd().split("\n").at(-1) ?? "";
  const missing = 990_000 - (await stat(eventsLogPath)).size;
  await appendFile(eventsLogPath, `${last}\n`.repeat(Math.max(0, Math.floor(missing / (last.length + 1)))));
}

const kindsOf = (events: readonly RuntimeEvent[], name: string, isInfra = false): string[] =>
  events
    .filter((event) => "podName" in event && event.podId !== "" && namesOf(event).includes(name))
    .filter((event) => !("isInfra" in event) || event.isInfra === isInfra)
    .map(({ kind }) => kind);

function namesOf(event: RuntimeEvent): readonly string[] {
  if ("containerName" in event) {
    return [event.containerName];
  }
  return "podName" in event ? [event.podName] : [];
}

test("no event is lost, repeated or invented while the service dies and its log is rotated", {
  skip,
}, async (t) => {
  const service = await emptyService();
  const { podman } = service;
  const runtime = createPodman({ socketPath: service.socketPath });
  t.teardown(() => runtime.close());
  const listener = listen(t, runtime);
  await listener.untilListening(makeSubject(service));
  await fillEventsLog(service);
  const lives = Array.from({ length: stormPods }, async (_, number) => {
    await sleep((number % 4) * 150 + Math.floor(number / 4) * 400);
    const name = `storm-${number}`;
    await podman("pod", "create", "--name", name, "--network", "none");
    await podman("run", "-d", "--pod", name, "--name", `${name}-job`, labImage, "sh", "-c", `exit ${number}`);
    await podman("wait", `${name}-job`);
    await podman("pod", "rm", "-f", "-t", "0", name);
  });
  const trouble = (async () => {
    await sleep(700);
    await service.kill();
    await sleep(500);
    await service.start();
    await sleep(1_500);
    await service.stop();
    await sleep(500);
    await service.start();
  })();
  await Promise.all([...lives, trouble]);
  await listener.until(
    (events) =>
      new Set(events.filter(({ kind }) => kind === "podRemoved").map(({ key }) => key)).size >= stormPods,
  );
  for (let number = 0; number < stormPods; number += 1) {
    const events = listener.events();
    const name = `storm-${number}`;
    t.strictSame(kindsOf(events, name), ["podCreated", "podRemoved"], name);
    t.strictSame(
      kindsOf(events, `${name}-job`),
      ["containerCreated", "containerStarted", "containerExited", "containerRemoved"],
      name,
    );
    const exit = events.find(({ kind, ...event }) => {
      return kind === "containerExited" && "containerName" in event && event.containerName === `${name}-job`;
    });
    t.equal(exit && "exitCode" in exit ? exit.exitCode : undefined, number);
  }
  t.strictSame((await runtime.read()).value.pods, []);
  t.notOk(listener.events().some(({ kind }) => kind === "gap"));
  t.ok((await stat(service.eventsLogPath)).size < 990_000, "it was rotated");
});

test("a stop is reported", { skip }, async (t) => {
  const service = await emptyService();
  const subject = makeSubject(service);
  const { runtime } = subject;
  t.teardown(() => runtime.close());
  const listener = listen(t, runtime);
  await listener.untilListening(subject);
  const id = await subject.createPod("quick", { q1: { kind: "tick", everyMs: 100 } });
  await runtime.run({ kind: "startPod", podId: id });
  await service.podman("stop", "-t", "0", "q1");
  const stoppedMs = performance.now();
  await listener.until((events) => events.some(({ kind }) => kind === "containerExited"));
  t.comment(`reported ${Math.round(performance.now() - stoppedMs)} ms after the stop`);
});

test("followed logs equal those of `podman logs`, line by line, while the service dies", {
  skip,
}, async (t) => {
  const service = await emptyService();
  const { podman } = service;
  const runtime = createPodman({ socketPath: service.socketPath });
  t.teardown(() => runtime.close());
  const script =
    "i=0; while test $i -lt 400; do echo out $i; echo err $i >&2; printf 'half '; i=$((i+1)); test $((i%10)) = 0 && sleep 0.1; done";
  const containers = await Promise.all(
    [0, 1, 2, 3].map(async (number) => {
      const name = `talker-${number}`;
      const created = await podman(
        "create",
        "--network",
        "none",
        "--name",
        name,
        labImage,
        "sh",
        "-c",
        script,
      );
      return { name, id: created.trim() };
    }),
  );
  const leaving = new AbortController();
  const followed = containers.map(({ id }) => {
    const text = { stdout: "", stderr: "" };
    return { text, ended: addText(text, runtime.logs(id, { follow: true }, leaving.signal)) };
  });
  await podman("start", ...containers.map(({ name }) => name));
  await sleep(1_000);
  await service.kill();
  await sleep(500);
  await service.start();
  await podman("wait", ...containers.map(({ name }) => name));
  await podman("start", ...containers.map(({ name }) => name));
  await sleep(500);
  await service.stop();
  await service.start();
  await podman("wait", ...containers.map(({ name }) => name));
  const again = await Promise.all(
    containers.map(({ id }) => textOf(runtime.logs(id, {}, AbortSignal.timeout(30_000)))),
  );
  const isAsLong = (stream: "stdout" | "stderr") =>
    followed.every(({ text }, index) => text[stream].length >= (again[index]?.[stream].length ?? 0));
  await untilTrue(() => isAsLong("stdout") && isAsLong("stderr"));
  leaving.abort();
  await Promise.all(followed.map(({ ended }) => ended));
  for (const [index, { name }] of containers.entries()) {
    const { text } = followed[index] ?? {};
    const { stdout = "", stderr = "" } = again[index] ?? {};
    t.ok(text?.stdout === (await podman("logs", name)), `the output of ${name} is complete`);
    t.ok(text?.stdout === stdout, "the same when read again");
    t.ok(text?.stderr === stderr, "the same for its stderr");
    t.equal(stdout.split("out ").length - 1, 800);
  }
});

interface LogText {
  stdout: string;
  stderr: string;
}

async function addText(text: LogText, log: AsyncIterable<readonly LogPiece[]>): Promise<void> {
  for await (const pieces of log) {
    for (const { stream, bytes, endsLine } of pieces) {
      text[stream] += Buffer.from(bytes).toString() + (endsLine ? "\n" : "");
    }
  }
}

async function textOf(log: AsyncIterable<readonly LogPiece[]>): Promise<LogText> {
  const text = { stdout: "", stderr: "" };
  await addText(text, log);
  return text;
}

test("a slow reader of a fast log makes Podman wait, and leaves no open files", { skip }, async (t) => {
  const service = await emptyService();
  const runtime = createPodman({ socketPath: service.socketPath });
  t.teardown(() => runtime.close());
  const created = await service.podman(
    "run",
    "-d",
    "--network",
    "none",
    labImage,
    "sh",
    "-c",
    `yes ${"x".repeat(999)} | head -c 20000000`,
  );
  const id = created.trim();
  await service.podman("wait", id);
  const openFiles = async () => (await readdir(`/proc/${await service.pid()}/fd`)).length;
  await linesOf(runtime, id, { untilNs: 1n });
  const before = await openFiles();
  const memory = process.memoryUsage().rss;
  for (let turn = 0; turn < 20; turn += 1) {
    const leaving = new AbortController();
    for await (const _ of runtime.logs(id, { follow: turn % 2 === 0 }, leaving.signal)) {
      await sleep(100);
      break;
    }
    leaving.abort();
  }
  t.ok(process.memoryUsage().rss - memory < 64 * 1024 * 1024, "memory does not grow");
  // Idle connections may stay for some seconds; if each of the ten followed logs left a file open, there would be more.
  await untilTrue(async () => (await openFiles()) <= before + 6);
});

test("addresses, infra containers with another name, and pods without one are reported", {
  skip,
}, async (t) => {
  const service = await emptyService();
  const { podman } = service;
  const runtime = createPodman({ socketPath: service.socketPath });
  t.teardown(async () => {
    await runtime.close();
    await podman("pod", "rm", "-f", "-t", "0", "-a");
    await podman("network", "rm", "net");
  });
  const listener = listen(t, runtime);
  await listener.untilListening(makeSubject(service));
  const subnets = ["--subnet", "10.89.77.0/24", "--ipv6", "--subnet", "fd77:89::/64"];
  await podman("network", "create", "--disable-dns", ...subnets, "net");
  const address = "net:ip=10.89.77.10,ip=fd77:89::10";
  const web = await podman("pod", "create", "--name", "web", "--infra-name", "holder", "--network", address);
  await podman("run", "-d", "--pod", "web", "--name", "w1", labImage, "sleep", "1000");
  const pod = await untilPod(runtime, web.trim(), ({ networks }) => networks.length > 0);
  t.strictSame(pod.networks, [{ name: "net", ipv4: "10.89.77.10", ipv6: "fd77:89::10" }]);
  t.equal(pod.containers.find(({ name }) => name === "holder")?.isInfra, true);
  const bare = await podman("pod", "create", "--name", "bare", "--infra=false");
  await podman("create", "--pod", "bare", "--name", "b1", labImage, "false");
  await runtime.run({ kind: "startPod", podId: bare.trim() });
  const ended = await untilPod(runtime, bare.trim(), ({ phase }) => phase === "exited");
  t.strictSame(
    ended.containers.map(({ name, exitCode }) => [name, exitCode]),
    [["b1", 1]],
  );
  await podman("pod", "pause", "web");
  t.match(await untilPod(runtime, web.trim(), ({ containers }) => containers[0]?.state === "paused"), {
    phase: "running",
  });
  await podman("pod", "unpause", "web");
  await listener.until((events) => events.some(({ kind }) => kind === "containerExited"));
  const holder = listener.events().filter((event) => namesOf(event).includes("holder"));
  t.ok(holder.length >= 2);
  t.ok(holder.every((event) => "isInfra" in event && event.isInfra));
});

test("an image exists until its last name is removed, and is removed with all its names", {
  skip,
}, async (t) => {
  const service = await emptyService();
  const subject = makeSubject(service);
  const { runtime } = subject;
  t.teardown(() => runtime.close());
  const listener = listen(t, runtime);
  await listener.untilListening(subject);
  const id = await subject.addImage("localhost/names/one:1");
  await service.podman("tag", id, "localhost/names/two:2");
  const isNamed = (count: number) => async () =>
    void (await until(runtime, ({ images }) =>
      images.some((each) => each.id === id && each.names.length === count),
    ));
  await isNamed(2)();
  await service.podman("rmi", "localhost/names/one:1");
  await isNamed(1)();
  await service.podman("untag", "localhost/names/two:2");
  await isNamed(0)();
  await service.podman("tag", id, "localhost/names/three:3");
  await service.podman("tag", id, "localhost/names/four:4");
  await isNamed(2)();
  await runtime.run({ kind: "removeImage", imageId: id, force: false });
  t.notOk((await runtime.read()).value.images.some((each) => each.id === id));
  await listener.until((events) => events.some(({ kind }) => kind === "imageRemoved"));
  const reported = listener.events().filter((event) => "imageId" in event && event.imageId === id);
  t.strictSame(
    reported.map(({ kind }) => kind),
    ["imageAdded", "imageRemoved"],
  );
});

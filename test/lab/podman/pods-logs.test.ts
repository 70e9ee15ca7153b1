import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type Client, createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import tap, { type Test, test } from "tap";
import { PublicAPI } from "../../../gen/v1alpha/api_pb.ts";
import { type GatewayProcess, startGatewayProcess } from "../gateway-process.ts";
import { followApp } from "./followed-app.ts";
import { labImage, type PodmanService, podmanSkipReason, startPodman } from "./podman.ts";

const skip = podmanSkipReason();
tap.setTimeout(900_000);

const isFull = process.env.LAB_FULL === "1";
/** How long the programs print, in seconds, on a machine that is fast enough; and the time between two kills. */
const printingSeconds = isFull ? 150 : 12;
const peaceMs = isFull ? 8_000 : 2_000;
const podCount = 5;
const appsInPod = 10;

/** Starts gateways on this Podman that can be killed and started again. */
async function startGateways(t: Test, { socketPath }: PodmanService) {
  const directory = await mkdtemp(join(tmpdir(), "hostplane-pods-logs-"));
  const start = () =>
    startGatewayProcess(join(directory, "config.yaml"), undefined, {
      pods: { podman: { socket: socketPath } },
    });
  let gateway: GatewayProcess = await start();
  let api = clientOf(gateway);
  t.teardown(async () => {
    await gateway.kill("SIGTERM");
    await rm(directory, { recursive: true, force: true });
  });
  return {
    api: () => api,
    pid: () => gateway.pid,
    async killAndStart() {
      await gateway.kill("SIGKILL");
      await sleep(300);
      gateway = await start();
      api = clientOf(gateway);
    },
  };
}

function clientOf({ url }: GatewayProcess): Client<typeof PublicAPI> {
  return createClient(PublicAPI, createGrpcTransport({ baseUrl: url }));
}

async function openFiles(service: PodmanService): Promise<number> {
  return (await readdir(`/proc/${await service.pid()}/fd`)).length;
}

/** Returns the number of open files once it no longer changes. */
async function settledOpenFiles(service: PodmanService): Promise<number> {
  let last = await openFiles(service);
  for (let equal = 0; equal < 5; ) {
    await sleep(200);
    const open = await openFiles(service);
    equal = open === last ? equal + 1 : 0;
    last = open;
  }
  return last;
}

/** Returns the number of open files of the service, once it is at most `count`, or after half a minute. */
async function openFilesAtMost(service: PodmanService, count: number): Promise<number> {
  let open = await openFiles(service);
  for (let wait = 0; wait < 300 && open > count; wait += 1) {
    await sleep(100);
    open = await openFiles(service);
  }
  return open;
}

/** Returns a script that prints ten lines to each stream five times a second; every fifth line is written in two pieces. */
function talker(seconds: number): string {
  return [
    `i=0; while test $i -lt ${seconds * 50}; do`,
    "echo out $i; echo err $i >&2; i=$((i+1));",
    "test $((i%5)) = 0 && printf 'half of ';",
    "test $((i%10)) = 0 && sleep 0.2;",
    "done; echo; echo done",
  ].join(" ");
}

interface Talker {
  readonly pod: string;
  readonly app: string;
}

async function makeTalkers({ podman }: PodmanService): Promise<readonly Talker[]> {
  const script = talker(printingSeconds);
  const created = Array.from({ length: podCount }, async (_, at) => {
    const pod = `talk-${at}`;
    await podman("pod", "create", "--name", pod, "--network", "none");
    const apps = Array.from({ length: appsInPod }, (_, number) => ({ pod, app: `talker-${at}-${number}` }));
    for (const { app } of apps) {
      await podman("create", "--pod", pod, "--name", app, labImage, "sh", "-c", script);
    }
    return apps;
  });
  return (await Promise.all(created)).flat();
}

/** Reads a container's lines from the file that Podman writes: both streams, in order, each line with its second. */
async function recordedLines(path: string): Promise<string[]> {
  const started = new Map<string, string>();
  const lines: string[] = [];
  for (const record of (await readFile(path, "utf8")).trimEnd().split("\n")) {
    const [, time = "", stream = "", tag, text = ""] = /^(\S+) (\S+) (\S) (.*)$/.exec(record) ?? [];
    const line = `${started.get(stream) ?? ""}${text}`;
    started.delete(stream);
    if (tag === "P") {
      started.set(stream, line);
    } else {
      lines.push(`${secondOf(time)} ${line}`);
    }
  }
  return lines;
}

/** Reads stdout lines from `podman logs -t`, which prints a time before each piece of a line. */
async function loggedLines({ podman }: PodmanService, app: string): Promise<string[]> {
  const text = await podman("logs", "-t", app);
  const piece = /(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)[.\d]*(?:Z|[+-]\d\d:\d\d) /g;
  return text
    .trimEnd()
    .split("\n")
    .map((line) => {
      const [, time = ""] = [...line.matchAll(piece)].at(-1) ?? [];
      return `${time}Z ${line.replaceAll(piece, "")}`;
    });
}

function secondOf(time: string): string {
  return `${new Date(time).toISOString().slice(0, 19)}Z`;
}

test("fifty logs equal Podman's, line by line, while its service and the gateway die", {
  skip,
}, async (t) => {
  const service = await startPodman(t);
  const talkers = await makeTalkers(service);
  const gateways = await startGateways(t, service);
  const { pods } = await gateways.api().listPods({ detail: true });
  const podOf = (app: string) => pods.find(({ apps }) => apps.some(({ name }) => name === app))?.id ?? "";
  const following = talkers.map(({ app }) => followApp(gateways.api, podOf(app), app));
  const followed = Promise.all(following);
  const ended = new Set<number>();
  for (const [at, one] of following.entries()) {
    one.then(
      () => ended.add(at),
      () => {},
    );
  }
  /** On a busy machine, a pod may have finished printing before the last ones are started. */
  const cutOff = new Set<number>();
  let isDone = false;
  const done = followed.finally(() => {
    isDone = true;
  });
  await service.podman("pod", "start", "--all");
  let restarts = 0;
  let deaths = 0;
  const trouble = (async () => {
    // The gateway first, while all of them print: only its death interrupts the clients.
    for (const what of cycle(["gateway", "kill", "stop"] as const)) {
      await Promise.race([sleep(peaceMs), done]);
      if (isDone) {
        return;
      }
      if (what === "gateway") {
        for (const at of following.keys()) {
          if (!ended.has(at)) {
            cutOff.add(at);
          }
        }
        await gateways.killAndStart();
        deaths += 1;
      } else {
        await service[what]();
        await sleep(500);
        await service.start();
        restarts += 1;
      }
    }
  })();
  const found = await followed;
  await trouble;
  t.ok(restarts >= 1 && deaths >= 1, `${restarts} restarts of the service, ${deaths} of the gateway`);
  t.ok(cutOff.size > 0);
  t.ok(
    [...cutOff].every((at) => (found[at]?.resumed ?? 0) > 0),
    "every interrupted client continued",
  );
  const apps = talkers.map(({ app }) => app);
  const paths = await service.podman("inspect", "--format", "{{.HostConfig.LogConfig.Path}}", ...apps);
  let count = 0;
  for (const [at, { app }] of talkers.entries()) {
    const lines = found[at]?.lines ?? [];
    const recorded = await recordedLines(paths.split("\n")[at] ?? "");
    count += lines.length;
    const first = recorded.findIndex((line, number) => line !== lines[number]);
    const around = (all: readonly string[]) => all.slice(Math.max(0, first - 3), first + 4);
    const seen = first === -1 ? {} : { first, seen: around(lines), recorded: around(recorded) };
    t.ok(
      lines.join("\n") === recorded.join("\n"),
      `${app}: ${lines.length} lines, ${recorded.length} recorded`,
      seen,
    );
  }
  for (const { app } of talkers.filter((_, at) => at % appsInPod === 0)) {
    const reported = await loggedLines(service, app);
    const lines = (found[talkers.findIndex((one) => one.app === app)]?.lines ?? []).filter(
      (line) => !line.includes("err "),
    );
    t.ok(lines.join("\n") === reported.join("\n"), `${app} equals podman logs -t`);
  }
  t.comment(
    `${count} lines of ${talkers.length} apps, ${restarts} restarts of the service, ${deaths} of the gateway`,
  );

  // A new service process that serves this gateway.
  await service.stop();
  await service.start();
  await gateways.api().listPods({});
  const before = await settledOpenFiles(service);
  let during = 0;
  for (let turn = 0; turn < 3; turn += 1) {
    const leaving = new AbortController();
    const reading = talkers.map(async ({ app }) => {
      const follow = turn !== 1;
      const stream = gateways
        .api()
        .getLogs({ podId: podOf(app), appName: app, follow, lines: 5 }, { signal: leaving.signal });
      for await (const { lines } of stream) {
        t.equal(lines.length, 5);
        if (turn === 2) {
          return;
        }
      }
    });
    if (turn !== 1) {
      await sleep(1_500);
      during = Math.max(during, await openFiles(service));
      leaving.abort();
    }
    await Promise.allSettled(reading);
  }
  // Some belong to idle connections; if each log left a file open, there would be more.
  const after = await openFilesAtMost(service, before + 10);
  t.ok(after <= before + 10, `${before} files were open in the service before, ${after} after 150 logs`);
  t.comment(`open files of the service: ${before} before, ${during} with logs, ${after} after 150 logs`);
});

function* cycle<T>(values: readonly T[]): Generator<T, never> {
  for (;;) {
    yield* values;
  }
}

async function residentBytes(pid: number): Promise<number> {
  const [, kibibytes] = /VmRSS:\s+(\d+) kB/.exec(await readFile(`/proc/${pid}/status`, "utf8")) ?? [];
  return Number(kibibytes) * 1024;
}

test("a program that prints 100 MB a second does not fill up memory, and its log ends", {
  skip,
}, async (t) => {
  const service = await startPodman(t);
  const { podman } = service;
  await podman("pod", "create", "--name", "flood", "--network", "none");
  const flood = `while :; do yes ${"x".repeat(999)} | head -c 10000000; usleep 80000; done`;
  await podman("run", "-d", "--pod", "flood", "--name", "flooder", labImage, "sh", "-c", flood);
  const gateways = await startGateways(t, service);
  const api = gateways.api();
  const [pod] = (await api.listPods({})).pods;
  const podId = pod?.id ?? "";
  const before = await residentBytes(gateways.pid());
  const samples: number[] = [];
  const sampling = setInterval(async () => samples.push(await residentBytes(gateways.pid())), 200);
  t.teardown(() => clearInterval(sampling));
  const leaving = new AbortController();

  const beganMs = performance.now();
  const messages: (readonly string[])[] = [];
  for await (const { lines } of api.getLogs({ podId })) {
    messages.push(lines);
  }
  const tookMs = performance.now() - beganMs;
  t.equal(messages.length, 1);
  t.match(messages[0]?.[0], /hostplane: \d+ earlier lines do not fit/);
  t.ok((messages[0]?.length ?? 0) > 3_500, "3.5 MiB of lines");
  const slow = (async () => {
    for await (const _ of api.getLogs({ podId, follow: true }, { signal: leaving.signal })) {
      await sleep(3_000);
    }
  })().catch(() => {});
  let bytes = 0;
  const quick = (async () => {
    for await (const { lines } of api.getLogs({ podId, follow: true }, { signal: leaving.signal })) {
      bytes += lines.reduce((sum, line) => sum + line.length, 0);
    }
  })().catch(() => {});
  await sleep(8_000);
  leaving.abort();
  await Promise.all([slow, quick]);
  await podman("kill", "flooder");

  const half = Math.floor(samples.length / 2);
  const early = Math.max(...samples.slice(0, half));
  const late = Math.max(...samples.slice(half));
  const mebibytes = (size: number) => `${Math.round(size / 2 ** 20)} MiB`;
  t.comment(
    `memory: ${mebibytes(before)} before, at most ${mebibytes(early)} in the first half and ${mebibytes(late)} in the second; ` +
      `followed ${mebibytes(bytes)}; one message of the whole log in ${Math.round(tookMs)} ms`,
  );
  t.ok(late - early < 96 * 2 ** 20, "memory does not grow");
  t.ok(late - before < 320 * 2 ** 20, "memory is small");
  t.ok(bytes > 20 * 2 ** 20, "enough was printed");
});

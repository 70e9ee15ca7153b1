import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { type ClientHttp2Session, connect } from "node:http2";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { Bench, BenchRun, Goal, Side } from "../bench.ts";
import { p99Ms, tookMs } from "../figures/took-ms.ts";
import { readCpuMs } from "../footprint/process-cpu.ts";
import { readProcessMemory } from "../footprint/process-memory.ts";
import { callGrpc, grpcFrame } from "../load/grpc-call.ts";
import { h2loadSkipReason, type Load, runH2load } from "../load/h2load.ts";
import { usPerRequest } from "../load/loaded-run.ts";
import { openedRun } from "../load/opened-run.ts";
import type { Target } from "../load/target.ts";
import { type FleetUnderBench, openFleetUnderBench } from "./fleet-under-bench.ts";

const hosts = 40;
const path = "/proto.VGService/GetLVList";
const onHost = `/hosts/node-1${path}`;
const load: Load = {
  protocol: "h2c",
  path,
  contentType: "application/grpc+proto",
  connections: 10,
  streams: 10,
};
const requests = 2_000;
const rate = { callsPerSecond: 200, durationMs: 3_000 };
/** Two rounds of the hub's questions to its hosts, and time for the garbage of joining to be collected. */
const restMs = 25_000;

/** The benchmarks of a hub with its hosts. */
export function createFleetBenches(): readonly Bench[] {
  return [
    {
      name: "fleet-hop",
      what: "GetLVList of a host over gRPC through a hub: CPU time of the hub",
      baseline: "CPU time of the host for the same call without a hub",
      unit: "µs CPU",
      ...fleetBench({ maxRatio: 1.5 }, 10, startHopRun),
    },
    {
      name: "fleet-latency",
      what: `GetLVList of a host through a hub, ${rate.callsPerSecond} calls a second over gRPC: 99th percentile`,
      baseline: "the same without a hub",
      unit: "ms",
      ...fleetBench({ maxExcess: 3 }, 10, startLatencyRun),
    },
    {
      name: "fleet-memory",
      what: `resident memory of a hub for each of ${hosts} connected hosts`,
      baseline: "all memory of the hub without hosts",
      unit: "MB",
      ...fleetBench({ maxCost: 3 }, 1, startMemoryRun),
      coldRounds: 0,
    },
    {
      name: "fleet-idle",
      what: `CPU time of a hub for each of ${hosts} connected hosts without calls, in a minute`,
      baseline: "all CPU time of the hub without hosts, in a minute",
      unit: "ms CPU",
      ...fleetBench({ maxCost: 12 }, 1, startIdleRun),
      coldRounds: 0,
    },
    {
      name: "fleet-reconnect",
      what: `start of a hub that was killed, from its first answer until all ${hosts} hosts are connected again`,
      baseline: "its start until that answer",
      unit: "ms",
      ...fleetBench({ maxCost: 5_000 }, 3, startReconnectRun),
    },
  ];
}

type StartFleetRun = (
  fleet: FleetUnderBench,
  opened: AsyncDisposableStack,
) => Promise<Pick<BenchRun, "baseline" | "ours">>;

function fleetBench<G extends Goal>(goal: G, rounds: number, startRun: StartFleetRun) {
  return {
    ...goal,
    rounds,
    coldRounds: 1,
    isLab: true,
    skipReason: () => (process.platform === "linux" ? h2loadSkipReason() : "needs /proc of Linux"),
    start: (nodeFlags?: readonly string[]) =>
      openedRun(async (opened) => {
        const fleet = await openFleetUnderBench(opened, nodeFlags);
        return { ...(await startRun(fleet, opened)), stop: () => opened.disposeAsync() };
      }),
  };
}

async function startHopRun(fleet: FleetUnderBench, opened: AsyncDisposableStack) {
  await fleet.join(1);
  const directory = await mkdtemp(join(tmpdir(), "hostplane-bench-"));
  opened.defer(() => rm(directory, { recursive: true }));
  const body = join(directory, "body");
  await writeFile(body, grpcFrame(new Uint8Array()));
  const side = async (target: Target, path: string, cpuMs: () => number | Promise<number>): Promise<Side> => {
    const connection = await openConnection(target.port, opened);
    const call = () => callGrpc(connection, path, undefined, target.token);
    const answerBytes = await call();
    return {
      async measure() {
        const before = await cpuMs();
        const { dataBytes } = await runH2load(target, { ...load, path }, requests, body);
        const figure = usPerRequest((await cpuMs()) - before, requests);
        if (dataBytes !== requests * answerBytes) {
          // A refused gRPC call has status 200 as well. One more call throws with its status.
          await call();
          throw new Error(`${requests} answers of ${path} have ${dataBytes} bytes, not ${answerBytes} each`);
        }
        return figure;
      },
    };
  };
  const { pid } = fleet.hub();
  return {
    baseline: await side(await fleet.agents.query("target"), path, () => fleet.agents.query("cpuMs")),
    ours: await side(await fleet.target(), onHost, () => readCpuMs(pid).all),
  };
}

async function startLatencyRun(fleet: FleetUnderBench, opened: AsyncDisposableStack) {
  await fleet.join(1);
  const side = async ({ port, token }: Target, path: string): Promise<Side> => {
    const connection = await openConnection(port, opened);
    return { measure: () => p99Ms(() => callGrpc(connection, path, undefined, token), rate) };
  };
  return {
    baseline: await side(await fleet.agents.query("target"), path),
    ours: await side(await fleet.target(), onHost),
  };
}

async function openConnection(port: number, opened: AsyncDisposableStack): Promise<ClientHttp2Session> {
  const connection = connect(`http://127.0.0.1:${port}`);
  opened.defer(() => connection.close());
  await once(connection, "connect");
  return connection;
}

/** Returns a function that adds the hosts in the first round. */
function joinOnce(fleet: FleetUnderBench): () => Promise<void> {
  let joining: Promise<void> | undefined;
  return () => {
    joining ??= fleet.join(hosts);
    return joining;
  };
}

async function startMemoryRun(fleet: FleetUnderBench) {
  await fleet.target();
  await delay(restMs);
  const rssMb = () => readProcessMemory(fleet.hub().pid).rssBytes / 1e6;
  const withoutMb = rssMb();
  const joined = joinOnce(fleet);
  return {
    baseline: { measure: async () => withoutMb },
    ours: {
      async measure() {
        await joined();
        await delay(restMs);
        return (rssMb() - withoutMb) / hosts;
      },
    },
  };
}

async function startIdleRun(fleet: FleetUnderBench) {
  const cpuMsPerMinute = async () => {
    const { pid } = fleet.hub();
    await delay(restMs);
    const before = readCpuMs(pid).all;
    await delay(restMs);
    return ((readCpuMs(pid).all - before) * 60_000) / restMs;
  };
  const withoutMs = await cpuMsPerMinute();
  const joined = joinOnce(fleet);
  return {
    baseline: { measure: async () => withoutMs },
    ours: {
      async measure() {
        await joined();
        return ((await cpuMsPerMinute()) - withoutMs) / hosts;
      },
    },
  };
}

async function startReconnectRun(fleet: FleetUnderBench) {
  await fleet.join(hosts);
  return {
    baseline: { measure: async () => fleet.hub().startMs },
    ours: {
      async measure() {
        await fleet.restart();
        return tookMs(() => fleet.untilConnected(hosts));
      },
    },
  };
}

import { execFile, fork } from "node:child_process";
import { once } from "node:events";
import { readFile, writeFile } from "node:fs/promises";
import { connect } from "node:http2";
import { getPriority, setPriority } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { lvmCommand } from "../../../adapters/lvm/commands.ts";
import type { Bench, BenchRun } from "../bench.ts";
import { p99Ms } from "../figures/took-ms.ts";
import { callGrpc, grpcFrame } from "../load/grpc-call.ts";
import { h2loadSkipReason, type Load, runH2load } from "../load/h2load.ts";
import { requestsPerCpuSecond } from "../load/loaded-run.ts";
import { openedRun } from "../load/opened-run.ts";
import { pinned, pinProcess, serverCore } from "../load/pinned.ts";
import { lvmSkipReason, openGateway, openVolumeGroup, type VolumeGroupUnderBench } from "./lvm-gateway.ts";

const volumeCount = 100;
const path = "/proto.VGService/GetLVList";
const load: Load = {
  protocol: "h2c",
  path,
  contentType: "application/grpc+proto",
  connections: 10,
  streams: 10,
};
/** Number of requests in a round. */
const requests = 2_000;
const commands = 10;

const creators = 4;
const creatorsFile = fileURLToPath(new URL("volume-creators.ts", import.meta.url));
/** Nice value of the process that measures. */
const probePriority = -15;
const rate = { callsPerSecond: 500, durationMs: 2_000 };

/** Lists all volumes of a real volume group: with the gateway, and with a process per call. */
export function createLvmList(): Bench {
  return {
    name: "lvm-list",
    what: `GetLVList of ${volumeCount} volumes of a real volume group over gRPC`,
    baseline: "`lvs --reportformat json` for each call",
    unit: "calls per CPU second",
    minRatio: 100,
    rounds: 20,
    coldRounds: 5,
    isLab: true,
    skipReason: async () => h2loadSkipReason() || lvmSkipReason(),
    start: () => openedRun(startListRun),
  };
}

async function startListRun(opened: AsyncDisposableStack): Promise<BenchRun> {
  const group = await openVolumeGroup(opened, volumeCount);
  const { url, pid, directory } = await openGateway(opened, group);
  await pinProcess(pid, serverCore);
  const target = { port: Number(new URL(url).port) };
  const bodyFile = join(directory, "body");
  await writeFile(bodyFile, grpcFrame(new Uint8Array()));
  const { dataBytes: answerBytes } = await runH2load(target, load, 1, bodyFile);
  return {
    baseline: {
      measure: async () => requestsPerCpuSecond(await commandsCpuMs(group, commands), commands),
    },
    ours: {
      async measure() {
        const before = await cpuMsOf(pid);
        const { dataBytes } = await runH2load(target, load, requests, bodyFile);
        if (dataBytes !== requests * answerBytes) {
          throw new Error(`${requests} lists have ${dataBytes} bytes, not ${answerBytes} each`);
        }
        return requestsPerCpuSecond((await cpuMsOf(pid)) - before, requests);
      },
    },
    stop: () => opened.disposeAsync(),
  };
}

/** Returns the CPU time of `count` processes of `lvs` in milliseconds, from the shell's `times`. */
async function commandsCpuMs({ options, name, env }: VolumeGroupUnderBench, count: number): Promise<number> {
  const lvs = lvmCommand(options, "lvs", ["--reportformat", "json", "--", name]);
  const loop = `for ((left = ${count}; left > 0; left -= 1)); do "$@" >"$0" || exit; done; times`;
  const [program, ...args] = pinned(serverCore, ["bash", "-c", loop, "/dev/null", ...lvs]);
  const { stdout } = await promisify(execFile)(program, args, { env });
  // 0m0.001s 0m0.002s
  // 0m0.215s 0m0.117s
  const ofChildren = stdout.trim().split("\n").at(-1) ?? "";
  const seconds = [...ofChildren.matchAll(/(\d+)m([\d.]+)s/g)].map(([, m, s]) => Number(m) * 60 + Number(s));
  return 1_000 * seconds.reduce((sum, one) => sum + one, 0);
}

/** Returns the CPU time of a process in milliseconds, including its finished children. */
async function cpuMsOf(pid: number): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, "utf8");
  // utime, stime, cutime and cstime (proc(5)), counted from the field after the name.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const ticks = fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0);
  return ticks * 10;
}

/** Duration of a list while others create volumes. */
export function createLvmListWhileCreating(): Bench {
  return {
    name: "lvm-list-while-creating",
    what: `GetLVList, ${rate.callsPerSecond} calls a second, while ${creators} clients create volumes: 99th percentile`,
    baseline: "the same without creates",
    unit: "ms",
    maxCost: 10,
    rounds: 10,
    coldRounds: 2,
    isLab: true,
    skipReason: lvmSkipReason,
    start: () => openedRun(startLatencyRun),
  };
}

async function startLatencyRun(opened: AsyncDisposableStack): Promise<BenchRun> {
  const { url } = await openGateway(opened, await openVolumeGroup(opened, volumeCount));
  const connection = connect(url);
  opened.defer(() => connection.close());
  await once(connection, "connect");
  const creating = fork(creatorsFile, [url, String(creators)]);
  opened.defer(async () => void creating.kill("SIGKILL"));
  await once(creating, "message");
  const list = () => callGrpc(connection, path);
  // Lists of a client elsewhere do not wait for a core that LVM's commands use here.
  const before = getPriority();
  setPriority(probePriority);
  opened.defer(async () => setPriority(before));
  return {
    baseline: { measure: () => p99Ms(list, rate) },
    ours: {
      async measure() {
        creating.send("begin");
        const tookMs = await p99Ms(list, rate);
        creating.send("end");
        await once(creating, "message");
        return tookMs;
      },
    },
    stop: () => opened.disposeAsync(),
  };
}

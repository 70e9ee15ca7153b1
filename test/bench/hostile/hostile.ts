import { readFile } from "node:fs/promises";
import * as http from "node:http";
import { setTimeout as delay } from "node:timers/promises";
import { loadCore, pinned, pinProcess, serverCore } from "../load/pinned.ts";
import { startBenchProcess } from "../servers/bench-process.ts";
import { sandboxPassword } from "../servers/built-gateway.ts";
import { type ServerArgv, startServer } from "../servers/started-server.ts";
import type { Attacker } from "./attacker.ts";
import { createMemoryGroup } from "./memory-group.ts";

export interface HostileOptions {
  readonly argvOf: ServerArgv;
  readonly connections: number;
  readonly quietMs: number;
  readonly attackMs: number;
  /** Whether the gateway and its clients have one core, and the attackers another. */
  readonly isPinned: boolean;
}

export interface HostileReport {
  /** False if the kernel's limit was not available. */
  readonly isMemoryLimited: boolean;
  readonly hasSurvived: boolean;
  readonly quietRssMib: number;
  readonly maxRssMib: number;
  readonly quietP99Ms: number;
  readonly attackP99Ms: number;
  readonly loginWorstMs: number;
  readonly logins: number;
  readonly failures: readonly string[];
  readonly connections: number;
}

const memoryLimitBytes = 768 * 2 ** 20;
const probeEveryMs = 20;
const loginEveryMs = 1000;
/** A loopback address that no attacker uses. */
const probeAddress = "127.0.0.2";
const loginAddress = "127.0.0.3";

/** Lets anonymous callers attack a sandbox in 768 MiB, while one client calls it and another logs in. */
export async function runHostile(options: HostileOptions): Promise<HostileReport> {
  await using opened = new AsyncDisposableStack();
  const { isPinned, argvOf, connections } = options;
  const group = await createMemoryGroup(memoryLimitBytes);
  opened.defer(() => group?.remove());
  const server = await startServer((port, data) => {
    const argv = argvOf(port, data);
    const kept: [string, ...string[]] = isPinned ? pinned(serverCore, argv) : argv;
    return group?.argvOf(kept) ?? kept;
  });
  opened.defer(() => server.stop());
  if (isPinned) {
    await pinProcess(process.pid, serverCore);
  }
  const { port, pid } = server;
  const failures: string[] = [];
  const agent = new http.Agent({ keepAlive: true });
  opened.defer(() => agent.destroy());

  const token = await logIn(port);
  const probe = async (): Promise<number> => {
    const beganAtMs = performance.now();
    await call(port, "/hostplane.v1.SystemService/GetInfo", "{}", probeAddress, agent, token);
    return performance.now() - beganAtMs;
  };
  const probesFor = (durationMs: number) => measureFor(durationMs, probeEveryMs, probe, failures);

  const loginsFor = (durationMs: number) =>
    measureFor(
      durationMs,
      loginEveryMs,
      async () => {
        const beganAtMs = performance.now();
        await logIn(port);
        return performance.now() - beganAtMs;
      },
      failures,
    );

  await probesFor(options.quietMs / 4);
  // Logins run in both phases, because a login's hash takes the gateway's core away from the probes.
  const [quiet] = await Promise.all([probesFor(options.quietMs), loginsFor(options.quietMs)]);
  const quietRssMib = await rssMibOf(pid, "VmRSS");
  const attacker = await startBenchProcess<Attacker>(
    new URL("attacker.ts", import.meta.url).pathname,
    [],
    isPinned ? loadCore : undefined,
  );
  opened.defer(() => attacker.stop());
  await attacker.query("begin", { port, connections });
  const [attacked, logins] = await Promise.all([probesFor(options.attackMs), loginsFor(options.attackMs)]);
  const hasSurvived = await rssMibOf(pid, "VmHWM").then(
    () => true,
    () => false,
  );
  return {
    isMemoryLimited: group !== undefined,
    hasSurvived,
    quietRssMib,
    maxRssMib: hasSurvived ? await rssMibOf(pid, "VmHWM") : Number.POSITIVE_INFINITY,
    quietP99Ms: p99Of(quiet),
    attackP99Ms: p99Of(attacked),
    loginWorstMs: Math.max(...logins),
    logins: logins.length,
    failures,
    connections: await attacker.query("end"),
  };
}

async function measureFor(
  durationMs: number,
  everyMs: number,
  one: () => Promise<number>,
  failures: string[],
): Promise<number[]> {
  const endsAtMs = performance.now() + durationMs;
  const tookMs: number[] = [];
  while (performance.now() < endsAtMs) {
    try {
      tookMs.push(await one());
    } catch (error) {
      failures.push(String(error));
      await delay(everyMs);
    }
    await delay(everyMs);
  }
  return tookMs;
}

async function logIn(port: number): Promise<string> {
  const body = JSON.stringify({ username: "admin", password: sandboxPassword });
  const answer = await call(port, "/services.auth.AuthService/Login", body, loginAddress, false);
  return (JSON.parse(answer) as { readonly token: string }).token;
}

function call(
  port: number,
  path: string,
  body: string,
  localAddress: string,
  agent: http.Agent | false,
  token?: string,
): Promise<string> {
  return new Promise((resolve, reject) => {
    const request = http.request({
      ...{ host: "127.0.0.1", port, path, method: "POST", localAddress, agent, timeout: 30_000 },
      headers: {
        "content-type": "application/json",
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      },
    });
    request.once("timeout", () => request.destroy(new Error(`${path} took over 30 s`)));
    request.once("error", reject);
    request.once("response", (response) => {
      let text = "";
      response.setEncoding("utf8");
      response.on("data", (chunk: string) => {
        text += chunk;
      });
      response.once("error", reject);
      response.once("end", () =>
        response.statusCode === 200
          ? resolve(text)
          : reject(new Error(`${path}: ${response.statusCode} ${text}`)),
      );
    });
    request.end(body);
  });
}

function p99Of(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * 0.99))] ?? Number.POSITIVE_INFINITY;
}

async function rssMibOf(pid: number, key: "VmRSS" | "VmHWM"): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, "utf8");
  const kib = Number(new RegExp(`^${key}:\\s+(\\d+) kB`, "m").exec(status)?.[1]);
  if (Number.isNaN(kib)) {
    throw new Error(`process ${pid} has ended`);
  }
  return kib / 1024;
}

import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { Role, UserService } from "../../../gen/hostplane/v1/user_pb.ts";
import { AuthService } from "../../../gen/services/auth/auth_pb.ts";
import { createCertificate } from "../../server/rpc/listener/certificate.ts";
import { readCpuMs } from "../footprint/process-cpu.ts";
import { readProcessMemory } from "../footprint/process-memory.ts";
import { loadCore, pinned, serverCore } from "../load/pinned.ts";
import { startBenchProcess } from "../servers/bench-process.ts";
import { sandboxPassword } from "../servers/built-gateway.ts";
import { freePort, type ServerArgv, startServer } from "../servers/started-server.ts";
import type { VolumeLoad } from "./volume-load.ts";
import type { Watchers } from "./watchers.ts";

export interface FleetSize {
  readonly connections: number;
  readonly streamsPerConnection: number;
  /** Duration of one sample. */
  readonly durationMs: number;
}

export interface FleetOptions extends FleetSize {
  readonly argvOf: ServerArgv;
  /** Whether the gateway has one core, and its clients another. */
  readonly isPinned: boolean;
}

/** A gateway with its clients. */
export interface Fleet {
  /** Process id of the gateway. */
  readonly pid: number;
  /** Changes and lists volumes while the streams are open. @throws Error when a stream ends or a call fails */
  measure(): Promise<FleetSample>;
}

/** The figures of one sample. */
export interface FleetSample {
  /** Largest resident memory of the gateway. */
  readonly rssMb: number;
  /** Time from sending a change to receiving a state that includes it, over all streams. */
  readonly eventP50Ms: number;
  readonly eventP99Ms: number;
  readonly eventMaxMs: number;
  /** Number of streams that missed a change of the marker volume. */
  readonly behind: number;
  readonly listP99Ms: number;
  readonly changesPerSecond: number;
  readonly changeP50Ms: number;
  readonly changeP99Ms: number;
  readonly messagesPerSecond: number;
  /** Shares of a core: the gateway with all its threads, its main thread, and the watchers. */
  readonly gatewayCpuShare: number;
  readonly mainThreadCpuShare: number;
  readonly watchersCpuShare: number;
}

const rssEveryMs = 100;
/** Time without changes after which every stream must have the last state. */
const settleMs = 2_000;
const tokensAtOnce = 8;

/**
 * Starts a sandbox with a TLS listener, and opens connections with Watch streams. Each connection has its own API token, because
 * a login costs an argon2 hash. Another process changes volumes 100 times a second and lists them 100 times a second, over two
 * more connections.
 */
export async function openFleet(opened: AsyncDisposableStack, options: FleetOptions): Promise<Fleet> {
  const { connections, streamsPerConnection, isPinned } = options;
  const tlsPort = await freePort();
  const listen = await listenFlag(opened, tlsPort);
  const server = await startServer((port, data) => {
    const argv: [string, ...string[]] = [...options.argvOf(port, data), "--set", listen(port)];
    return isPinned ? pinned(serverCore, argv) : argv;
  });
  opened.defer(() => server.stop());
  const [operatorToken = "", viewerToken = "", ...tokens] = await createTokens(server.port, connections + 2);
  const core = isPinned ? loadCore : undefined;
  const watchers = await startBenchProcess<Watchers>(join(import.meta.dirname, "watchers.ts"), [], core);
  opened.defer(() => watchers.stop());
  await watchers.query("open", { port: tlsPort, tokens, streamsPerConnection });
  const load = await startBenchProcess<VolumeLoad>(join(import.meta.dirname, "volume-load.ts"), [], core);
  opened.defer(() => load.stop());
  await load.query("open", { port: tlsPort, operatorToken, viewerToken });

  return {
    pid: server.pid,
    async measure() {
      await watchers.query("begin");
      await using ending = new AsyncDisposableStack();
      const memory = watchRss(server.pid);
      ending.defer(memory.stop);
      const before = readCpuMs(server.pid);
      const beganAtMs = performance.now();
      const sample = await load.query("run", options.durationMs);
      const seconds = (performance.now() - beganAtMs) / 1_000;
      const after = readCpuMs(server.pid);
      await delay(settleMs);
      const { markersSentAtMs, changes, ...latencies } = sample;
      const { messages, cpuMs, ...arrivals } = await watchers.query("end", markersSentAtMs);
      return {
        ...latencies,
        ...arrivals,
        rssMb: memory.maxBytes() / 1e6,
        changesPerSecond: changes / seconds,
        messagesPerSecond: messages / seconds,
        gatewayCpuShare: (after.all - before.all) / (1_000 * seconds),
        mainThreadCpuShare: (after.main - before.main) / (1_000 * seconds),
        watchersCpuShare: cpuMs / (1_000 * seconds),
      };
    },
  };
}

/** Returns the flag for a listener in cleartext, used for setup, and one with TLS. */
async function listenFlag(opened: AsyncDisposableStack, tlsPort: number): Promise<(port: number) => string> {
  const directory = await mkdtemp(join(tmpdir(), "hostplane-bench-"));
  opened.defer(() => rm(directory, { recursive: true }));
  const files = { cert: join(directory, "cert.pem"), key: join(directory, "key.pem") };
  const { cert, key } = await createCertificate("localhost");
  await writeFile(files.cert, cert);
  await writeFile(files.key, key);
  return (port) =>
    `listen=${JSON.stringify([
      { address: `127.0.0.1:${port}` },
      { address: `127.0.0.1:${tlsPort}`, tls: files },
    ])}`;
}

/** Creates API tokens: the first for an operator, the others for viewers. */
async function createTokens(port: number, count: number): Promise<readonly string[]> {
  const transport = createGrpcTransport({ baseUrl: `http://127.0.0.1:${port}` });
  const { token } = await createClient(AuthService, transport).login({
    username: "admin",
    password: sandboxPassword,
  });
  const users = createClient(UserService, transport);
  const headers = { authorization: `Bearer ${token}` };
  const create = async (name: string, role: Role) =>
    (await users.createApiToken({ name, role }, { headers })).token;
  const tokens = [await create("operator", Role.OPERATOR)];
  let startedCount = 1;
  const createNext = async () => {
    while (startedCount < count) {
      startedCount += 1;
      tokens.push(await create(`dashboard-${startedCount}`, Role.VIEWER));
    }
  };
  await Promise.all(Array.from({ length: tokensAtOnce }, createNext));
  return tokens;
}

function watchRss(pid: number): { maxBytes(): number; stop(): void } {
  let maxBytes = 0;
  const timer = setInterval(() => {
    maxBytes = Math.max(maxBytes, readProcessMemory(pid).rssBytes);
  }, rssEveryMs);
  return { maxBytes: () => maxBytes, stop: () => clearInterval(timer) };
}

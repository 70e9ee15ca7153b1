import { once } from "node:events";
import { readFileSync } from "node:fs";
import { type ClientHttp2Session, type ClientHttp2Stream, connect } from "node:http2";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { parseArgs } from "node:util";
import { median } from "../figures/measure.ts";
import { callGrpc, grpcFrame } from "../load/grpc-call.ts";
import { buildSandbox, sandboxPassword } from "../servers/built-gateway.ts";
import { type ServerArgv, startServer } from "../servers/started-server.ts";
import { readProcessMemory } from "./process-memory.ts";

// npm run bench:memory [-- --calls=1000000 --streams=10000 --idle=10000]: checks that calls and streams leave no memory behind
// and that an idle stream costs little. Prints the memory of a sandbox during the run, and fails when a limit is exceeded.

const { values } = parseArgs({
  options: {
    calls: { type: "string", default: "1000000" },
    streams: { type: "string", default: "10000" },
    idle: { type: "string", default: "10000" },
  },
});
const [calls, streams, idle] = [Number(values.calls), Number(values.streams), Number(values.idle)];

/** Limit for live memory after a collection; a leak of one object per call would exceed it. */
const maxBytesPerCall = 4;
const maxBytesPerStream = 100;
const maxBytesPerIdleStream = 25_000;

const intervals = 10;
const connections = 100;
const watch = "/proto.VGService/Watch";

await using opened = new AsyncDisposableStack();
const heapFile = join(tmpdir(), `hostplane-heap-${process.pid}`);
// On SIGUSR2 the process collects garbage and writes the size of the live heap.
const collect = `import { writeFileSync } from "node:fs";
process.on("SIGUSR2", () => { gc(); gc(); writeFileSync(${JSON.stringify(heapFile)}, String(process.memoryUsage().heapUsed)); });`;
const sandbox = await buildSandbox(opened, [
  "--expose-gc",
  "--import",
  `data:text/javascript,${encodeURIComponent(collect)}`,
]);
const server: ServerArgv = (port, directory) => [
  ...sandbox(port, directory),
  "--set",
  "limits.caller.requestsPerSecond=1000000",
  "--set",
  "limits.caller.cpuMsPerSecond=1000000",
  "--set",
  "limits.caller.streams=65535",
  "--set",
  "limits.unknown.cpuMsPerSecond=1000000",
];
const { port, pid, stop } = await startServer(server);
opened.defer(stop);
const url = `http://127.0.0.1:${port}`;
const token = await logIn();
const say = (line: string) => process.stdout.write(`${line}\n`);

const isCallsFlat = await isFlat("calls", calls, maxBytesPerCall, (count) =>
  eachInTurn(count, 100, (session) => callGrpc(session, "/proto.VGService/GetFreeBytes", undefined, token)),
);
const isStreamsFlat = await isFlat("streams", streams, maxBytesPerStream, (count) =>
  eachInTurn(count, 50, async (session) => {
    const stream = await openStream(session);
    stream.close();
    await once(stream, "close");
  }),
);
const isIdleSmall = await areIdleStreamsSmall();
process.exitCode = isCallsFlat && isStreamsFlat && isIdleSmall ? 0 : 1;

/** Reports whether live memory grows by at most the limit per item, from the second interval on; caches fill in the first. */
async function isFlat(
  what: string,
  total: number,
  maxBytes: number,
  work: (count: number) => Promise<void>,
): Promise<boolean> {
  const count = Math.ceil(total / intervals);
  const heaps: number[] = [];
  for (let interval = 1; interval <= intervals; interval += 1) {
    await work(count);
    heaps.push(await liveBytes());
    say(`${(interval * count).toLocaleString("en")} ${what}: ${memoryText()}, live ${mb(heaps.at(-1) ?? 0)}`);
  }
  // The median ignores a single step in which something was compiled.
  const steps = heaps.slice(1).map((heap, at) => (heap - (heaps[at] ?? heap)) / count);
  const slope = median(steps.slice(1));
  say(`${slope.toFixed(2)} bytes for each of the ${what} (limit ${maxBytes})`);
  return slope <= maxBytes;
}

async function areIdleStreamsSmall(): Promise<boolean> {
  const sessions = await Promise.all(Array.from({ length: connections }, openSession));
  await liveBytes();
  const before = readProcessMemory(pid).rssBytes;
  for (const session of sessions) {
    await Promise.all(Array.from({ length: Math.ceil(idle / connections) }, () => openStream(session)));
  }
  await liveBytes();
  const bytes = (readProcessMemory(pid).rssBytes - before) / idle;
  say(`${idle.toLocaleString("en")} idle streams: ${memoryText()}`);
  say(
    `${Math.round(bytes).toLocaleString("en")} bytes for each (limit ${maxBytesPerIdleStream.toLocaleString("en")})`,
  );
  for (const session of sessions) {
    session.destroy();
  }
  return bytes <= maxBytesPerIdleStream;
}

/** Runs `count` items over ten connections, with the given number in parallel. */
async function eachInTurn(
  count: number,
  atOnce: number,
  work: (session: ClientHttp2Session) => Promise<unknown>,
): Promise<void> {
  const sessions = await Promise.all(Array.from({ length: 10 }, openSession));
  let left = count;
  await Promise.all(
    Array.from({ length: atOnce }, async (_, at) => {
      const session = sessions[at % sessions.length];
      while (session !== undefined && left > 0) {
        left -= 1;
        await work(session);
      }
    }),
  );
  for (const session of sessions) {
    session.close();
  }
}

async function openSession(): Promise<ClientHttp2Session> {
  const session = connect(url);
  await once(session, "connect");
  return session;
}

/** Opens a stream and waits for its first message. */
async function openStream(session: ClientHttp2Session): Promise<ClientHttp2Stream> {
  const stream = session.request({
    ":method": "POST",
    ":path": watch,
    "content-type": "application/grpc+proto",
    te: "trailers",
    authorization: `Bearer ${token}`,
  });
  // Streams that are cut at the end are not errors.
  stream.on("error", () => {});
  stream.end(grpcFrame(new Uint8Array()));
  await once(stream, "data");
  return stream;
}

async function logIn(): Promise<string> {
  const answer = await fetch(`${url}/services.auth.AuthService/Login`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ username: "admin", password: sandboxPassword }),
  });
  const { token: taken } = (await answer.json()) as { readonly token?: string };
  if (taken === undefined) {
    throw new Error(`no token: HTTP ${answer.status}`);
  }
  return taken;
}

/** Returns the live memory after a collection. */
async function liveBytes(): Promise<number> {
  // Resources of finished calls are released within a second.
  await delay(1_000);
  process.kill(pid, "SIGUSR2");
  await delay(1_500);
  return Number(readFileSync(heapFile, "utf8"));
}

function memoryText(): string {
  const { rssBytes, ownBytes } = readProcessMemory(pid);
  return `RSS ${mb(rssBytes)} (own ${mb(ownBytes)})`;
}

function mb(bytes: number): string {
  return `${(bytes / 1e6).toFixed(1)} MB`;
}

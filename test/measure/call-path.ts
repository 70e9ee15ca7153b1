import { mkdtemp, rm } from "node:fs/promises";
import { Session } from "node:inspector/promises";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";
import { pino } from "pino";
import { configSchema } from "../../server/gateway/config/schema.ts";
import { startGateway } from "../../server/gateway/start-gateway.ts";

/**
 * Prints the files and functions of the project that a sandbox executes between a request and its answer, as JSON over HTTP/1.1.
 * Usage: node test/measure/call-path.ts PATH BODY [--functions]; `#` in the body becomes a number that differs between calls.
 * Functions count once, however often they run; generated code and libraries do not count. The events of a change and the work of
 * the simulated system run beside the call, so their totals are printed separately.
 */
const [path = "/proto.LVService/CreateLV", body = '{"name": "measured-#", "sizeGb": "1"}'] = process.argv
  .slice(2)
  .filter((word) => !word.startsWith("--"));
const root = fileURLToPath(new URL("../..", import.meta.url));
const warmUps = 8;

interface Executed {
  readonly file: string;
  readonly functions: readonly string[];
}

/** A thread with a client: its code does not count. */
const client = `
  const { parentPort, workerData } = require("node:worker_threads");
  parentPort.on("message", async ({ path, body }) => {
    const headers = { "content-type": "application/json", authorization: "Bearer " + workerData.token };
    const response = await fetch(workerData.url + path, { method: "POST", headers, body });
    parentPort.postMessage({ status: response.status, text: await response.text() });
  });
`;

const print = (line: string) => void process.stdout.write(`${line}\n`);

const directory = await mkdtemp(join(tmpdir(), "hostplane-measure-"));
const gateway = await startGateway({
  config: configSchema.parse({ data: directory, listen: [{ address: "127.0.0.1:0" }] }),
  isSandbox: true,
  version: "0.0.0-measure",
  logger: pino({ level: "warn" }),
  secrets: {},
  onFatal: (error) => {
    throw error;
  },
});
const token = await gateway.sandboxToken();
const worker = new Worker(client, {
  eval: true,
  workerData: { url: `http://${gateway.addresses[0]}`, token },
});

async function call(number: number): Promise<void> {
  const answered = new Promise<{ status: number; text: string }>((resolve) =>
    worker.once("message", resolve),
  );
  worker.postMessage({ path, body: body.replaceAll("#", String(number)) });
  const { status, text } = await answered;
  if (status !== 200) {
    throw new Error(`${path}: ${status} ${text}`);
  }
}

const session = new Session();
session.connect();
await session.post("Profiler.enable");
await session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: false });
// What loads and compiles at a first call does not count.
for (let number = 0; number < warmUps; number += 1) {
  await call(number);
}

/** The functions that ran since the last time. */
async function takeExecuted(): Promise<ReadonlyMap<string, ReadonlySet<string>>> {
  const { result } = await session.post("Profiler.takePreciseCoverage");
  const executed = new Map<string, ReadonlySet<string>>();
  for (const { url, functions } of result) {
    const file = url.startsWith("file://") ? relative(root, fileURLToPath(url)) : "";
    if (!/^(server|adapters)\//.test(file)) {
      continue;
    }
    const names = functions
      // A file's own body is a function without a name that begins with the file.
      .filter(({ functionName, ranges: [range] }) => functionName !== "" || range?.startOffset !== 0)
      .filter(({ ranges }) => (ranges[0]?.count ?? 0) > 0)
      .map(({ functionName, ranges: [range] }) => `${functionName || "(anonymous)"}@${range?.startOffset}`);
    if (names.length > 0) {
      executed.set(file, new Set(names));
    }
  }
  return executed;
}

/** What runs in as much time without a call: timers of the gateway, which belong to no call. */
async function takeIdle(): Promise<ReadonlyMap<string, ReadonlySet<string>>> {
  await takeExecuted();
  await new Promise((resolve) => setTimeout(resolve, 100));
  return await takeExecuted();
}

/** What a file has to do with the call. */
function partOf(file: string): "call" | "events" | "sandbox" {
  if (/\/events\//.test(file)) {
    return "events";
  }
  return /^adapters\/.*sandbox/.test(file) ? "sandbox" : "call";
}

const idle = await takeIdle();
await call(warmUps);
const executed: readonly Executed[] = [...(await takeExecuted())]
  .map(([file, functions]) => ({
    file,
    functions: [...functions].filter((name) => idle.get(file)?.has(name) !== true),
  }))
  .filter(({ functions }) => functions.length > 0)
  .toSorted((a, b) => (a.file < b.file ? -1 : 1));
for (const { file, functions } of executed) {
  print(`${String(functions.length).padStart(4)}  ${file}`);
  if (process.argv.includes("--functions")) {
    print(functions.map((name) => `        ${name}`).join("\n"));
  }
}
const parts = Object.groupBy(executed, ({ file }) => partOf(file));
for (const [part, files = []] of Object.entries(parts)) {
  const count = files.reduce((sum, { functions }) => sum + functions.length, 0);
  print(`${path}, ${part}: ${files.length} files, ${count} functions`);
}
await worker.terminate();
await gateway.close();
await rm(directory, { recursive: true, force: true });

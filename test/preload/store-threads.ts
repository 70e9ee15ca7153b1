import { existsSync, readFileSync } from "node:fs";
import { mkdir, rename } from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import workerThreads, { type WorkerOptions } from "node:worker_threads";

// Each test process imports this first (.taprc). Every SQLite store has its own thread, and most of the thread's startup goes
// into importing Kysely's 280 files: 95 ms of CPU, or 10 ms from a single file. The store itself always runs from the source.

const installed = new URL("../../node_modules/kysely/", import.meta.url);
const { version } = JSON.parse(readFileSync(new URL("package.json", installed), "utf8")) as {
  version: string;
};
const bundleFile = fileURLToPath(new URL(`../../node_modules/.cache/kysely-${version}.mjs`, import.meta.url));
const hook = new URL("bundled-kysely.ts", import.meta.url).href;

if (!existsSync(bundleFile)) {
  await bundleKysely();
}

const { Worker } = workerThreads;

class WorkerWithBundledKysely extends Worker {
  constructor(file: string | URL, options?: WorkerOptions) {
    const isStore = file instanceof URL && file.pathname.endsWith("/server/store/sqlite/sqlite-worker.ts");
    super(
      file,
      isStore
        ? { ...options, execArgv: [...(options?.execArgv ?? []), `--import=${hook}?${version}`] }
        : options,
    );
  }
}

workerThreads.Worker = WorkerWithBundledKysely;
syncBuiltinESMExports();

/** Several test processes may build the file at the same time; it is renamed into place when complete. */
async function bundleKysely(): Promise<void> {
  const { build } = await import("rolldown");
  const unfinished = `${bundleFile}.${process.pid}`;
  await mkdir(dirname(bundleFile), { recursive: true });
  await build({
    input: fileURLToPath(new URL("dist/esm/index.js", installed)),
    platform: "node",
    output: { file: unfinished },
    logLevel: "warn",
  });
  await rename(unfinished, bundleFile);
}

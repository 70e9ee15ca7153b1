import { syncBuiltinESMExports } from "node:module";
import { fileURLToPath } from "node:url";
import workerThreads, { type WorkerOptions } from "node:worker_threads";
import type { WorkerStart } from "../../server/store/sqlite/sqlite-messages.ts";

// Every SQLite store has its own thread, and most of the thread's start is the import of its modules. In `npm test`, which has just
// built the server, a store with the gateway's own transactions runs from the build: 42 ms of CPU time instead of 54. Other stores
// get the same shortcuts as the test's process.

const root = new URL("../../", import.meta.url).href;
const sourceWorker = `${root}server/store/sqlite/sqlite-worker.ts`;
/** The builds of the thread's modules, by source; see rolldown.config.ts. */
const builds: ReadonlyMap<string, string> = new Map([
  [sourceWorker, `${root}dist/server/sqlite-worker.js`],
  [`${root}server/gateway/store-transactions.ts`, `${root}dist/server/store-transactions.js`],
  [`${root}server/store/migrations/migrations.ts`, `${root}dist/server/migrations/migrations.js`],
]);
const isBuilt = process.env.STORE_THREADS === "built";

const shortcuts = ["own-modules.ts", "bundled-packages.ts"].map(
  (name) => `--require=${fileURLToPath(new URL(name, import.meta.url))}`,
);
const { Worker } = workerThreads;

/** Returns the arguments for a store's thread. */
function storeThread(options: WorkerOptions = {}): [file: string, options: WorkerOptions] {
  const start: WorkerStart = options.workerData;
  const [worker, transactions, migrations] = [
    sourceWorker,
    start.modules.transactions,
    start.modules.migrations,
  ].map((source) => (isBuilt ? builds.get(source) : undefined));
  // Modules of one thread are all from the source or all from the build: an InfraError of one is none for the other.
  return worker === undefined || transactions === undefined || migrations === undefined
    ? [sourceWorker, { ...options, execArgv: [...(options.execArgv ?? []), ...shortcuts] }]
    : [worker, { ...options, workerData: { ...start, modules: { transactions, migrations } } }];
}

class WorkerWithShortcuts extends Worker {
  constructor(file: string | URL, options?: WorkerOptions) {
    const isStore = String(file) === sourceWorker;
    const [ownFile, ownOptions] = isStore ? storeThread(options) : [file, options];
    super(isStore ? new URL(ownFile) : ownFile, ownOptions);
  }
}

workerThreads.Worker = WorkerWithShortcuts;
syncBuiltinESMExports();

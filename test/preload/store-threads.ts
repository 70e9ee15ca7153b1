import { syncBuiltinESMExports } from "node:module";
import { fileURLToPath } from "node:url";
import workerThreads, { type WorkerOptions } from "node:worker_threads";

// Every SQLite store has its own thread, and most of the thread's start is the import of its modules. It gets the same shortcuts
// as the test's process; the store itself always runs from the source.

const shortcuts = ["own-modules.ts", "bundled-packages.ts"].map(
  (name) => `--require=${fileURLToPath(new URL(name, import.meta.url))}`,
);
const { Worker } = workerThreads;

class WorkerWithShortcuts extends Worker {
  constructor(file: string | URL, options?: WorkerOptions) {
    const isStore = file instanceof URL && file.pathname.endsWith("/server/store/sqlite/sqlite-worker.ts");
    super(file, isStore ? { ...options, execArgv: [...(options?.execArgv ?? []), ...shortcuts] } : options);
  }
}

workerThreads.Worker = WorkerWithShortcuts;
syncBuiltinESMExports();

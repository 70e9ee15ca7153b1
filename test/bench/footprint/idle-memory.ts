import { setTimeout as delay } from "node:timers/promises";
import type { Bench, Side } from "../bench.ts";
import { openedRun } from "../load/opened-run.ts";
import { bareServer, buildSandbox } from "../servers/built-gateway.ts";
import { type ServerArgv, startServer } from "../servers/started-server.ts";
import { readProcessMemory } from "./process-memory.ts";

/** Time after the first response when a server counts as idle. */
const restMs = 10_000;

/** Resident memory of a gateway without calls. */
export function createIdleMemory(): Bench {
  return {
    name: "idle-memory",
    what: "resident memory of a sandbox ten seconds after its first response",
    baseline: "a bare `node:http` server",
    unit: "MB",
    maxCost: 90,
    rounds: 3,
    coldRounds: 1,
    skipReason: () => (process.platform === "linux" ? false : "needs /proc of Linux"),
    start: (nodeFlags) =>
      openedRun(async (opened) => {
        const sandbox = await buildSandbox(opened, nodeFlags);
        return {
          baseline: memoryOf(bareServer),
          ours: memoryOf(sandbox),
          stop: () => opened.disposeAsync(),
        };
      }),
  };
}

function memoryOf(argv: ServerArgv): Side {
  return {
    async measure() {
      const { pid, stop } = await startServer(argv);
      await delay(restMs);
      const { rssBytes } = readProcessMemory(pid);
      await stop();
      return rssBytes / 1e6;
    },
  };
}

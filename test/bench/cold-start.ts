import type { Bench, Side } from "./bench.ts";
import { bareServer, buildSandbox } from "./built-gateway.ts";
import { openedRun } from "./opened-run.ts";
import { type ServerArgv, startServer } from "./started-server.ts";

/** From the start of a process to the first answer, with a new data directory each time. */
export function createColdStart(): Bench {
  return {
    name: "cold-start",
    what: "start of a sandbox in a new directory, to the first answer of `/healthz`",
    baseline: "`node:http` alone, which answers anything",
    unit: "ms",
    maxCost: 500,
    rounds: 7,
    coldRounds: 2,
    start: (nodeFlags) =>
      openedRun(async (opened) => {
        const sandbox = await buildSandbox(opened, nodeFlags);
        return {
          baseline: startsOf(bareServer),
          ours: startsOf(sandbox),
          stop: () => opened.disposeAsync(),
        };
      }),
  };
}

function startsOf(argv: ServerArgv): Side {
  return {
    async measure() {
      const { startMs, stop } = await startServer(argv);
      await stop();
      return startMs;
    },
  };
}

import { join } from "node:path";
import type { Bench, BenchRun } from "../bench.ts";
import { openedRun } from "../load/opened-run.ts";
import { startBenchProcess } from "../servers/bench-process.ts";
import type { RequestedStarts, SpawnBlockAnswers } from "./spawn-block-process.ts";

const heldMebibytes = 1_024;
/** Number of starts in a round; the third longest block counts. */
const starts = 200;

/** Time for which the start of a tool blocks the event loop of a gateway with a large heap. */
export function createSpawnBlock(): Bench {
  return {
    name: "spawn-block",
    what: "start of a tool with a heap of 1 GiB: time the event loop is blocked, 99th percentile",
    baseline: "`child_process.spawn` in the same process",
    unit: "ms",
    maxCost: 5,
    rounds: 10,
    coldRounds: 2,
    skipReason: () => process.platform !== "linux" && "needs the scheduler's figures of Linux",
    start: (nodeFlags) => openedRun((opened) => startRun(opened, nodeFlags)),
  };
}

async function startRun(opened: AsyncDisposableStack, nodeFlags: readonly string[] = []): Promise<BenchRun> {
  const file = join(import.meta.dirname, "spawn-block-process.ts");
  const flags = [...nodeFlags, `--max-old-space-size=${heldMebibytes * 2}`];
  const starter = await startBenchProcess<SpawnBlockAnswers>(file, flags);
  opened.defer(starter.stop);
  await starter.query("hold", heldMebibytes);
  const measure = (by: RequestedStarts["by"]) => () => starter.query("block", { by, starts, quantile: 0.99 });
  return {
    baseline: { measure: measure("child_process") },
    ours: { measure: measure("run") },
    stop: () => opened.disposeAsync(),
  };
}

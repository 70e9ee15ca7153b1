import { join } from "node:path";
import type { Bench } from "../bench.ts";
import { openedRun } from "../load/opened-run.ts";
import { loadCore, serverCore } from "../load/pinned.ts";
import { type BenchProcess, startBenchProcess } from "../servers/bench-process.ts";
import type { EventHosts } from "./event-hosts.ts";
import type { MergingHub } from "./merging-hub.ts";

export interface EventMergeSize {
  readonly hosts: number;
  /** Number of events in a round, of all hosts together. */
  readonly events: number;
}

const reference = 1_000;

/** Events of many hosts that a hub merges into its log, compared with events that it writes by itself. */
export function createEventMerge(size: EventMergeSize = { hosts: 40, events: 4_000 }): Bench {
  const { hosts, events } = size;
  return {
    name: "fleet-events",
    what: `${reference.toLocaleString("en")} events of ${hosts} hosts, merged into the log of a hub`,
    baseline: "as many events of its own, 64 in a transaction",
    unit: "ms",
    // 2,000 events a second.
    maxCost: 500,
    rounds: 20,
    coldRounds: 5,
    start: (nodeFlags = []) =>
      openedRun(async (opened) => {
        const hub: BenchProcess<MergingHub> = await startBenchProcess(
          join(import.meta.dirname, "merging-hub.ts"),
          nodeFlags,
          serverCore,
        );
        opened.defer(() => hub.stop());
        const agents: BenchProcess<EventHosts> = await startBenchProcess(
          join(import.meta.dirname, "event-hosts.ts"),
          [],
          loadCore,
        );
        opened.defer(() => agents.stop());
        await agents.query("connect", { port: await hub.query("listen", hosts), hosts });
        let published = 0;
        const perReference = (tookMs: number) => (tookMs * reference) / events;
        return {
          baseline: { measure: async () => perReference(await hub.query("append", events)) },
          ours: {
            async measure() {
              const beganAtMs = performance.now();
              await agents.query("publish", events);
              published += events;
              await hub.query("merged", published);
              return perReference(performance.now() - beganAtMs);
            },
          },
          stop: () => opened.disposeAsync(),
        };
      }),
  };
}

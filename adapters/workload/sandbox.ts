import type { Clock } from "../sandbox/clock.ts";
import type { WorkloadAdapter } from "./adapter.ts";
import type { BootedMachine } from "./fake/boot.ts";
import { startWorkloadFake, type WorkloadFake } from "./fake/server.ts";
import { createWorkload } from "./workload.ts";

export interface WorkloadSandboxOptions {
  /** Returns the machines that are installed and running. */
  readonly machines: () => readonly BootedMachine[];
  /** Time from a machine's deployment until it is a node; 3 s by default. */
  readonly joinMs?: number;
  /** The system's clock by default. */
  readonly clock?: Pick<Clock, "nowMs"> | undefined;
}

/** The sandbox, with changes to its clusters from outside the gateway. */
export interface WorkloadSandbox extends WorkloadAdapter {
  readonly fake: WorkloadFake;
}

/**
 * Creates clusters in this process: the real client, connected to fake servers on loopback that follow the user data of
 * the sandbox's machines. They disappear with the process.
 */
export async function createWorkloadSandbox(options: WorkloadSandboxOptions): Promise<WorkloadSandbox> {
  const { machines, joinMs = 3_000, clock } = options;
  const fake = await startWorkloadFake({ machines, joinMs, clock, listen: "ephemeral" });
  const adapter = createWorkload({ dial: fake.dial, kind: "sandbox" });
  return {
    ...adapter,
    fake,
    async close() {
      await adapter.close();
      await fake.close();
    },
  };
}

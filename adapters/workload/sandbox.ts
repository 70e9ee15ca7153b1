import type { WorkloadAdapter } from "./adapter.ts";
import type { BootedMachine } from "./fake/boot.ts";
import { startWorkloadFake, type WorkloadFake } from "./fake/server.ts";
import { createWorkload } from "./workload.ts";

export interface WorkloadSandboxOptions {
  /** Those that have been installed and run now. */
  readonly machines: () => readonly BootedMachine[];
  /** How long a machine takes from being deployed to being a node; 3 s unless told. */
  readonly joinMs?: number;
}

/** The sandbox with what others could do to its clusters. */
export interface WorkloadSandbox extends WorkloadAdapter {
  readonly fake: WorkloadFake;
}

/**
 * Clusters of this process: the client that real ones have, before servers on loopback that do what machines of a sandbox are told. They
 * vanish with the process.
 */
export async function createWorkloadSandbox(options: WorkloadSandboxOptions): Promise<WorkloadSandbox> {
  const { machines, joinMs = 3_000 } = options;
  const fake = await startWorkloadFake({ machines, joinMs, listen: "ephemeral" });
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

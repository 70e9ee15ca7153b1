import { InfraError } from "../host/infra-error.ts";
import { type ToolObservation, toolChannel } from "../host/observation.ts";
import type { ReasonName } from "../host/reasons.ts";
import type { LibvirtStep } from "./adapter.ts";

/**
 * Has observers (metrics, traces, the commands of operations) see a change as a tool of the name `libvirt`, with the step for
 * its subcommand, and 1 for the exit code of a failure.
 * @param argv as `commandOf` shows the step
 */
export function observeStep(
  step: LibvirtStep,
  argv: readonly string[],
  make: () => Promise<unknown>,
): Promise<unknown> {
  if (!toolChannel.hasSubscribers) {
    return make();
  }
  const tool = { program: "libvirt", subcommand: step.kind, kind: "mutate" } as const;
  const observation: ToolObservation = { ...tool, argv, outcome: undefined };
  const startedAtMs = performance.now();
  const note = (exitCode: number, failure: ReasonName | undefined) => {
    observation.outcome = { exitCode, signal: null, durationMs: performance.now() - startedAtMs, failure };
  };
  return toolChannel.tracePromise(async () => {
    try {
      const made = await make();
      note(0, undefined);
      return made;
    } catch (error) {
      note(1, error instanceof InfraError ? error.reason : "INTERNAL");
      throw error;
    }
  }, observation);
}

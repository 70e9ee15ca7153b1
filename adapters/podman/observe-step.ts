import { InfraError } from "../host/infra-error.ts";
import { type ToolObservation, toolChannel } from "../host/observation.ts";
import type { ReasonName } from "../host/reasons.ts";
import type { RuntimeOutcome, RuntimeStep } from "./adapter.ts";
import { commandOf } from "./commands.ts";

/**
 * Has observers (metrics, traces, the commands of operations) see a change as a tool of the name `podman`, with the step for its
 * subcommand, and 1 for the exit code of a failure.
 */
export function observeStep(step: RuntimeStep, make: () => Promise<RuntimeOutcome>): Promise<RuntimeOutcome> {
  if (!toolChannel.hasSubscribers) {
    return make();
  }
  const tool = { program: "podman", subcommand: step.kind, kind: "mutate" } as const;
  const observation: ToolObservation = { ...tool, argv: commandOf(step), outcome: undefined };
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

import { InfraError } from "./infra-error.ts";
import { type ToolObservation, toolChannel } from "./observation.ts";
import type { ReasonName } from "./reasons.ts";

/**
 * Has observers (metrics, traces, the commands of operations) see a change that a system's own interface makes as they see a
 * tool, with 1 for the exit code of a failure.
 * @param step the system, e.g. `libvirt`, for the program, and the step for its subcommand and arguments
 */
export function observeStep<Outcome>(
  step: Pick<ToolObservation, "program" | "subcommand" | "argv">,
  make: () => Promise<Outcome>,
): Promise<Outcome> {
  if (!toolChannel.hasSubscribers) {
    return make();
  }
  const observation: ToolObservation = { ...step, kind: "mutate", outcome: undefined };
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

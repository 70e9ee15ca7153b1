import { InfraError } from "./infra-error.ts";
import { type ToolObservation, toolChannel } from "./observation.ts";
import { hostReasons } from "./reasons.ts";

/**
 * Reports a change made through a system's API to observers (metrics, traces, the commands of operations) as if it were
 * a tool, with exit code 1 on failure.
 * @param step the system, e.g. `libvirt`, as the program, and the step as its subcommand and arguments
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
  const note = (exitCode: number, failure: string | undefined) => {
    observation.outcome = { exitCode, signal: null, durationMs: performance.now() - startedAtMs, failure };
  };
  return toolChannel.tracePromise(async () => {
    try {
      const result = await make();
      note(0, undefined);
      return result;
    } catch (error) {
      note(1, error instanceof InfraError ? error.reason : hostReasons.INTERNAL.id);
      throw error;
    }
  }, observation);
}

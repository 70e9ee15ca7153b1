import { InfraError } from "../../../../adapters/host/infra-error.ts";

/** Returns the reason of the InfraError that a function throws; undefined if it throws none. */
export function thrownReasonOf(run: () => unknown): string | undefined {
  try {
    run();
    return undefined;
  } catch (error) {
    if (error instanceof InfraError) {
      return error.reason;
    }
    throw error;
  }
}

import { InfraError } from "../../../../../adapters/host/infra-error.ts";

/** What is refused of which field, `name: must not be empty`; undefined when nothing is. Any other error is thrown on. */
export function violationOf(assertion: () => unknown): string | undefined {
  try {
    assertion();
    return undefined;
  } catch (error) {
    if (!(error instanceof InfraError) || error.reason !== "INVALID_FIELD") {
      throw error;
    }
    return `${error.violations[0]?.field}: ${error.violations[0]?.description}`;
  }
}
